"""Open transactions whose records a partition does not have: a recreated topic, or a log that was cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from eosctl.model.history import TransactionLogEntry
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import PartitionProducers, TopicPartition, Transaction, TransactionState

#: A producer adds a partition to its transaction right before it writes there; retries take a while.
WRITTEN_BY_THEN_MS: Final = 60_000


class LostRecords(msgspec.Struct, frozen=True):
    """An open transaction, and those of its partitions whose leaders have no open transaction of its producer.

    Attributes:
        transaction: The coordinator's transaction.
        partitions: Its partitions without records.
        added: The records of the transaction log that added them, in the same order.
        leaders: The leaders of these partitions, in the same order.
    """

    transaction: Transaction
    partitions: tuple[TopicPartition, ...]
    added: tuple[TransactionLogEntry, ...]
    leaders: tuple[int, ...]


def find_lost_records(snapshot: ClusterSnapshot) -> Iterator[LostRecords]:
    """Yield open transactions with partitions that do not have their records.

    The leaders are asked before the coordinators, so a partition counts only if it was part of the transaction
    `WRITTEN_BY_THEN_MS` before that, by the transaction log.
    """
    if not snapshot.looks:
        return
    look = snapshot.looks[-1]
    answers = {where.partition: where for where in look.producers}
    history = snapshot.history_by_id
    for transaction in look.transactions:
        if transaction.state != TransactionState.ONGOING or not transaction.described:
            continue
        entries = history.get(transaction.transactional_id, ())
        found = []
        for where in transaction.partitions:
            answer, added = answers.get(where), _added(transaction, where, entries)
            if answer is None or added is None or not _is_led(answer, snapshot):
                continue
            is_due = added.written_at_ms + WRITTEN_BY_THEN_MS < look.started_at_ms
            if is_due and not _has_open(answer, transaction.producer_id):
                found.append((where, added, answer.broker_id))
        if found:
            partitions, records, leaders = zip(*found, strict=True)
            yield LostRecords(transaction, partitions, records, leaders)


def _added(
    transaction: Transaction, where: TopicPartition, entries: Sequence[TransactionLogEntry]
) -> TransactionLogEntry | None:
    """Return the first record of this transaction that has the partition; None if the log was not read so far."""
    return next(
        (
            entry
            for entry in entries
            if entry.state == TransactionState.ONGOING
            and entry.producer_id == transaction.producer_id
            and entry.start_time_ms == transaction.start_time_ms
            and where in entry.partitions
        ),
        None,
    )


def _is_led(answer: PartitionProducers, snapshot: ClusterSnapshot) -> bool:
    info = snapshot.partition(answer.partition)
    return info is not None and info.leader_id == answer.broker_id


def _has_open(answer: PartitionProducers, producer_id: int) -> bool:
    return any(
        state.producer_id == producer_id and state.current_txn_start_offset is not None for state in answer.producers
    )
