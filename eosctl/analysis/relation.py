"""Compare the leaders' open transactions with the coordinators'."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Final

import msgspec

from eosctl.analysis.lifetime import PREPARED
from eosctl.model.transaction import (
    PartitionProducers,
    ProducerState,
    TopicPartition,
    Transaction,
    TransactionLook,
    TransactionState,
)

IDLE_STATES: Final = frozenset(
    {
        TransactionState.EMPTY,
        TransactionState.COMPLETE_COMMIT,
        TransactionState.COMPLETE_ABORT,
        TransactionState.DEAD,
    }
)


class Relation(Enum):
    """How one reading's coordinators stand to a transaction that is open on a leader."""

    UNKNOWN = "no transactional id has its producer id"
    NOT_IN_SET = "the coordinator's transaction does not hold the partition"
    SUPERSEDED = "the coordinator's transaction has a later epoch"
    MARKERS_DUE = "its outcome is decided and the marker is pending"
    MEMBER = "it belongs to the coordinator's open transaction"
    UNCLEAR = "the coordinator's answer is missing"


ORPHANED: Final = frozenset({Relation.UNKNOWN, Relation.NOT_IN_SET, Relation.SUPERSEDED})
OWNED: Final = frozenset({Relation.MEMBER, Relation.MARKERS_DUE})


class Sighting(msgspec.Struct, frozen=True):
    """A producer with an open transaction at a leader."""

    partition: TopicPartition
    broker_id: int
    state: ProducerState
    first_offset: int


def sightings(producers: Iterable[PartitionProducers]) -> Iterator[Sighting]:
    """Yield the open transactions of leaders."""
    for where in producers:
        for state in where.producers:
            if state.current_txn_start_offset is not None:
                yield Sighting(where.partition, where.broker_id, state, state.current_txn_start_offset)


def was_open(sighting: Sighting, before: PartitionProducers) -> bool:
    """Return whether an earlier pass has the same transaction: same producer, epoch, and first offset."""
    for state in before.producers:
        if state.producer_id == sighting.state.producer_id:
            same_epoch = state.producer_epoch == sighting.state.producer_epoch
            return same_epoch and state.current_txn_start_offset == sighting.first_offset
    return False


def relate(sighting: Sighting, look: TransactionLook, unheard: Sequence[str]) -> tuple[Relation, Transaction | None]:
    """Compare a sighting with one reading's coordinators.

    Args:
        sighting: The open transaction.
        look: The coordinators' transactions.
        unheard: The reasons why their list is incomplete.

    Returns:
        The relation, and the transaction with the producer id.
    """
    candidates = look.owners_of(sighting.state.producer_id)
    if not candidates:
        return (Relation.UNCLEAR if unheard else Relation.UNKNOWN), None
    if len(candidates) == 1:
        return _relate_to(sighting, candidates[0]), candidates[0]
    related = [(_relate_to(sighting, candidate), candidate) for candidate in candidates]
    # If two ids share a producer id, use the one that may still end the transaction.
    return min(related, key=lambda pair: (pair[0] in ORPHANED, pair[1].transactional_id))


def _relate_to(sighting: Sighting, transaction: Transaction) -> Relation:
    if transaction.state in IDLE_STATES:
        return Relation.NOT_IN_SET
    if not transaction.described:
        return Relation.UNCLEAR
    prepared = transaction.state in PREPARED
    if not prepared and transaction.state != TransactionState.ONGOING:
        return Relation.UNCLEAR
    if sighting.partition not in transaction.partitions:
        return Relation.NOT_IN_SET
    if prepared:
        return Relation.MARKERS_DUE
    if transaction.producer_epoch == sighting.state.producer_epoch:
        return Relation.MEMBER
    return Relation.SUPERSEDED if transaction.producer_epoch > sighting.state.producer_epoch else Relation.UNCLEAR
