"""Configurations of Fluent Bit in its classic format: sections with a key and a value per line."""

from __future__ import annotations

import re
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node, Row

SECTION: Final = re.compile(
    r"^[ \t]*\[(SERVICE|INPUT|FILTER|OUTPUT|PARSER|MULTILINE_PARSER)\][ \t]*$", re.MULTILINE | re.I
)


def parse_fluent_bit(text: str) -> Branch:
    """Parse sections into the shape of Fluent Bit's YAML: ``pipeline`` with rows of inputs, filters, and outputs."""
    sections: dict[str, list[Node]] = {}
    entries: list[tuple[str, Node]] = []
    name, start = "", 1

    def close() -> None:
        if name:
            sections.setdefault(f"{name}s", []).append(Branch(tuple(entries), start))

    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        header = re.fullmatch(r"\[(\w+)\]", line)
        if header:
            close()
            name, start, entries = header[1].lower(), number, []
        elif line and not line.startswith(("#", "@")):
            key, _, value = line.partition(" ") if " " in line else line.partition("\t")
            entries.append((key.lower(), Leaf(value.strip(), number)))
    close()
    rows = tuple((key, Row(tuple(nodes), nodes[0].line)) for key, nodes in sections.items())
    return Branch((("pipeline", Branch(rows, 1)),), 1)
