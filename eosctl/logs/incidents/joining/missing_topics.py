"""Fold clients that wait for a coordinator into the internal topic that cannot be created.

The first client creates ``__transaction_state`` or ``__consumer_offsets``. If the cluster has fewer brokers than the
replicas that it needs, each attempt fails in the log of a server, and the client only reports a timeout.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, effect, with_parts
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.evidence import evidence_of, joined_evidence
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import is_thrown_below, time_of
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.text import time_text

LATE_MS: Final = 300_000
"""Maximum time from an attempt to create the topic until a client gives up waiting for it."""
BEFORE_MS: Final = 60_000
"""Maximum time from a client's start to the first attempt; a throwable without a time has that of the record before."""
ZONES_MS: Final = 24 * 3_600_000
"""Maximum distance of two zones, and the day that a stamp without a date may be off."""
HALF_HOUR_MS: Final = 1_800_000
_NOT_CREATED: Final = "internal_topic_not_created"
_NOT_REACHED: Final = "brokers-not-reached"
_WAITING: Final[Mapping[str, frozenset[str]]] = {
    "__consumer_offsets": kinds_with("needs_group_coordinator"),
    "__transaction_state": kinds_with("needs_transaction_coordinator"),
}
"""Kinds of faults of clients that need the coordinator, by the topic that the coordinator needs."""
LISTED: Final = 40
"""Maximum number of names of one kind in a subject."""
_OWNERS: Final[Mapping[str, tuple[EventField, str, str]]] = {
    "__consumer_offsets": ("group", "group", "group"),
    "__transaction_state": ("transactional_id", "transactional.id", "transactional id"),
}
"""What a coordinator serves, by its topic: the field of records, the name in subjects, and the noun."""


def join_missing_topics(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; clients that wait for a coordinator are a part of the missing topic of its log."""
    missing = [one for one in incidents if one.kind == _NOT_CREATED and one.subject.get("topic") in _WAITING]
    whole = absorb(
        incidents,
        lambda one: next((cause for cause in missing if _waits_for(timeline, one, cause)), None),
        lambda cause, waiting: _with_clients(timeline, cause, waiting),
    )
    for one in whole:
        is_missing = one.kind == _NOT_CREATED and one.subject.get("topic") in _WAITING
        yield _with_refused(timeline, one) if is_missing else one


def _with_refused(timeline: LogTimeline, cause: Incident) -> Incident:
    """Return a missing topic with the groups or ids whose clients were answered that they have no coordinator."""
    field, name, noun = _OWNERS[str(cause.subject["topic"])]
    answers = within(
        timeline.client_events("COORDINATOR_UNAVAILABLE"), cause.t_start_ms - BEFORE_MS, cause.t_end_ms + LATE_MS
    )
    named = {owner: event for event in reversed(answers) if (owner := event.fields.get(field))}
    owners = tuple(sorted(named))[:LISTED]
    if not owners or cause.subject.get(name) or cause.subject.get(f"{name}s"):
        return cause
    subject = {name: owners[0]} if len(owners) == 1 else {f"{name}s": owners}
    return cause._replace(
        subject={**cause.subject, **subject},
        evidence=joined_evidence(cause.evidence, evidence_of(named.values())),
        explanation=f"{cause.explanation} Clients of {noun} {', '.join(owners[:3])} get no coordinator.",
    )


def _waits_for(timeline: LogTimeline, one: Incident, cause: Incident) -> bool:
    """Return whether a client that reached its brokers waited while the topic could not be created."""
    if one.kind not in _WAITING[str(cause.subject["topic"])] or one.root_cause == _NOT_REACHED:
        return False
    servers = timeline.servers()
    if any(event.application in servers for event in timeline.evidence(one)):
        return False
    return any(
        one.t_start_ms + by_ms <= cause.t_end_ms + LATE_MS and one.t_end_ms + by_ms >= cause.t_start_ms - BEFORE_MS
        for by_ms in _zones_between(timeline, one, cause)
    )


def _zones_between(timeline: LogTimeline, one: Incident, cause: Incident) -> Sequence[int]:
    """Return by how much the stamps of two programs may differ, ms: by zones, if one of them prints none.

    A container prints UTC, and the test that started it the time of its machine.
    """
    is_open = any(event.time_assumed for incident in (one, cause) for event in timeline.evidence(incident))
    steps = ZONES_MS // HALF_HOUR_MS
    return (0, *(step * HALF_HOUR_MS for step in range(-steps, steps + 1))) if is_open else (0,)


def _with_clients(timeline: LogTimeline, cause: Incident, waiting: Sequence[Incident]) -> Incident:
    ids = sorted({str(name) for one in waiting if (name := one.subject.get("transactional.id"))})
    who = ", ".join(ids[:3]) or "the client"
    named: Mapping[str, str | tuple[str, ...]] = {"transactional.ids": tuple(ids)} if len(ids) > 1 else {}
    if len(ids) == 1:
        named = {"transactional.id": ids[0]}
    ended = max((event for one in waiting for event in timeline.evidence(one)), key=time_of)
    # The clocks of a server and of a client in another zone are not one.
    is_near = all(abs(one.t_start_ms - cause.t_start_ms) < HALF_HOUR_MS for one in waiting)
    at = f" at {time_text(max(one.t_end_ms for one in waiting))}" if is_near and not is_thrown_below(ended) else ""
    text = effect(waiting[0].kind, f"{who} waited for the coordinator, and gave up{at}.")
    whole = with_parts(cause, waiting, text, subject={**cause.subject, **named})
    return whole if is_near else whole._replace(t_start_ms=cause.t_start_ms, t_end_ms=cause.t_end_ms)
