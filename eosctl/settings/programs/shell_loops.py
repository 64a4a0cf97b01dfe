"""Processes that a script starts several times in the background: in a loop, or by the same command again.

Each group of them is a service as Compose writes it, with the variables that the script exports, those before the
command, and the command. A loop that waits for each process runs one at a time, and makes no service.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.programs.process_counts import ONE_PER_ROUND

_FOR: Final = re.compile(r"^[ \t]*for[ \t]+[A-Za-z_]\w*[ \t]+in[ \t]+(?P<words>[^;\n]+?)[ \t]*(?:;|$)")
_COUNTED: Final = re.compile(
    r"^[ \t]*for[ \t]*\(\([^;=]*=[ \t]*(?P<first>\d{1,6})[ \t]*;[^;<]*<(?P<equal>=?)[ \t]*(?P<last>\d{1,6})"
)
_OTHER: Final = re.compile(r"^[ \t]*(?:for[ \t]*\(\(|while[ \t]|until[ \t])")
_WAIT: Final = re.compile(r"(?:^|[;&])[ \t]*wait\b")
_DO: Final = re.compile(r"^[^\n]*?;[ \t]*do[ \t]+|^[ \t]*do[ \t]+")
_DONE: Final = re.compile(r"(?:^|[;&])[ \t]*done\b")
_SEQUENCE: Final = re.compile(r"^(?:\$\(|`)[ \t]*seq(?:[ \t]+(?P<first>\d{1,6}))?[ \t]+(?P<last>\d{1,6})[ \t]*[)`]$")
_BRACES: Final = re.compile(r"^\{(?P<first>\d{1,6})\.\.(?P<last>\d{1,6})\}$")
_LITERAL: Final = re.compile(r"[^$`*?{}()]+")
_BACKGROUND: Final = re.compile(
    # The options of a container stand before its image: not far from the word run.
    r"(?<![&>|<\\])&(?![&>\d])|\b(?:docker|podman)[ \t]+run[ \t][^\n]{0,500}?(?:-d\b|--detach)"
    r"|\bscreen[ \t]+-dm|\btmux[ \t]+new\S*[ \t]+-d"
)
_PROGRAM: Final = re.compile(
    r"^[ \t]*(?:(?:exec|nohup|setsid|env|sudo)[ \t]+|[A-Za-z_]\w*=\S*[ \t]+)*"
    r"(?:\S*(?:java|python[\d.]*|node|ruby|dotnet)[ \t]+(?:-\S+[ \t]+)*)?(?P<name>[^\s&;]+)"
)
_WORD: Final = re.compile(r"\b(?:wait|sleep|echo|cd|kill|tail|trap|exit|fi|done|do|then)\b")


class Group(NamedTuple):
    """Lines of a script that several processes have in common, and how many processes there are."""

    lines: Mapping[int, str]
    rounds: Leaf


def started_together(lines: Sequence[tuple[int, str]]) -> list[Group]:
    """Return the groups of processes that run at the same time, with the lines of the commands that start them.

    >>> [group] = started_together([(1, "for i in 1 2 3; do"), (2, "  ./pay --shard $i &"), (3, "done")])
    >>> group.rounds.text, list(group.lines)
    ('3', [2])
    """
    looped = list(_looped(lines))
    inside = {number for group in looped for number in group.lines}
    commands: dict[str, list[tuple[int, str]]] = {}
    for number, line in lines:
        found = _PROGRAM.match(line)
        if found and number not in inside and _BACKGROUND.search(line) and not _WORD.fullmatch(found["name"]):
            commands.setdefault(found["name"], []).append((number, line))
    again = [Group(dict(own), Leaf(str(len(own)), own[0][0])) for own in commands.values() if len(own) > 1]
    return [*looped, *again]


def _looped(lines: Sequence[tuple[int, str]]) -> Iterator[Group]:
    loops: list[tuple[int, str]] = []
    started: dict[int, str] = {}
    for number, line in lines:
        if (begun := _begun(line)) is not None:
            loops.append((number, begun))
        if loops and _BACKGROUND.search(line):
            started[number] = _DO.sub("", line)
        if loops and _WAIT.search(line.partition("done")[0]):
            started = {at: text for at, text in started.items() if at < loops[-1][0]}
        if loops and _DONE.search(line):
            first, count = loops.pop()
            own = {at: text for at, text in started.items() if at >= first}
            if own and count != "1":
                yield Group(own, Leaf(count, first))
            started = {at: text for at, text in started.items() if at < first}


def _begun(line: str) -> str | None:
    """Return how many rounds a loop has that begins on a line; None for other lines."""
    if found := _COUNTED.match(line):
        rounds = int(found["last"]) - int(found["first"]) + (1 if found["equal"] else 0)
        return str(max(rounds, 1))
    if (found := _FOR.match(line)) is None:
        return ONE_PER_ROUND if _OTHER.match(line) else None
    words = found["words"].strip()
    if (numbers := _SEQUENCE.match(words) or _BRACES.match(words)) is not None:
        return str(max(int(numbers["last"]) - int(numbers["first"] or 1) + 1, 1))
    return str(len(words.split())) if _LITERAL.fullmatch(words) else ONE_PER_ROUND


def as_service(group: Group, variables: Sequence[tuple[str, Leaf]]) -> tuple[str, Node]:
    """Return a group of processes as a service, with the variables that all of them have."""
    first = min(group.lines)
    command = tuple(Leaf(text, number) for number, text in group.lines.items())
    entries: tuple[tuple[str, Node], ...] = (
        ("environment", Branch(tuple(variables), first)),
        ("command", Row(command, first)),
        ("scale", group.rounds),
    )
    return f"processes of line {first}", Branch(entries, first)
