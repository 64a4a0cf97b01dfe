"""AddPartitionsToTxn and AddOffsetsToTxn: start or extend a transaction, or verify its partitions (KIP-890)."""

from __future__ import annotations

from collections.abc import Iterable

from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.sandbox.coordinator.transaction.metadata import (
    ONGOING,
    PREPARED,
    Partitions,
    TransactionMetadata,
)
from eosctl.sandbox.coordinator.transaction.rules.decision import (
    CONCURRENT,
    FENCED,
    OK,
    UNKNOWN_MAPPING,
    Answer,
    Decision,
    Transition,
)
from eosctl.wire.error_codes import NO_ERROR, ErrorCode


def decide_add_partitions(
    current: TransactionMetadata,
    pending: TransactionState | None,
    producer_id: int,
    producer_epoch: int,
    partitions: Partitions,
    *,
    client_transaction_version: int,
    now_ms: int,
    pending_first: bool,
) -> Decision:
    """Decide an addition of partitions.

    `pending_first` is the order of checks: 4.x returns error 51 for a pending transition before it checks producer id
    and epoch (KAFKA-18660), 3.9 after.
    """
    if pending_first and pending is not None:
        return CONCURRENT
    if producer_id != current.producer_id:
        return UNKNOWN_MAPPING
    if producer_epoch != current.producer_epoch:
        return FENCED
    state = current.state
    if pending is not None or state in PREPARED:
        return CONCURRENT
    if state is ONGOING:
        if partitions <= current.partitions:
            return OK
        start_ms, partitions = current.start_ms, current.partitions | partitions
    else:
        start_ms = now_ms
    return Transition(
        TransactionMetadata(
            current.transactional_id,
            producer_id,
            producer_epoch,
            current.timeout_ms,
            ONGOING,
            partitions,
            start_ms,
            now_ms,
            current.last_producer_epoch,
            producer_id,
            current.next_producer_id,
            client_transaction_version,
        )
    )


def verify_partitions(
    current: TransactionMetadata | None, producer_id: int, producer_epoch: int, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, ErrorCode]:
    """Return for each partition whether it belongs to the producer's transaction (`verifyOnly`).

    A pending transition is ignored, on 3.9.2 and 4.3.1; a prepared state is not.
    """
    error = _refuse_verification(current, producer_id, producer_epoch)
    if error is not None or current is None:
        return dict.fromkeys(partitions, ErrorCode.INVALID_PRODUCER_ID_MAPPING if error is None else error.error)
    return {
        partition: NO_ERROR if partition in current.partitions else ErrorCode.TRANSACTION_ABORTABLE
        for partition in partitions
    }


def _refuse_verification(current: TransactionMetadata | None, producer_id: int, producer_epoch: int) -> Answer | None:
    if current is None or producer_id != current.producer_id:
        return UNKNOWN_MAPPING
    if producer_epoch != current.producer_epoch:
        return FENCED
    if current.state in PREPARED:
        return CONCURRENT
    return None
