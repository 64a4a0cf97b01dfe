"""Name the lost broker or moved leader just before a producer's fault as its possible trigger.

A connection that ends while batches are in flight, or a leader that moves, comes before many fatal errors of producers:
sequences have gaps, requests of a transaction fail, a retried request finds a newer epoch. That does not prove it, so
the cause of the incident stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.explained import CERTAIN
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.evidence import evidence_of, joined_evidence
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.logs.incidents.timeline.trouble import DISCONNECTS
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import duration_text, name_some, time_text

BEFORE_MS: Final = 10_000
"""Maximum time from a lost connection to a fault that it may have triggered."""
SECOND_MS: Final = 1_000
LASTING_MS: Final = 120_000
"""The same for a broker that a client fails to reach several times, and for what its producer gives up later."""
SAME_BROKER_MS: Final = 600_000
"""The same for the broker that the record of the fault names: it was away until then."""
_TRIGGERED: Final = kinds_with("in_flight")
_LOST: Final = frozenset({"brokers_not_reached", "connections_lost"})
_LATE: Final = frozenset(
    {"connector_offsets_not_stored", "member_fenced", "transaction_end_timeout", "transaction_offsets_timeout"}
)
"""Kinds of faults that a client reports only after its timeout, or after that of its session."""
_NODE: Final = re.compile(r"\b[Nn]ode (?:with id )?(\d+)\b|\(id: (\d+) rack")
_REFUSING: Final = re.compile(
    r"\bdesynchronization with broker (\d{1,10})\b|\b[Bb]roker[ :=#](\d{1,10}) (?:refused|rejected)\b"
)
"""The broker that refused a batch, in a client's words."""
_OWN_NODE: Final = re.compile(r":\d{1,5}/(\d{1,10})\b|\b[Nn]ode (?:with id )?(\d{1,10})\b|\(id: (\d{1,10}) rack")
_ROUTINE: Final = re.compile(r"\bNode -?\d+ disconnected|\bdue to (?:idle|connections\.max\.idle)")
_NETWORK: Final = re.compile(r"NETWORK_EXCEPTION|NetworkException|\bnetwork exception")
_LEADERLESS: Final = re.compile(r"\bleaderless\b|LEADER_NOT_AVAILABLE|LeaderNotAvailable|(?i:\bleader not available)")
"""Words of a client that finds a partition without a leader, which may get the former one again."""
_MOVED: Final[tuple[EventCategory, ...]] = ("NOT_LEADER",)
_COORDINATOR: Final[EventCategory] = "COORDINATOR_DISCOVERED"
_NO_COORDINATOR: Final[EventCategory] = "COORDINATOR_UNAVAILABLE"
_UNEXPLAINED: Final = "unexplained"
_DUPLICATE: Final = "duplicate-transactional-id"
_QUOTED: Final = 2
_SHOWN: Final = 3


def name_triggers(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents of clients, with the lost broker or moved leader that their log has just before them.

    A lost broker without a record after the fault that it may have triggered is a part of that one.
    """
    named: list[Incident] = []
    used: set[tuple[str, int]] = set()
    for one in incidents:
        found: Sequence[LogEvent] = ()
        if one.kind in _TRIGGERED and one.severity is not Severity.INFO and not _is_explained(one):
            found = _before(timeline, one)
        used.update((event.file, event.offset) for event in found)
        named.append(_with_trigger(one, found) if found else one)
    for one in named:
        if one.kind not in _LOST or any((place.file, place.offset) not in used for place in one.evidence):
            yield one


def _is_explained(one: Incident) -> bool:
    """Return whether an incident already names the servers, or is certainly about a second producer."""
    return bool(one.subject.get("servers")) or (one.root_cause == _DUPLICATE and one.confidence >= CERTAIN)


def _before(timeline: LogTimeline, one: Incident) -> Sequence[LogEvent]:
    """Return the records of lost brokers and moved leaders just before an incident, in the logs of its clients."""
    servers = timeline.servers()
    own = [event for event in timeline.evidence(one) if event.application not in servers]
    # The error of another system before it is a part of the evidence, but not of the fault.
    own = [event for event in own if time_of(event) >= one.t_start_ms] or own
    if not own:
        return ()
    first = min(own, key=time_of)
    # The stamp of a record without milliseconds is up to a second early.
    late_ms = 0 if time_of(first) % SECOND_MS else SECOND_MS - 1
    until_ms = max(time_of(event) for event in own if time_of(event) <= time_of(first) + late_ms)
    clients = {client for event in own if (client := event.fields.get("client_id"))}
    partition = next((name for event in own if (name := event.fields.get("partition"))), "")
    near = [
        event
        for event in timeline.log_between(first, time_of(first) - LASTING_MS, until_ms, (*DISCONNECTS, *_MOVED))
        if _may_be_of(event, clients) and (event.category not in _MOVED or _is_of(event, partition))
    ]
    if near and (found := _coordinator_after(timeline, near[0], first, clients)) is not None:
        return [*near, found]
    if one.root_cause == _UNEXPLAINED and (away := _lost_coordinator(timeline, first, clients)):
        return [*near, *away]
    soon = [event for event in near if time_of(first) - time_of(event) <= BEFORE_MS]
    lasting = [event for event in near if not _ROUTINE.search(event.message)]
    if one.kind in _LATE or len(lasting) > 1:
        return lasting or soon
    return soon or _losses_of_refusing(timeline, own, first)


def _lost_coordinator(timeline: LogTimeline, first: LogEvent, clients: set[str]) -> Sequence[LogEvent]:
    """Return the record in which a client lost its coordinator before a fault, if it did not find one again."""
    since_ms = time_of(first) - LASTING_MS
    near = timeline.log_between(first, since_ms, time_of(first), (_NO_COORDINATOR, _COORDINATOR))
    own = [event for event in near if not clients or event.fields.get("client_id", "") in {"", *clients}]
    return own[-1:] if own and own[-1].category == _NO_COORDINATOR else ()


def _losses_of_refusing(timeline: LogTimeline, own: Sequence[LogEvent], first: LogEvent) -> Sequence[LogEvent]:
    """Return the lost connections of a client to the broker that refused its batch later."""
    nodes = {node for event in own for node in _numbers(_REFUSING, event)}
    earlier = timeline.log_between(first, time_of(first) - SAME_BROKER_MS, time_of(first), DISCONNECTS) if nodes else ()
    return [event for event in earlier if nodes & _numbers(_OWN_NODE, event) and not _ROUTINE.search(event.message)]


def _numbers(expression: re.Pattern[str], event: LogEvent) -> set[str]:
    return {name for found in expression.finditer(event.message) for name in found.groups() if name}


def _coordinator_after(timeline: LogTimeline, lost: LogEvent, first: LogEvent, clients: set[str]) -> LogEvent | None:
    """Return the record in which a client found its coordinator on another broker after a lost connection."""
    if not clients or lost.category in _MOVED:
        return None
    found = timeline.log_between(first, time_of(lost), time_of(first), (_COORDINATOR,))
    own = (event for event in found if event.fields.get("client_id") in clients)
    node = _NODE.search(lost.message)
    nodes = node.groups() if node else ()
    return next((event for event in own if event.fields.get("coordinator_id", "") not in ("", *nodes)), None)


def _may_be_of(event: LogEvent, clients: set[str]) -> bool:
    client = event.fields.get("client_id", "")
    return bool(_server_of(event) or event.category in _MOVED) and (not (client and clients) or client in clients)


def _is_of(event: LogEvent, partition: str) -> bool:
    named = event.fields.get("partition", "")
    return not (named and partition) or named == partition


def _server_of(event: LogEvent) -> str:
    """Return the server that a record of a client names: its address, or its node id."""
    found = _NODE.search(event.message)
    return event.fields.get("peer", "") or (f"node {found[1] or found[2]}" if found else "")


def _with_trigger(one: Incident, events: Sequence[LogEvent]) -> Incident:
    moved = [event for event in events if event.category in _MOVED and not _NETWORK.search(event.message)]
    found = [event for event in events if event.category == _COORDINATOR]
    away = [event for event in events if event.category == _NO_COORDINATOR]
    cut = [event for event in events if event not in (*moved, *found, *away)]
    texts = []
    if cut:
        servers = sorted({server for event in cut if (server := _server_of(event))})
        addresses = [server for server in servers if not server.startswith("node ")] or servers
        partition = next((name for event in cut if (name := event.fields.get("partition"))), "")
        shown = ", ".join(addresses[:_SHOWN]) or (f"the leader of {partition}" if partition else "a broker")
        texts.append(f"had lost its connection to {shown} at {time_text(time_of(cut[0]))}")
    if moved:
        partitions = sorted({name for event in moved if (name := event.fields.get("partition"))})
        what = name_some("partition", partitions) if partitions else "a partition"
        has_none = all(_LEADERLESS.search(event.message) for event in moved)
        leader = f"{what} without a leader" if has_none else f"a new leader of {what}"
        texts.append(f"found {leader} at {time_text(time_of(moved[0]))}")
    if away:
        texts.append(f"lost its coordinator at {time_text(time_of(away[0]))}, and had not found it again")
    if found:
        node = found[0].fields["coordinator_id"]
        texts.append(f"found its coordinator on broker {node} at {time_text(time_of(found[0]))}")
    is_earlier = one.t_start_ms - time_of(events[-1]) > LASTING_MS
    when = f"In the {duration_text(one.t_start_ms - time_of(events[0]))} before" if is_earlier else "Just before"
    return one._replace(
        evidence=joined_evidence(one.evidence, evidence_of([*cut[:_QUOTED], *moved[:_QUOTED], *away, *found])),
        explanation=f"{one.explanation} {when}, the same client {' and '.join(texts)}: that may have triggered it.",
    )
