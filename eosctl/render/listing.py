"""Render lists of items as a table or in a machine format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from eosctl.model.evidence import EvidenceGap
from eosctl.render.envelope import Listing
from eosctl.render.formats import OutputFormat
from eosctl.render.gap_text import join_gaps
from eosctl.render.machine import render_json, render_tsv, render_yaml
from eosctl.render.page import PLAIN, WIDEST_CELL, Block, Field, Grid, Line, Style, render_page

T = TypeVar("T")
NAMED_GAPS: Final = 3
"""How many gaps the first line names; all of them follow below the list."""


class Column(NamedTuple, Generic[T]):
    """A column: its hyphenated header, the cell's text, and whether only ``-o wide`` and ``-o tsv`` show it."""

    header: str
    cell: Callable[[T], str]
    wide: bool = False


def number_cell(number: int | None) -> str:
    """Return the cell of a number that may be unknown."""
    return "-" if number is None else str(number)


def render_listing(
    listing: Listing[T],
    columns: Sequence[Column[T]],
    output: OutputFormat,
    style: Style = PLAIN,
    *,
    empty: str = "Nothing.",
    scope: str = "",
) -> str:
    """Render a list.

    Args:
        listing: The items in their envelope.
        columns: The columns of the table.
        output: The format.
        style: Width and color of the table.
        empty: The text for an empty list; machine formats show an empty list.
        scope: What the list cannot have, and what shows it: a line below the table.
    """
    match output:
        case OutputFormat.JSON:
            return render_json(listing)
        case OutputFormat.YAML:
            return render_yaml(listing)
        case OutputFormat.TSV:
            return render_tsv(_rows(listing, columns))
        case OutputFormat.WIDE:
            blocks = _blocks(listing, tuple(_rows(listing, columns)), columns, empty)
        case OutputFormat.TABLE:
            shown = [column for column in columns if not column.wide]
            rows = tuple(_rows(listing, shown))
            cut = tuple(tuple(_cut(cell) for cell in row) for row in rows)
            blocks = _blocks(listing, cut, shown, empty)
            if cut != rows:
                blocks.append(Line(f"Cells end after {WIDEST_CELL} characters; -o wide and -o json have all.", "dim"))
    return render_page([*blocks, Line(scope, "dim")] if scope else blocks, style)


def _cut(cell: str) -> str:
    return cell if len(cell) <= WIDEST_CELL else f"{cell[: WIDEST_CELL - 1]}…"


def _blocks(
    listing: Listing[T], rows: tuple[tuple[str, ...], ...], columns: Sequence[Column[T]], empty: str
) -> list[Block]:
    gaps = () if listing.evidence is None else listing.evidence.gaps
    blocks: list[Block] = []
    if gaps:
        blocks.append(Line(_headline(gaps, is_empty=not listing.items), "yellow"))
    if listing.items:
        blocks.append(Grid(rows, tuple(column.header for column in columns)))
    elif not gaps:
        blocks.append(Line(empty))
    if gaps:
        blocks += [Line(""), Line("NOT READ", "yellow")]
        blocks += [
            Field("missing", f"{line.subject}: {line.reason}. {line.gap.next_step}".rstrip())
            for line in join_gaps(gaps)
        ]
    return blocks


def _headline(gaps: Sequence[EvidenceGap], *, is_empty: bool) -> str:
    """Return the first line of a list with gaps, which names them before anything that was read."""
    lines = join_gaps(gaps)
    more = f" and {len(lines) - NAMED_GAPS} more" if len(lines) > NAMED_GAPS else ""
    unread = f"{', '.join(line.subject for line in lines[:NAMED_GAPS])}{more} could not be read"
    return f"INCOMPLETE: {unread}. Nothing was found in the rest." if is_empty else f"INCOMPLETE: {unread}."


def _rows(listing: Listing[T], columns: Sequence[Column[T]]) -> Iterator[tuple[str, ...]]:
    return zip(*[map(column.cell, listing.items) for column in columns], strict=True)
