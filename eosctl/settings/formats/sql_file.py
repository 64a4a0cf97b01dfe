"""Read the settings of Flink SQL: the options of each CREATE TABLE, and those of SET statements."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node

_WITH: Final = re.compile(r"\bWITH\s*\(", re.IGNORECASE)
_TABLE: Final = re.compile(r"\bCREATE\s+(?:TEMPORARY\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w.`\"'-]+)", re.IGNORECASE)
_CONNECTOR: Final = re.compile(r"\bCREATE\s+(?:SOURCE|SINK)\s+CONNECTOR\b|;", re.IGNORECASE)
_TOKEN: Final = re.compile(r"'((?:[^']|'')*+)'?|[=)]|\S")
_SET: Final = re.compile(r"^[ \t]*SET\s++'?([\w.-]+)'?\s*+=\s*+'?([^';\n]++)'?\s*+;", re.IGNORECASE | re.MULTILINE)


class SqlError(ValueError):
    """A statement that does not end.

    Attributes:
        line: Where it starts.
        reason: What is missing.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(line, reason)
        self.line, self.reason = line, reason


def has_table(text: str) -> bool:
    """Return whether a text creates a table with options."""
    return _TABLE.search(text) is not None and _WITH.search(text) is not None


def parse_sql(text: str) -> tuple[Node, ...]:
    """Return a tree for each CREATE TABLE with its options, those of SET statements included, which hold for all.

    The time is linear in the length of the text.

    Raises:
        SqlError: The options of a table do not end.
    """
    plain = re.sub(r"--[^\n]*", lambda found: " " * len(found[0]), text)
    line_ends = [found.start() for found in re.finditer("\n", plain)]

    def line_of(position: int) -> int:
        return bisect_right(line_ends, position - 1) + 1

    shared = [(found[1], Leaf(found[2].strip(), line_of(found.start(1)))) for found in _SET.finditer(plain)]
    tables = list(_TABLE.finditer(plain))
    trees: list[Node] = []
    position = previous = at_table = 0
    while (found := _WITH.search(plain, position)) is not None:
        line = line_of(found.start())
        end, options = _options(plain, found.end())
        if end is None:
            raise SqlError(line, "WITH ( is not closed")
        # ksqlDB hands what it is SET to its queries, and to no connector.
        begun = [part[0] for part in _CONNECTOR.finditer(plain, position, found.start())][-1:]
        own = [(name, Leaf(value, line_of(start))) for name, value, start in options]
        pairs = own if begun and begun != [";"] else [*shared, *own]
        while at_table < len(tables) and tables[at_table].end() <= previous:
            at_table += 1
        is_named = at_table < len(tables) and tables[at_table].end() <= found.start()
        table = Branch(tuple(pairs), line)
        name = tables[at_table][1].strip("`\"'") if is_named else ""
        trees.append(Branch(((name, table),), line) if name else table)
        previous, position = found.start(), end
    return tuple(trees) if trees or not shared else (Branch(tuple(shared), shared[0][1].line),)


def _options(plain: str, start: int) -> tuple[int | None, list[tuple[str, str, int]]]:
    """Return where the options end, or None if they do not, and the name, value, and place of each."""
    options: list[tuple[str, str, int]] = []
    texts: list[tuple[str, int]] = []
    has_sign = False
    for token in _TOKEN.finditer(plain, start):
        if token[0] == ")":
            return token.end(), options
        if token[0] == "=":
            has_sign = True
        elif token[1] is None:
            texts, has_sign = [], False
        elif has_sign and texts:
            name, place = texts[-1]
            options.append((name, token[1].replace("''", "'"), place))
            texts, has_sign = [], False
        else:
            texts, has_sign = [(token[1], token.start())], False
    return None, options
