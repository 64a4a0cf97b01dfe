"""Two capacity plans side by side."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.model.capacity_figures import PlacedFigure, list_figures
from eosctl.model.capacity_plan import CapacityPlan, Unit
from eosctl.render.capacity.figure_text import figure_text
from eosctl.render.capacity.plan import verdict_text
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import PLAIN, Line, Style, render_page


class ComparisonItem(msgspec.Struct, frozen=True):
    """One figure of two plans; None in a plan without it. ``change`` is relative to the first, None where that is 0."""

    figure: str
    unit: Unit
    one: float | None
    other: float | None
    change: float | None


COMPARISON_COLUMNS: Final[tuple[Column[ComparisonItem], ...]] = (
    Column("FIGURE", lambda item: item.figure),
    Column("FIRST", lambda item: "" if item.one is None else figure_text(item.one, item.unit)),
    Column("SECOND", lambda item: "" if item.other is None else figure_text(item.other, item.unit)),
    Column("CHANGE", lambda item: "" if item.change is None else f"{item.change:+.1%}"),
)


def compare_plans(one: CapacityPlan, other: CapacityPlan) -> tuple[ComparisonItem, ...]:
    """Pair the figures of two plans, except those of topics and of brokers before a loss."""
    first, second = ([figure for figure in list_figures(plan) if _is_compared(figure)] for plan in (one, other))
    units = {figure.title: figure.unit for figure in (*first, *second)}
    by_first, by_second = ({figure.title: figure.value for figure in figures} for figures in (first, second))
    return tuple(_pair(title, unit, by_first.get(title), by_second.get(title)) for title, unit in units.items())


def _is_compared(figure: PlacedFigure) -> bool:
    if figure.section == "broker":
        return figure.name == "used after loss"
    return figure.section != "topic" and figure.value is not None


def _pair(title: str, unit: Unit, one: float | None, other: float | None) -> ComparisonItem:
    change = other / one - 1 if one and other is not None else None
    return ComparisonItem(title, unit, one, other, change)


def render_comparison(
    one: CapacityPlan, other: CapacityPlan, generated_at_ms: int, output: OutputFormat, style: Style = PLAIN
) -> str:
    """Render two plans side by side."""
    result = listing("capacity-comparison", "capacity compare", generated_at_ms, compare_plans(one, other))
    table = render_listing(result, COMPARISON_COLUMNS, output, style)
    if output not in (OutputFormat.TABLE, OutputFormat.WIDE):
        return table
    head = render_page(
        [
            Line(f"first   {one.workload}: {verdict_text(one)}", "bold"),
            Line(f"second  {other.workload}: {verdict_text(other)}", "bold"),
            Line(""),
        ],
        style,
    )
    return head + table
