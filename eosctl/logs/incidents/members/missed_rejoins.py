"""Detect members that know of a rebalance from their heartbeats and do not rejoin: their group stands still.

The Java client logs at each heartbeat that its group rebalances, until it polls and joins again. The coordinator waits
for it as long as the rebalance timeout, which is max.poll.interval.ms, and then removes it (``GroupCoordinator``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text, time_text

LEAST: Final = 3
"""Minimum number of heartbeats that show a member which does not poll."""
LASTING_MS: Final = 60_000
"""A member may need a minute to finish its records before it polls."""
REMOVED_MS: Final = 10_000
"""Minimum time where the coordinator removed the member in the end: rebalance timeouts are rarely shorter."""
REFUSED_MS: Final = 10_000
"""Maximum time from the last such heartbeat to the one that the coordinator refuses."""
_KNOWS: Final = re.compile(r"group is already rebalancing|\bbecause it is rebalancing\b")
"""The words of the Java client, and of aiokafka and kafka-python."""


def find_missed_rejoins(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the members that did not rejoin a rebalance until they were removed, or until their log ends."""
    triggers = timeline.client_events("REBALANCE_TRIGGER")
    knowing = [one for one in triggers if _KNOWS.search(f"{one.fields.get('reason', '')} {one.message}")]
    if len(knowing) < LEAST:
        return
    keyed = by_key((f"{timeline.log_of(one)}\0{_member_of(one)}", one) for one in knowing)
    for own in keyed.values():
        for span in _spans(timeline, own):
            if found := _judged(timeline, span):
                yield found


def _member_of(event: LogEvent) -> str:
    return event.fields.get("client_id", "") or event.fields.get("group", "")


def _spans(timeline: LogTimeline, events: Sequence[LogEvent]) -> Iterator[list[LogEvent]]:
    """Split the heartbeats of a member at each rejoin, and after each refusal."""
    current: list[LogEvent] = []
    for event in events:
        if current and timeline.log_between(
            event, time_of(current[-1]), time_of(event), ("REBALANCE_DONE", "GROUP_FENCED")
        ):
            yield current
            current = []
        current.append(event)
    if current:
        yield current


def _judged(timeline: LogTimeline, span: Sequence[LogEvent]) -> Incident | None:
    first, last = span[0], span[-1]
    lasted_ms = time_of(last) - time_of(first)
    if len(span) < LEAST or lasted_ms < REMOVED_MS:
        return None
    end_ms = time_of(last) + REFUSED_MS
    if timeline.log_between(first, time_of(first), end_ms, ("POLL_TIMEOUT", "REBALANCE_DONE", "CLIENT_STOP")):
        return None
    refused = [
        event
        for event in timeline.log_between(last, time_of(last), end_ms, ("GROUP_FENCED",))
        if _member_of(event) in {"", _member_of(first)}
    ]
    is_open = timeline.log_end_ms(last) - time_of(last) <= REFUSED_MS
    if not refused and (not is_open or lasted_ms < LASTING_MS):
        return None
    group = timeline.group_of(first)
    end = (
        f"the coordinator removed it at {time_text(time_of(refused[0]))}, because it had not rejoined within its "
        "rebalance timeout (max.poll.interval.ms)"
        if refused
        else "its log ends before it rejoins"
    )
    return incident(
        "group_not_stable",
        "member-does-not-rejoin",
        {"group": group, "client.id": first.fields.get("client_id", ""), "application": first.application},
        [*span, *refused],
        f"{group or 'The group'} has rebalanced since {time_text(time_of(first))} without an end. A member learned "
        f"that from its heartbeats ({count_text(len(span), 'time')} in {duration_text(lasted_ms)}) and did not rejoin; "
        f"{end}. Its heartbeats ran, so its poll loop was busy or blocked.",
        "Find what the member's handler waits for in this time: a thread dump shows it. Raising session.timeout.ms "
        "does not help; process fewer records per poll, or hand them to another thread.",
        severity=Severity.ERROR if refused else Severity.WARNING,
        confidence=0.75 if refused else 0.6,
    )
