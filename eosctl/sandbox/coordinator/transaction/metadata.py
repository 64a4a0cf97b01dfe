"""The coordinator's state of a transactional id (Kafka's `TransactionMetadata`), as an immutable value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, final

from eosctl.model.transaction import TopicPartition, TransactionState

NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_TIMESTAMP: Final = -1
MAX_EPOCH: Final = 0x7FFF
TWO_PHASE_COMMIT_TIMEOUT_MS: Final = 0x7FFF_FFFF

Partitions = frozenset[TopicPartition]
NO_PARTITIONS: Final[Partitions] = frozenset()

EMPTY: Final = TransactionState.EMPTY
ONGOING: Final = TransactionState.ONGOING
PREPARE_COMMIT: Final = TransactionState.PREPARE_COMMIT
PREPARE_ABORT: Final = TransactionState.PREPARE_ABORT
COMPLETE_COMMIT: Final = TransactionState.COMPLETE_COMMIT
COMPLETE_ABORT: Final = TransactionState.COMPLETE_ABORT
DEAD: Final = TransactionState.DEAD
PREPARE_EPOCH_FENCE: Final = TransactionState.PREPARE_EPOCH_FENCE

STATE_BY_STATUS: Final = (
    EMPTY,
    ONGOING,
    PREPARE_COMMIT,
    PREPARE_ABORT,
    COMPLETE_COMMIT,
    COMPLETE_ABORT,
    DEAD,
    PREPARE_EPOCH_FENCE,
)
"""States in the order of their ids in the state log (`TransactionStatus`)."""

STATUS_BY_STATE: Final = {state: status for status, state in enumerate(STATE_BY_STATUS)}

PREPARED: Final = frozenset({PREPARE_COMMIT, PREPARE_ABORT})
AT_REST: Final = frozenset({EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT})
"""States without an open transaction: a new one may start, and the id may expire."""


@final
@dataclass(init=False)
class TransactionMetadata:
    """The state of a transactional id: the content of the state log, and `last_producer_epoch`.

    Times are milliseconds since the epoch, -1 for none. `last_producer_epoch` is the epoch before the last bump. It is
    not written, so a coordinator does not recognize a retry with it after loading. `previous_producer_id` is the
    producer id before the last transition (equal to `producer_id` unless it was rotated). `next_producer_id` replaces
    `producer_id` when the transaction completes (-1 for none). `client_transaction_version` is 2 for a client that
    bumps its epoch with every end (KIP-890), else 0.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: TransactionState
    partitions: Partitions
    start_ms: int
    last_update_ms: int
    last_producer_epoch: int
    previous_producer_id: int
    next_producer_id: int
    client_transaction_version: int

    # Written by hand instead of by dataclass, so that the constructor and the field accesses are compiled.
    def __init__(
        self,
        transactional_id: str,
        producer_id: int,
        producer_epoch: int,
        timeout_ms: int,
        state: TransactionState,
        partitions: Partitions = NO_PARTITIONS,
        start_ms: int = NO_TIMESTAMP,
        last_update_ms: int = NO_TIMESTAMP,
        last_producer_epoch: int = NO_PRODUCER_EPOCH,
        previous_producer_id: int = NO_PRODUCER_ID,
        next_producer_id: int = NO_PRODUCER_ID,
        client_transaction_version: int = 0,
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.timeout_ms = timeout_ms
        self.state = state
        self.partitions = partitions
        self.start_ms = start_ms
        self.last_update_ms = last_update_ms
        self.last_producer_epoch = last_producer_epoch
        self.previous_producer_id = previous_producer_id
        self.next_producer_id = next_producer_id
        self.client_transaction_version = client_transaction_version

    def without(self, partitions: Iterable[TopicPartition]) -> TransactionMetadata:
        """Return the value without the partitions whose marker is written."""
        return TransactionMetadata(
            self.transactional_id,
            self.producer_id,
            self.producer_epoch,
            self.timeout_ms,
            self.state,
            self.partitions.difference(partitions),
            self.start_ms,
            self.last_update_ms,
            self.last_producer_epoch,
            self.previous_producer_id,
            self.next_producer_id,
            self.client_transaction_version,
        )

    @property
    def is_epoch_exhausted(self) -> bool:
        """Return whether the epoch cannot be bumped for a client any more (32767 is reserved for fencing)."""
        return self.producer_epoch >= MAX_EPOCH - 1

    @property
    def is_two_phase_commit(self) -> bool:
        """Return whether an external coordinator controls the transaction, which then never times out (KIP-939)."""
        return self.timeout_ms == TWO_PHASE_COMMIT_TIMEOUT_MS

    @property
    def times_out_at_ms(self) -> int:
        """Return the deadline of an open transaction; None under two-phase commit."""
        return self.start_ms + self.timeout_ms


def new_metadata(transactional_id: str, producer_id: int, timeout_ms: int, now_ms: int) -> TransactionMetadata:
    """Return the value for a new id: Empty, without an epoch."""
    return TransactionMetadata(
        transactional_id, producer_id, NO_PRODUCER_EPOCH, timeout_ms, EMPTY, last_update_ms=now_ms
    )
