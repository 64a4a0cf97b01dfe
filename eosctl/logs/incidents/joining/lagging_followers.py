"""Join a follower whose requests to the leader failed with the shortage of in-sync replicas that it led to.

A follower that does not fetch for ``replica.lag.time.max.ms`` leaves the ISR. Its own log reports connections that
failed, and the leader's log the shrunken ISR and the writes that it refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, start_of, with_parts
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import time_text

BEFORE_MS: Final = 120_000
"""Maximum time from a follower's failed request to the shortage: two request timeouts and two lags of a replica."""
_UNREACHED: Final = "brokers_not_reached"
_SHORTAGE: Final = "not_enough_replicas"
_ISR: Final[tuple[EventField, EventField]] = ("isr_before", "isr_after")


def join_lagging_followers(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; failed requests of a follower that left the ISR are a part of the shortage after it."""
    shortages = [one for one in incidents if one.kind == _SHORTAGE]

    def home_of(one: Incident) -> Incident | None:
        node = _reporter_of(timeline, one) if one.kind == _UNREACHED else ""
        return next((home for home in shortages if node and _lost(timeline, home, node, one)), None)

    return absorb(incidents, home_of, lambda shortage, parts: _with_followers(timeline, shortage, parts))


def _reporter_of(timeline: LogTimeline, one: Incident) -> str:
    """Return the one broker that reports an incident; empty if a client does, or several brokers do."""
    applications = {event.application for event in timeline.evidence(one)}
    nodes = {timeline.node_of(name) if name in timeline.servers() else "" for name in applications}
    return nodes.pop() if len(nodes) == 1 else ""


def _lost(timeline: LogTimeline, shortage: Incident, node: str, one: Incident) -> bool:
    """Return whether a broker left the ISR of a shortage's partition after its requests had begun to fail."""
    if not one.t_start_ms <= shortage.t_end_ms or shortage.t_start_ms - one.t_end_ms > BEFORE_MS:
        return False
    partitions = {event.fields.get("partition", "") for event in timeline.evidence(shortage)} - {""}
    return any(
        event.fields.get("partition") in partitions and node in _nodes_that_left(event)
        for event in within(timeline.of("ISR_SHRINK"), one.t_start_ms, shortage.t_end_ms)
    )


def _nodes_that_left(event: LogEvent) -> set[str]:
    before, after = (event.fields.get(name, "").split(",") for name in _ISR)
    return set(before) - set(after)


def _with_followers(timeline: LogTimeline, shortage: Incident, parts: Sequence[Incident]) -> Incident:
    nodes = sorted({_reporter_of(timeline, one) for one in parts})
    text = (
        f"Before it, requests of {' and '.join(f'broker {node}' for node in nodes)} to other brokers failed from "
        f"{time_text(start_of(parts))} on, so its replicas left the ISR."
    )
    leader = _reporter_of(timeline, shortage)
    subject = {**shortage.subject, "broker": leader} if leader and not shortage.subject.get("brokers") else None
    return with_parts(shortage, parts, text, subject=subject)
