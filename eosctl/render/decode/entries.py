"""Render entries of small files (indexes, snapshots, checkpoints), one per line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from eosctl.analysis.decode.entry_row import EntryRow
from eosctl.render.decode.fields import cell, when
from eosctl.render.decode.formats import DecodeFormat
from eosctl.render.escaping import visible
from eosctl.render.machine import render_json_line, render_tsv
from eosctl.render.page import Grid, render_page

#: Number of rows that determine the column widths of a table.
_ROWS_PER_PAGE = 2_000


def render_entries(rows: Iterable[EntryRow], form: DecodeFormat) -> Iterable[str]:
    """Yield the text of entries in order, in blocks."""
    block: list[EntryRow] = []
    file: str | None = None
    for row in rows:
        if len(block) == _ROWS_PER_PAGE or (block and row.file != file):
            yield _block(block, form)
            block = []
        block.append(row)
        file = row.file
    if block:
        yield _block(block, form)


def _block(rows: Sequence[EntryRow], form: DecodeFormat) -> str:
    if form is DecodeFormat.JSON:
        return "".join([render_json_line({"file": row.file, "entry": row.entry, **row.fields}) for row in rows])
    if form is DecodeFormat.TSV:
        return render_tsv(
            [[row.file, str(row.entry), *(_plain(value) for value in row.fields.values())] for row in rows]
        )
    header = ("ENTRY", *(name.upper().replace("_", "-") for name in rows[0].fields))
    cells = tuple((str(row.entry), *(_for_people(name, value) for name, value in row.fields.items())) for row in rows)
    return f"# {visible(rows[0].file)}\n" + render_page([Grid(cells, header)])


def _plain(value: Any) -> str:
    return "" if value is None else str(value)


def _for_people(name: str, value: Any) -> str:
    return when(value) if name == "timestamp" else cell(value)


def render_damage(file: str, position: int, what: str, form: DecodeFormat) -> str:
    """Return the line for a file or an entry that cannot be read; tables leave it to standard error."""
    if form is DecodeFormat.JSON:
        fields = {"kind": "damage", "file": file, "position": position, "message": what}
        return render_json_line(fields)
    return render_tsv([["damage", file, str(position), what]]) if form is DecodeFormat.TSV else ""
