"""Groups of options are single options on the command line, and one value in the command."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from eosctl.command_line.invocation import Invocation
from eosctl.command_line.option_groups import expanded


class Inner(NamedTuple):
    name: Annotated[str, typer.Option("--name", help="A name.")] = "none"


class Outer(NamedTuple):
    inner: Inner
    count: Annotated[int, typer.Option("--count", min=0)] = 3

    @property
    def words(self) -> str:
        return f"{self.inner.name} {self.count}"


def command(
    invocation: Invocation, place: Annotated[str, typer.Argument()], outer: Outer, *, loud: bool = False
) -> None:
    """Say what was given."""
    typer.echo(f"{invocation.output} {place} {outer.words} {loud}")


def run(*words: str) -> tuple[int, str]:
    app = typer.Typer(add_completion=False)
    app.command("test")(expanded(command))
    done = CliRunner().invoke(app, words)
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("here",), "table here none 3 False"),
        (("here", "--name", "a", "--count", "1", "--loud"), "table here a 1 True"),
    ],
)
def test_options_of_groups_reach_the_command(words: tuple[str, ...], shown: str) -> None:
    assert run(*words) == (0, f"{shown}\n")


def test_options_of_groups_are_checked_as_any_other() -> None:
    code, shown = run("here", "--count", "-1")
    assert code == 2
    assert "--count" in shown


def test_options_keep_the_order_of_the_parameters() -> None:
    app = typer.Typer(add_completion=False)
    app.command("test")(expanded(command))
    named = [parameter.name for parameter in get_command(app).params]
    assert named == ["place", "name", "count", "loud"]
