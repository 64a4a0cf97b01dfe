"""Every figure of a plan as a row, for spreadsheets: what it is of, its value, its formula, and how far to trust it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eosctl.model.capacity_plan import ApplicationPlan, CapacityReport, Grade, InstancePlan, TopicPlan, Unit
from eosctl.model.prices import Costs

HEADER: Final = ("workload", "section", "subject", "figure", "value", "unit", "formula", "grade")

_Known = tuple[str, Unit, str, Grade]
# The fields of topics, applications, and instances, with the formulas of docs/capacity/formulas.md.
_TOPIC: Final[tuple[_Known, ...]] = (
    ("written", Unit.BYTES_PER_S, "F1", Grade.ASSUMED),
    ("read", Unit.BYTES_PER_S, "F4", Grade.ASSUMED),
    ("data_batches_per_s", Unit.PER_S, "F1", Grade.ASSUMED),
    ("batch_records", Unit.COUNT, "F1", Grade.ASSUMED),
    ("markers_per_s", Unit.PER_S, "F8", Grade.ASSUMED),
    ("stored_bytes", Unit.BYTES, "F5, F6", Grade.ASSUMED),
    ("remote_bytes", Unit.BYTES, "F7", Grade.ASSUMED),
)
_APPLICATION: Final[tuple[_Known, ...]] = (
    ("transactions_per_s", Unit.PER_S, "F8", Grade.ASSUMED),
    ("data_partitions", Unit.COUNT, "F8", Grade.ASSUMED),
    ("markers_per_s", Unit.PER_S, "F8", Grade.ASSUMED),
    ("transaction_log_appends_per_s", Unit.PER_S, "F9", Grade.ASSUMED),
    ("transaction_log_bytes_per_s", Unit.BYTES_PER_S, "F9", Grade.ASSUMED),
    ("offset_bytes_per_s", Unit.BYTES_PER_S, "F10", Grade.EXACT),
    ("producer_entries", Unit.COUNT, "F17", Grade.EXACT),
    ("transactional_ids", Unit.COUNT, "F18", Grade.EXACT),
    ("visible_p50_ms", Unit.MILLISECONDS, "F13", Grade.MEASURED),
    ("visible_p99_ms", Unit.MILLISECONDS, "F13", Grade.MEASURED),
    ("blocked_after_crash_ms", Unit.MILLISECONDS, "F14", Grade.ASSUMED),
    ("throughput_share", Unit.COUNT, "F34", Grade.MEASURED),
    ("restore_ms", Unit.MILLISECONDS, "F21", Grade.ASSUMED),
)
_INSTANCE: Final[tuple[_Known, ...]] = (
    ("instances", Unit.COUNT, "F23", Grade.ASSUMED),
    ("threads", Unit.COUNT, "F23", Grade.EXACT),
    ("tasks", Unit.COUNT, "F23", Grade.EXACT),
    ("heap_bytes", Unit.BYTES, "F20", Grade.ASSUMED),
    ("off_heap_bytes", Unit.BYTES, "F20", Grade.ASSUMED),
    ("disk_bytes", Unit.BYTES, "F20", Grade.ASSUMED),
    ("takeover_ms", Unit.MILLISECONDS, "F22", Grade.ASSUMED),
    ("kept_restore_ms", Unit.MILLISECONDS, "F21", Grade.MEASURED),
    ("uncommitted_bytes", Unit.BYTES, "F20", Grade.ASSUMED),
)


def figure_rows(items: Iterable[CapacityReport]) -> Iterator[tuple[str, ...]]:
    """Return the rows of plans, in the columns of `HEADER`; values are in the unit's base, without rounding."""
    for item in items:
        for row in _rows(item):
            yield (item.plan.workload, *row)


def _rows(item: CapacityReport) -> Iterator[tuple[str, ...]]:
    plan = item.plan
    for figure in plan.figures:
        yield ("cluster", "", figure.name, repr(figure.value), figure.unit.value, figure.formula, figure.grade.value)
    for use in plan.resources:
        for name, value in (("used", use.used), ("used after loss", use.used_after_loss), ("planned", use.planned)):
            shown = "" if value is None else repr(float(value))
            yield ("broker", use.name, name, shown, use.unit.value, use.formula, use.grade.value)
    for topic in plan.topics:
        yield from _fields("topic", topic.name, topic, _TOPIC)
    for application in plan.applications:
        yield from _fields("application", application.name, application, _APPLICATION)
        if application.instance is not None:
            yield from _fields("instance", application.name, application.instance, _INSTANCE)
    if item.costs is not None:
        yield from _costs(item.costs)


def _fields(
    section: str, subject: str, holder: TopicPlan | ApplicationPlan | InstancePlan, known: Iterable[_Known]
) -> Iterator[tuple[str, ...]]:
    for field, unit, formula, grade in known:
        value = repr(float(getattr(holder, field)))
        name = field.removesuffix("_ms").removesuffix("_bytes").removesuffix("_per_s").replace("_", " ")
        yield (section, subject, name, value, unit.value, formula, grade.value)


def _costs(costs: Costs) -> Iterator[tuple[str, ...]]:
    for cost in costs.items:
        for name, count in (("with transactions", cost.exactly_once), ("without", cost.at_least_once)):
            amount = repr(cost.price * count)
            yield ("cost of a month", cost.name, name, amount, costs.currency, "costs", Grade.ASSUMED.value)
