"""Critical records that no verdict speaks of: a fault that eosctl reads and has no rule to judge yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.log_findings import UnjudgedRecords


def find_unjudged(
    events: Iterable[LogEvent], incidents: Sequence[Incident], critical: Set[str]
) -> tuple[UnjudgedRecords, ...]:
    """Find the critical categories of which no record is evidence of an incident.

    An incident rests on some records of its fault, so one of them speaks for all of its category.

    Args:
        events: The events of a scan.
        incidents: What was judged from them.
        critical: The categories that are critical by themselves.

    Returns:
        One for each category, in the order of their first records.
    """
    found: dict[str, list[LogEvent]] = {}
    for event in events:
        if event.category in critical:
            found.setdefault(event.category, []).append(event)
    evidence = {(place.file, place.offset) for incident in incidents for place in incident.evidence}
    return tuple(
        UnjudgedRecords(category, len(records), records[0].file, records[0].line)
        for category, records in found.items()
        if not any((record.file, record.offset) in evidence for record in records)
    )
