"""Fold servers that waited in vain for a controller, or for ZooKeeper, into the fault of what they waited for.

A broker starts only once the active controller acknowledges it (``BrokerServer.startup``), and a running one sends it
heartbeats. Without a majority of voters no controller is active, so the broker's log has errors about its start or its
heartbeats, as a rule in another file than the quorum's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, effect, start_of, with_parts
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.text import name_some, time_text

LATE_MS: Final = 3_600_000
"""Maximum time from the last record of a lost quorum; the log of a controller may end before the broker gives up."""
SOON_MS: Final = 600_000
"""Maximum time from a failed start of ZooKeeper to the end of a server that waits for it."""
_ZOOKEEPER_ENDED: Final = "zookeeper-does-not-start"
_UNREACHED: Final = "zookeeper-not-reached"
_QUORUM: Final = "controller_quorum_lost"
_START: Final = ("server_ended_by_a_fault", "start-not-completed")
_REGISTRATION: Final = ("server_ended_by_a_fault", "controllers-not-reached")
_HEARTBEATS: Final = "broker_without_controller"
NOTICED_MS: Final = 60_000
"""Maximum time by which a broker misses its heartbeats before voters report lost elections."""
_CONTROLLER: Final = "controller"
_EFFECTS: Final = {
    "server_ended_by_a_fault": "{who} waited for the controller and did not start at {at}.",
    _HEARTBEATS: "no controller answered the heartbeats of {who} from {at} on.",
}


def join_waiting_servers(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; a start that waited for a controller is a part of a lost quorum before it."""
    lost = [one for one in incidents if one.kind == _QUORUM]
    return absorb(
        incidents, lambda one: next((other for other in lost if _waits_for(timeline, one, other)), None), _with_starts
    )


def _waits_for(timeline: LogTimeline, one: Incident, cause: Incident) -> bool:
    """Return whether a server did not start for want of a controller, and no log names a leader in between."""
    if one.kind == _HEARTBEATS:
        begin_ms = cause.t_start_ms - NOTICED_MS
        led = within(timeline.of("CONTROLLER_LEADER", "CONTROLLER_ACTIVE"), one.t_start_ms, cause.t_start_ms)
        return begin_ms <= one.t_start_ms <= cause.t_end_ms and not led
    if (one.kind, one.root_cause) == _START:
        awaited = [name for event in timeline.evidence(one) if (name := event.fields.get("awaited"))]
        if not awaited or not all(_CONTROLLER in name for name in awaited):
            return False
    elif (one.kind, one.root_cause) != _REGISTRATION:
        return False
    if not cause.t_start_ms <= one.t_start_ms <= cause.t_end_ms + LATE_MS:
        return False
    return not within(timeline.of("CONTROLLER_LEADER", "CONTROLLER_ACTIVE"), cause.t_start_ms, one.t_end_ms)


def _with_starts(cause: Incident, waited: Sequence[Incident]) -> Incident:
    brokers = _brokers_of(waited)
    texts = []
    for kind, sentence in _EFFECTS.items():
        if own := [one for one in waited if one.kind == kind]:
            names = _brokers_of(own)
            who = name_some("broker", names) if names else "a server"
            texts.append(effect(kind, sentence.format(who=who, at=time_text(start_of(own)))))
    subject = {**cause.subject, **({"waiting.brokers": brokers} if brokers else {})}
    return with_parts(cause, waited, *texts, subject=subject)


def _brokers_of(incidents: Iterable[Incident]) -> tuple[str, ...]:
    names = (one.subject.get("broker", "") for one in incidents)
    return tuple(sorted({name for name in names if isinstance(name, str) and name}))


def join_ended_zookeeper(_: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; servers without ZooKeeper are a part of the server of ZooKeeper that did not start."""
    found = tuple(incidents)
    ended = [one for one in found if one.root_cause == _ZOOKEEPER_ENDED]
    return absorb(found, lambda one: next((other for other in ended if _is_cause(other, one)), None), _with_unreached)


def _is_cause(ended: Incident, one: Incident) -> bool:
    is_after = ended.t_start_ms <= one.t_start_ms <= ended.t_end_ms + SOON_MS
    return one.root_cause == _UNREACHED and is_after


def _with_unreached(ended: Incident, parts: Sequence[Incident]) -> Incident:
    names = ", ".join(dict.fromkeys(str(one.subject.get("application", "a Kafka server")) for one in parts))
    at = time_text(min(one.t_start_ms for one in parts))
    return with_parts(ended, parts, f"Effect: {names} could not connect to ZooKeeper at {at}.")
