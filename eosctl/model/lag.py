"""The lag of groups, and what pins the last stable offset of a partition."""

from __future__ import annotations

import msgspec

from eosctl.model.hang import HangVerdict
from eosctl.model.snapshot import PendingOffset, ReadableRange
from eosctl.model.transaction import TopicPartition


class PartitionLag(msgspec.Struct, frozen=True):
    """A group's lag on one partition.

    `lag_offsets` is what most tools show: high watermark less committed offset. It is the sum of `readable_offsets` (up
    to the LSO) and `blocked_offsets` (beyond it). `readable` is the composition of the readable part, None if it was
    not read. `blocked_by` is the transaction at the LSO, None when nothing is blocked or no transaction was found.
    `client` is the current reader of the partition, or empty. For a share group, `committed_offset` is the start
    offset of the share-partition, and the lag is what brokers report: it does not count records that are done.
    `deleted_offsets` are those from the committed one on that no longer exist, and `beyond_end_offsets` how far it lies
    beyond the end: in both cases `auto.offset.reset` decides where the group continues.
    """

    group_id: str
    partition: TopicPartition
    committed_offset: int
    last_stable_offset: int
    high_watermark: int
    readable_offsets: int
    blocked_offsets: int
    readable: ReadableRange | None
    blocked_by: HangVerdict | None
    unstable: bool
    client: str
    group_type: str = ""
    deleted_offsets: int = 0
    beyond_end_offsets: int = 0

    @property
    def lag_offsets(self) -> int:
        """Return the offset lag that tools without transaction support show."""
        return self.readable_offsets + self.blocked_offsets


class Pin(msgspec.Struct, frozen=True):
    """An unstable offset of a group and the open transaction that holds it.

    `offsets_partition` is the partition of `__consumer_offsets`. `pending` is None where the record was not found; then
    `holders` are all transactions that are open on that partition.
    """

    group_id: str
    partition: TopicPartition
    committed_offset: int | None
    offsets_partition: TopicPartition
    pending: PendingOffset | None
    transactional_id: str | None
    holders: tuple[HangVerdict, ...]
