"""Name the columns of a table of log records that has no line with their names, by what is in them.

Consoles of log stores and ``\\copy`` of a database write such tables. Every row begins a record, so its time and its
level have one place each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from eosctl.logs.levels import is_level

ROWS: Final = 8
"""Number of rows at the beginning of a table that must agree."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?")
_LOGGER: Final = re.compile(r"[A-Za-z_]\w*(?:[.$][A-Za-z_]\w*)+")
_WORDS: Final = re.compile(r"\S+ \S+")


def _place(columns: Sequence[Sequence[str]], fits: Callable[[str], bool]) -> int | None:
    """Return the first column whose cells all fit."""
    return next((place for place, cells in enumerate(columns) if all(map(fits, cells))), None)


def names_of_rows(rows: Sequence[Sequence[str]]) -> Sequence[str] | None:
    """Return the names of the columns of a table's first rows; None if they are not log records.

    >>> names_of_rows([["2026-05-01T10:00:00Z", "INFO", "kafka.server.KafkaServer", "shut down completed"]] * 2)
    ['@timestamp', 'level', 'logger', 'message']
    >>> names_of_rows([["2026-05-01", "12.5", "paid in full"]] * 2) is None
    True
    """
    own = [row for row in rows[:ROWS] if any(row)]
    if not own or len({len(row) for row in own}) > 1:
        return None
    columns = list(zip(*own, strict=True))
    time = _place(columns, lambda cell: _TIME.fullmatch(cell.strip()) is not None)
    level = _place(columns, is_level)
    if time is None or level is None:
        return None
    logger = _place(columns, lambda cell: _LOGGER.fullmatch(cell.strip()) is not None)
    left = [place for place in range(len(columns)) if place not in (time, level, logger)]
    if not left:
        return None
    message = max(left, key=lambda place: sum(map(len, columns[place])))
    if not any(map(_WORDS.search, columns[message])):
        return None
    known = {time: "@timestamp", level: "level", message: "message"} | ({} if logger is None else {logger: "logger"})
    return [known.get(place, f"column {place + 1}") for place in range(len(columns))]
