"""Decide whether a second reading of the transactions is needed.

A second reading distinguishes a race from a lasting state. If the leaders show only open transactions that coordinators
list as ongoing, no decision waits for its markers, and no timeout has passed, then there was no race, and a second
reading would give the same verdicts. The same holds for each of them alone: a second reading needs no more than what is
in doubt, since nothing hangs, is stalled, or is late that the first reading does not leave in doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from eosctl.analysis.lifetime import is_same_transaction
from eosctl.analysis.relation import IDLE_STATES, Relation, Sighting, relate, was_open
from eosctl.model.limits import Limits
from eosctl.model.transaction import ProducerState, TopicPartition, Transaction, TransactionLook, TransactionState

_LIMITS: Final = Limits()


class Doubt(NamedTuple):
    """What may hang, be stalled, or be late.

    Attributes:
        sightings: The transactions of leaders that no coordinator's open transaction covers.
        transactions: Those of coordinators that are decided, past their timeout, or in an unknown state.
    """

    sightings: tuple[Sighting, ...]
    transactions: tuple[Transaction, ...]

    def partitions(self) -> frozenset[TopicPartition]:
        """Return the partitions to query again."""
        return frozenset(sighting.partition for sighting in self.sightings)

    def producer_ids(self) -> frozenset[int]:
        """Return the producer ids of both."""
        at_leaders = (sighting.state.producer_id for sighting in self.sightings)
        return frozenset((*at_leaders, *(transaction.producer_id for transaction in self.transactions)))


def doubt_of(look: TransactionLook) -> Doubt:
    """Return what a pass leaves in doubt; both parts are empty if nothing is."""
    unsettled = []
    for where in look.producers:
        for state in where.producers:
            if state.current_txn_start_offset is None:
                continue
            candidates = look.owners_of(state.producer_id)
            if len(candidates) != 1 or not _is_member(where.partition, state, candidates[0]):
                unsettled.append(Sighting(where.partition, where.broker_id, state, state.current_txn_start_offset))
    return Doubt(
        tuple(one for one in unsettled if relate(one, look, ())[0] is not Relation.MEMBER),
        tuple(one for one in look.transactions if _may_be_stuck(one, look.finished_at_ms)),
    )


def _is_member(partition: TopicPartition, state: ProducerState, owner: Transaction) -> bool:
    """Return whether `relate` certainly returns MEMBER; thousands are, in each reading of a live view."""
    return (
        owner.state == TransactionState.ONGOING
        and owner.described
        and owner.producer_epoch == state.producer_epoch
        and partition in owner.partitions
    )


def remains_in_doubt(looks: Sequence[TransactionLook]) -> bool:
    """Return whether something is in doubt in two passes, so that it is not what ended, or began, between them."""
    first, second = looks
    before = {where.partition: where for where in first.producers}
    doubt = doubt_of(second)
    for sighting in doubt.sightings:
        where = before.get(sighting.partition)
        if where is None or was_open(sighting, where) or relate(sighting, second, ())[1] is None:
            return True
    earlier = first.with_ids({one.transactional_id for one in doubt.transactions})
    return any(
        one.transactional_id not in earlier or is_same_transaction(one, earlier[one.transactional_id])
        for one in doubt.transactions
    )


def _may_be_stuck(transaction: Transaction, now_ms: int) -> bool:
    if transaction.state in IDLE_STATES:
        return False
    if transaction.state != TransactionState.ONGOING or transaction.start_time_ms is None:
        return True
    return now_ms >= transaction.start_time_ms + transaction.timeout_ms


def holds_something_long(look: TransactionLook, limits: Limits = _LIMITS) -> bool:
    """Return whether a coordinator has a transaction that is open long enough to be reported."""
    return any(
        transaction.state not in IDLE_STATES
        and transaction.start_time_ms is not None
        and look.finished_at_ms - transaction.start_time_ms >= limits.long_running_transaction_ms
        for transaction in look.transactions
    )
