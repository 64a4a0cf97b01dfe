"""Partitions by name, for analyses that look many of them up."""

from __future__ import annotations

from collections.abc import Mapping

from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo
from eosctl.model.transaction import TopicPartition


def partitions_by_name(snapshot: ClusterSnapshot) -> Mapping[TopicPartition, PartitionInfo]:
    """Index all partitions of a snapshot."""
    return {info.partition: info for topic in snapshot.topics for info in topic.partitions}


def too_few_in_sync(snapshot: ClusterSnapshot, info: PartitionInfo) -> str:
    """Say that a partition takes no writes with acks=all, coordinators' records and markers included; else empty.

    More replicas than there are need not be in sync (KIP-966; before 4.0 brokers refused then too).
    """
    topic = snapshot.topic(info.partition.topic)
    setting = None if topic is None else topic.setting("min.insync.replicas")
    if setting is None or not setting.value or not setting.value.isdigit():
        return ""
    needed = min(int(setting.value), len(info.replicas))
    if len(info.isr) >= needed:
        return ""
    return f"{len(info.isr)} of {len(info.replicas)} replicas in sync, min.insync.replicas={needed}"
