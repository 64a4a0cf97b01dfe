"""The state of partitions on which the response of a fetch without records depends."""

from __future__ import annotations

from collections.abc import Sequence

from eosctl.sandbox.replication.fetch_sessions import CachedPartition
from eosctl.wire.messages.fetch import PartitionData


class IdlePartition:
    """A partition that a consumer has read to its end from the leader, with the offsets of the response."""

    __slots__ = ("cached", "high_watermark", "last_stable_offset", "leader_epoch", "log_start_offset")

    def __init__(self, cached: CachedPartition, data: PartitionData, leader_epoch: int) -> None:
        self.cached = cached
        self.leader_epoch = leader_epoch
        self.high_watermark = data.high_watermark
        self.last_stable_offset = data.last_stable_offset
        self.log_start_offset = data.log_start_offset


def idle_partitions(results: Sequence[tuple[CachedPartition, PartitionData]]) -> list[IdlePartition] | None:
    """Return the partitions of a response; None if one has records, an error, or is not led by this broker."""
    found: list[IdlePartition] = []
    for cached, data in results:
        partition = cached.watched
        if (
            partition is None
            or partition.leader_id != partition.broker_id
            or data.records
            or data.error_code
            or data.diverging_epoch.epoch >= 0
            or data.preferred_read_replica >= 0
            or cached.request.last_fetched_epoch >= 0
        ):
            return None
        found.append(IdlePartition(cached, data, partition.leader_epoch))
    return found


def are_unchanged(partitions: Sequence[IdlePartition]) -> bool:
    """Return whether the same fetch has the same response now."""
    for idle in partitions:
        partition = idle.cached.watched
        if (
            partition is None
            or partition.leader_id != partition.broker_id
            or partition.leader_epoch != idle.leader_epoch
        ):
            return False
        log = partition.log
        if (
            log.high_watermark != idle.high_watermark
            or log.store.log_start_offset != idle.log_start_offset
            or log.last_stable_offset() != idle.last_stable_offset
        ):
            return False
    return True
