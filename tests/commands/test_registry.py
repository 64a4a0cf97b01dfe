"""The tables of commands agree with the commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from eosctl.command_line.help_text import manual_of
from eosctl.command_line.lazy import Entry, LazyGroup, load_command, summary_of
from eosctl.commands.registry import COMMANDS
from tests.commands.conftest import eosctl


def below(path: tuple[str, ...], entry: Entry, command: Any) -> Iterator[tuple[str, Entry, Any]]:
    """Yield an entry and those below it, each with its words and its command."""
    yield " ".join((*path, entry.name)), entry, command
    if isinstance(command, LazyGroup):
        for name, one in command.entries.items():
            yield from below((*path, entry.name), one, command.commands[name])


ALL = [found for entry in COMMANDS for found in below((), entry, load_command(entry))]
GROUPS = [words for words, _, command in ALL if isinstance(command, LazyGroup)]


@pytest.mark.parametrize(("words", "entry", "command"), ALL, ids=[words for words, _, _ in ALL])
def test_the_line_in_the_help_is_the_first_of_the_commands_own(words: str, entry: Entry, command: Any) -> None:
    assert command.name == entry.name
    assert manual_of(command.help).summary == summary_of(entry)


def test_every_command_answers_for_its_own_help() -> None:
    for words, _, _ in ALL:
        shown = eosctl(*words.split(), "--help")
        assert shown.code == 0
        assert f"eosctl {words} " in shown.out


def test_groups_are_found_below_the_first_level_too() -> None:
    assert {"txn", "group", "group offsets"} <= set(GROUPS)
    assert len(ALL) > 100


@pytest.mark.parametrize("words", GROUPS)
def test_a_group_lists_its_commands_in_their_order(words: str) -> None:
    shown = eosctl(*words.split(), "--help").out.partition("\nCommands:\n")[2]
    named = re.findall(r"^  ([a-z][a-z-]*)  ", shown, re.MULTILINE)
    assert named == [path.split()[-1] for path, _, _ in ALL if path.rpartition(" ")[0] == words]


def test_a_typing_error_gets_a_suggestion() -> None:
    refused = eosctl("docter")
    assert refused.code == 2
    assert "Did you mean 'doctor'" in refused.err


def test_a_typing_error_below_a_group_is_answered_too() -> None:
    refused = eosctl("txn", "hangin")
    assert refused.code == 2
    assert "Did you mean 'hanging'" in refused.err


def test_what_is_wrong_with_arguments_is_shown_without_secrets() -> None:
    refused = eosctl("txn", "list", "-X", "sasl.password=hunter2", "--history")
    assert refused.code == 2
    assert "hunter2" not in refused.err + refused.out


def test_without_its_source_a_command_has_its_line_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Entry("locate", "locate:locate_transaction")
    line = summary_of(entry)
    monkeypatch.setattr("eosctl.command_line.lazy.__file__", "/missing/lazy.py")
    assert summary_of(entry) == line
    assert line.startswith("Show the coordinator partition")
