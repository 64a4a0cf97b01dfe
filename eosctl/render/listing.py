"""Render lists of items as a table or in a machine format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from eosctl.render.envelope import Listing
from eosctl.render.formats import OutputFormat
from eosctl.render.machine import render_json, render_tsv, render_yaml
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page

T = TypeVar("T")


class Column(NamedTuple, Generic[T]):
    """A column: its hyphenated header, the cell's text, and whether only ``-o wide`` and ``-o tsv`` show it."""

    header: str
    cell: Callable[[T], str]
    wide: bool = False


def render_listing(
    listing: Listing[T],
    columns: Sequence[Column[T]],
    output: OutputFormat,
    style: Style = PLAIN,
    *,
    empty: str = "Nothing.",
) -> str:
    """Render a list.

    Args:
        listing: The items in their envelope.
        columns: The columns of the table.
        output: The format.
        style: Width and color of the table.
        empty: The text for an empty list; machine formats show an empty list.
    """
    match output:
        case OutputFormat.JSON:
            return render_json(listing)
        case OutputFormat.YAML:
            return render_yaml(listing)
        case OutputFormat.TSV:
            return render_tsv(_rows(listing, columns))
        case OutputFormat.TABLE | OutputFormat.WIDE:
            shown = [column for column in columns if output is OutputFormat.WIDE or not column.wide]
            return render_page(_blocks(listing, shown, empty), style)


def _blocks(listing: Listing[T], columns: Sequence[Column[T]], empty: str) -> list[Block]:
    blocks: list[Block] = []
    if listing.items:
        blocks.append(Grid(tuple(_rows(listing, columns)), tuple(column.header for column in columns)))
    elif listing.evidence is not None and listing.evidence.gaps:
        blocks.append(Line("Nothing was found, but not everything could be read."))
    else:
        blocks.append(Line(empty))
    if listing.evidence is not None and listing.evidence.gaps:
        blocks += [Line(""), Line("INCOMPLETE: this could not be read", "yellow")]
        blocks += [
            Field(
                "missing",
                f"{gap.kind.value} of {gap.subject}: {gap.error or gap.reason.value}. {gap.next_step}".rstrip(),
            )
            for gap in listing.evidence.gaps
        ]
    return blocks


def _rows(listing: Listing[T], columns: Sequence[Column[T]]) -> Iterator[tuple[str, ...]]:
    return zip(*[map(column.cell, listing.items) for column in columns], strict=True)
