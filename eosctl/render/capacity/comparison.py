"""Two capacity plans side by side."""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.model.capacity_plan import CapacityPlan, Unit
from eosctl.render.capacity.figure_text import figure_text
from eosctl.render.capacity.plan import verdict_text
from eosctl.render.envelope import listing
from eosctl.render.formats import OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import PLAIN, Line, Style, render_page


class ComparisonItem(msgspec.Struct, frozen=True):
    """One figure of two plans; ``change`` is relative to the first, None where that is 0."""

    figure: str
    unit: Unit
    one: float
    other: float
    change: float | None


COMPARISON_COLUMNS: Final[tuple[Column[ComparisonItem], ...]] = (
    Column("FIGURE", lambda item: item.figure),
    Column("FIRST", lambda item: figure_text(item.one, item.unit)),
    Column("SECOND", lambda item: figure_text(item.other, item.unit)),
    Column("CHANGE", lambda item: "" if item.change is None else f"{item.change:+.1%}"),
)


def compare_plans(one: CapacityPlan, other: CapacityPlan) -> tuple[ComparisonItem, ...]:
    """Pair the figures that both plans have."""
    rows = [
        ("transactions", Unit.PER_S, one.transactions_per_s, other.transactions_per_s),
        ("markers", Unit.PER_S, one.markers_per_s, other.markers_per_s),
        ("EOS appends, all copies", Unit.PER_S, one.eos_appends_per_s, other.eos_appends_per_s),
        ("data appends, all copies", Unit.PER_S, one.data_appends_per_s, other.data_appends_per_s),
        ("visible after (P99), slowest chain", Unit.MILLISECONDS, one.visible_p99_ms, other.visible_p99_ms),
        ("brokers", Unit.COUNT, one.broker_count, other.broker_count),
    ]
    rows += [
        (f"{use.name} of a broker after loss", use.unit, use.used_after_loss, other.resource(use.name).used_after_loss)
        for use in one.resources
    ]
    values = {figure.name: figure.value for figure in other.figures}
    rows += [(f.name, f.unit, f.value, values[f.name]) for f in one.figures if f.name in values]
    return tuple(ComparisonItem(n, unit, a, b, b / a - 1 if a else None) for n, unit, a, b in rows)


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
