"""Every figure of a plan as a row, for spreadsheets: what it is of, its value, its formula, and how far to trust it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eosctl.model.capacity_figures import list_figures
from eosctl.model.capacity_plan import Grade, Unit, Variant
from eosctl.model.capacity_report import CapacityReport
from eosctl.model.capacity_sensitivity import Sensitivity
from eosctl.model.prices import Costs

HEADER: Final = ("workload", "section", "subject", "figure", "value", "unit", "formula", "grade", "not_stated")

_ASSUMED: Final = Grade.ASSUMED.value
_VARIANT: Final = (
    ("transactions_per_s", "transactions", Unit.PER_S),
    ("markers_per_s", "markers", Unit.PER_S),
    ("eos_appends_per_s", "EOS appends, all copies", Unit.PER_S),
    ("eos_append_share", "share of all appends", Unit.SHARE),
    ("visible_p99_ms", "visible after (P99), slowest chain", Unit.MILLISECONDS),
    ("network_out", "network out of a broker after loss", Unit.BYTES_PER_S),
    ("disk_bytes", "stored, all copies", Unit.BYTES),
    ("broker_count", "brokers needed", Unit.COUNT),
)
_VARIANT_INSTANCES: Final = (
    ("instance_count", "instances", Unit.COUNT),
    ("core_count", "cores", Unit.COUNT),
    ("heap_bytes", "heap of an instance", Unit.BYTES),
    ("instance_disk_bytes", "disk of an instance", Unit.BYTES),
    ("restore_ms", "restore after a kill", Unit.MILLISECONDS),
)


def figure_rows(items: Iterable[CapacityReport]) -> Iterator[tuple[str, ...]]:
    """Return the rows of plans, in the columns of `HEADER`; values are in the unit's base, without rounding."""
    for item in items:
        for row in _rows(item):
            yield (item.plan.workload, *row)


def _rows(item: CapacityReport) -> Iterator[tuple[str, ...]]:
    for figure in list_figures(item.plan):
        yield (
            figure.section,
            figure.subject,
            figure.name,
            _number(figure.value),
            figure.unit.value,
            figure.formula,
            figure.grade.value,
            " ".join(figure.guesses),
        )
    for one in item.ranges.figures if item.ranges else ():
        for bound, value in (("low", one.low), ("likely", one.likely), ("high", one.high)):
            place = (one.section, one.subject, f"{one.name}, {bound}")
            yield (*place, _number(value), one.unit.value, one.formula, one.grade.value, "")
    for variant in item.what_if:
        yield from _what_if(variant)
    for row in item.sensitivity:
        yield from _sensitivity(row)
    if item.costs is not None:
        yield from _costs(item.costs)


def _number(value: float | None) -> str:
    return "" if value is None else repr(value)


def _what_if(variant: Variant) -> Iterator[tuple[str, ...]]:
    """Yield a row for each figure of a variant; a refused one has its reason in place of a figure."""
    place = ("what if", f"{variant.parameter}={variant.value}")
    if variant.refusal:
        yield (*place, f"refused: {variant.refusal}", "", "", "", "", "")
        return
    instances = _VARIANT_INSTANCES if variant.instance_count else ()
    for field, name, unit in (*_VARIANT, *instances):
        value = getattr(variant, field)
        yield (*place, name, "" if value is None else repr(float(value)), unit.value, "what if", _ASSUMED, "")


def _sensitivity(row: Sensitivity) -> Iterator[tuple[str, ...]]:
    """Yield a row for each value tried and each result that it moves."""
    for moved in row.movements:
        for text, value in ((row.half, moved.at_half), (row.double, moved.at_double)):
            if text:
                place = ("sensitivity", f"{row.parameter}={text}", moved.result)
                yield (*place, _number(value), moved.unit.value, "sensitivity", _ASSUMED, "")


def _costs(costs: Costs) -> Iterator[tuple[str, ...]]:
    for cost in costs.items:
        for name, count in (("with transactions", cost.exactly_once), ("without", cost.at_least_once)):
            amount = repr(cost.price * count)
            yield ("cost of a month", cost.name, name, amount, costs.currency, "costs", _ASSUMED, "")
