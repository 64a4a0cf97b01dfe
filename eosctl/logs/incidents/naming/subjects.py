"""Complete the subjects of incidents with the names that all of their evidence agrees on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT
from eosctl.logs.incidents.timeline.program_names import MADE_NAME, client_id_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventField
from eosctl.model.incident import EvidenceLine, Incident
from eosctl.model.log_event import LogEvent

_NAMES: Final[tuple[tuple[EventField, str, str], ...]] = (
    ("transactional_id", "transactional.id", "transactional.ids"),
    ("group", "group", "groups"),
    ("group_instance_id", "group.instance.id", "group.instance.ids"),
    ("partition", "topic-partition", "topic-partitions"),
    ("producer_id", "producerId", "producerIds"),
    ("connector_task", "connector.task", "connector.tasks"),
    ("chunk", "chunk", "chunks"),
    ("query", "query", "queries"),
    ("pod", "pod", "pods"),
)
"""Fields of records, their names in a subject, and the names for several of them."""
_WITHOUT: Final[Mapping[str, tuple[str, ...]]] = {
    "transactional.id": ("application.id",),
    "producerId": ("application.id",),
    "topic-partition": ("log.dir",),
}
"""Names that are left out of a subject with another name: each thread of Streams has an id, each disk partitions."""
_OF_RECORDS: Final = frozenset(
    {
        *("metadata_timeout", "not_enough_replicas", "producer_buffer_full", "producer_dead", "record_too_large"),
        *("records_dropped", "records_given_up", "records_refused", "request_refused", "send_timeout"),
        *("topic_authorization", "topic_not_found", "transactional_id_authorization"),
    }
)
"""Kinds of faults of a program's records, which go to the topic that its log names, if that is only one."""
_OF_MEMBERS: Final = frozenset(
    {
        *("group_not_stable", "member_evicted", "member_fenced", "offset_commit_failed", "offset_out_of_range"),
        *("offsets_unstable", "poll_interval_exceeded", "records_given_up"),
    }
)
"""Kinds of faults of a member of a group."""
_OF_CONNECTIONS: Final = frozenset({"authentication_failed", "brokers_not_reached", "host_not_resolved"})
"""Kinds of faults of connections, whose records name the other side."""
_LOGIN: Final = "authentication_failed"
"""The kind whose records at a broker name the machine of the client."""
_NOT_REACHED: Final = "brokers-not-reached"
"""The cause of faults of any kind, in which a client did not reach its brokers."""
_NONE_RESOLVED: Final = "no-bootstrap-server-resolved"
NEXT_MS: Final = 1_000
"""Maximum time from an error to the record that names its broker."""
LOOKED_UP_MS: Final = 60_000
"""Maximum time that a client looks up its bootstrap servers for, before it reports that none has an address."""
_REFUSING: Final = re.compile(r"\bdesynchronization with broker (\d{1,10})\b")
"""The broker that refused a batch, as librdkafka names it."""
_TOPICS: Final = ("topic", "topics", "topic-partition", "topic-partitions")
_OF_CLIENTS: Final = ("client", "clients", "client.id", "application.id", "group", "groups", "transactional.id")
"""Names next to which the handle of a client of librdkafka adds nothing."""
_SERVERS: Final = ("broker", "brokers", "controller", "controllers")


def complete_subjects(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents with each name that their subject lacks and that their evidence has with one value."""
    for one in incidents:
        one = _with_names_not_resolved(timeline, one)
        events = timeline.evidence(one)
        found: dict[str, str | tuple[str, ...]] = dict(_names_of(timeline, one, events))
        is_of_connections = one.kind in _OF_CONNECTIONS or one.root_cause == _NOT_REACHED
        peers = {peer for event in events if (peer := event.fields.get("peer"))} if is_of_connections else set()
        if is_of_connections and events and not peers:
            peers = _given_up(timeline, one, events[0])
        if peers and not any(one.subject.get(name) for name in ("server", "servers")):
            found |= (
                {"servers": tuple(sorted(peers))[:MAX_EVIDENCE_COUNT]} if len(peers) > 1 else {"server": peers.pop()}
            )
        clients = sorted({address for event in events if (address := event.fields.get("client_address"))})
        if one.kind == _LOGIN and clients and not peers:
            found |= {"clients": tuple(clients[:MAX_EVIDENCE_COUNT])}
        yield one._replace(subject={**one.subject, **found}) if found else one


def _given_up(timeline: LogTimeline, one: Incident, first: LogEvent) -> set[str]:
    """Return the addresses that a client names next to its errors, which do not have them."""
    begin, end = one.t_start_ms - NEXT_MS, one.t_end_ms + NEXT_MS
    near = timeline.log_between(first, begin, end, ("BROKER_GIVEN_UP",))
    return {peer for event in near if (peer := event.fields.get("peer"))}


def _with_names_not_resolved(timeline: LogTimeline, one: Incident) -> Incident:
    """Return the incident of a client that resolved no name with the records before it that name each of them."""
    if one.root_cause != _NONE_RESOLVED:
        return one
    last = timeline.evidence(one)[-1:]
    own = [
        event
        for end in last
        for event in timeline.log_between(end, one.t_start_ms - LOOKED_UP_MS, one.t_end_ms, ("HOST_NOT_RESOLVED",))
    ]
    places = (EvidenceLine(event.file, event.offset, event.line) for event in own)
    return one._replace(
        t_start_ms=min((one.t_start_ms, *(time_of(event) for event in own))),
        evidence=tuple(dict.fromkeys((*one.evidence, *places)))[:MAX_EVIDENCE_COUNT],
    )


def _names_of(timeline: LogTimeline, one: Incident, events: Sequence[LogEvent]) -> Iterator[tuple[str, str]]:
    for field, name, plural in _NAMES:
        values = {value.rpartition(":")[2] for event in events if (value := event.fields.get(field))}
        # A coordinator's partition is where an id or a group is kept, not what the fault is about.
        values = {value for value in values if not value.startswith("__")}
        if len(values) == 1 and not any(one.subject.get(other) for other in (name, plural, *_WITHOUT.get(name, ()))):
            yield name, values.pop()
    clients = [event for event in events if event.application not in timeline.servers()]
    names = {name for event in clients if (name := client_id_of(event))}
    if not names and clients:
        stated = timeline.announcements.value(timeline.log_of(clients[0]), "client_id")
        names = {stated} if stated and not MADE_NAME.fullmatch(stated) else set()
    if len(names) == 1 and not any(one.subject.get(other) for other in ("client.id", "client", "application.id")):
        yield "client.id", names.pop()
    elif not names and not any(one.subject.get(other) for other in _OF_CLIENTS):
        handles = {handle for event in clients if (handle := event.fields.get("rdkafka_client"))}
        # The first client of a program may be its only one.
        yield from (("client", handle) for handle in handles if len(handles) == 1 and not handle.endswith("-1"))
    yield from _stated_in_log(timeline, one, clients)
    refusing = {found[1] for event in clients if (found := _REFUSING.search(event.message))}
    if len(refusing) == 1 and not any(one.subject.get(name) for name in _SERVERS):
        yield "broker", refusing.pop()
    servers = {event.application for event in events} & timeline.servers()
    nodes = {timeline.node_of(server) for server in servers}
    if len(servers) == 1 and not clients and nodes != {""} and not any(one.subject.get(name) for name in _SERVERS):
        is_controller = timeline.role_of(servers.pop()) == "controller"
        yield "controller" if is_controller else _role_of(events), nodes.pop()


def _stated_in_log(timeline: LogTimeline, one: Incident, clients: Sequence[LogEvent]) -> Iterator[tuple[str, str]]:
    """Yield what no record of an incident names, but its log agrees on: topic, pod, group."""
    if one.kind in _OF_RECORDS and not any(one.subject.get(name) for name in _TOPICS):
        topics = {timeline.value_in_log(event, "topic") for event in clients}
        if len(topics) == 1 and (topic := topics.pop()):
            yield "topic", topic
    if one.kind == "out_of_memory" and not one.subject.get("pod"):
        pods = {timeline.value_in_log(event, "pod") for event in clients}
        if len(pods) == 1 and (pod := pods.pop()):
            yield "pod", pod
    if one.kind in _OF_MEMBERS and not one.subject.get("group") and not one.subject.get("groups"):
        groups = {timeline.group_of(event) for event in clients}
        if len(groups) == 1 and (group := groups.pop()):
            yield "group", group


def _role_of(events: Sequence[LogEvent]) -> str:
    """Return the role in which a node wrote records."""
    words = ("[QuorumController ", "[ControllerServer ", "[Controller ", "[RaftManager ")
    is_controller = all(event.message.startswith(words) or ".controller." in event.logger for event in events)
    return "controller" if is_controller else "broker"
