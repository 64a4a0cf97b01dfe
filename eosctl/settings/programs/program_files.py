"""Files that start programs: images and scripts.

What sets variables, gives settings as options, creates topics, or writes and sends configurations is read; every other
line is the program's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row
from eosctl.settings.programs.command_lines import (
    FLINK_RUN,
    JOBS,
    OPTION_HEADS,
    bodies_in,
    containers_run,
    files_written,
    options_in,
    without_quotes,
)
from eosctl.settings.programs.environment import WORKER_VARIABLES, is_image_of_broker, is_image_of_worker
from eosctl.settings.programs.kafka_commands import brokers_started, entities_in
from eosctl.settings.programs.shell_loops import as_service, started_together
from eosctl.settings.programs.shell_variables import filled, repeated, variables_in

_CONTINUED: Final = re.compile(r"\\[ \t]*$")
_FROM: Final = re.compile(r"^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(?P<image>\S+)", re.IGNORECASE)
_BROKER_ID: Final = re.compile(r"KAFKA_(?:CFG_)?(?:NODE|BROKER)_ID$")
_ENV: Final = re.compile(r"^[ \t]*ENV[ \t]+(?P<rest>.+)$", re.IGNORECASE | re.DOTALL)
_OLD_ENV: Final = re.compile(r"^(?P<name>[A-Za-z_]\w*)[ \t]+(?P<value>[^=\s].*)$", re.DOTALL)
_PAIR: Final = re.compile(r"""(?<![\w.-])(?P<name>[A-Za-z_][\w.-]*)=(?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']*)""")
_IMAGE_COMMAND: Final = re.compile(r"^[ \t]*(?:ENV|CMD|ENTRYPOINT)[ \t]", re.IGNORECASE)
_EXPORT: Final = re.compile(r"^[ \t]*(?:export|declare[ \t]+-x)[ \t]+(?P<rest>(?:\"[^\"]*\"|'[^']*'|[^;&|\"'])*)")
_PREFIXED: Final = re.compile(
    r"""^[ \t]*(?:[\w-]+:[ \t]+)?(?:(?:exec|nohup|env|sudo)[ \t]+)*"""
    r"""(?P<rest>(?:[A-Za-z_]\w*=(?:"[^"\n]*"|'[^'\n]*'|[^\s"']*)\s+)+)(?![A-Za-z_]\w*=)\S"""
)
"""A command behind variables of its own, also as a process of a Procfile."""
_REFERENCE: Final = re.compile(r"(?<![\\$])\$([A-Za-z_]\w*)")
_QUOTED_LIST: Final = re.compile(r"""\["']|["'][ \t]*,[ \t]*["']|["'][ \t]*\]""")
IMAGE: Final = "image"
"""The name of the service that an image of a broker is read as."""
OPTIONS: Final = "options in line "
"""What the key of a command's options begins with in a script's tree."""


def parse_image(text: str) -> tuple[Branch, ...]:
    """Return what a Dockerfile sets: ``ENV NAME=value``, the older ``ENV NAME value``, and options of its command."""
    entries: list[tuple[str, Node]] = []
    lines = list(lines_in(text))
    for number, line in lines:
        if found := _ENV.match(line):
            old = _OLD_ENV.match(found["rest"].strip())
            if old:
                entries.append((old["name"], Leaf(old["value"].strip(), number)))
            else:
                entries += pairs_in(line, number)
        if _IMAGE_COMMAND.match(line):
            entries += options_in(line, number)
    plain = ((number, _QUOTED_LIST.sub(" ", line)) for number, line in lines)
    started = as_services(brokers_started(plain))
    if (server := _server_of_image(lines, entries)) is not None:
        return (*as_services([server]), *started)
    return (Branch(tuple(entries), 1), *started)


def _server_of_image(lines: list[tuple[int, str]], entries: list[tuple[str, Node]]) -> tuple[str, Node] | None:
    """Return the broker or the worker that an image is, as a service; None for other images.

    The id of a broker is a part of the image, and the variables of a worker mean something in its image alone.
    """
    bases = [(found["image"], number) for number, line in lines if (found := _FROM.match(line))]
    variables = [entry for entry in entries if not entry[0].startswith(OPTION_HEADS)]
    is_broker = bool(bases) and is_image_of_broker(bases[-1][0]) and any(_BROKER_ID.match(n) for n, _ in variables)
    is_worker = bool(bases) and is_image_of_worker(bases[-1][0]) and any(n in WORKER_VARIABLES for n, _ in variables)
    if not is_broker and not is_worker:
        return None
    base, number = bases[-1]
    return IMAGE, Branch((("image", Leaf(base, number)), ("environment", Branch(tuple(variables), number))), number)


def parse_script(text: str, first: int = 1) -> tuple[Branch, ...]:
    """Return what a script configures, and the containers that it starts, as services of Compose.

    Topics (``kafka-topics.sh --create``) stand by their names, files that it writes by theirs. A Makefile and a
    Procfile are read as scripts.

    Args:
        text: The script.
        first: Number of its first line in the file, from 1.
    """
    files, rest = files_written(without_quotes(text.replace("$$", "$")).splitlines(), first)
    variables_of_file = variables_in(rest)
    single = [(number, filled(line, variables_of_file)) for number, line in lines_in("\n".join(rest), first)]
    lines = [(number, filled(line, variables_of_file)) for number, line in repeated(single)]
    together = _processes(single)
    once = [(number, line) for number, line in lines if number not in together.lines]
    exported = tuple(one for number, line in once for one in _exported(line, number))
    given = [
        (f"{OPTIONS}{number}", Branch(options, number))
        for number, line in once
        if (options := tuple(options_in(line, number)))
    ]
    plain = "\n".join("" if line.lstrip().startswith("#") else line for line in rest)
    variables = [("env", Branch(exported, 1))] if exported and not together.has_exported else []
    variables += [
        (f"env of line {number}", Branch(tuple(before), number))
        for number, line in once
        if (before := list(_before_command(line, number)))
    ]
    jobs = [(f"{JOBS}{number}", Row((Leaf(line, number),), number)) for number, line in once if FLINK_RUN.search(line)]
    own = Branch((*files, *entities_in(lines), *bodies_in(plain, first), *variables, *given, *jobs), 1)
    return (own, *as_services(containers_run(once)), *as_services([*together.services, *brokers_started(lines)]))


class _Processes(NamedTuple):
    """Processes that run several times, as services, the lines that start them, and whether they get exports."""

    services: list[tuple[str, Node]]
    lines: frozenset[int]
    has_exported: bool


def _processes(lines: list[tuple[int, str]]) -> _Processes:
    """Return what a script starts several times at the same time, where variables or options configure it."""
    services: list[tuple[str, Node]] = []
    taken: set[int] = set()
    has_exported = False
    exported = [one for number, line in lines for one in _exported(line, number)]
    for group in started_together(lines):
        if containers := containers_run(group.lines.items(), group.rounds):
            services += containers
            taken |= group.lines.keys()
            continue
        before = [one for number, line in group.lines.items() for one in _before_command(line, number)]
        options = [one for number, line in group.lines.items() for one in options_in(line, number)]
        if exported or before or options:
            services.append(as_service(group, tuple({**dict(exported), **dict(before)}.items())))
            taken |= group.lines.keys()
            has_exported = has_exported or bool(exported)
    return _Processes(services, frozenset(taken), has_exported)


def _before_command(line: str, number: int) -> Iterator[tuple[str, Leaf]]:
    if (found := _PREFIXED.match(line)) is not None:
        yield from pairs_in(found["rest"], number)


def as_services(found: list[tuple[str, Node]]) -> tuple[Branch, ...]:
    """Return named services as a document of Compose; nothing without any."""
    return (Branch((("services", Branch(tuple(found), 1)),), 1),) if found else ()


def _exported(line: str, number: int) -> Iterator[tuple[str, Leaf]]:
    if found := _EXPORT.match(line):
        yield from pairs_in(found["rest"], number)


def lines_in(text: str, first: int = 1) -> Iterator[tuple[int, str]]:
    """Yield the lines with the number of the first part of each, from ``first`` on; a backslash continues a line."""
    parts: list[str] = []
    for number, raw in enumerate(text.splitlines(), first):
        line = raw.rstrip("\r")
        if line.lstrip().startswith("#" if parts else ("#", ";")):
            continue  # within a command of a shell, a semicolon ends a part of it
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


def pairs_in(text: str, first: int) -> Iterator[tuple[str, Leaf]]:
    """Yield the variables that a text assigns, ``NAME=value OTHER="value"``, each with its line."""
    line, counted = first, 0
    for match in _PAIR.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        value = match["value"]
        bare = value[1:-1] if len(value) > 1 and value[0] in "\"'" and value[-1] == value[0] else value
        bare = bare if value[:1] == "'" else _REFERENCE.sub(r"${\1}", bare)
        yield match["name"], Leaf(bare, line)
