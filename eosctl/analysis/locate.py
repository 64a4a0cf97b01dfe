"""The partition of the internal topic for a transactional id or group."""

from __future__ import annotations

from eosctl.analysis.coordinators import CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo
from eosctl.model.transaction import TopicPartition
from eosctl.wire.internal.partitioner import partition_for


def locate_transactional_id(snapshot: ClusterSnapshot, transactional_id: str) -> PartitionInfo | None:
    """Return the partition of `__transaction_state` that coordinates this id; None before the topic exists."""
    return _locate(snapshot, TRANSACTION_STATE_TOPIC, transactional_id)


def locate_group(snapshot: ClusterSnapshot, group_id: str) -> PartitionInfo | None:
    """Return the partition of `__consumer_offsets` that coordinates this group; None before the topic exists."""
    return _locate(snapshot, CONSUMER_OFFSETS_TOPIC, group_id)


def coordinator_partition(topic: str, key: str, partition_count: int) -> TopicPartition:
    """Return the partition a name hashes to, without a cluster."""
    return TopicPartition(topic, partition_for(key, partition_count))


def _locate(snapshot: ClusterSnapshot, topic_name: str, key: str) -> PartitionInfo | None:
    topic = snapshot.topic(topic_name)
    if topic is None or not topic.partitions:
        return None
    return snapshot.partition(coordinator_partition(topic_name, key, len(topic.partitions)))
