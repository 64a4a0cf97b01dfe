"""Render categories of log records, as a list and one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eosctl.model.log_category import LogCategory
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.one import render_one
from eosctl.render.page import Block, Field, Line, Style, render_page

CATEGORY_COLUMNS: Final[tuple[Column[LogCategory], ...]] = (
    Column("CATEGORY", lambda item: item.id),
    Column("SEVERITY", lambda item: item.severity),
    Column("MEANING", lambda item: item.meaning),
    Column("PATTERNS", lambda item: " | ".join(item.patterns), wide=True),
)


def _blocks(item: LogCategory) -> list[Block]:
    """Return the details of one category."""
    return [
        Line(item.id),
        Field("severity", item.severity),
        Field("meaning", item.meaning),
        Field("next", item.next_step or "Nothing by itself; it is context for other categories."),
        *labelled("patterns", item.patterns),
        *labelled("levels", item.levels),
        *labelled("not of", item.loggers_not),
        *labelled("unless", item.unless),
    ]


def labelled(label: str, lines: Iterable[str], tone: str = "") -> Iterator[Field]:
    """Yield a paragraph for each line, with the label at the first one."""
    for number, line in enumerate(lines):
        yield Field("" if number else label, line, tone)


def render_categories(categories: tuple[LogCategory, ...], now_ms: int, output: OutputFormat, style: Style) -> str:
    """Render the list of categories."""
    return render_listing(
        listing("log-categories", "logs patterns", now_ms, categories), CATEGORY_COLUMNS, output, style
    )


def render_category(item: LogCategory, output: OutputFormat, style: Style) -> str:
    """Render the details of one category."""
    row = (item.id, item.severity, item.meaning, item.next_step)
    return render_one(item, output, lambda: [row], lambda: render_page(_blocks(item), style))
