"""The part of a plan that its ranges decide: the sizing plan, and each affected figure from low to high."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.model.capacity_plan import Advice, Unit
from eosctl.model.capacity_ranges import FigureRange, PlanRanges
from eosctl.render.capacity.figure_text import figure_text
from eosctl.text import count_text

RANGE_HEADER: Final = ("FIGURE", "LOW", "LIKELY", "HIGH", "FORMULA", "GRADE")
#: From ten times a limit on, percentages are hard to read.
MOST_IN_PERCENT: Final = 10
INPUT_HEADER: Final = ("INPUT", "LOW", "LIKELY", "HIGH", "SIZED-BY")


def sizing_text(ranges: PlanRanges) -> str:
    """Say in one sentence by which values a plan is sized, and whether it fits."""
    values = ", ".join(f"{name} = {value}" for name, value in ranges.sized_by)
    rule = f"Sized by the least favorable of {count_text(ranges.plan_count, 'plan')} within the ranges ({values})"
    if ranges.fits is None:
        return f"{rule}: no limit of the brokers is stated, so there is no verdict."
    use = use_text(ranges.bottleneck, ranges.utilisation)
    if ranges.fits:
        return f"{rule}: it fits; {use}."
    exceeded = [use] if ranges.utilisation > 1 else []
    return f"{rule}: it does not fit; {'; '.join([*exceeded, *ranges.failures])}; {remedy_text(ranges.advice)}."


def use_text(name: str, utilisation: float) -> str:
    """Say how much of a planned limit a resource uses."""
    share = f"{utilisation:.0%} of" if utilisation < MOST_IN_PERCENT else f"{utilisation:,.0f} times"
    return f"{name} {'are' if name.endswith('s') else 'is'} {share} what is planned"


def remedy_text(advice: Sequence[Advice]) -> str:
    """Say what helps a plan that does not fit: more brokers where nothing else does, else what is recommended."""
    urgent = [one for one in advice if one.urgent]
    if [one.setting for one in urgent] == ["brokers"] and urgent[0].value.isdecimal():
        return f"{count_text(int(urgent[0].value), 'broker')} would do"
    return "see what is recommended" if urgent else "no number of brokers will do"


def input_rows(ranges: PlanRanges) -> list[tuple[str, ...]]:
    """Return a row for each range of the file."""
    chosen = dict(ranges.sized_by)
    return [(one.parameter, one.low, one.likely, one.high, chosen[one.parameter]) for one in ranges.inputs]


def range_rows(ranges: PlanRanges, *, wide: bool) -> list[tuple[str, ...]]:
    """Return a row for each affected figure; if not wide, for those of the cluster and its resources after a loss."""
    return [
        (
            figure.title,
            *(_value(value, figure.unit) for value in (figure.low, figure.likely, figure.high)),
            figure.formula,
            figure.grade.value,
        )
        for figure in ranges.figures
        if wide or _is_first(figure)
    ]


def range_notes(ranges: PlanRanges, *, wide: bool) -> Iterator[str]:
    """Yield how many figures the table does not show, and what the other tables rest on."""
    hidden = sum(not _is_first(figure) for figure in ranges.figures)
    if hidden and not wide:
        yield f"{hidden} more figures of topics, applications, and instances differ: -o wide lists all."
    yield "All other tables have the likely values."


def _is_first(figure: FigureRange) -> bool:
    return figure.section == "cluster" or (figure.section == "broker" and figure.name == "used after loss")


def _value(value: float | None, unit: Unit) -> str:
    return "unknown" if value is None else figure_text(value, unit)
