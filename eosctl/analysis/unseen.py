"""Transactions that a coordinator cannot end and that no leader shows as open.

A partition without a leader reports no open transaction. Neither does one that has its marker while the coordinator
cannot write the completion to `__transaction_state`. Readings of leaders alone would call both of them nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.analysis.hanging import classify_open_transactions
from eosctl.analysis.lifetime import classify_transactions
from eosctl.analysis.locate import locate_transactional_id
from eosctl.model.hang import HangStatus, HangVerdict, OpenTransaction, TransactionVerdict
from eosctl.model.limits import Limits
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TopicPartition

_OF_COORDINATOR: Final = frozenset({HangStatus.STALLED, HangStatus.LATE})


def classify_all_open(snapshot: ClusterSnapshot, limits: Limits | None = None) -> tuple[HangVerdict, ...]:
    """Judge every transaction that is open at a leader, and those that only their coordinator shows as stuck.

    Args:
        snapshot: As for `classify_open_transactions`.
        limits: Thresholds.

    Returns:
        The verdicts by partition and first offset. Those without a leader's report have broker id and first offset -1,
        and no blast radius.
    """
    seen = classify_open_transactions(snapshot, limits)
    return tuple(
        sorted(
            (*seen, *_unseen(snapshot, seen, limits)),
            key=lambda one: (one.transaction.partition, one.transaction.first_offset),
        )
    )


def _unseen(snapshot: ClusterSnapshot, seen: Sequence[HangVerdict], limits: Limits | None) -> Iterator[HangVerdict]:
    shown = {verdict.transaction.transactional_id for verdict in seen if verdict.status is not HangStatus.HANGING}
    for verdict in classify_transactions(snapshot, limits):
        if verdict.status in _OF_COORDINATOR and verdict.transaction.transactional_id not in shown:
            yield from (_at(partition, verdict) for partition in _places(verdict, snapshot))


def _places(verdict: TransactionVerdict, snapshot: ClusterSnapshot) -> tuple[TopicPartition, ...]:
    """Return where it is stuck: at its partitions, or at its own partition of the transaction log."""
    if verdict.transaction.partitions:
        return verdict.transaction.partitions
    home = locate_transactional_id(snapshot, verdict.transaction.transactional_id)
    return () if home is None else (home.partition,)


def _at(partition: TopicPartition, verdict: TransactionVerdict) -> HangVerdict:
    transaction = verdict.transaction
    return HangVerdict(
        transaction=OpenTransaction(
            partition=partition,
            broker_id=-1,
            producer_id=transaction.producer_id,
            producer_epoch=transaction.producer_epoch,
            coordinator_epoch=-1,
            first_offset=-1,
            last_timestamp_ms=-1,
            transactional_id=transaction.transactional_id,
            coordinator_id=transaction.coordinator_id,
            coordinator_state=transaction.state,
            coordinator_producer_epoch=transaction.producer_epoch if transaction.described else None,
            timeout_ms=transaction.timeout_ms if transaction.described else None,
            age_ms=verdict.age_ms,
        ),
        status=verdict.status,
        cause=verdict.cause,
        confidence=verdict.confidence,
        explanation=verdict.explanation,
        evidence=verdict.evidence,
        coordinator_acts_at_ms=verdict.coordinator_acts_at_ms,
    )
