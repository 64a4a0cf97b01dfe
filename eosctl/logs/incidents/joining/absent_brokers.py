"""Name the broker that clients could not reach as the likely reason of a partition with too few in-sync replicas.

The broker that refuses a write does not log who is missing. A client, or another broker, that fails to connect to one
of them at that time shows it. A record of a connection that only ended is not enough: idle ones do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import gathered, start_of
from eosctl.logs.incidents.servers.shortages import WITHOUT_CAUSE
from eosctl.logs.incidents.timeline.evidence import evidence_of, joined_evidence
from eosctl.logs.incidents.timeline.program_names import opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import time_text

BEFORE_MS: Final = 300_000
"""Maximum time from a failed connection to the first write that is refused: a retried one may come later."""
CONFIDENCE: Final = 0.75
MOST: Final = 2
"""Maximum number of brokers that are named: a client that reaches none of many has lost its network."""
_KIND: Final = "not_enough_replicas"
_LOST: Final = frozenset({"brokers_not_reached", "connections_lost"})
_FAILED: Final[tuple[EventCategory, ...]] = ("BROKERS_UNREACHED",)
_NODE: Final = re.compile(r"\b[Nn]ode (?:with id )?(\d+)\b|\(id: (\d+) rack")
_LEFT: Final = "out-of-sync"
"""The name in a subject of the brokers whose replicas had left the ISR."""
_QUOTED: Final = 2


def name_absent_brokers(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; the brokers that clients could not reach, and their incident, are parts of a shortage."""
    absent = {id(one): failed for one in incidents if (failed := _failed_near(timeline, one))}

    def home_of(one: Incident) -> Incident | None:
        if one.kind not in _LOST:
            return None
        places = {(place.file, place.offset) for place in one.evidence}
        near = (other for other in incidents if id(other) in absent)
        return next((other for other in near if places <= _places(absent[id(other)])), None)

    for one, parts in gathered(incidents, home_of):
        yield _with_absent(timeline, one, absent[id(one)], parts) if id(one) in absent else one


def _places(events: Sequence[LogEvent]) -> set[tuple[str, int]]:
    return {(event.file, event.offset) for event in events}


def _failed_near(timeline: LogTimeline, one: Incident) -> Sequence[LogEvent]:
    """Return the failed connections to one or two brokers near a shortage of replicas; empty if the reason is known."""
    if one.kind != _KIND or one.root_cause not in WITHOUT_CAUSE or one.subject.get("brokers"):
        return ()
    evidence = timeline.evidence(one)
    clients = {client for event in evidence if (client := event.fields.get("client_id"))}
    left = one.subject.get(_LEFT, ())
    answered = {node for event in evidence if (node := timeline.node_of(event.application))}
    failed = [
        event
        for event in timeline.of(*_FAILED)
        if one.t_start_ms - BEFORE_MS <= time_of(event) <= one.t_end_ms
        and peer_of(event)
        and not (clients and event.fields.get("client_id", "") not in {"", *clients})
        and node_in(event) not in answered
        and (not left or node_in(event) in {"", *left})
    ]
    return failed if 0 < len({peer_of(event) for event in failed}) <= MOST else ()


def peer_of(event: LogEvent) -> str:
    """Return the server of a failed connection: its address, or its node id."""
    node = node_in(event)
    return event.fields.get("peer", "") or (f"node {node}" if node else "")


def node_in(event: LogEvent) -> str:
    """Return the node id that a record of a failed connection names; empty without one."""
    found = _NODE.search(event.message)
    return (found[1] or found[2]) if found else ""


def _with_absent(
    timeline: LogTimeline, one: Incident, failed: Sequence[LogEvent], parts: Sequence[Incident]
) -> Incident:
    peers = tuple(dict.fromkeys(map(peer_of, failed)))
    nodes = tuple(dict.fromkeys(node for event in failed if (node := node_in(event))))
    named = " and ".join(_named(peer, failed) for peer in peers)
    who = opening(program_of(timeline, failed[0]))
    since = time_text(time_of(failed[0]))
    what, dot, rest = one.explanation.partition(". ")
    on_them = "on it" if len(peers) == 1 else "on them"
    guess = f": most likely the replicas {on_them} are the ones that were missing"
    is_known = bool(one.subject.get(_LEFT))
    return one._replace(
        confidence=max(one.confidence, CONFIDENCE),
        subject={**one.subject, "servers": peers, **({_LEFT: nodes} if nodes and not is_known else {})},
        t_start_ms=min(start_of((one, *parts)), time_of(failed[0])),
        evidence=joined_evidence(evidence_of(failed)[:_QUOTED], one.evidence, *(part.evidence for part in parts)),
        explanation=f"{what.removesuffix('.')}. {who} could not connect to {named} at "
        f"{since}{'' if is_known else guess}.{dot[1:]}{rest}",
        next_step=f"Check first whether {' and '.join(peers)} can be reached again and its broker runs. Then compare "
        "the partition's in-sync replicas with min.insync.replicas.",
    )


def _named(peer: str, failed: Sequence[LogEvent]) -> str:
    node = next((node for event in failed if peer_of(event) == peer and (node := node_in(event))), "")
    return f"node {node} ({peer})" if node and not peer.startswith("node ") else peer
