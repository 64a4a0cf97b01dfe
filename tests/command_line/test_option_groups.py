"""Groups of options are single options on the command line, and one value in the command."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from eosctl.command_line.invocation import Invocation
from eosctl.command_line.option_groups import expanded, options
from eosctl.command_line.values import duration_option_text, parse_duration_ms


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


class Place(NamedTuple):
    host: str = "here"
    port: int = 1


class Request(NamedTuple):
    paths: tuple[str, ...]
    place: Place = Place(port=3)
    labels: tuple[int, ...] = ()
    wait_ms: int = 2_500
    internal: str = "default"


RequestOptions = Annotated[
    Request,
    options(
        paths=typer.Argument(metavar="PATH..."),
        place=Annotated[Place, options(port=typer.Option("--port"))],
        labels=typer.Option("--label"),
        wait_ms=typer.Option("--wait", parser=parse_duration_ms),
    ),
]


def run_request(*words: str) -> str:
    def ask(request: RequestOptions) -> None:
        typer.echo(repr(request))

    ask.__annotations__ = {"request": RequestOptions}
    app = typer.Typer(add_completion=False)
    app.command("test")(expanded(ask))
    return CliRunner().invoke(app, words).output.strip()


def test_a_request_is_a_group_with_its_own_types_and_defaults() -> None:
    assert run_request("a") == repr(Request(("a",), Place(port=3)))
    words = ("a", "b", "--port", "2", "--label", "1", "--label", "2", "--wait", "3s")
    assert run_request(*words) == repr(Request(("a", "b"), Place("here", 2), (1, 2), 3_000))


def test_a_repeatable_argument_without_default_is_required() -> None:
    assert "PATH" in run_request()


def test_two_options_cannot_have_the_same_field() -> None:
    def ask(one: Annotated[str, typer.Option("--one")], host: Annotated[str, typer.Option("--host")]) -> None:
        """Ask."""

    ask.__annotations__ |= {"one": Annotated[Place, options(host=typer.Option("--one"))]}
    with pytest.raises(TypeError, match="same field"):
        expanded(ask)


@pytest.mark.parametrize("duration_ms", [1, 500, 1_000, 1_500, 90_000])
def test_a_default_duration_is_read_back(duration_ms: int) -> None:
    assert parse_duration_ms(duration_option_text(duration_ms)) == duration_ms
