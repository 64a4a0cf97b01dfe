"""What two configurations mean differently, with defaults resolved."""

from __future__ import annotations

from typing import Final

from eosctl.model.deployment import Difference
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import Style

DIFFERENCE_COLUMNS: Final[tuple[Column[Difference], ...]] = (
    Column("ROLE", lambda item: item.role),
    Column("SETTING", lambda item: item.setting),
    Column("A", lambda item: item.left),
    Column("B", lambda item: item.right),
    Column("A-FROM", lambda item: item.left_source),
    Column("B-FROM", lambda item: item.right_source),
)


def render_differences(found: tuple[Difference, ...], now_ms: int, output: OutputFormat, style: Style) -> str:
    """Render what two configurations mean differently."""
    result = listing("config-diff", "config diff", now_ms, found)
    return render_listing(result, DIFFERENCE_COLUMNS, output, style, empty="No difference in meaning.")
