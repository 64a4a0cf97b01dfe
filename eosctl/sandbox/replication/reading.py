"""Read a partition for a fetch: bounds by isolation level, aborted transactions, and leader-epoch checks."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.replication.fetch_sessions import CachedPartition
from eosctl.sandbox.replication.partition import Partition
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    LeaderIdAndEpoch,
    PartitionData,
)
from eosctl.wire.records.batch import decode_header

READ_UNCOMMITTED, READ_COMMITTED = 0, 1
CONSUMER = -1


NO_EPOCH = -1  # The client does not send one; other negative epochs count as old.


def check_leader_epoch(given: int, current: int) -> ErrorCode:
    """Compare a client's leader epoch with the current one (KIP-320)."""
    if given in (NO_EPOCH, current):
        return ErrorCode.NONE
    return ErrorCode.FENCED_LEADER_EPOCH if given < current else ErrorCode.UNKNOWN_LEADER_EPOCH


def fetch_error(index: int, error: ErrorCode) -> PartitionData:
    """Return an error for a partition without a local log."""
    return PartitionData(index, error, high_watermark=-1, records=b"")


def read_error(index: int, error: ErrorCode) -> PartitionData:
    """Return an error for a rejected read."""
    return PartitionData(index, error, high_watermark=-1, aborted_transactions=None, records=b"")


def upper_bound(partition: Partition, isolation_level: int, replica_id: int) -> int:
    """Return the offset at which this reader must stop."""
    if replica_id >= 0:
        return partition.log.store.log_end_offset
    if isolation_level == READ_COMMITTED:
        return partition.log.last_stable_offset()
    return partition.log.high_watermark


def has_answer(partition: Partition, request: FetchPartition, isolation_level: int, replica_id: int) -> bool:
    """Return whether a read returns records, an error, or a diverging epoch, not only offsets."""
    return (
        upper_bound(partition, isolation_level, replica_id) != request.fetch_offset
        or request.current_leader_epoch not in (-1, partition.leader_epoch)
        or diverges(partition, request)
    )


def is_enough(results: Iterable[tuple[object, PartitionData]], min_bytes: int) -> bool:
    """Return whether a fetch of `min_bytes` waits no longer: enough bytes, an error, or a diverging log."""
    lacking = min_bytes
    for _, data in results:
        if data.records:
            lacking -= len(data.records)
            if lacking <= 0:
                return True
        elif data.error_code or data.diverging_epoch.epoch >= 0 or data.preferred_read_replica >= 0:
            return True
    return lacking <= 0


def diverges(partition: Partition, request: FetchPartition) -> bool:
    """Return whether the reader's log diverges from this one before the requested offset."""
    return (
        request.last_fetched_epoch not in (NO_EPOCH, partition.log.epochs.latest)
        and _diverging_epoch(partition, request) is not None
    )


def lacks_something(partition: Partition, request: FetchPartition) -> bool:
    """Return whether a follower with this request may receive more than offsets."""
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
    """Read records from `fetch_offset`.

    Args:
        partition: A partition that this broker leads.
        request: The partition's part of the fetch.
        isolation_level: 1 for read_committed.
        replica_id: The fetching follower, negative for a consumer.
        max_bytes: The remaining bytes of the fetch's limit.
        at_least_one: Whether the first batch is returned even if it exceeds the limits.
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


def read_new_records(
    partition: Partition, cached: CachedPartition, replica_id: int, max_bytes: int, at_least_one: bool
) -> PartitionData | None:
    """Read the records that the follower of a session lacks.

    Returns:
        The result of `read_partition`; None if the follower has every record and all offsets.
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
    """Redirect a consumer to another replica, without records (KIP-392)."""
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
    """Return where the log of a follower, or of a consumer with an older epoch, diverges from this one (KIP-595)."""
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
    """Add the current leader to the response for a client that sent its fetch to another broker (KIP-951)."""
    return replace(data, current_leader=LeaderIdAndEpoch(leader_id, leader_epoch))


def refuse_isolation_level(request: FetchRequest, *, is_3_9: bool) -> FetchResponse:
    """Reject an invalid isolation level as Kafka does: for the request and for each partition."""
    error = ErrorCode.UNKNOWN_SERVER_ERROR
    records = None if is_3_9 else b""
    refused: list[FetchableTopicResponse] = []
    for topic in request.topics:
        indexes = [partition.partition for partition in topic.partitions]
        data = [PartitionData(index, error, -1, aborted_transactions=(), records=records) for index in indexes]
        refused.append(FetchableTopicResponse(topic.topic, topic.topic_id, data))
    return FetchResponse(error_code=error, responses=refused)
