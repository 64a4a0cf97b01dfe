"""Join what clients report while a controller has fenced their broker with the fencing.

A fenced broker leads no partition and coordinates no group. Its clients report timeouts and lost sessions, which do
not name the reason: only the controller's log has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, effect, with_parts, worst_of
from eosctl.logs.incidents.joining.broker_faults import nodes_in
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.text import time_text

BEFORE_MS: Final = 5_000
LATE_MS: Final = 60_000
"""Maximum time from the return of a broker to the last timeout of a request that it did not answer."""
_FENCED: Final = "broker_fenced"
_FELT: Final = kinds_with("waits") | {"member_evicted"}


def join_fenced_brokers(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; timeouts and evictions of the clients of a fenced broker are a part of its fencing."""
    fencings = [one for one in incidents if one.kind == _FENCED]

    def home_of(one: Incident) -> Incident | None:
        if one.kind not in _FELT or not fencings:
            return None
        near = (
            fencing
            for fencing in fencings
            if fencing.t_start_ms - BEFORE_MS <= one.t_start_ms <= _end_of(timeline, fencing) + LATE_MS
        )
        return next((fencing for fencing in near if _may_be_felt(timeline, one, str(fencing.subject["broker"]))), None)

    return absorb(sorted(incidents, key=lambda one: one.t_start_ms), home_of, _with_effects)


def _end_of(timeline: LogTimeline, fencing: Incident) -> int:
    """Return when the broker was unfenced; later records of its controller are of another overload."""
    back = (event.time_ms for event in timeline.evidence(fencing) if event.category == "BROKER_UNFENCED")
    return max((moment for moment in back if moment is not None), default=fencing.t_end_ms)


def _may_be_felt(timeline: LogTimeline, one: Incident, broker: str) -> bool:
    """Return whether clients report an incident, and name a broker, or have no other than this one."""
    events = timeline.evidence(one)
    servers = timeline.servers()
    if not events or any(event.application in servers for event in events):
        return False
    named = {str(one.subject["coordinator"])} if "coordinator" in one.subject else set()
    named |= set().union(*(nodes_in(event.message) for event in events))
    return (named or {timeline.node_of(name) for name in servers} - {""}) == {broker}


def _with_effects(fencing: Incident, parts: Sequence[Incident]) -> Incident:
    first = {one.kind: one for one in sorted(parts, key=lambda one: -one.t_start_ms)}
    sentences = [
        effect(kind, f"at {time_text(one.t_start_ms)}: {one.explanation.partition('. ')[0].removesuffix('.')}.")
        for kind, one in sorted(first.items(), key=lambda pair: pair[1].t_start_ms)
    ]
    subject = dict(fencing.subject)
    for one in parts:
        for name, value in one.subject.items():
            if name not in ("broker", "coordinator", "server", "servers"):
                subject.setdefault(name, value)
    whole = with_parts(fencing, parts, *sentences, subject=subject)
    return whole._replace(severity=worst_of((fencing, *parts)))
