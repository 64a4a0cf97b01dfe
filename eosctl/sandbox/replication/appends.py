"""Appends by a leader: client batches, coordinators' batches, and transaction markers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.log.producer_state import VerificationGuard
from eosctl.sandbox.log.validation import (
    RecordsCheck,
    Refusal,
    check_client_batch,
    check_form,
    check_records,
    finish,
    reads_records,
)
from eosctl.sandbox.logging.append_events import AppendEvents, Refused
from eosctl.sandbox.ports import AppendResult
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.replication.purgatory import Deadlines, ReplicationWait
from eosctl.sandbox.replication.verification import NOT_VERIFIED, VerificationPolicy
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.turns import Background
from eosctl.wire.error_codes import NO_ERROR, ErrorCode
from eosctl.wire.records.batch import BatchHeader, RecordsSection, encode_entries, with_append_time, with_offset
from eosctl.wire.records.control import EndTxnMarker, encode_marker_batch
from eosctl.wire.records.header import TRANSACTIONAL

Done = Callable[[AppendResult], None]


class ClientBatch:
    """A partition's batch of a Produce request, with its verification result.

    `has_valid_records` is true once the records of a large batch have been checked.
    """

    __slots__ = ("batch", "guard", "has_valid_records", "header")

    def __init__(self, batch: bytes, header: BatchHeader, guard: VerificationGuard | None = None) -> None:
        self.batch = batch
        self.header = header
        self.guard = guard
        self.has_valid_records = False


def renew_guard(
    leader: Callable[[TopicPartition], Partition | ErrorCode],
    verification: VerificationPolicy,
    target: TopicPartition,
    given: ClientBatch,
) -> ErrorCode | None:
    """Begin again the verification of a batch for which the coordinator adds the partition.

    Returns:
        None, or the code with which the verification ends: none is needed any more (NONE), or the batch is refused.
    """
    partition, header = leader(target), given.header
    if not isinstance(partition, Partition):
        return ErrorCode.NONE  # The append is refused.
    guard = verification.begin(
        partition, header.producer_id, header.producer_epoch, header.base_sequence, adds_partition=True
    )
    if guard is None:
        return ErrorCode.NONE
    if isinstance(guard, ErrorCode):
        return guard
    given.guard = guard
    return None


def begin_check(
    partition: Partition, given: ClientBatch, now_ms: int, background: Background[RecordsSection]
) -> RecordsCheck | None:
    """Begin the check of a batch's records; None if the batch is rejected before."""
    header, settings = given.header, partition.log.settings
    if check_client_batch(given.batch, header, settings, now_ms, partition.partition) is not None:
        return None
    return check_records(given.batch, header, settings, now_ms, partition.partition, background)


def append_client_batch(
    partition: Partition, given: ClientBatch, now_ms: int, verification: VerificationPolicy
) -> tuple[AppendResult, int] | Refusal:
    """Append a client batch as leader, or detect a duplicate.

    Returns:
        The result and the last offset to be replicated for acks=all, or the reason for rejecting the batch.
    """
    partition.traffic.append_count += 1
    log, header, batch = partition.log, given.header, given.batch
    settings = log.settings
    refusal = check_client_batch(batch, header, settings, now_ms, partition.partition)
    if refusal is None and not given.has_valid_records:
        if reads_records(header, settings, now_ms):
            refusal = finish(check_records(batch, header, settings, now_ms, partition.partition))
        else:
            refusal = check_form(batch, header)
    if refusal is not None:
        return refusal
    producer_id = header.producer_id
    if producer_id >= 0:
        producers = log.producers
        entry = producers.producers.get(producer_id)
        if entry is not None:
            duplicate = entry.duplicate_of(header.producer_epoch, header.base_sequence, header.last_sequence)
            if duplicate is not None:
                result = AppendResult(
                    NO_ERROR,
                    duplicate.first_offset,
                    duplicate.last_offset,
                    duplicate.timestamp,
                    log.start_offset,
                )
                return result, duplicate.last_offset
        transactional = header.attributes & TRANSACTIONAL != 0
        if transactional and verification.is_missing(partition, header, given.guard):
            return Refusal(*NOT_VERIFIED, knows_log=True)
        error = producers.check_data(
            producer_id,
            header.producer_epoch,
            header.base_sequence,
            transactional=transactional,
            check_sequence=True,
        )
        if error:
            return Refusal(error, knows_log=True)
    append_time_ms = -1
    if settings.log_append_time:
        append_time_ms = now_ms
        batch = with_append_time(batch, now_ms)
        header = replace(header, attributes=header.attributes | 8, max_timestamp=now_ms)
    base_offset = log.end_offset
    batch = with_offset(batch, base_offset, partition.leader_epoch)
    header = header.placed(base_offset, partition.leader_epoch)
    log.append_placed(batch, header, now_ms)
    partition.appended(batch, header)
    last_offset = log.end_offset - 1
    result = AppendResult(NO_ERROR, base_offset, last_offset, append_time_ms, log.start_offset)
    return result, last_offset


class LeaderAppends:
    """Appends made by the broker itself, always with acks=all."""

    def __init__(
        self,
        partitions: dict[TopicPartition, Partition],
        runtime: NodeRuntime,
        deadlines: Deadlines,
        refusals: AppendEvents,
    ) -> None:
        self._partitions = partitions
        self._refusals = refusals
        self._runtime = runtime
        self._deadlines = deadlines

    def internal(
        self, partition: Partition | None, batch: bytes, header: BatchHeader, done: Done, timeout_ms: int
    ) -> None:
        """Append a coordinator's batch at the log end; producer state is checked without sequences."""
        error = self._begin(partition)
        if error or partition is None:
            done(AppendResult(error))
            return
        if header.producer_id >= 0:
            error = partition.log.producers.check_data(
                header.producer_id,
                header.producer_epoch,
                header.base_sequence,
                transactional=header.attributes & TRANSACTIONAL != 0,
                check_sequence=False,
            )
            if error:
                self._refusals.refused(partition, error, refused_batch(header))
                done(AppendResult(error, log_start_offset=partition.log.start_offset))
                return
        self._append(partition, batch, header, self._runtime.now_ms(), done, timeout_ms)

    def entries(
        self,
        partition: Partition | None,
        entries: Sequence[tuple[bytes, bytes | None]],
        done: Done,
        timeout_ms: int,
    ) -> None:
        """Append a coordinator's keys and values as one batch at the log end."""
        error = self._begin(partition)
        if error or partition is None:
            done(AppendResult(error))
            return
        now_ms = self._runtime.now_ms()
        header, batch = encode_entries(entries, now_ms, partition.log.end_offset, partition.leader_epoch)
        self._append(partition, batch, header, now_ms, done, timeout_ms)

    def marker(
        self,
        partition: Partition | None,
        producer_id: int,
        producer_epoch: int,
        marker: EndTxnMarker,
        transaction_version: int,
        done: Done,
        timeout_ms: int,
    ) -> None:
        """Append an end-transaction marker after the epoch checks of the partition."""
        error = self._begin(partition)
        if error or partition is None:
            done(AppendResult(error))
            return
        error = partition.log.producers.check_marker(
            producer_id, producer_epoch, marker.coordinator_epoch, transaction_version
        )
        if error:
            refused = Refused(producer_id, producer_epoch, coordinator_epoch=marker.coordinator_epoch)
            self._refusals.refused(partition, error, refused)
            done(AppendResult(error, log_start_offset=partition.log.start_offset))
            return
        now_ms = self._runtime.now_ms()
        append_time = partition.log.settings.log_append_time
        offset, epoch = partition.log.end_offset, partition.leader_epoch
        batch = encode_marker_batch(
            marker,
            producer_id,
            producer_epoch,
            now_ms,
            base_offset=offset,
            partition_leader_epoch=epoch,
            log_append_time=append_time,
        )
        attributes = 0x38 if append_time else 0x30
        header = BatchHeader(
            offset, len(batch) - 12, epoch, 2, 0, attributes, 0, now_ms, now_ms, producer_id, producer_epoch, -1, 1
        )
        self._append(partition, batch, header, now_ms, done, timeout_ms)

    def _append(
        self, partition: Partition, batch: bytes, header: BatchHeader, now_ms: int, done: Done, timeout_ms: int
    ) -> None:
        log, base_offset = partition.log, header.base_offset
        log.append_placed(batch, header, now_ms)
        partition.appended(batch, header)
        last_offset = log.end_offset - 1
        result = AppendResult(NO_ERROR, base_offset, last_offset, -1, log.store.log_start_offset)
        if last_offset < log.high_watermark:
            done(result)
            return
        wait = ReplicationWait(
            last_offset, self._runtime.loop.time() + timeout_ms / 1000, partial(_replicated, result, done)
        )
        partition.wait_for(wait)
        self._deadlines.add(wait)

    def _begin(self, partition: Partition | None) -> ErrorCode:
        """Count an append, as Kafka does before its checks; return why the partition cannot take it."""
        if partition is not None:
            partition.traffic.append_count += 1
        if partition is None or not partition.is_leader:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if partition.is_below_min_isr:
            self._refusals.refused(partition, ErrorCode.NOT_ENOUGH_REPLICAS, Refused())
            return ErrorCode.NOT_ENOUGH_REPLICAS
        return NO_ERROR


def refused_batch(header: BatchHeader, message: str | None = None) -> Refused:
    """Return the fields of a rejected batch for its log line."""
    transactional = header.attributes & TRANSACTIONAL != 0
    return Refused(
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        transactional=transactional,
        message=message,
    )


def _replicated(result: AppendResult, done: Done, error: ErrorCode) -> None:
    done(result if not error else replace(result, error=error))
