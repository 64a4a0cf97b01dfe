"""The table of commands says of each what the command says of itself."""

from __future__ import annotations

import inspect

import pytest

from eosctl.commands.registry import COMMANDS, Entry, load_command
from tests.commands.conftest import eosctl


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_the_line_in_the_help_is_the_first_of_the_commands_own(entry: Entry) -> None:
    command = load_command(entry)
    assert command.name == entry.name
    assert inspect.cleandoc(command.help).split("\n\n")[0].replace("\n", " ") == entry.summary


def test_every_command_answers_for_its_own_help() -> None:
    for entry in COMMANDS:
        shown = eosctl(entry.name, "--help")
        assert shown.code == 0
        assert f"eosctl {entry.name} " in shown.out


def test_a_typing_error_is_answered_with_what_was_meant() -> None:
    refused = eosctl("docter")
    assert refused.code == 2
    assert "Did you mean 'doctor'" in refused.err
