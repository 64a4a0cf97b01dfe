"""EndTxn, abort by the coordinator, and completion: the rules before and since KIP-890 part 2."""

from __future__ import annotations

import dataclasses
from typing import Final

from msgspec.structs import replace

from eosctl.model.transaction import TransactionState
from eosctl.sandbox.coordinator.transaction.metadata import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    EMPTY,
    MAX_EPOCH,
    NO_PARTITIONS,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    ONGOING,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    PREPARED,
    TransactionMetadata,
)
from eosctl.sandbox.coordinator.transaction.rules.decision import (
    CONCURRENT,
    FENCED,
    INVALID_STATE,
    NO_PRODUCER_ID_YET,
    OK,
    UNEXPECTED,
    UNKNOWN_MAPPING,
    Answer,
    Decision,
    NewProducerId,
    Transition,
)

EPOCH_BUMP_VERSION: Final = 2
"""The lowest `transaction.version` that bumps the epoch with every end of a transaction (TV2)."""


def decide_end(
    current: TransactionMetadata,
    pending: TransactionState | None,
    producer_id: int,
    producer_epoch: int,
    committed: bool,
    now_ms: int,
) -> Decision:
    """Decide EndTxn up to version 4: the epoch stays, and a retry with the same outcome succeeds."""
    if producer_id != current.producer_id:
        return UNKNOWN_MAPPING
    if producer_epoch != current.producer_epoch:
        return FENCED
    if pending is not None:
        return CONCURRENT
    state = current.state
    if state is ONGOING:
        return Transition(
            _prepared(
                current,
                committed,
                epoch=producer_epoch,
                last_epoch=current.last_producer_epoch,
                next_producer_id=NO_PRODUCER_ID,
                start_ms=current.start_ms,
                now_ms=now_ms,
                client_transaction_version=0,
            )
        )
    if state in (COMPLETE_COMMIT, COMPLETE_ABORT):
        return OK if (state is COMPLETE_COMMIT) == committed else INVALID_STATE
    return _refuse_end(state, committed)


def decide_end_with_bump(
    current: TransactionMetadata,
    pending: TransactionState | None,
    producer_id: int,
    producer_epoch: int,
    committed: bool,
    now_ms: int,
    new_producer_id: NewProducerId,
) -> Decision:
    """Decide EndTxn 5: every end bumps the epoch or rotates the producer id (KIP-890 part 2).

    A client that did not receive the response retries with the epoch before the bump, also after a rotation of the
    producer id. Aborting without a transaction is not an error: the epoch is bumped.
    """
    if pending is not None:
        return CONCURRENT
    state = current.state
    rotated = (
        producer_id == current.previous_producer_id and producer_epoch == MAX_EPOCH - 1 and current.producer_epoch == 0
    )
    is_retry = rotated or producer_epoch + 1 == current.producer_epoch
    if producer_id != current.producer_id and not rotated:
        return UNKNOWN_MAPPING
    if not _is_epoch_valid(state, producer_epoch == current.producer_epoch, is_retry, producer_epoch, current):
        return FENCED
    if state is ONGOING:
        return _bump(current, committed, now_ms, new_producer_id, start_ms=current.start_ms)
    if state in (COMPLETE_COMMIT, COMPLETE_ABORT) and is_retry:
        if (state is COMPLETE_COMMIT) == committed:
            return replace(OK, producer_id=current.producer_id, producer_epoch=current.producer_epoch)
        return INVALID_STATE
    if state in (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT):
        return INVALID_STATE if committed else _bump(current, False, now_ms, new_producer_id, start_ms=now_ms)
    return _refuse_end(state, committed)


def _is_epoch_valid(
    state: TransactionState, is_current: bool, is_retry: bool, producer_epoch: int, current: TransactionMetadata
) -> bool:
    if state in PREPARED:  # The epoch was bumped when the end was prepared.
        return producer_epoch + 1 == current.producer_epoch
    if state in (COMPLETE_COMMIT, COMPLETE_ABORT):
        return is_current or is_retry
    return is_current


def _refuse_end(state: TransactionState, committed: bool) -> Answer:
    if state in PREPARED:
        return CONCURRENT if (state is PREPARE_COMMIT) == committed else INVALID_STATE
    return INVALID_STATE if state is EMPTY else UNEXPECTED


def decide_coordinator_abort(
    current: TransactionMetadata,
    *,
    transaction_version: int,
    has_failed_epoch_fence: bool,
    now_ms: int,
    new_producer_id: NewProducerId,
) -> Decision:
    """Fence the producer of an open transaction and abort it (timeout, or a new InitProducerId).

    Kafka uses the state PrepareEpochFence here, which is never written; no other operation can occur in between, so it
    is omitted. Below TV2, the fence applies immediately and the previous epoch is dropped. From TV2 on, the bump is
    part of the prepared value and the previous epoch is kept, so that its owner can recover.
    """
    if transaction_version >= EPOCH_BUMP_VERSION:
        return _bump(current, False, now_ms, new_producer_id, start_ms=current.start_ms)
    epoch = current.producer_epoch
    if not has_failed_epoch_fence and epoch < MAX_EPOCH:
        epoch += 1
    fenced = dataclasses.replace(current, producer_epoch=epoch, last_producer_epoch=NO_PRODUCER_EPOCH)
    prepared = _prepared(
        fenced,
        False,
        epoch=epoch,
        last_epoch=NO_PRODUCER_EPOCH,
        next_producer_id=NO_PRODUCER_ID,
        start_ms=current.start_ms,
        now_ms=now_ms,
        client_transaction_version=0,
    )
    return Transition(prepared, fenced)


def complete(prepared: TransactionMetadata, now_ms: int) -> TransactionMetadata:
    """Return the final value of a prepared transaction, after every marker is written.

    A rotated producer id takes effect here, with epoch 0.
    """
    producer_id, epoch = prepared.producer_id, prepared.producer_epoch
    if prepared.client_transaction_version >= EPOCH_BUMP_VERSION and prepared.next_producer_id != NO_PRODUCER_ID:
        producer_id, epoch = prepared.next_producer_id, 0
    return TransactionMetadata(
        prepared.transactional_id,
        producer_id,
        epoch,
        prepared.timeout_ms,
        COMPLETE_COMMIT if prepared.state is PREPARE_COMMIT else COMPLETE_ABORT,
        NO_PARTITIONS,
        prepared.start_ms,
        now_ms,
        prepared.last_producer_epoch,
        prepared.producer_id,
        NO_PRODUCER_ID,
        prepared.client_transaction_version,
    )


def _bump(
    current: TransactionMetadata, committed: bool, now_ms: int, new_producer_id: NewProducerId, *, start_ms: int
) -> Decision:
    next_producer_id = new_producer_id() if current.is_epoch_exhausted else NO_PRODUCER_ID
    if next_producer_id is None:
        return NO_PRODUCER_ID_YET
    return Transition(
        _prepared(
            current,
            committed,
            epoch=min(current.producer_epoch + 1, MAX_EPOCH),
            last_epoch=current.producer_epoch,
            next_producer_id=next_producer_id,
            start_ms=start_ms,
            now_ms=now_ms,
            client_transaction_version=EPOCH_BUMP_VERSION,
        )
    )


def _prepared(
    current: TransactionMetadata,
    committed: bool,
    *,
    epoch: int,
    last_epoch: int,
    next_producer_id: int,
    start_ms: int,
    now_ms: int,
    client_transaction_version: int,
) -> TransactionMetadata:
    return TransactionMetadata(
        current.transactional_id,
        current.producer_id,
        epoch,
        current.timeout_ms,
        PREPARE_COMMIT if committed else PREPARE_ABORT,
        current.partitions,
        start_ms,
        now_ms,
        last_epoch,
        current.producer_id,
        next_producer_id,
        client_transaction_version,
    )
