"""Files that start programs: images, systemd units, and scripts.

What sets variables, gives settings as options, creates topics, or writes and sends configurations is read; every other
line is the program's own.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final

from eosctl.settings.command_lines import bodies_in, containers_run, files_written, options_in
from eosctl.settings.tree import Branch, Leaf, Node

_CONTINUED: Final = re.compile(r"\\[ \t]*$")
_ENV: Final = re.compile(r"^[ \t]*ENV[ \t]+(?P<rest>.+)$", re.IGNORECASE | re.DOTALL)
_OLD_ENV: Final = re.compile(r"^(?P<name>[A-Za-z_]\w*)[ \t]+(?P<value>[^=\s].*)$", re.DOTALL)
_PAIR: Final = re.compile(r"""(?<![\w.-])(?P<name>[A-Za-z_][\w.-]*)=(?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']*)""")
_UNIT: Final = re.compile(r"^[ \t]*Environment=(?P<rest>.*)$", re.DOTALL)
_IMAGE_COMMAND: Final = re.compile(r"^[ \t]*(?:ENV|CMD|ENTRYPOINT)[ \t]", re.IGNORECASE)
_UNIT_COMMAND: Final = re.compile(r"^[ \t]*(?:Environment|Exec\w+)=")
_EXPORT: Final = re.compile(r"^[ \t]*(?:export|declare[ \t]+-x)[ \t]+(?P<rest>.*)$", re.DOTALL)
_TOPICS: Final = re.compile(r"\bkafka-topics(?:\.sh)?[ \t]")
_END: Final = re.compile(r"[;&|]+$")
OPTIONS: Final = "options in line "
"""What the key of a command's options begins with in a script's tree."""
_NUMBERS: Final = {"--partitions": "partitions", "--replication-factor": "replication-factor"}


def parse_image(text: str) -> Branch:
    """Return what a Dockerfile sets: ``ENV NAME=value``, the older ``ENV NAME value``, and options of its command."""
    entries: list[tuple[str, Node]] = []
    for number, line in _lines(text):
        if found := _ENV.match(line):
            old = _OLD_ENV.match(found["rest"].strip())
            if old:
                entries.append((old["name"], Leaf(old["value"].strip(), number)))
            else:
                entries += _pairs(line, number)
        if _IMAGE_COMMAND.match(line):
            entries += options_in(line, number)
    return Branch(tuple(entries), 1)


def parse_unit(text: str) -> Branch:
    """Return what a systemd unit sets: ``Environment=NAME=value "OTHER=value"``, and the options of its commands."""
    entries: list[tuple[str, Node]] = []
    for number, line in _lines(text):
        if found := _UNIT.match(line):
            entries += _pairs(re.sub(r'"([A-Za-z_][\w.-]*=)', r'\1"', found["rest"]), number)
        if _UNIT_COMMAND.match(line):
            entries += options_in(line, number)
    return Branch(tuple(entries), 1)


def parse_script(text: str) -> tuple[Branch, ...]:
    """Return what a script configures, and the containers that it starts, as services of Compose.

    Topics (``kafka-topics.sh --create``) stand by their names, files that it writes by theirs.
    """
    files, rest = files_written(text.splitlines())
    lines = list(_lines("\n".join(rest)))
    exported = tuple(one for number, line in lines for one in _exported(line, number))
    topics = [one for number, line in lines if (one := _created(line, number)) is not None]
    given = [
        (f"{OPTIONS}{number}", Branch(options, number))
        for number, line in lines
        if (options := tuple(options_in(line, number)))
    ]
    plain = "\n".join("" if line.lstrip().startswith("#") else line for line in rest)
    variables = [("env", Branch(exported, 1))] if exported else []
    own = Branch((*files, *topics, *bodies_in(plain), *variables, *given), 1)
    containers = containers_run(lines)
    return (own,) if containers is None else (own, containers)


def _exported(line: str, number: int) -> Iterator[tuple[str, Leaf]]:
    if found := _EXPORT.match(line):
        yield from _pairs(found["rest"], number)


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
