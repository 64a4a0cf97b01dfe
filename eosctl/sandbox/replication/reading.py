"""Reading one partition for a fetch: bounds by isolation level, aborted transactions, leader-epoch checks."""

from __future__ import annotations

from msgspec.structs import replace

from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.replication.fetch_sessions import CachedPartition
from eosctl.sandbox.replication.partition import Partition
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchPartition,
    LeaderIdAndEpoch,
    PartitionData,
)
from eosctl.wire.records.batch import decode_header

READ_UNCOMMITTED, READ_COMMITTED = 0, 1
CONSUMER = -1


NO_EPOCH = -1  # the client does not say one; other negative epochs are old ones


def check_leader_epoch(given: int, current: int) -> ErrorCode:
    """Compare the leader epoch that a client believes in with the current one (KIP-320)."""
    if given in (NO_EPOCH, current):
        return ErrorCode.NONE
    return ErrorCode.FENCED_LEADER_EPOCH if given < current else ErrorCode.UNKNOWN_LEADER_EPOCH


def fetch_error(index: int, error: ErrorCode) -> PartitionData:
    """Answer a partition that the log was not asked for."""
    return PartitionData(index, error, high_watermark=-1, records=b"")


def read_error(index: int, error: ErrorCode) -> PartitionData:
    """Answer a partition whose log refused the read."""
    return PartitionData(index, error, high_watermark=-1, aborted_transactions=None, records=b"")


def upper_bound(partition: Partition, isolation_level: int, replica_id: int) -> int:
    """Return the offset that this reader must not pass."""
    if replica_id >= 0:
        return partition.log.store.log_end_offset
    if isolation_level == READ_COMMITTED:
        return partition.log.last_stable_offset()
    return partition.log.high_watermark


def has_answer(partition: Partition, request: FetchPartition, isolation_level: int, replica_id: int) -> bool:
    """Return whether reading brings records, an error or where the logs part, rather than offsets alone."""
    return (
        upper_bound(partition, isolation_level, replica_id) != request.fetch_offset
        or request.current_leader_epoch not in (-1, partition.leader_epoch)
        or diverges(partition, request)
    )


def diverges(partition: Partition, request: FetchPartition) -> bool:
    """Return whether the log of who asks parts from this one before the offset that is asked for."""
    return (
        request.last_fetched_epoch not in (NO_EPOCH, partition.log.epochs.latest)
        and _diverging_epoch(partition, request) is not None
    )


def lacks_something(partition: Partition, request: FetchPartition) -> bool:
    """Return whether a follower that asks so may get more than offsets."""
    log = partition.log
    return (
        request.fetch_offset != log.store.log_end_offset
        or request.current_leader_epoch != partition.leader_epoch
        or request.last_fetched_epoch not in (log.epochs.latest, NO_EPOCH)
    )


def read_partition(
    partition: Partition,
    request: FetchPartition,
    isolation_level: int,
    replica_id: int,
    max_bytes: int,
    at_least_one: bool,
) -> PartitionData:
    """Read records from `fetch_offset` on.

    Args:
        partition: A partition that this broker leads.
        request: What the fetch says about it.
        isolation_level: 1 for read_committed.
        replica_id: The follower that asks, negative for a consumer.
        max_bytes: What is left of the whole fetch's limit.
        at_least_one: Whether the first batch comes even when it is larger than the limits.
    """
    log = partition.log
    index = request.partition
    error = check_leader_epoch(max(request.current_leader_epoch, NO_EPOCH), partition.leader_epoch)
    if error:
        return read_error(index, error)
    offset = request.fetch_offset
    end_offset = log.store.log_end_offset
    if request.last_fetched_epoch >= 0 and (request.last_fetched_epoch != log.epochs.latest or offset > end_offset):
        diverging = _diverging_epoch(partition, request)
        if diverging is not None:
            return diverging
    if not log.start_offset <= offset <= end_offset:
        return read_error(index, ErrorCode.OFFSET_OUT_OF_RANGE)
    stable = log.last_stable_offset()
    bound = end_offset if replica_id >= 0 else upper_bound(partition, isolation_level, replica_id)
    records = _read_records(log, request, bound, max_bytes, at_least_one) if offset < bound else b""
    aborted = None
    if isolation_level == READ_COMMITTED and replica_id < 0:
        aborted = _aborted(partition, offset, records)
    return PartitionData(index, 0, log.high_watermark, stable, log.start_offset, aborted, -1, records)


def read_news(
    partition: Partition, cached: CachedPartition, replica_id: int, max_bytes: int, at_least_one: bool
) -> PartitionData | None:
    """Read what the follower of a session lacks of one partition.

    Returns:
        What `read_partition` does; None when the follower has every record and knows the offsets.
    """
    log, request = partition.log, cached.request
    store, offset, last_epoch = log.store, request.fetch_offset, request.last_fetched_epoch
    end_offset, start_offset, high_watermark = store.log_end_offset, store.log_start_offset, log.high_watermark
    if (
        request.current_leader_epoch != partition.leader_epoch
        or (last_epoch != log.epochs.latest and last_epoch != NO_EPOCH)
        or not start_offset <= offset <= end_offset
    ):
        return read_partition(partition, request, READ_UNCOMMITTED, replica_id, max_bytes, at_least_one)
    if offset == end_offset and high_watermark == cached.high_watermark and start_offset == cached.log_start_offset:
        return None
    records = _read_records(log, request, end_offset, max_bytes, at_least_one) if offset < end_offset else b""
    return PartitionData(
        request.partition, 0, high_watermark, log.last_stable_offset(), start_offset, None, -1, records
    )


def _read_records(log: PartitionLog, request: FetchPartition, bound: int, max_bytes: int, at_least_one: bool) -> bytes:
    limit = min(request.partition_max_bytes, max_bytes)
    if limit <= 0 and not at_least_one:
        return b""
    records = log.read(request.fetch_offset, limit, bound)
    return records if at_least_one or len(records) <= limit else b""


def point_to_replica(partition: Partition, index: int, broker_id: int) -> PartitionData:
    """Send a consumer to another replica, without records (KIP-392)."""
    log = partition.log
    return PartitionData(index, 0, log.high_watermark, log.last_stable_offset(), log.start_offset, None, broker_id, b"")


def _aborted(partition: Partition, offset: int, records: bytes) -> list[AbortedTransaction]:
    log = partition.log
    found = log.aborted_transactions(offset, log.end_offset) if records else []
    if not found:
        return []
    bound = log.store.bound_of_read(offset, _end_of(records))
    return [
        AbortedTransaction(transaction.producer_id, transaction.first_offset)
        for transaction in found
        if transaction.first_offset < bound
    ]


def _end_of(records: bytes) -> int:
    position, end = 0, 0
    while position < len(records):
        header = decode_header(records, position)
        end = header.next_offset
        position += header.size_bytes
    return end


def _diverging_epoch(partition: Partition, request: FetchPartition) -> PartitionData | None:
    """Tell a follower (or a consumer with a position of an older leader) where its log leaves this one (KIP-595)."""
    log = partition.log
    epoch, end_offset = log.epochs.end_offset_for(request.last_fetched_epoch, log.end_offset)
    if epoch < 0:
        return read_error(request.partition, ErrorCode.OFFSET_OUT_OF_RANGE)
    if epoch < request.last_fetched_epoch or end_offset < request.fetch_offset:
        return PartitionData(
            request.partition,
            0,
            log.high_watermark,
            log.last_stable_offset(),
            log.start_offset,
            None,
            -1,
            b"",
            diverging_epoch=EpochEndOffset(epoch, end_offset),
        )
    return None


def with_current_leader(data: PartitionData, leader_id: int, leader_epoch: int) -> PartitionData:
    """Tell a client that asked the wrong broker where the leader is (KIP-951)."""
    return replace(data, current_leader=LeaderIdAndEpoch(leader_id, leader_epoch))
