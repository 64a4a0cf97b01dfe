"""Records appended to a cluster's logs in an interval, counted by reading them."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from eosctl.model.transaction import TopicPartition


class PartitionTraffic(NamedTuple):
    """The appends to one partition.

    Attributes:
        partition: The partition.
        first_offset: Where the interval began.
        end_offset: Where it ended.
        counted_offsets: How many of the offsets between were read; the counts below cover only these.
        data_batch_count: Batches that are not markers.
        data_record_count: Records in them.
        data_bytes: Their size as stored, headers included.
        marker_count: Transaction markers.
        abort_marker_count: Those of them that abort.
        marker_bytes: Size of the markers' batches.
        producer_ids: Producers of transactional batches that are not markers.
    """

    partition: TopicPartition
    first_offset: int
    end_offset: int
    counted_offsets: int = 0
    data_batch_count: int = 0
    data_record_count: int = 0
    data_bytes: int = 0
    marker_count: int = 0
    abort_marker_count: int = 0
    marker_bytes: int = 0
    producer_ids: frozenset[int] = frozenset()

    @property
    def stored_bytes(self) -> int:
        """Return the bytes of all kinds."""
        return self.data_bytes + self.marker_bytes

    @property
    def scale(self) -> float:
        """Return the factor that scales a count to the whole interval; 1 if everything was read."""
        offsets = self.end_offset - self.first_offset
        return offsets / self.counted_offsets if self.counted_offsets else 1.0


class OffsetCommits(NamedTuple):
    """The commits of one group to one topic inside the transactions of one producer.

    `commit_count` counts batches that commit offsets of the topic, `offset_count` the partitions in them.
    """

    producer_id: int
    group_id: str
    topic: str
    commit_count: int
    offset_count: int


class Traffic(msgspec.Struct, frozen=True):
    """The appends to all partitions of a cluster between two listings of their offsets, `interval_ms` apart."""

    interval_ms: int
    partitions: tuple[PartitionTraffic, ...]

    def of_topic(self, name: str) -> tuple[PartitionTraffic, ...]:
        """Return the partitions of one topic."""
        return tuple(p for p in self.partitions if p.partition.topic == name)
