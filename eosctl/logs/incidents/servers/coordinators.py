"""Decide whether a client waits for the coordinator whose partition cannot be written.

A coordinator whose partition refuses writes answers COORDINATOR_NOT_AVAILABLE to each request that it would have to
write (``TransactionStateManager``, ``GroupCoordinator``). Its log names the producer, or the client logs the answers,
its coordinator, or its id, which determines the partition.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final, NamedTuple

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventCategory, EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.wire.internal.partitioner import partition_for

BEFORE_MS: Final = 5_000
PARTITION_COUNT: Final = 50
"""Default of transaction.state.log.num.partitions and offsets.topic.num.partitions."""
_REFUSALS: Final[tuple[EventCategory, ...]] = ("TXN_LOG_APPEND_FAILED", "COORDINATOR_UNAVAILABLE")
_ANSWERS: Final[tuple[EventCategory, ...]] = ("COORDINATOR_UNAVAILABLE",)
_FOUND: Final[tuple[EventCategory, ...]] = ("COORDINATOR_DISCOVERED",)
_FIELDS: Final[dict[str, EventField]] = {"transactional.id": "transactional_id", "group": "group"}
_WORDS: Final = {"transactional.id": "transaction", "group": "group"}
_NOT_REACHED: Final = "brokers-not-reached"
_NO_ID: Final = "init_producer_id_timeout"


def refusals_of(timeline: LogTimeline, cause: Incident) -> Sequence[LogEvent]:
    """Return the records of writes and requests that the coordinator of a partition refused while it cannot write."""
    evidence = [event for event in timeline.evidence(cause) if event.application in timeline.servers()]
    if not evidence:
        return ()
    return timeline.log_between(evidence[0], cause.t_start_ms - BEFORE_MS, cause.t_end_ms + BEFORE_MS, _REFUSALS)


def node_of(timeline: LogTimeline, cause: Incident) -> str:
    """Return the node id of the broker that refuses writes; empty if no log names it."""
    if named := cause.subject.get("broker", ""):
        return str(named)
    found = (timeline.node_of(event.application) for event in timeline.evidence(cause) if event.application)
    servers = {event.application for event in timeline.evidence(cause)} & timeline.servers()
    return next(filter(None, found), "") if servers else ""


def has_other_coordinator(timeline: LogTimeline, event: LogEvent, node: str, name: str = "transactional.id") -> bool:
    """Return whether the client of an event had found its coordinator on another node before."""
    if not node:
        return False
    found = timeline.log_between(event, 0, time_of(event), _FOUND)
    client = event.fields.get("client_id", "")
    own = [one for one in found if not client or one.fields.get("client_id", client) == client]
    named = [one for one in own if one.fields.get("coordinator_id") and _WORDS[name] in one.message]
    return bool(named) and named[-1].fields["coordinator_id"] not in (node, str(2**31 - 1 - int(node)))


class _Refusals(NamedTuple):
    """What the coordinator of a fault refused: the records, the names in them, and its node."""

    records: Sequence[LogEvent]
    names: frozenset[str]
    node: str


class Coordinators:
    """Decides whether incidents are about clients of the coordinators that faults of partitions stop."""

    def __init__(self, timeline: LogTimeline) -> None:
        self._timeline = timeline
        self._refusals: dict[tuple[int, str], _Refusals] = {}

    def serves(self, one: Incident, cause: Incident, topic: str, name: str) -> bool:
        """Return whether an incident is about a client of the coordinator that a fault of a partition stops.

        Args:
            one: The incident.
            cause: The fault of a partition; it must exist for as long as this object.
            topic: The topic of the coordinators.
            name: What determines the partition of a client in a subject: `transactional.id` or `group`.
        """
        partition = cause.subject.get("topic-partition", "")
        if not isinstance(partition, str) or partition.rpartition("-")[0] != topic or one.root_cause == _NOT_REACHED:
            return False
        refused = self._refusals_of(cause, name)
        client = str(one.subject.get(name, ""))
        number = partition.rpartition("-")[2]
        if client in refused.names or (client and str(partition_for(client, PARTITION_COUNT)) == number):
            return True
        timeline = self._timeline
        own = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
        if not own:
            return not client and bool(refused.records) and _is_of_server(timeline, one, refused.records)
        if has_other_coordinator(timeline, own[0], refused.node, name):
            return False
        if client:
            # The other partitions of the topic have their replicas on the same brokers.
            return one.kind == _NO_ID
        since_ms = cause.t_start_ms - BEFORE_MS
        answers = timeline.log_between(own[0], since_ms, time_of(own[0]), _ANSWERS)
        return _is_application_of(one, refused.names) or bool(answers)

    def _refusals_of(self, cause: Incident, name: str) -> _Refusals:
        key = id(cause), name
        if key not in self._refusals:
            records = refusals_of(self._timeline, cause)
            names = frozenset(value for event in records if (value := event.fields.get(_FIELDS[name])))
            self._refusals[key] = _Refusals(records, names, node_of(self._timeline, cause))
        return self._refusals[key]


def _is_of_server(timeline: LogTimeline, one: Incident, refused: Sequence[LogEvent]) -> bool:
    """Return whether an incident without a name has only records of the server that refuses, of its refusals."""
    places = {(event.file, event.offset) for event in refused}
    return all((event.file, event.offset) in places for event in timeline.evidence(one))


def _is_application_of(one: Incident, names: Set[str]) -> bool:
    """Return whether an application of Kafka Streams has refused ids: they begin with its name."""
    owner = str(one.subject.get("application.id", ""))
    return bool(owner) and any(name.startswith(f"{owner}-") for name in names)
