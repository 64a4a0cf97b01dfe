"""Group records that no incident explains by category and subject, so that each group is one action."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from eosctl.logs.incidents.quotes import quote_record
from eosctl.model.event_names import EventField
from eosctl.model.log_event import LogEvent
from eosctl.model.log_evidence import UnexplainedRecords
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource

QUOTED_AT_EACH_END: Final = 3
_SUBJECTS: Final[tuple[tuple[EventField, str], ...]] = (
    ("transactional_id", "transaction"),
    ("coordinator_partition", "partition"),
    ("group", "group"),
    ("partition", "partition"),
    ("application_id", "application"),
    ("topic", "topic"),
    ("log_dir", "log directory"),
    ("broker", "broker"),
)
_NAMED: Final = ("transactional_id", "producer_id", "group", "partition", "coordinator_partition", "broker", "log_dir")


class Advice(NamedTuple):
    """A category's entry in the catalog: its weight, its meaning, and the next step."""

    severity: Severity
    meaning: str
    next_step: str


def group_records(events: Iterable[LogEvent], advice: Mapping[str, Advice]) -> tuple[UnexplainedRecords, ...]:
    """Group records by category and subject, the worst category first, then the earliest.

    Args:
        events: Records whose categories are all in ``advice``.
        advice: The categories that call for action.
    """
    groups: dict[tuple[str, Resource], list[LogEvent]] = {}
    for event in events:
        groups.setdefault((event.category, subject_of(event)), []).append(event)
    found = [_records(resource, records, advice[category]) for (category, resource), records in groups.items()]
    return tuple(sorted(found, key=lambda one: (one.severity.rank, one.first_ms or 0)))


def subject_of(event: LogEvent) -> Resource:
    """Return the subject of a record: the first resource that it names, else the program that wrote it."""
    for field, kind in _SUBJECTS:
        value = event.fields.get(field, "")
        # The coordinator's record has only the number of its partition.
        if value and not (field == "coordinator_partition" and value.isdigit()):
            return Resource(kind, value)
    return Resource("application", event.application)


def _records(resource: Resource, events: Sequence[LogEvent], advice: Advice) -> UnexplainedRecords:
    times = [event.time_ms for event in events if event.time_ms is not None]
    ordered = sorted(events, key=lambda event: event.time_ms or 0)
    if len(ordered) > 2 * QUOTED_AT_EACH_END:
        ordered = [*ordered[:QUOTED_AT_EACH_END], *ordered[-QUOTED_AT_EACH_END:]]
    return UnexplainedRecords(
        category=events[0].category,
        severity=advice.severity,
        resource=resource,
        record_count=len(events),
        first_ms=min(times, default=None),
        last_ms=max(times, default=None),
        records=tuple(quote_record(event) for event in ordered),
        meaning=advice.meaning,
        next_step=advice.next_step,
        names=tuple((name, values[0]) for name in _NAMED if len(values := _values(events, name)) == 1),
    )


def _values(events: Iterable[LogEvent], name: EventField) -> list[str]:
    return sorted({event.fields[name] for event in events if event.fields.get(name)})
