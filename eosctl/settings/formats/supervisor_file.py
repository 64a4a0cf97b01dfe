"""Programs of supervisord, as Compose writes services: the environment, the command, and the number of processes.

Variables of the section ``[supervisord]`` are those of every program. ``%(process_num)02d`` and other expressions of
supervisord differ from process to process and stay as they are; the name of the program is filled in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

PROGRAM: Final = re.compile(r"^\[(?:program|eventlistener|fcgi-program):", re.MULTILINE)
"""What a file of supervisord has, and no other."""
_HEADER: Final = re.compile(r"^\[(?:(?P<kind>[\w-]+):)?(?P<name>[^\]]+)\]")
_COMMENT: Final = re.compile(r"(?:^|\s);.*$")
_KEY: Final = re.compile(r"^(?P<name>[\w.-]+)\s*=\s*(?P<value>.*)$")
_VARIABLE: Final = re.compile(r"""(?P<name>[A-Za-z_]\w*)\s*=\s*(?:"(?P<a>[^"]*)"|'(?P<b>[^']*)'|(?P<c>[^,\s]*))""")
_SHARED: Final = "supervisord"
_PROGRAM_NAME: Final = "%(program_name)s"
_Section = dict[str, list[Leaf]]


def parse_supervisor(text: str) -> Branch:
    """Return the programs of a file as services.

    >>> tree = parse_supervisor('[program:pay]\\nnumprocs=2\\nenvironment=A="1",B="%(program_name)s"\\n')
    >>> tree.text("services", "pay", "scale"), tree.text("services", "pay", "environment", "B")
    ('2', 'pay')
    """
    sections = list(_sections(text))
    shared = [leaf for kind, _, _, own in sections if kind == _SHARED for leaf in own.get("environment", ())]
    services = ((name, _service(name, line, shared, own)) for kind, name, line, own in sections if kind != _SHARED)
    return Branch((("services", Branch(tuple(services), 1)),), 1)


def _service(name: str, line: int, shared: list[Leaf], own: _Section) -> Branch:
    variables = dict(_variables([*shared, *own.get("environment", ())], name))
    entries: list[tuple[str, Node]] = [("environment", Branch(tuple(variables.items()), line))]
    if command := own.get("command"):
        entries.append(("command", Row(tuple(command), line)))
    if count := own.get("numprocs"):
        entries.append(("scale", count[-1]))
    return Branch(tuple(entries), line)


def _variables(given: list[Leaf], program: str) -> Iterator[tuple[str, Leaf]]:
    for leaf in given:
        for found in _VARIABLE.finditer(leaf.text or ""):
            text = found["a"] or found["b"] or found["c"] or ""
            yield found["name"], Leaf(text.replace(_PROGRAM_NAME, program), leaf.line)


def _sections(text: str) -> Iterator[tuple[str, str, int, _Section]]:
    """Yield each section that has programs, or settings for all of them: kind, name, line, and the lines of each key.

    A line that begins with a space continues the key above it.
    """
    kind, name, first, own, key = "", "", 1, _Section(), ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = _COMMENT.sub("", raw).rstrip()
        if not line or line.startswith("#"):
            continue
        if header := _HEADER.match(line):
            if kind:
                yield kind, name, first, own
            is_program = PROGRAM.match(line) is not None
            kind = header["kind"] if is_program else _SHARED if header["name"] == _SHARED else ""
            name, first, own, key = header["name"], number, _Section(), ""
        elif line[0].isspace():
            own.setdefault(key, []).append(Leaf(line.strip(), number))
        elif found := _KEY.match(line):
            key = found["name"]
            own[key] = [Leaf(found["value"], number)]
    if kind:
        yield kind, name, first, own
