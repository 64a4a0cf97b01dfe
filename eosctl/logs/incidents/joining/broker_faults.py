"""Join what clients and other brokers report of a broker's fault with the fault.

A broker that ran out of memory, of files, or of a disk does not answer. Its clients report timeouts, refused
connections, and errors in its words, and partitions with a replica on it have too few in-sync replicas. A record of an
effect belongs to the fault if it names the broker, by node id or address, a partition of the fault, or its error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from typing import Final, NamedTuple

from eosctl.logs.incidents.joining.absorbing import gathered, with_parts, with_records, worst_of
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.remaining.unexplained import is_unknown_error
from eosctl.logs.incidents.servers.shortages import lost_replicas
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.program_names import program_of
from eosctl.logs.incidents.timeline.roles import coordinating_node
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.logs.incidents.timeline.trouble import DISCONNECTS
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import FATAL_LEVELS, LogEvent
from eosctl.model.severity import Severity
from eosctl.text import time_text

BEFORE_MS: Final = 5_000
MOMENT_MS: Final = 1_000
"""The kernel's stamps may be in whole seconds."""
LATE_MS: Final = 1_800_000
"""Maximum time from the last record of a fault to an effect; clients retry for some minutes before they report."""
_OPEN_FILES: Final = ("limit-of-open-files", "open-files-of-the-host")
_DISK: Final = "log_dir_failure"
_SHORTAGE: Final = "not_enough_replicas"
_FAULTS: Final = kinds_with("breaks_broker")
_WAITING: Final = kinds_with("waits")
_NODE: Final = re.compile(
    r"\bnode (?P<named>\d+)\b|\(id: (?P<java>\d+) rack|\bleaderId=(?P<leader>\d+)\b"
    r"|(?::\d+|\bGroupCoordinator|\bTxnCoordinator)/(?P<librdkafka>\d+): "
)
SHORTAGE_MS: Final = 30_000
"""Maximum time from the failure of a directory to the first write that is refused for its replicas."""
_ORDINAL: Final = re.compile(r"(?:^|\D)0*(?P<node>\d+)$")
"""The number at the end of a host's name: a broker of a StatefulSet has it as its node id."""
_QUOTED: Final = re.compile(r" Its last cause: | In its words: ")
_STORAGE_ERROR: Final = "STORAGE_ERROR"
_SILENT: Final = kinds_with("silences_broker")
_SESSIONS: Final = kinds_with("ends_with_pauses")
_UNANSWERED: Final[tuple[EventCategory, ...]] = (
    "TIMEOUT_OTHER",
    "TIMEOUT_OFFSETS",
    "TIMEOUT_SEND",
    "TIMEOUT_COMMIT_TXN",
)
SOON_MS: Final = 10_000
"""Maximum time from a client's timeout to its program's report."""


class _Fault(NamedTuple):
    """A broker's fault: the nodes that it affects, its machine, and the words of its records."""

    incident: Incident
    nodes: frozenset[str]
    hosts: frozenset[str]
    text: str


def join_broker_faults(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; those that report the fault of a broker from outside are a part of its incident."""
    faults = [fault for one in incidents if (fault := _fault_of(timeline, one)) is not None]

    def home_of(one: Incident) -> Incident | None:
        near = (fault for fault in faults if fault.incident is not one and _is_near(one, fault.incident))
        return next((fault.incident for fault in near if _is_effect(timeline, one, fault)), None)

    noted = {(place.file, place.offset) for one in incidents for place in one.evidence} if faults else set()
    felt = {id(fault.incident): _requests_without_answer(timeline, fault, noted) for fault in faults}
    for one, effects in gathered(sorted(incidents, key=lambda one: one.t_start_ms), home_of):
        whole = _with_effects(_with_node(timeline, one), effects) if effects else one
        yield _with_requests(timeline, whole, felt[id(one)]) if felt.get(id(one)) else whole


def _requests_without_answer(timeline: LogTimeline, fault: _Fault, noted: Set[tuple[str, int]]) -> Sequence[LogEvent]:
    """Return the requests to a failed broker that clients gave up, and the errors that their programs report then."""
    cause = fault.incident
    if cause.kind not in _SILENT or not fault.nodes:
        return ()
    near = within(timeline.client_events(*_UNANSWERED), cause.t_start_ms, cause.t_end_ms + LATE_MS)
    own = [event for event in near if nodes_in(event.message) == fault.nodes and _place(event) not in noted]
    found = {_place(event): event for event in own}
    for log, asked in by_key((timeline.log_of(event), event) for event in own).items():
        for event in timeline.log_between(asked[0], time_of(asked[0]), time_of(asked[-1]) + SOON_MS):
            if timeline.log_of(event) == log and _place(event) not in noted and _is_given_up(event):
                found.setdefault(_place(event), event)
    return sorted(found.values(), key=time_of)


def _is_given_up(event: LogEvent) -> bool:
    return event.category in _UNANSWERED or is_unknown_error(event) or event.level in FATAL_LEVELS


def _place(event: LogEvent) -> tuple[str, int]:
    return event.file, event.offset


def _with_requests(timeline: LogTimeline, one: Incident, events: Sequence[LogEvent]) -> Incident:
    programs = ", ".join(sorted({program_of(timeline, event) for event in events}))
    at = time_text(time_of(events[0]))
    return with_records(one, events, f"Effect: requests to it of {programs} timed out from {at} on.")


def _fault_of(timeline: LogTimeline, one: Incident) -> _Fault | None:
    """Return a fault that the records of one broker report."""
    events = [event for event in timeline.evidence(one) if event.application in timeline.servers()]
    if one.kind not in _FAULTS or one.severity.rank > Severity.WARNING.rank:
        return None
    if not events:
        return _Fault(one, lost, frozenset(), "") if (lost := _lost_with(timeline, one)) else None
    node = str(one.subject.get("broker", "")) or timeline.node_of(events[0].application)
    hosts = frozenset(name.lower() for event in events for name in (event.host, event.application) if name)
    text = "\n".join(event.message for event in events)
    nodes = _other_nodes(one, events) or {node} - {""}
    return _Fault(one, frozenset(nodes), hosts, text)


def _lost_with(timeline: LogTimeline, one: Incident) -> frozenset[str]:
    """Return the node to which other servers lost their connections as a process was killed, if it is a single one.

    The kernel names the process and its machine, not the broker that it was.
    """
    if one.kind not in _SILENT or "java" not in str(one.subject.get("process", "")):
        return frozenset()
    near = within(timeline.server_events(*DISCONNECTS), one.t_start_ms - MOMENT_MS, one.t_start_ms + BEFORE_MS)
    found = frozenset(node for event in near for node in nodes_in(event.message))
    return found if len(found) == 1 else frozenset()


def _with_node(timeline: LogTimeline, one: Incident) -> Incident:
    """Return the incident of a killed process with the broker that it most likely was."""
    if any(event.application in timeline.servers() for event in timeline.evidence(one)):
        return one
    if not (lost := _lost_with(timeline, one)):
        return one
    node = next(iter(lost))
    text = f"Most likely it was broker {node}: the others lost their connections to it at that moment."
    return one._replace(subject={**one.subject, "broker": node}, explanation=f"{one.explanation} {text}")


def _other_nodes(one: Incident, events: Sequence[LogEvent]) -> set[str]:
    """Return the nodes that a broker exchanges nothing with, if its fault is that it gets no connection to them."""
    if one.kind != "authentication_failed":
        return set()
    return set().union(*(nodes_in(event.message) for event in events))


def nodes_in(text: str) -> set[str]:
    """Return the ids of nodes that a client's record names.

    >>> sorted(nodes_in("Connection to node 3 (kf3/10.1.0.3:9094) could not be established"))
    ['3']
    >>> sorted(nodes_in("kafka-2.bus:9092/2: Timed out OffsetCommitRequest in flight"))
    ['2']
    >>> sorted(nodes_in("Group coordinator kf1:9092 (id: 2147483646 rack: null) is unavailable or invalid"))
    ['1']
    """
    return {coordinating_node(name) or name for found in _NODE.finditer(text) for name in found.groups() if name}


def _is_near(one: Incident, fault: Incident) -> bool:
    return fault.t_start_ms - BEFORE_MS <= one.t_start_ms <= fault.t_end_ms + LATE_MS


def _is_effect(timeline: LogTimeline, one: Incident, fault: _Fault) -> bool:
    """Return whether an incident reports a fault of a broker from outside."""
    cause = fault.incident
    if cause.kind == "open_files_exhausted" and one.kind == _DISK and one.root_cause in _OPEN_FILES:
        return _node_of(timeline, one) in fault.nodes
    if one.kind == _SHORTAGE:
        return _lacks_replica(timeline, one, fault)
    if one.kind in _SESSIONS:
        # A server that does nothing any more cannot keep its session.
        return cause.kind in _SILENT and cause.t_start_ms <= one.t_start_ms and _node_of(timeline, one) in fault.nodes
    own = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
    if not own or len(own) < len(one.evidence):
        return False
    if one.kind == _DISK:
        is_echo = cause.kind == _DISK and all(event.category == _STORAGE_ERROR for event in own)
        return is_echo and _may_be_of_partition(one, fault)
    if cause.kind == "authentication_failed" or one.kind not in _WAITING:
        return False
    return _names_broker(own, fault) or _names_partition(one, fault)


def _node_of(timeline: LogTimeline, one: Incident) -> str:
    events = timeline.evidence(one)
    return str(one.subject.get("broker", "")) or (timeline.node_of(events[0].application) if events else "")


def _lacks_replica(timeline: LogTimeline, one: Incident, fault: _Fault) -> bool:
    """Return whether a partition has too few in-sync replicas because of a fault of one of them, or of its leader."""
    if fault.incident.kind == "corrupt_records":
        return _names_partition(one, fault)
    lost = lost_replicas(timeline, one)
    if not lost:
        # No log names the replicas: a directory that failed just before took some of them offline.
        return fault.incident.kind == _DISK and one.t_start_ms <= fault.incident.t_end_ms + SHORTAGE_MS
    return fault.nodes.issuperset(lost)


def _may_be_of_partition(one: Incident, fault: _Fault) -> bool:
    """Return whether a client's error may be about a partition of a fault: both name it, or the client names none."""
    if one.subject.get("topic-partition"):
        return _names_partition(one, fault)
    topic = one.subject.get("topic", "")
    topics = (topic,) if isinstance(topic, str) else topic
    return not topic or any(re.search(rf"(?<![\w.-]){re.escape(name)}-\d", fault.text) for name in topics)


def _names_partition(one: Incident, fault: _Fault) -> bool:
    named = one.subject.get("topic-partition", "")
    partitions = (named,) if isinstance(named, str) else named
    own = fault.incident.subject.get("topic-partition")
    return any(name and (name == own or _mentions(fault.text, name)) for name in partitions)


def _mentions(text: str, partition: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(partition)}(?![\w.-]*\w)", text) is not None


def _names_broker(events: Sequence[LogEvent], fault: _Fault) -> bool:
    """Return whether the records of a client name one server, and it may be the broker of a fault."""
    nodes = set().union(*(nodes_in(event.message) for event in events))
    peers = {host_of(peer) for event in events if (peer := event.fields.get("peer"))}
    if nodes:
        return nodes == fault.nodes
    return bool(peers) and all(is_host(peer, fault.hosts) or ordinal_of(peer) in fault.nodes for peer in peers)


def host_of(peer: str) -> str:
    """Return the host of an address, in lower case.

    >>> host_of("Kafka-2.bus/10.4.0.2:9092")
    'kafka-2.bus'
    """
    return peer.rpartition(":")[0].partition("/")[0].lower()


def ordinal_of(host: str) -> str:
    """Return the number with which the first label of a host's name ends; empty for an address.

    >>> ordinal_of("kafka-2.bus.svc"), ordinal_of("10.4.0.2")
    ('2', '')
    """
    label = host.partition(".")[0]
    found = _ORDINAL.search(label)
    return found["node"] if found and not label.isdecimal() else ""


def is_host(peer: str, hosts: frozenset[str]) -> bool:
    """Return whether a host is one of some, by its whole name or its first labels."""
    return any(peer == host or peer.startswith(f"{host}.") or host.startswith(f"{peer}.") for host in hosts)


def _with_effects(cause: Incident, effects: Sequence[Incident]) -> Incident:
    texts = []
    for kind in dict.fromkeys(one.kind for one in effects):
        first = min((one for one in effects if one.kind == kind), key=lambda one: one.t_start_ms)
        said = _QUOTED.split(first.explanation)[0]
        texts.append(f"Effect ({kind}), at {time_text(first.t_start_ms)}: {said}")
    subject = dict(cause.subject)
    for one in effects:
        for name, value in one.subject.items():
            if name not in ("application", "broker", "server", "servers"):
                subject.setdefault(name, value)
    # Clients do not know how much of a broker failed: what they report in its words does not make it worse.
    own = [one for one in (cause, *effects) if one is cause or one.kind != cause.kind or one.subject.get("broker")]
    return with_parts(cause, effects, *texts, subject=subject)._replace(severity=worst_of(own))
