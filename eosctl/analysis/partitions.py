"""Partitions by name, for analyses that look many of them up."""

from __future__ import annotations

from collections.abc import Mapping

from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo
from eosctl.model.transaction import TopicPartition


def partitions_by_name(snapshot: ClusterSnapshot) -> Mapping[TopicPartition, PartitionInfo]:
    """Index all partitions of a snapshot."""
    return {info.partition: info for topic in snapshot.topics for info in topic.partitions}
