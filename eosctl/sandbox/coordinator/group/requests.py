"""Helpers shared by the handlers of group requests."""

from __future__ import annotations

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.group.coordinator import GroupCoordinator
from eosctl.sandbox.coordinator.group.shard import Shard
from eosctl.sandbox.ports import MetadataView
from eosctl.wire.error_codes import ErrorCode


def find_named_shard(groups: GroupCoordinator, group_id: str) -> Shard | ErrorCode:
    """Return the shard of a group, or an error; an empty name is invalid."""
    return groups.find_shard(group_id) if group_id else ErrorCode.INVALID_GROUP_ID


def java_address(host: str) -> str:
    """Return a client's address as Java prints it and groups store it: with a leading slash."""
    return host if host.startswith("/") else f"/{host}"


def partition_exists(metadata: MetadataView, partition: TopicPartition) -> bool:
    """Return whether the cluster has this partition."""
    return 0 <= partition.partition < metadata.partition_count(partition.topic)
