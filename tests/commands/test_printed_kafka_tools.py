"""Commands of Kafka's own tools, as findings, plans, and pages print them, have options that these tools take.

The tables are the help of the tools (`python -m scripts.absorb.tools`): an option with `=` takes a value.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from eosctl.model.access import ApplicationKind
from tests.commands.conftest import eosctl
from tests.commands.test_printed_commands import FAILING, findings_of

ROOT: Final = Path(__file__).parents[2]
TABLES: Final = {
    path.stem: json.loads(path.read_text("utf-8")) for path in (ROOT / "tests/fixtures/tools").glob("*.json")
}
NEWEST: Final = "4.4.0"
_TOOL: Final = re.compile(r"(?:bin/)?(kafka-[a-z-]+\.sh)\b")
_ENDS: Final = ("|", ">", "<", "&&", "||", ";", "#", "2>&1")
#: What a placeholder or a form of a page stands for: ..., [--option VALUE], <id>.
_FORM: Final = re.compile(r"^[\[\]<(]|\.\.\.|…")


class Line(NamedTuple):
    """A command of a tool and where it stands."""

    place: str
    tool: str
    words: tuple[str, ...]


def split_words(rest: str) -> tuple[str, ...]:
    """Return the words of a command up to its end."""
    try:
        words = shlex.split(rest, comments=True)
    except ValueError:  # A quote that the text around the command opened.
        words = rest.split()
    end = next((at for at, word in enumerate(words) if word in _ENDS or word.startswith((">", "|"))), len(words))
    return tuple(words[:end])


def commands_in(place: str, text: str) -> Iterator[Line]:
    """Yield the commands of a shell text; a line that ends in a backslash continues."""
    for line in text.replace("\\\n", " ").splitlines():
        for found in _TOOL.finditer(line):
            yield Line(place, found[1], split_words(re.split(r"[`;]|\|", line[found.end() :])[0]))


def mistakes(line: Line, table: dict[str, dict[str, list[str]]]) -> list[str]:
    """Return what a tool of a release would refuse: an unknown tool, command, or option, or one without its value."""
    commands = table.get(line.tool)
    if not commands:
        return ["the release has no such tool"]
    named = [word for word in line.words if word in commands]
    if len(commands) > 1 and not named and line.words and "--help" not in line.words and "--version" not in line.words:
        return [f"no command: {next((one for one in line.words if one.isalpha()), 'none')}"]
    known = {option.rstrip("="): option.endswith("=") for at in ("", *named) for option in commands[at]}
    found = []
    for word, following in zip(line.words, (*line.words[1:], "--"), strict=True):
        option, sign, _ = word.partition("=")
        if not option.startswith("--"):
            continue
        if option not in known:
            found.append(f"unknown option {option}")
        elif known[option] and not sign and following.startswith("--"):
            found.append(f"no value for {option}")
    return found


def findings() -> Iterator[Line]:
    for case in FAILING:
        for finding in findings_of(case):
            for command in (*finding.commands, *finding.verify):
                yield from commands_in(str(case), command.line)


def access() -> Iterator[Line]:
    given = {
        "producer": ("--transactional-id", "t", "--write", "w*"),
        "idempotent-producer": ("--write", "w"),
        "consumer": ("--group", "g", "--read", "r"),
        "processor": ("--group", "g", "--read", "r", "--write", "w", "--transactional-id", "t"),
        "streams": ("--application-id", "a", "--read", "r", "--write", "w"),
        "runbook-run": ("hanging-transaction",),
        "decode-segment": ("--read", "r"),
        **dict.fromkeys(("verify-app", "verify-dlq"), ("--read", "r", "--write", "w", "--group", "g")),
    }
    for kind in ApplicationKind:
        if kind.value in given or kind.is_own:
            done = eosctl("check", "acl", kind.value, *given.get(kind.value, ()), "--principal", "User:a b")
            assert done.code == 0, done.err
            yield from commands_in(f"check acl {kind.value}", done.out)


def pages() -> Iterator[Line]:
    """Yield the commands of fenced blocks, and those of a line that have options."""
    for path in (*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"):
        if path.name in ("changelog.md", "api.md"):
            continue
        for line in commands_in(str(path.relative_to(ROOT)), path.read_text("utf-8")):
            words = tuple(word.rstrip(".,:)") for word in line.words)
            if any(word.startswith("--") for word in words) and not any(map(_FORM.search, words)):
                yield line._replace(words=words)


LINES: Final = [*findings(), *access(), *pages()]


def test_findings_and_pages_print_such_commands() -> None:
    assert len({line.tool for line in LINES}) > 10
    assert len(LINES) > 150


def test_every_printed_command_is_taken_by_the_newest_release() -> None:
    assert {(line, problem) for line in LINES for problem in mistakes(line, TABLES[NEWEST])} == set()


def test_findings_need_tools_of_4_only_for_what_is_new_there() -> None:
    """Each is printed with its release, or to a cluster that has it."""
    refused = {
        (line.tool, problem.partition(" --command-config")[0])
        for line in findings()
        for problem in mistakes(line, TABLES["3.9.2"])
    }
    assert refused == {
        ("kafka-features.sh", "unknown option --release-version"),
        ("kafka-transactions.sh", "no command: forceTerminateTransaction"),
    }


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("kafka-transactions.sh --bootstrap-server b abort --topic t --partition --start-offset 3", "no value"),
        ("kafka-transactions.sh --bootstrap-server b list --transactional-id t", "unknown option --transactional-id"),
        ("kafka-transactions.sh --bootstrap-server b", "no command"),
        ("kafka-topics.sh --zookeeper z --list", "unknown option --zookeeper"),
        ("kafka-preferred-replica-election.sh --bootstrap-server b", "no such tool"),
    ],
)
def test_a_mistake_is_found(command: str, problem: str) -> None:
    (line,) = commands_in("here", command)
    assert problem in " ".join(mistakes(line, TABLES[NEWEST]))
