"""Acknowledgements of acquired records: accept, release, reject, and renew (`SharePartition.acknowledge`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.share.in_flight import NO_MEMBER, InFlightBatch, InFlightRecord, RecordState, ShareLimits
from eosctl.sandbox.share.share_partition import SharePartition, Transition
from eosctl.wire.error_codes import ErrorCode


class AcknowledgeType(IntEnum):
    """What a member reports about an offset; GAP is an offset without a record."""

    GAP = 0
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4


_STATE_OF: Final = {
    AcknowledgeType.GAP: RecordState.ARCHIVED,
    AcknowledgeType.ACCEPT: RecordState.ACKNOWLEDGED,
    AcknowledgeType.RELEASE: RecordState.AVAILABLE,
}


class Acknowledgement(NamedTuple):
    """Offsets with one type for all of them, or one type for each."""

    first_offset: int
    last_offset: int
    types: tuple[int, ...]

    def type_of(self, offset: int) -> int:
        """Return the type of an offset."""
        return self.types[offset - self.first_offset] if len(self.types) > 1 else self.types[0]


class AcknowledgementRefusedError(Exception):
    """An acknowledgement is rejected; `message` is Kafka's."""

    def __init__(self, error: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message


def is_valid(batches: Iterable[Acknowledgement], *, may_renew: bool) -> bool:
    """Return whether offsets ascend and every batch has known types, one for all of its offsets or one for each."""
    end = -1
    for batch in batches:
        count = batch.last_offset - batch.first_offset + 1
        if count < 1 or batch.first_offset <= end or len(batch.types) not in {1, count}:
            return False
        most = AcknowledgeType.RENEW if may_renew else AcknowledgeType.REJECT
        if not all(AcknowledgeType.GAP <= kind <= most for kind in batch.types):
            return False
        end = batch.last_offset
    return True


def acknowledge(
    partition: SharePartition, member_id: str, batches: Sequence[Acknowledgement], limits: ShareLimits, now_ms: float
) -> Transition:
    """Begin the transitions of acknowledged records; all of them, or none.

    Raises:
        AcknowledgementRefusedError: INVALID_RECORD_STATE or INVALID_REQUEST.
    """
    begun: list[tuple[int, InFlightRecord]] = []
    rejected: set[int] = set()
    try:
        for batch in batches:
            if batch.last_offset < partition.start_offset:
                continue
            for offset, record in _owned(partition, member_id, batch):
                kind = AcknowledgeType(batch.type_of(offset))
                if kind is not AcknowledgeType.RENEW:
                    record.begin(_STATE_OF.get(kind, limits.given_up), limits)
                    begun.append((offset, record))
                    if kind is AcknowledgeType.REJECT:
                        rejected.add(offset)
                elif limits.renews_locks:
                    record.lock_until_ms = now_ms + limits.lock_duration_ms
                else:
                    raise _invalid_state("Renewing acquisition locks is not enabled for the group.")
    except AcknowledgementRefusedError:
        for _, record in begun:
            record.revert(limits, now_ms)
        raise
    return Transition(begun, frozenset(rejected))


def _owned(partition: SharePartition, member_id: str, batch: Acknowledgement) -> Iterator[tuple[int, InFlightRecord]]:
    """Yield the records of an acknowledgement that the member holds."""
    start = partition.start_offset
    for held in _find(partition, batch):
        if held.last_offset < start:
            continue
        if not held.is_per_offset:
            _check_batch(held, member_id)
        is_whole = batch.first_offset <= held.first_offset and held.last_offset <= batch.last_offset
        if not is_whole or len(batch.types) > 1 or held.first_offset < start:
            if not held.is_per_offset and held.records[0].state is not RecordState.ACQUIRED:
                raise _invalid_state("The batch cannot be acknowledged. The subset batch is not in the acquired state.")
            held.is_per_offset = True
        if not held.is_per_offset and held.records[0].state is not RecordState.ACQUIRED:
            raise _invalid_state("The batch cannot be acknowledged. The batch is not in the acquired state.")
        for offset, record in held.between(max(batch.first_offset, start), batch.last_offset):
            if held.is_per_offset:
                _check_record(record, member_id)
            yield offset, record


def _find(partition: SharePartition, batch: Acknowledgement) -> Sequence[InFlightBatch]:
    first = partition.floor_index(batch.first_offset)
    if first < 0:
        if not batch.first_offset < partition.start_offset <= batch.last_offset:
            raise _invalid_state("Batch record not found. The request batch offsets are not found in the cache.")
        first = max(0, partition.floor_index(partition.start_offset))
    found = partition.batches[first : partition.floor_index(batch.last_offset) + 1]
    end = found[-1].last_offset if found else -1
    if end < batch.first_offset:
        text = "Batch record not found. The first offset in request is past acquired records."
        raise AcknowledgementRefusedError(ErrorCode.INVALID_REQUEST, text)
    if end < batch.last_offset:
        text = "Batch record not found. The last offset in request is past acquired records."
        raise AcknowledgementRefusedError(ErrorCode.INVALID_REQUEST, text)
    return found


def _check_batch(held: InFlightBatch, member_id: str) -> None:
    record = held.records[0]
    if record.member_id == NO_MEMBER:
        raise _invalid_state("The batch cannot be acknowledged. The batch is not in the acquired state.")
    if record.member_id != member_id:
        raise _invalid_state("Member is not the owner of batch record")
    if record.rollback is not None:
        raise _invalid_state(kafka_text(ErrorCode.INVALID_RECORD_STATE))


def _check_record(record: InFlightRecord, member_id: str) -> None:
    if record.state is not RecordState.ACQUIRED:
        raise _invalid_state("The offset cannot be acknowledged. The offset is not acquired.")
    if record.rollback is not None:
        raise _invalid_state(kafka_text(ErrorCode.INVALID_RECORD_STATE))
    if record.member_id != member_id:
        raise _invalid_state("Member is not the owner of offset")


def _invalid_state(message: str) -> AcknowledgementRefusedError:
    return AcknowledgementRefusedError(ErrorCode.INVALID_RECORD_STATE, message)
