"""Describe groups of records that no incident explains: how bad they are, what they mean, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from eosctl.logs.incidents.remaining.record_groups import QUOTED_AT_EACH_END, RecordGroup
from eosctl.logs.incidents.timeline.evidence import short_text
from eosctl.model.log_event import LogEvent
from eosctl.model.log_evidence import LoggedRecord, UnexplainedRecords
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource

_MEANING: Final = "this error is not in the log catalog, so its effect on transactions was not judged"
_NEXT_STEP: Final = "Read the quoted records and the lines around them; find the cause in the program that wrote them."


class Advice(NamedTuple):
    """A category's entry in the catalog: its weight, its meaning, and the next step."""

    severity: Severity
    meaning: str
    next_step: str


def describe_groups(groups: Iterable[RecordGroup], advice: Mapping[str, Advice]) -> tuple[UnexplainedRecords, ...]:
    """Describe groups, the worst category first, then the earliest; errors outside the catalog come last.

    A group of errors of level FATAL or CRITICAL is a warning, any other is information.

    Args:
        groups: The groups, the earliest first.
        advice: The categories that call for action; all others are errors outside the catalog.
    """
    described = [_described(one, advice.get(one.key.category)) for one in groups]
    return tuple(sorted(described, key=lambda one: (one.category not in advice, one.severity.rank)))


def quote_record(event: LogEvent) -> LoggedRecord:
    """Return an event as evidence, with its message shortened."""
    return LoggedRecord(f"{event.file}:{event.line}", event.time_ms, event.category, short_text(event.message))


def _described(group: RecordGroup, advice: Advice | None) -> UnexplainedRecords:
    if advice is None:
        advice = Advice(Severity.WARNING if group.key.is_fatal else Severity.INFO, _MEANING, _NEXT_STEP)
        quoted = group.earliest[:QUOTED_AT_EACH_END]
        names: tuple[tuple[str, str], ...] = (("template", group.key.template),) if group.key.template else ()
    else:
        quoted = group.quoted
        names = tuple((name, values[0]) for name, values in group.names if len(values) == 1)
    return UnexplainedRecords(
        category=group.key.category,
        severity=advice.severity,
        resource=Resource(group.key.kind, group.key.name),
        record_count=group.record_count,
        first_ms=group.first_ms,
        last_ms=group.last_ms,
        records=tuple(
            LoggedRecord(f"{one.file}:{one.line}", one.time_ms, group.key.category, one.text) for one in quoted
        ),
        meaning=advice.meaning,
        next_step=advice.next_step,
        names=names,
    )
