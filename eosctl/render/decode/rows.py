"""Write rows of internal topics as soon as they are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, Final

from eosctl.render.decode.entries import render_damage
from eosctl.render.decode.fields import cell, tsv_cell, when
from eosctl.render.decode.formats import DecodeFormat
from eosctl.render.machine import render_json_line

Row = dict[str, Any]

TRANSACTION_COLUMNS: Final = (
    ("offset", 9),
    ("timestamp", 24),
    ("transactional_id", 28),
    ("state", 17),
    ("producer_id", 11),
    ("producer_epoch", 14),
    ("coordinator_epoch", 17),
    ("partitions", 0),
)
HISTORY_COLUMNS: Final = (
    ("timestamp", 24),
    ("after", 14),
    ("state", 17),
    ("producer_id", 11),
    ("producer_epoch", 14),
    ("coordinator_epoch", 17),
    ("offset", 9),
    ("partitions", 0),
)
OFFSET_COLUMNS: Final = (
    ("offset", 9),
    ("timestamp", 24),
    ("group", 24),
    ("state", 10),
    ("topic", 20),
    ("partition", 9),
    ("committed_offset", 16),
    ("record", 0),
)
METADATA_COLUMNS: Final = (("offset", 9), ("timestamp", 24), ("record", 28), ("value", 0))


class RowText:
    """Writes the rows of an internal topic in one format."""

    def __init__(self, columns: Sequence[tuple[str, int]], form: DecodeFormat) -> None:
        """Choose the columns, each with its width, and the format."""
        self.row = row_writer(columns, form)
        self._columns, self._form = columns, form

    def head(self) -> str:
        """Return the header of a table; other formats have none."""
        return row_head(self._columns, self._form)

    def damage(self, file: str, position: int, what: str) -> str:
        """Return the line of a damage."""
        return render_damage(file, position, what, self._form)


def row_head(columns: Sequence[tuple[str, int]], form: DecodeFormat) -> str:
    """Return the header of a table; other formats have none."""
    if form is not DecodeFormat.TABLE:
        return ""
    return "  ".join(f"{name.upper().replace('_', '-'):<{width}}" for name, width in columns).rstrip() + "\n"


def row_writer(columns: Sequence[tuple[str, int]], form: DecodeFormat) -> Callable[[str, Row], str]:
    """Return the function that writes a row of a file."""
    if form is DecodeFormat.JSON:
        return lambda file, row: render_json_line({"file": file, **row})
    if form is DecodeFormat.TSV:
        names = [name for name, _ in columns]
        shown = cache(tsv_cell)  # of file names, which are few
        return lambda file, row: (
            "\t".join(
                [shown(file), *[str(value) if type(value) is int else _plain(value) for value in map(row.get, names)]]
            )
            + "\n"
        )
    return lambda file, row: (
        "  ".join([f"{_shown(name, row.get(name)):<{width}}" for name, width in columns]).rstrip() + "\n"
    )


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return _text(",".join(map(str, value)))
    return "" if value is None else cell(value)


#: Ids, groups, topics, and states repeat often.
_text = lru_cache(1_024)(tsv_cell)


def _shown(name: str, value: Any) -> str:
    if name == "timestamp":
        return when(value)
    if isinstance(value, list):
        return ",".join(cell(part) for part in value)
    return cell(value)
