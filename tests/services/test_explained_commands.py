"""The commands that entries name as next steps exist, with their options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from eosctl.knowledge.reference.index import load_index
from tests.commands.conftest import eosctl

_COMMAND = re.compile(r"\beosctl ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*\b(?![\w=./:]))*)(?P<rest>[^;,]*)")
_GROUP = "\nCommands:\n"
"""What the help of a group of commands has."""


def _commands() -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each step with its words after the program's name and its options."""
    for entry in load_index():
        for step in entry.next_steps:
            for match in _COMMAND.finditer(step):
                yield step, match[1].split(), re.findall(r"--[a-z-]+", match["rest"])


@cache
def _help(*words: str) -> str:
    """Return the help of a command; empty if the program has none of this name."""
    done = eosctl(*words, "--help")
    return done.out if done.code == 0 else ""


def _lacks(words: list[str], options: list[str]) -> bool:
    """Return whether the program has no such command, or the command none of the options."""
    shown, depth = _help(words[0]), 1
    while _GROUP in shown and depth < len(words):
        shown, depth = _help(*words[: depth + 1]), depth + 1
    return not shown or any(option not in shown for option in options)


def test_the_commands_of_all_next_steps_exist() -> None:
    commands = list(_commands())
    assert len(commands) > len({words[0] for _, words, _ in commands}) > 1
    assert sorted({step for step, words, options in commands if _lacks(words, options)}) == []


def test_a_planted_command_that_does_not_exist_is_found() -> None:
    assert _lacks(["checklist", "show", "kraft-migration"], [])
    assert _lacks(["txn", "producers"], ["--no-such-option"])
    assert not _lacks(["txn", "producers"], ["--topic", "--partition"])
