"""Name the groups that rebalance without end because a partition of the offsets topic does not take their assignment.

The coordinator stores the assignment of each generation. If that write is refused, it answers the members with an
error, and they join again immediately.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import with_records
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, time_text

AROUND_MS: Final = 5_000
"""Maximum time between a refused write and the rebalance that leads to it, or follows from it."""
ROUNDS: Final = 3
"""Minimum number of rebalances of a group that are not those of a change of its members."""
_REBALANCES: Final[tuple[EventCategory, ...]] = ("REBALANCE_TRIGGER", "COORDINATOR_UNAVAILABLE")
"""Categories of a coordinator's rebalances: the reason in the record may be the error of the refused write."""
_PREPARED: Final = "Preparing to rebalance group "
_TOPIC: Final = "__consumer_offsets-"
_GENERATION: Final = re.compile(r"\bold generation (\d{1,10})\b")


def name_unstored_groups(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; that of a partition of the offsets topic has the groups that rebalance meanwhile."""
    for one in incidents:
        partition = one.subject.get("topic-partition", "")
        is_wanted = isinstance(partition, str) and partition.startswith(_TOPIC) and one.severity is not Severity.INFO
        yield _with_groups(timeline, one, str(partition)) if is_wanted else one


def _with_groups(timeline: LogTimeline, one: Incident, partition: str) -> Incident:
    logs = {timeline.log_of(event) for event in timeline.evidence(one) if event.application in timeline.servers()}
    near = within(timeline.server_events(*_REBALANCES), one.t_start_ms - AROUND_MS, one.t_end_ms + AROUND_MS)
    prepared = (event for event in near if _PREPARED in event.message and timeline.log_of(event) in logs)
    own = (event for event in prepared if _may_be_stored_in(event, partition))
    by_group = by_key((event.fields.get("group", ""), event) for event in own)
    found = {group: events for group, events in by_group.items() if group and len(events) >= ROUNDS}
    if not found:
        return one
    sentences = [_sentence(group, events) for group, events in sorted(found.items())]
    named = {"group": next(iter(found))} if len(found) == 1 else {"groups": tuple(sorted(found))}
    records = [event for events in found.values() for event in (events[0], events[-1])]
    return with_records(one, records, *sentences)._replace(subject={**one.subject, **named})


def _may_be_stored_in(event: LogEvent, partition: str) -> bool:
    """Return whether a rebalance is of a group in a partition; newer coordinators do not print the partition."""
    return f"({partition})" in event.message or f"({_TOPIC}" not in event.message


def _sentence(group: str, events: Sequence[LogEvent]) -> str:
    numbers = [int(found[1]) for event in events if (found := _GENERATION.search(event.message))]
    generations = f", generations {min(numbers)} to {max(numbers) + 1}" if numbers else ""
    return (
        f"Effect: the assignment of group {group} cannot be stored there, so it rebalances again and again "
        f"({count_text(len(events), 'time')} until {time_text(time_of(events[-1]))}{generations}), and its members "
        "read nothing."
    )
