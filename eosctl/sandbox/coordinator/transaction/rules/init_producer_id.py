"""InitProducerId: bump the epoch, rotate the producer id, or abort the open transaction first."""

from __future__ import annotations

from typing import NamedTuple

from eosctl.model.transaction import TransactionState
from eosctl.sandbox.coordinator.transaction.metadata import (
    AT_REST,
    EMPTY,
    MAX_EPOCH,
    NO_PARTITIONS,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    ONGOING,
    PREPARED,
    TransactionMetadata,
)
from eosctl.sandbox.coordinator.transaction.rules.decision import (
    CONCURRENT,
    FENCED,
    NO_PRODUCER_ID_YET,
    UNEXPECTED,
    Abort,
    Answer,
    NewProducerId,
    Transition,
)


class Expected(NamedTuple):
    """The producer id and epoch that a recovering producer sends (KIP-360)."""

    producer_id: int
    producer_epoch: int


def decide_init_producer_id(
    current: TransactionMetadata,
    pending: TransactionState | None,
    expected: Expected | None,
    *,
    timeout_ms: int,
    now_ms: int,
    new_producer_id: NewProducerId,
) -> Answer | Transition | Abort:
    """Decide InitProducerId for a known transactional id.

    The expected epoch is compared only after an open transaction was aborted: a stale epoch aborts too.
    """
    if pending is not None:
        return CONCURRENT
    if expected is not None and not _is_producer_id_valid(current, expected):
        return FENCED
    if current.state in PREPARED:
        return CONCURRENT
    if current.state is ONGOING:
        return Abort()
    if current.state not in AT_REST:
        return UNEXPECTED
    if current.is_epoch_exhausted:
        if expected is not None and expected.producer_epoch != current.producer_epoch:
            return UNEXPECTED
        producer_id = new_producer_id()
        if producer_id is None:
            return NO_PRODUCER_ID_YET
        last_epoch = NO_PRODUCER_EPOCH if expected is None else current.producer_epoch
        return Transition(_empty(current, producer_id, 0, last_epoch, timeout_ms, now_ms))
    return _bump(current, expected, timeout_ms, now_ms)


def _is_producer_id_valid(current: TransactionMetadata, expected: Expected) -> bool:
    return (
        current.producer_epoch == NO_PRODUCER_EPOCH
        or expected.producer_id == current.producer_id
        or (expected.producer_id == current.previous_producer_id and expected.producer_epoch >= MAX_EPOCH - 1)
    )


def _bump(current: TransactionMetadata, expected: Expected | None, timeout_ms: int, now_ms: int) -> Answer | Transition:
    epoch = current.producer_epoch + 1
    last_epoch = NO_PRODUCER_EPOCH
    if expected is not None:
        if current.producer_epoch in (NO_PRODUCER_EPOCH, expected.producer_epoch):
            last_epoch = current.producer_epoch
        elif expected.producer_epoch == current.last_producer_epoch:
            epoch, last_epoch = current.producer_epoch, current.last_producer_epoch  # A retry after the bump.
        else:
            return FENCED
    return Transition(_empty(current, current.producer_id, epoch, last_epoch, timeout_ms, now_ms))


def _empty(
    current: TransactionMetadata, producer_id: int, epoch: int, last_epoch: int, timeout_ms: int, now_ms: int
) -> TransactionMetadata:
    return TransactionMetadata(
        transactional_id=current.transactional_id,
        producer_id=producer_id,
        producer_epoch=epoch,
        timeout_ms=timeout_ms,
        state=EMPTY,
        partitions=NO_PARTITIONS,
        start_ms=NO_TIMESTAMP,
        last_update_ms=now_ms,
        last_producer_epoch=last_epoch,
        previous_producer_id=current.producer_id,
        next_producer_id=NO_PRODUCER_ID,
        client_transaction_version=current.client_transaction_version,
    )
