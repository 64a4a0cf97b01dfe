"""Render categories of log records, as a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eosctl.model.log_category import LogCategory
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import Field, Style

CATEGORY_COLUMNS: Final[tuple[Column[LogCategory], ...]] = (
    Column("CATEGORY", lambda item: item.id),
    Column("SEVERITY", lambda item: item.severity),
    Column("MEANING", lambda item: item.meaning),
    Column("PATTERNS", lambda item: " | ".join(item.patterns), wide=True),
)


def labelled(label: str, lines: Iterable[str], tone: str = "") -> Iterator[Field]:
    """Yield a paragraph for each line, with the label at the first one."""
    for number, line in enumerate(lines):
        yield Field("" if number else label, line, tone)


def render_categories(categories: tuple[LogCategory, ...], now_ms: int, output: OutputFormat, style: Style) -> str:
    """Render the list of categories."""
    return render_listing(
        listing("log-categories", "logs patterns", now_ms, categories), CATEGORY_COLUMNS, output, style
    )
