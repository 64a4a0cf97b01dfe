"""Files that start programs: images, systemd units, and scripts that create topics.

Only what sets variables or creates topics is read; every other line is the program's own.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final

from eosctl.settings.tree import Branch, Leaf, Node

_CONTINUED: Final = re.compile(r"\\[ \t]*$")
_ENV: Final = re.compile(r"^[ \t]*ENV[ \t]+(?P<rest>.+)$", re.IGNORECASE | re.DOTALL)
_OLD_ENV: Final = re.compile(r"^(?P<name>[A-Za-z_]\w*)[ \t]+(?P<value>[^=\s].*)$", re.DOTALL)
_PAIR: Final = re.compile(r"""(?P<name>[A-Za-z_][\w.-]*)=(?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']*)""")
_UNIT: Final = re.compile(r"^[ \t]*Environment=(?P<rest>.*)$", re.DOTALL)
_TOPICS: Final = re.compile(r"\bkafka-topics(?:\.sh)?[ \t]")
_END: Final = re.compile(r"[;&|]+$")
_NUMBERS: Final = {"--partitions": "partitions", "--replication-factor": "replication-factor"}


def parse_image(text: str) -> Branch:
    """Return the variables that a Dockerfile sets: ``ENV NAME=value`` and the older ``ENV NAME value``."""
    entries: list[tuple[str, Node]] = []
    for number, line in _lines(text):
        if found := _ENV.match(line):
            old = _OLD_ENV.match(found["rest"].strip())
            if old:
                entries.append((old["name"], Leaf(old["value"].strip(), number)))
            else:
                entries += _pairs(line, number)
    return Branch(tuple(entries), 1)


def parse_unit(text: str) -> Branch:
    """Return the variables of a systemd unit: ``Environment=NAME=value "OTHER=value"``."""
    entries: list[tuple[str, Node]] = []
    for number, line in _lines(text):
        if found := _UNIT.match(line):
            entries += _pairs(re.sub(r'"([A-Za-z_][\w.-]*=)', r'\1"', found["rest"]), number)
    return Branch(tuple(entries), 1)


def parse_script(text: str) -> Branch:
    """Return the topics that ``kafka-topics.sh --create`` makes in a script, by their names."""
    return Branch(tuple(one for number, line in _lines(text) if (one := _created(line, number)) is not None), 1)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with the number of the first part of each; a backslash continues a line."""
    parts: list[str] = []
    first = 1
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.rstrip("\r")
        if line.lstrip().startswith(("#", ";")):
            continue
        if not parts:
            first = number
        is_open = _CONTINUED.search(line) is not None
        parts.append(_CONTINUED.sub("", line))
        if not is_open:
            # A line break keeps the numbers of the parts below.
            yield first, "\n".join(parts)
            parts = []
    if parts:
        yield first, "\n".join(parts)


def _pairs(text: str, first: int) -> Iterator[tuple[str, Leaf]]:
    for match in _PAIR.finditer(text):
        value = match["value"]
        bare = value[1:-1] if len(value) > 1 and value[0] in "\"'" and value[-1] == value[0] else value
        yield match["name"], Leaf(bare, first + text.count("\n", 0, match.start()))


def _created(line: str, number: int) -> tuple[str, Branch] | None:
    """Return the topic that a command creates; None for any other command."""
    found = _TOPICS.search(line)
    if found is None or "--create" not in line:
        return None
    try:
        words = shlex.split(line[found.end() :].replace("\n", " "), comments=True)
    except ValueError:
        return None
    name = ""
    entries: list[tuple[str, Node]] = []
    settings: list[tuple[str, Node]] = []
    arguments = iter(word for one in words for word in (one.split("=", 1) if one.startswith("--") else [one]))
    for word in arguments:
        if word == "--topic":
            name = _END.sub("", next(arguments, ""))
        elif word in _NUMBERS:
            entries.append((_NUMBERS[word], Leaf(_END.sub("", next(arguments, "")), number)))
        elif word == "--config":
            key, _, value = next(arguments, "").partition("=")
            settings.append((key, Leaf(_END.sub("", value), number)))
    if settings:
        entries.append(("config", Branch(tuple(settings), number)))
    return (name, Branch((("name", Leaf(name, number)), *entries), number)) if name and entries else None
