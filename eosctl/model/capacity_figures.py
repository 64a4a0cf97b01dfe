"""Every figure of a capacity plan in one list, with its place, unit, formula, and grade."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from eosctl.model.capacity_plan import ApplicationPlan, CapacityPlan, Grade, InstancePlan, TopicPlan, Unit


class PlacedFigure(msgspec.Struct, frozen=True):
    """A figure and its place: `section` is cluster, broker, topic, application, or instance.

    `subject` is the resource, topic, or application; empty for the cluster. `value` is None for an unknown limit.
    `guesses` are the inputs that are not stated, those that move the figure most first.
    """

    section: str
    subject: str
    name: str
    value: float | None
    unit: Unit
    formula: str
    grade: Grade
    guesses: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Return the figure with its place, for tables that have figures of several sections."""
        if self.section == "cluster":
            return self.name
        if self.section == "broker":
            return f"{self.subject} of a broker{_SUFFIXES[self.name]}"
        return f"{_PLACES.get(self.section, '')}{self.subject}: {self.name}"


_NAMES: Final = {
    "visible_p50_ms": "visible after (P50)",
    "visible_p99_ms": "visible after (P99)",
    "off_heap_bytes": "RocksDB memory",
    "wiped_restore_ms": "restore without transactional stores",
    "kept_restore_ms": "restore with transactional stores",
    "uncommitted_bytes": "buffers of transactional stores",
}
_PLACES: Final = {"topic": "topic ", "instance": "an instance of "}
_SUFFIXES: Final = {"used": "", "used after loss": " after loss", "planned": ", planned limit"}
#: Resources whose planned limit is not a share of a stated one.
_RULES_OF_THUMB: Final = frozenset({"heap for EOS state", "replicas"})
_Known = tuple[str, Unit, str, Grade]
# The fields of topics, applications, and instances, with the formulas of docs/capacity/formulas.md and their grades.
_TOPIC: Final[tuple[_Known, ...]] = (
    ("written", Unit.BYTES_PER_S, "F1", Grade.EXACT),
    ("read", Unit.BYTES_PER_S, "F4", Grade.ASSUMED),
    ("data_batches_per_s", Unit.PER_S, "F1", Grade.EXACT),
    ("batch_records", Unit.COUNT, "F1", Grade.EXACT),
    ("markers_per_s", Unit.PER_S, "F8", Grade.EXACT),
    ("stored_bytes", Unit.BYTES, "F5, F6", Grade.ASSUMED),
    ("remote_bytes", Unit.BYTES, "F7", Grade.ASSUMED),
)
_APPLICATION: Final[tuple[_Known, ...]] = (
    ("transactions_per_s", Unit.PER_S, "F8", Grade.EXACT),
    ("data_partitions", Unit.COUNT, "F8", Grade.EXACT),
    ("markers_per_s", Unit.PER_S, "F8", Grade.EXACT),
    ("transaction_log_appends_per_s", Unit.PER_S, "F9", Grade.EXACT),
    ("transaction_log_bytes_per_s", Unit.BYTES_PER_S, "F9", Grade.ASSUMED),
    ("offset_bytes_per_s", Unit.BYTES_PER_S, "F10", Grade.EXACT),
    ("producer_entries", Unit.COUNT, "F17", Grade.EXACT),
    ("transactional_ids", Unit.COUNT, "F18", Grade.EXACT),
    ("visible_p50_ms", Unit.MILLISECONDS, "F13", Grade.MEASURED),
    ("visible_p99_ms", Unit.MILLISECONDS, "F13", Grade.MEASURED),
    ("blocked_after_crash_ms", Unit.MILLISECONDS, "F14", Grade.ASSUMED),
    ("throughput_share", Unit.SHARE, "F34", Grade.MEASURED),
    ("restore_ms", Unit.MILLISECONDS, "F21", Grade.MEASURED),
)
_INSTANCE: Final[tuple[_Known, ...]] = (
    ("instances", Unit.COUNT, "F23", Grade.EXACT),
    ("threads", Unit.COUNT, "F23", Grade.EXACT),
    ("tasks", Unit.COUNT, "F23", Grade.ASSUMED),
    ("cores", Unit.COUNT, "F23", Grade.ASSUMED),
    ("heap_bytes", Unit.BYTES, "F20", Grade.ASSUMED),
    ("off_heap_bytes", Unit.BYTES, "F20", Grade.ASSUMED),
    ("disk_bytes", Unit.BYTES, "F20", Grade.ASSUMED),
    ("takeover_ms", Unit.MILLISECONDS, "F22", Grade.MEASURED),
    ("wiped_restore_ms", Unit.MILLISECONDS, "F21", Grade.MEASURED),
    ("kept_restore_ms", Unit.MILLISECONDS, "F21", Grade.MEASURED),
    ("uncommitted_bytes", Unit.BYTES, "F20", Grade.ASSUMED),
)


def list_figures(plan: CapacityPlan) -> tuple[PlacedFigure, ...]:
    """Return every figure of a plan; values are in the unit's base, without rounding."""
    inputs = {(found.section, found.subject, found.name): found.inputs for found in plan.guesses}
    return tuple(_graded(figure, inputs) for figure in _figures(plan))


def _graded(figure: PlacedFigure, inputs: Mapping[tuple[str, str, str], tuple[str, ...]]) -> PlacedFigure:
    guesses = inputs.get((figure.section, figure.subject, figure.name), ())
    return msgspec.structs.replace(figure, grade=Grade.ASSUMED, guesses=guesses) if guesses else figure


def _figures(plan: CapacityPlan) -> Iterator[PlacedFigure]:
    yield from _totals(plan)
    for figure in plan.figures:
        yield _place("cluster", "", figure.name, figure.value, figure.unit, figure.formula, figure.grade)
    for use in plan.resources:
        limit = Grade.ASSUMED if use.name in _RULES_OF_THUMB else Grade.EXACT
        for name, value, grade in (
            ("used", use.used, use.grade),
            ("used after loss", use.used_after_loss, use.grade),
            ("planned", use.planned, limit),
        ):
            yield _place("broker", use.name, name, value, use.unit, use.formula, grade)
    for topic in plan.topics:
        yield from _fields("topic", topic.name, topic, _TOPIC)
    for application in plan.applications:
        yield from _fields("application", application.name, application, _APPLICATION)
        if application.instance is not None:
            yield from _fields("instance", application.name, application.instance, _INSTANCE)


def _place(
    section: str, subject: str, name: str, value: float | None, unit: Unit, formula: str, grade: Grade
) -> PlacedFigure:
    return PlacedFigure(
        section=section, subject=subject, name=name, value=value, unit=unit, formula=formula, grade=grade
    )


def _totals(plan: CapacityPlan) -> Iterator[PlacedFigure]:
    needed = plan.broker_count_needed
    for name, value, unit, formula, grade in (
        ("transactions", plan.transactions_per_s, Unit.PER_S, "F8", Grade.EXACT),
        ("markers", plan.markers_per_s, Unit.PER_S, "F8", Grade.EXACT),
        ("EOS appends, all copies", plan.eos_appends_per_s, Unit.PER_S, "F8, F9", Grade.EXACT),
        ("data appends, all copies", plan.data_appends_per_s, Unit.PER_S, "F1", Grade.EXACT),
        ("visible after (P99), slowest chain", plan.visible_p99_ms, Unit.MILLISECONDS, "F13", Grade.MEASURED),
        ("brokers", float(plan.broker_count), Unit.COUNT, "stated", Grade.EXACT),
        ("brokers needed", None if needed is None else float(needed), Unit.COUNT, "resources", Grade.ASSUMED),
    ):
        yield _place("cluster", "", name, value, unit, formula, grade)


def _fields(
    section: str, subject: str, holder: TopicPlan | ApplicationPlan | InstancePlan, known: Iterable[_Known]
) -> Iterator[PlacedFigure]:
    for field, unit, formula, grade in known:
        plain = field.removesuffix("_ms").removesuffix("_bytes").removesuffix("_per_s").replace("_", " ")
        name, value = _NAMES.get(field, plain), float(getattr(holder, field))
        yield _place(section, subject, name, value, unit, formula, grade)
