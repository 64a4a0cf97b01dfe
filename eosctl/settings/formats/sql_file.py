"""Read the settings of Flink SQL and of ksqlDB: the options of each CREATE, and those of SET statements.

ksqlDB hands what is SET to the applications of Kafka Streams that run its queries. Flink hands it to every table.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from eosctl.settings.formats.tree import Branch, Leaf, Node

SQL_FILES: Final = (".sql", ".ksql")
"""The endings of files of statements; only those of ksqlDB have the second one."""
SET_OF_KSQLDB: Final = "SET of ksqlDB"
"""The key of what a file of ksqlDB's statements sets."""
_KSQLDB: Final = re.compile(
    r"\bKAFKA_TOPIC\s*+=|\bEMIT\s+CHANGES\b|\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:SOURCE\s+)?STREAM\b"
    r"|\bCREATE\s+(?:SOURCE|SINK)\s+CONNECTOR\b",
    re.IGNORECASE,
)
_WITH: Final = re.compile(r"\bWITH\s*\(", re.IGNORECASE)
_TABLE: Final = re.compile(r"\bCREATE\s+(?:TEMPORARY\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w.`\"'-]+)", re.IGNORECASE)
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


def parse_sql(text: str, *, is_of_ksqldb: bool = False) -> tuple[Node, ...]:
    """Return a tree for each CREATE with its options, and with those of SET statements, which hold for all of Flink's.

    What ksqlDB's statements set is a tree of its own, under ``SET_OF_KSQLDB``. The time is linear in the length of the
    text.

    Args:
        text: The statements.
        is_of_ksqldb: Whether the file shows that they are ksqlDB's; else the statements do.

    Raises:
        SqlError: The options of a table do not end.
    """
    plain = re.sub(r"--[^\n]*", lambda found: " " * len(found[0]), text)
    line_ends = [found.start() for found in re.finditer("\n", plain)]

    def line_of(position: int) -> int:
        return bisect_right(line_ends, position - 1) + 1

    shared = [(found[1], Leaf(found[2].strip(), line_of(found.start(1)))) for found in _SET.finditer(plain)]
    whole = Branch(tuple(shared), shared[0][1].line) if shared else None
    of_ksqldb = is_of_ksqldb or _KSQLDB.search(plain) is not None
    shared = [] if of_ksqldb else shared
    tables = list(_TABLE.finditer(plain))
    trees: list[Node] = []
    position = previous = at_table = 0
    while (found := _WITH.search(plain, position)) is not None:
        line = line_of(found.start())
        end, options = _options(plain, found.end())
        if end is None:
            raise SqlError(line, "WITH ( is not closed")
        pairs = [*shared, *((name, Leaf(value, line_of(start))) for name, value, start in options)]
        while at_table < len(tables) and tables[at_table].end() <= previous:
            at_table += 1
        is_named = at_table < len(tables) and tables[at_table].end() <= found.start()
        table = Branch(tuple(pairs), line)
        name = tables[at_table][1].strip("`\"'") if is_named else ""
        trees.append(Branch(((name, table),), line) if name else table)
        previous, position = found.start(), end
    if whole is not None and of_ksqldb:
        trees.append(Branch(((SET_OF_KSQLDB, whole),), whole.line))
    return tuple(trees) if trees or whole is None else (whole,)


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
