"""Findings as rows: tab-separated or comma-separated text, with or without a line of column names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from eosctl.render.formats import FindingFormat
from eosctl.render.listing import Column
from eosctl.render.machine import render_csv, render_tsv

T = TypeVar("T")


def render_rows(
    names: Sequence[str], rows: Iterable[Sequence[str]], output: FindingFormat, header: bool | None = None
) -> str:
    """Render rows in one of the two formats that have them.

    Args:
        names: The names of the columns, in lower case with underscores.
        rows: The cells, as many a row as there are names.
        output: ``tsv`` or ``csv``.
        header: Whether the names are the first line; None for the format's default: csv has them, tsv does not.
    """
    is_csv = output is FindingFormat.CSV
    shown = is_csv if header is None else header
    held = [*([names] if shown else []), *rows]
    return render_csv(held) if is_csv else render_tsv(held)


def column_names(columns: Iterable[Column[T]]) -> tuple[str, ...]:
    """Return the headers of columns as names: ``ROOT-CAUSE`` becomes ``root_cause``."""
    return tuple(column.header.lower().replace("-", "_") for column in columns)


def cells_of(columns: Sequence[Column[T]], items: Iterable[T]) -> Iterator[list[str]]:
    """Yield a row for each item, the wide columns too."""
    return ([column.cell(item) for column in columns] for item in items)
