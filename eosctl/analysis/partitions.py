"""Partitions by name, for analyses that look many of them up."""

from __future__ import annotations

import difflib
from typing import Final

from eosctl.analysis.release import at_least
from eosctl.errors import EvidenceIncomplete, UsageError
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo, Topic
from eosctl.model.transaction import TopicPartition

#: The first release that counts no more than the replicas of a partition.
CAPPED_SINCE: Final = (3, 7)


def require_partition(snapshot: ClusterSnapshot, partition: TopicPartition) -> PartitionInfo:
    """Return a partition that a user named.

    Raises:
        UsageError: The cluster does not list its topic, or the topic does not have it.
        EvidenceIncomplete: The topic may be one that this principal may not describe.
    """
    topic = require_topic(snapshot, partition.topic)
    found = next((info for info in topic.partitions if info.partition == partition), None)
    if found is not None:
        return found
    numbers = sorted(info.partition.partition for info in topic.partitions)
    has = f"the partitions {numbers[0]} to {numbers[-1]}" if numbers else "no listed partition"
    raise UsageError(
        f"Unknown partition {str(partition)!r}.",
        f"{partition.topic} has {has}.",
        f"Check the number: eosctl txn producers --topic {partition.topic}",
    )


def require_topic(snapshot: ClusterSnapshot, name: str) -> Topic:
    """Return a topic that a user named.

    Raises:
        UsageError: The cluster does not list it.
        EvidenceIncomplete: It may be one that this principal may not describe.
    """
    topic = snapshot.topic(name)
    if topic is not None:
        return topic
    if any(gap.kind is EvidenceKind.TOPICS and gap.is_denied for gap in snapshot.gaps):
        raise EvidenceIncomplete(
            f"The list of topics is incomplete, so {name!r} is not known.",
            "Brokers leave out topics that this principal may not describe. It may also not exist.",
            f"Grant Read on topic {name!r} (kafka-acls), or check the name.",
        )
    known = difflib.get_close_matches(name, [one.name for one in snapshot.topics], n=1)
    raise UsageError(
        f"Unknown topic {name!r}.",
        "The cluster does not list it.",
        f"Check the name{f'; did you mean {known[0]}' if known else ''}.",
    )


def needed_in_sync(snapshot: ClusterSnapshot, topic: Topic, info: PartitionInfo) -> int | None:
    """Return how many replicas writes with acks=all need in sync; None where min.insync.replicas was not read.

    More replicas than there are need not be in sync since Kafka 3.7 (KAFKA-15583). Earlier brokers refuse the write, as
    `Partition.appendRecordsToLeader` of 3.5.2 does.
    """
    setting = topic.setting("min.insync.replicas")
    if setting is None or not setting.value or not setting.value.isdigit():
        return None
    wanted = int(setting.value)
    return min(wanted, max(1, len(info.replicas))) if at_least(snapshot, CAPPED_SINCE) else wanted


def too_few_in_sync(snapshot: ClusterSnapshot, info: PartitionInfo) -> str:
    """Return why a partition takes no writes with acks=all, coordinators' records and markers included; else empty."""
    topic = snapshot.topic(info.partition.topic)
    needed = None if topic is None else needed_in_sync(snapshot, topic, info)
    if needed is None or len(info.isr) >= needed:
        return ""
    return f"{len(info.isr)} of {len(info.replicas)} replicas in sync, min.insync.replicas={needed}"
