"""Join an incident whose log does not show why nothing answered a client with the fault that cut the client off.

A client sees that requests and heartbeats stay unanswered. The reason is in another incident of the set if that one is
a fault of servers or of connections, lasted at that time, and has the same subject: the same client, a broker that the
client names, or the only broker of the set, if it is next to the client in one file or has a log of its own. Otherwise
both stay faults of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple, TypeAlias

from eosctl.logs.incidents.joining.absorbing import effect, gathered, with_parts, worst_of
from eosctl.logs.incidents.joining.broker_faults import host_of, is_host, nodes_in, ordinal_of
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.proofs import Proofs
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.logs.incidents.timeline.trouble import SUCCESSES
from eosctl.logs.incidents.timeline.work import WORK, is_work
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from eosctl.text import time_text

LEAST: Final = 0.6
"""Minimum confidence of a fault that explains another incident: its own cause may be in doubt, it is not."""
BEFORE_MS: Final = 5_000
LATE_MS: Final = 120_000
"""Maximum time from a fault to its effect: delivery.timeout.ms, the longest that a client waits by default."""
STAYS_MS: Final = 1_800_000
"""The same for a fault that does not end by itself, if the client had no success in between."""
OPEN_CAUSES: Final = frozenset(
    {
        *("unexplained", "heartbeats-missed", "coordinator-not-reached", "brokers-not-reached", "connections-fail"),
        *("connection-ended-by-the-broker", "brokers-do-not-answer-in-time", "records-not-acknowledged-in-time"),
        *("not-acknowledged-within-message-timeout", "not-acknowledged-within-request-timeout"),
        *("coordinator-or-leader-not-reached", "coordinator-away-for-longer-than-a-move", "retries-exhausted"),
        *("coordinator-not-available", "end-of-transaction-not-confirmed", "transaction-coordinator-not-available"),
        *("end-of-transaction-not-answered", "transaction-to-be-aborted"),
        *("topic-not-found-or-brokers-not-reached", "not-acknowledged-within-the-flush"),
        *("producer-not-flushed-in-time", "acknowledgment-missing-or-late", "coordinator-did-not-answer"),
        "leader-away-for-longer-than-an-election",
    }
)
"""Causes with which a client reports only that it got no answer."""
_CUTS_OFF: Final = kinds_with("cuts_off") | {"broker_crash"}
_STAYS: Final = kinds_with("stays")
_CLIENT_FIELDS: Final[tuple[EventField, ...]] = ("client_id", "rdkafka_client")
_NODES: Final = ("broker", "brokers", "controller", "coordinator", "node")
_IDENTITIES: Final = ("transactional.id", "group", "connector.task", "component", "principal")
"""Names that two incidents about one client cannot have with different values."""
_OPEN_WORDS: Final = re.compile(r" [^.]*\bdoes not show why\b[^.]*\.")
_QUOTED: Final = re.compile(r" Its last cause: | In its words: ")

_Nodes: TypeAlias = Callable[[], frozenset[str]]
"""Returns the nodes that any record of the set names; few sets need them."""


class _Sight(NamedTuple):
    """What the records of an incident name: clients and logs of clients, nodes, hosts of brokers, and files.

    ``is_own`` states that one of the nodes reported it itself.
    """

    clients: frozenset[str]
    logs: frozenset[str]
    nodes: frozenset[str]
    hosts: frozenset[str]
    files: frozenset[str]
    is_own: bool


def join_shared_faults(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; those of clients without an answer are a part of the fault that cut these off."""
    faults = [one for one in incidents if _cuts_off(one)]
    felt = {id(one) for one in incidents if _is_open(timeline, one)} if faults else set()
    sights = {id(one): _sight_of(timeline, one) for one in incidents if id(one) in felt} | {
        id(one): _sight_of(timeline, one) for one in faults
    }
    proofs = Proofs(timeline)
    known = cache(lambda: _nodes_of_set(timeline))

    def home_of(one: Incident) -> Incident | None:
        if id(one) not in felt:
            return None
        near = (other for other in faults if other is not one and _lasts_until(proofs, other, one))
        return next((other for other in near if _shares(sights[id(one)], sights[id(other)], one, other, known)), None)

    for one, parts in gathered(incidents, home_of):
        yield _with_effects(one, parts) if parts else one


def _cuts_off(one: Incident) -> bool:
    is_sure = one.confidence >= LEAST and one.root_cause not in OPEN_CAUSES
    return one.kind in _CUTS_OFF and is_sure and one.severity is not Severity.INFO


def _is_open(timeline: LogTimeline, one: Incident) -> bool:
    """Return whether only clients report an incident, and none of them knows its cause."""
    if one.root_cause not in OPEN_CAUSES or one.severity is Severity.INFO:
        return False
    events = timeline.evidence(one)
    return bool(events) and all(event.application not in timeline.servers() for event in events)


def _sight_of(timeline: LogTimeline, one: Incident) -> _Sight:
    events = timeline.evidence(one)
    servers = timeline.servers()
    own = [event for event in events if event.application not in servers]
    named = (
        f"{timeline.log_of(event)}\0{name}"
        for event in own
        for field in _CLIENT_FIELDS
        if (name := event.fields.get(field))
    )
    values = (one.subject.get(name, ()) for name in _NODES)
    nodes = {name for value in values for name in ((value,) if isinstance(value, str) else value) if name}
    nodes |= {node for event in own for node in nodes_in(event.message)}
    peers = {host_of(peer) for event in own if (peer := event.fields.get("peer"))}
    of_servers = (name.lower() for event in events if event not in own for name in (event.host, event.application))
    return _Sight(
        frozenset(named),
        frozenset(timeline.log_of(event) for event in own),
        frozenset(nodes),
        frozenset(filter(None, (*peers, *of_servers))),
        frozenset(event.file for event in events),
        any(timeline.node_of(event.application) in nodes for event in events if event.application in servers),
    )


def _nodes_of_set(timeline: LogTimeline) -> frozenset[str]:
    """Return the nodes that any record of the set names, of servers by their own logs."""
    of_servers = (timeline.node_of(name) for name in timeline.servers())
    return frozenset(
        filter(None, (*of_servers, *(node for event in timeline.events for node in nodes_in(event.message))))
    )


def _lasts_until(proofs: Proofs, fault: Incident, one: Incident) -> bool:
    """Return whether a fault began before an incident, lasted or had just ended, without a success since."""
    within_ms = STAYS_MS if fault.kind in _STAYS else LATE_MS
    if not fault.t_start_ms - BEFORE_MS <= one.t_start_ms <= fault.t_end_ms + within_ms:
        return False
    first = min(proofs.timeline.evidence(one), key=time_of)
    done = proofs.between(first, fault.t_end_ms + 1, one.t_start_ms, (*SUCCESSES, *WORK))
    return not any(event.category in SUCCESSES or is_work(event) for event in done)


def _shares(mine: _Sight, other: _Sight, one: Incident, fault: Incident, known: _Nodes) -> bool:
    """Return whether an incident and a fault are about the same client or broker."""
    if not all(one.subject.get(name, value) == value for name in _IDENTITIES if (value := fault.subject.get(name))):
        return False
    if mine.logs & other.logs:
        # Clients of one program that both records name must be the same.
        return not (mine.clients and other.clients) or bool(mine.clients & other.clients)
    if mine.nodes or mine.hosts:
        is_node = mine.nodes <= other.nodes
        return is_node and all(is_host(host, other.hosts) or ordinal_of(host) in other.nodes for host in mine.hosts)
    return (other.is_own or bool(mine.files & other.files)) and bool(other.nodes) and known() <= other.nodes


def _with_effects(fault: Incident, parts: Sequence[Incident]) -> Incident:
    subject = dict(fault.subject)
    texts = []
    for kind in dict.fromkeys(one.kind for one in parts):
        first = min((one for one in parts if one.kind == kind), key=lambda one: one.t_start_ms)
        said = _OPEN_WORDS.sub("", _QUOTED.split(first.explanation)[0])
        texts.append(effect(kind, f"at {time_text(first.t_start_ms)}, most likely because of it: {said}"))
    for one in parts:
        for name, value in one.subject.items():
            if name not in ("application", "broker", "server", "servers"):
                subject.setdefault(name, value)
    return with_parts(fault, parts, *texts, subject=subject)._replace(severity=worst_of((fault, *parts)))
