"""Plain values of the command line: the same answers as typer's own conversion, without its cost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

from eosctl.command_line.coercion import take_plain_values
from eosctl.command_line.lazy import load_command
from eosctl.commands.registry import COMMANDS
from tests.commands.conftest import eosctl, snapshot_file

__all__ = ["snapshot_file"]
VALUES = (None, "", "text", "7", "-7", "007", " 7", "7.5", "1_0", "٣", "9" * 30, "json", "JSON", "true", True, 5, 2.5,
          "/", __file__, "/missing", "\0", (), ("7", "x"), ["json"], ("1", "2"))  # fmt: skip


def parameters(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    for parameter in command.params:
        yield f"{name} {parameter.name}", parameter
    if isinstance(command, TyperGroup):
        for below in command.commands.values():
            yield from parameters(below, f"{name} {below.name}")


def answer(convert: Any, parameter: Any, value: Any) -> tuple[str, Any]:
    try:
        found = convert.coerce(value, param=parameter, ctx=None)
    except Exception as error:  # noqa: BLE001 - both must raise the same error
        return type(error).__name__, str(error).removeprefix("Value error, ")
    return type(found).__name__, found


def takes_paths(annotation: Any) -> bool:
    return "Path" in str(annotation)


@pytest.mark.parametrize("entry", COMMANDS, ids=[entry.name for entry in COMMANDS])
def test_every_parameter_takes_what_typer_would_make_of_it(entry: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    command = load_command(entry)
    several = [
        (name, parameter) for name, parameter in parameters(command, entry.name) if hasattr(parameter, "_runtime_param")
    ]
    for name, parameter in several:
        own = type(parameter).get_runtime_param(parameter)
        monkeypatch.setattr(command, "params", [parameter])
        (quick,) = [found for found in command.get_params(_Context) if found is parameter]
        for value in VALUES:
            if value == "" and takes_paths(parameter.type_descriptor.annotation):
                assert "An empty path names no file" in answer(quick.get_runtime_param(), parameter, value)[1], name
                continue
            assert answer(quick.get_runtime_param(), parameter, value) == answer(own, parameter, value), (name, value)


def test_a_refused_value_has_no_prefix_of_a_library() -> None:
    done = eosctl("capacity", "init", "x.yaml", "--kind", "flnk")
    assert (done.code, "'--kind': 'flnk' is not one of" in done.err) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        ("config", "lint", ""),
        ("config", "lint", ".", ""),
        ("decode", "segment", ""),
        ("decode", "state-dir", ""),
        ("sandbox", "up", "--data-dir", ""),
        (
            "demo",
            "--dir=",
        ),
    ],
    ids=" ".join,
)
def test_an_empty_path_is_not_the_current_directory(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = eosctl(*words)
    assert (done.code, "An empty path names no file" in done.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


class _Context:
    help_option_names = ()


def test_a_command_starts_without_the_library_that_converts(tmp_path: Path) -> None:
    (tmp_path / "00000000000000000000.log").touch()
    script = (
        f"import sys, eosctl.cli; code = eosctl.cli.main(['decode', 'segment', '-o', 'tsv', {str(tmp_path)!r}]); "
        "print(code, [m for m in ('pydantic', 'asyncio', 'email', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "0 []\n"


def test_durations_are_taken_without_it_too(snapshot_file: Path) -> None:
    words = ["txn", "hanging", "--snapshot", str(snapshot_file), "--second-look-after", "2s", "-o", "tsv"]
    script = f"import sys, eosctl.cli; eosctl.cli.main({words}); print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_a_command_of_another_release_stays_as_it_is() -> None:
    class Parameter:
        name = "x"

    class Command:
        def get_params(self, context: object) -> list[Any]:
            return [parameter]

    parameter, command = Parameter(), Command()
    take_plain_values(command)
    assert command.get_params(None) == [parameter]
    assert vars(parameter) == {}
