"""Advise on partitions that have one in-sync replica, where a log shows a single one, or none names another broker.

A cluster of one broker keeps the defaults for three: min.insync.replicas of `__transaction_state` is
transaction.state.log.min.isr, 2, with any replication factor. No replica is missing there, so none can return. The
same holds for a topic that was created with one replica in any cluster, e.g. by Connect for its own topics.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import time_text

_KIND: Final = "not_enough_replicas"
_OF_REFUSALS: Final = "fewer-replicas-in-sync-than-min-isr"
_TOO_HIGH: Final = "min-isr-above-the-replicas"
_IN_SYNC: Final = re.compile(r"\bISR (?:Set\(|\[)(?P<nodes>\d[\d, ]*)")
"""The ids of the in-sync replicas of a refused write, up to Kafka 2.x."""
_COUNT: Final = re.compile(
    r"\bISR ?: ?(?P<now>\d{1,5})\b|\binsync replicas for partition [\w.-]{1,260} is \[(?P<before>\d{1,5})\]"
)
"""Their number, since Kafka 3.x, and in the words of early releases."""
_LIVE: Final = re.compile(r"\blive replica\(s\) broker\.id are : Set\((?P<nodes>[\d, ]*)\)")
_ONE_REPLICA: Final = (
    r"(?:\bname={topic}, numPartitions=\d+, replicationFactor=1\b"
    r"|\bTopic: ?{topic}\s[^\n]{{0,120}}\bReplicationFactor: ?1\b)"
)
"""A topic of one replica, as Connect reports its creation (NewTopic), and as kafka-topics.sh describes it."""
_SEVERAL: Final = re.compile(r"[\w-][\w.-]*:\d{2,5}, ?[\w-][\w.-]*:\d{2,5}\b")
"""A list of brokers, in which each has an address; the list of a broker's listeners names their protocols."""
_NODES: Final[tuple[EventField, ...]] = ("broker", "leader", "coordinator_id")
_STATES: Final = "__transaction_state"
_SETTING: Final = (
    "Set transaction.state.log.min.isr=1 for the broker, which counts when __transaction_state is created. For the "
    "topic that exists, run: kafka-configs.sh --alter --entity-type topics --entity-name __transaction_state "
    "--add-config min.insync.replicas=1."
)
_OF_TOPIC: Final = (
    "Set min.insync.replicas of {topic} to 1: kafka-configs.sh --alter --entity-type topics --entity-name {topic} "
    "--add-config min.insync.replicas=1."
)
_OTHERWISE: Final = (
    " If the cluster has further brokers, start those that are down, or wait until their replicas have caught up."
)


def name_single_replicas(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; a shortage of a partition that seems to have a single replica advises on its minimum."""
    for one in incidents:
        partition = one.subject.get("topic-partition", "")
        is_open = one.kind == _KIND and one.root_cause == _OF_REFUSALS and not one.subject.get("out-of-sync")
        if not (is_open and isinstance(partition, str) and partition and _has_one_in_sync(timeline, one, partition)):
            yield one
        elif source := _shown_in(timeline, partition.rpartition("-")[0]):
            yield _of_one_replica(one, partition.rpartition("-")[0], Path(source.replace("\\", "/")).name)
        else:
            yield _advised(timeline, one, partition) if _is_only_broker(timeline) else one


def _has_one_in_sync(timeline: LogTimeline, one: Incident, partition: str) -> bool:
    """Return whether one replica is in sync, and no record shows that another one left."""
    sizes = [size for event in timeline.evidence(one) if (size := _in_sync_count(event))]
    return bool(sizes) and max(sizes) <= 1 and not timeline.with_value("partition", partition, "ISR_SHRINK")


def _is_only_broker(timeline: LogTimeline) -> bool:
    """Return whether no record and no beginning of a log names another broker."""
    nodes = {node for event in timeline.events for name in _NODES if (node := event.fields.get(name, ""))}
    addresses = {peer for event in timeline.events if (peer := event.fields.get("peer", ""))}
    bootstraps = (event.fields.get("bootstrap", "") for event in timeline.events)
    is_listed = any("," in servers for servers in bootstraps) or any(
        _SEVERAL.search(source.beginning) for source in timeline.sources
    )
    return len(nodes - {"-1"}) <= 1 and len(addresses) <= 1 and not is_listed


def _shown_in(timeline: LogTimeline, topic: str) -> str:
    """Return the file whose beginning shows that a topic has one replica; empty without one."""
    shown = re.compile(_ONE_REPLICA.format(topic=re.escape(topic)))
    return next((source.file for source in timeline.sources if shown.search(source.beginning)), "")


def _in_sync_count(event: LogEvent) -> int:
    """Return the number of in-sync replicas that a refused write names; 0 if it names none."""
    text = f"{event.message}\n{event.fields.get('thrown', '')}"
    if live := _LIVE.search(text):
        return len(live["nodes"].split(","))
    if counted := _COUNT.search(text):
        return int(counted["now"] or counted["before"])
    found = _IN_SYNC.search(text)
    return len(found["nodes"].split(",")) if found else 0


def _advised(timeline: LogTimeline, one: Incident, partition: str) -> Incident:
    topic, _, number = partition.rpartition("-")
    loads = timeline.with_value("coordinator_partition", number, "COORDINATOR_LOAD") if topic == _STATES else ()
    first = _first_load(loads, one.t_start_ms)
    setting = _SETTING if topic == _STATES else _OF_TOPIC.format(topic=topic)
    if first is None:
        text = "One replica is in sync, and no record shows that another one left, or names another broker."
        return one._replace(
            explanation=f"{one.explanation} {text}",
            next_step=f"If this is the only broker, no replica can return. {setting}{_OTHERWISE}",
        )
    return one._replace(
        root_cause=_TOO_HIGH,
        explanation=f"{one.explanation} The partition was new at {time_text(time_of(first))}, and no record shows that "
        "a replica left it or names another broker: it has one replica, so its minimum can never be reached.",
        next_step=f"No broker is missing. {setting}",
    )


def _of_one_replica(one: Incident, topic: str, file: str) -> Incident:
    return one._replace(
        root_cause=_TOO_HIGH,
        explanation=f"{one.explanation} {topic} has a replication factor of 1, as {file} shows: its only replica is in "
        "sync, so its minimum can never be reached.",
        next_step=f"No broker is missing. Give each partition of {topic} more replicas "
        f"with kafka-reassign-partitions.sh, or accept one. {_OF_TOPIC.format(topic=topic)} Correct the replication "
        "factor where the topic is created (Connect: config, offset, and status.storage.replication.factor).",
    )


def _first_load(loads: Sequence[LogEvent], before_ms: int) -> LogEvent | None:
    """Return the record of the first election ever of a partition's coordinator, before some time."""
    own = (event for event in loads if event.fields.get("coordinator_epoch") == "0" and time_of(event) <= before_ms)
    return next(own, None)
