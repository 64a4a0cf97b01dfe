"""Queries on the newest part of `__transaction_state`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from eosctl.analysis.coordinators import TRANSACTION_STATE_TOPIC
from eosctl.model.evidence import EvidenceKind
from eosctl.model.history import RECORDS_PER_PARTITION, History, TransactionLogEntry
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TopicPartition, Transaction, TransactionState


class Outcome(Enum):
    """The outcome of the last transaction with a partition, as far as the log was read."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    NEVER = "never"
    UNKNOWN = "unknown"


def was_read(snapshot: ClusterSnapshot) -> bool:
    """Return whether the newest part of every partition of the log was read.

    A topic that the principal may not describe is missing from the metadata without an error.
    """
    kind = EvidenceKind.TRANSACTION_HISTORY
    is_known = kind in snapshot.collected and snapshot.topic(TRANSACTION_STATE_TOPIC) is not None
    return is_known and not any(gap.kind is kind for gap in snapshot.gaps)


def was_read_whole(snapshot: ClusterSnapshot) -> bool:
    """Return whether every record of the log was read, so that it names every id that has not expired."""
    topic = snapshot.topic(TRANSACTION_STATE_TOPIC)
    if topic is None or not was_read(snapshot):
        return False
    oldest: dict[int, int] = {}
    for entry in snapshot.transaction_history:
        oldest[entry.log_partition] = min(entry.offset, oldest.get(entry.log_partition, entry.offset))
    for info in topic.partitions:
        limit = (info.high_watermark or 0) - RECORDS_PER_PARTITION
        if limit > (info.log_start_offset or 0) and oldest.get(info.partition.partition, limit) >= limit:
            return False
    return True


def present_owners(history: History) -> Mapping[int, TransactionLogEntry]:
    """Return the newest record of every unexpired id, by its producer id.

    A coordinator knows each of them; one that is missing from its list was omitted because the principal may not
    describe the id.
    """
    newest = (entries[-1] for entries in history.values())
    return {entry.producer_id: entry for entry in newest if entry.state}


def last_prepare(
    entries: Sequence[TransactionLogEntry], producer_id: int, partition: TopicPartition
) -> TransactionLogEntry | None:
    """Return the newest Prepare* record of this producer id that lists the partition, or None."""
    return next(
        (
            entry
            for entry in reversed(entries)
            if entry.producer_id == producer_id
            and entry.state in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)
            and partition in entry.partitions
        ),
        None,
    )


def last_outcome(entries: Sequence[TransactionLogEntry], producer_id: int, partition: TopicPartition) -> Outcome:
    """Return the outcome of the last transaction of this producer id on this partition.

    Compaction keeps only the newest record of an id, so a Complete* record may exist without its Prepare*; then its own
    outcome is used. NEVER requires the first record of the id.
    """
    prepare = last_prepare(entries, producer_id, partition)
    if prepare is not None:
        return Outcome.COMMITTED if prepare.state == TransactionState.PREPARE_COMMIT else Outcome.ABORTED
    own = [entry for entry in entries if entry.producer_id == producer_id]
    # Every Complete* record with a known Prepare* ended a transaction without this partition.
    unexplained = next(
        (
            entry
            for before, entry in zip([None, *own], own, strict=False)
            if entry.state in (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)
            and (before is None or not before.state.startswith("Prepare"))
        ),
        None,
    )
    if unexplained is not None:
        committed = unexplained.state == TransactionState.COMPLETE_COMMIT
        return Outcome.COMMITTED if committed else Outcome.ABORTED
    if own and own[0].state == TransactionState.EMPTY and own[0].producer_epoch == 0:
        return Outcome.NEVER
    return Outcome.UNKNOWN


def record_of(transaction: Transaction, entries: Sequence[TransactionLogEntry]) -> TransactionLogEntry | None:
    """Return the record with which the coordinator reached its described state, or None.

    State, producer id, epoch, and start time must match, since a later transaction of the id has another start time.
    """
    return next(
        (
            entry
            for entry in reversed(entries)
            if entry.state == transaction.state
            and entry.producer_id == transaction.producer_id
            and entry.producer_epoch == transaction.producer_epoch
            and entry.start_time_ms == transaction.start_time_ms
        ),
        None,
    )
