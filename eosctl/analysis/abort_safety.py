"""Whether an ABORT marker for a hanging transaction can destroy anything.

Hanging means that no coordinator will end the transaction; it does not mean that its records were never committed. A
4.x coordinator takes a partition without leader for deleted, skips its marker and completes the transaction
(KAFKA-20734): records of a committed transaction then hang, and an ABORT marker would erase them.
"""

from __future__ import annotations

from typing import Final

from eosctl.analysis.release import at_least
from eosctl.analysis.state_log import History, Outcome, last_outcome, last_prepare
from eosctl.model.hang import OpenTransaction
from eosctl.model.history import TransactionLogEntry
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TopicPartition, TransactionState

TV2: Final = 2
# The first release whose coordinator skips markers of leaderless partitions.
SKIPS_MARKERS_SINCE: Final = (4, 0)


def why_not_abort(
    transaction: OpenTransaction, snapshot: ClusterSnapshot, history: History, *, ids_may_be_hidden: bool
) -> str:
    """Say why the hanging transaction must not be aborted; empty when it may be.

    Args:
        transaction: A transaction that hangs.
        snapshot: For leader epochs and the brokers' release.
        history: The newest part of the transaction log.
        ids_may_be_hidden: Whether brokers may have left out transactional ids without saying so.
    """
    entries = entries_of(transaction, history)
    if transaction.transactional_id is None and ids_may_be_hidden and not entries:
        return (
            "An authorizer may hide the transactional id that owns this producer id, and the transaction log does not "
            "name it either. Repeat with a principal that may describe every transactional id and read "
            "__transaction_state, and that sees the producer id there."
        )
    if transaction.coordinator_state in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT):
        return "The coordinator is delivering the markers of its last transaction; what is decided is not touched."
    if (
        transaction.coordinator_state == TransactionState.ONGOING
        and transaction.coordinator_producer_epoch == transaction.producer_epoch
    ):
        return (
            f"{transaction.transactional_id} has another transaction open under the same epoch and may write to this "
            "partition any moment: the marker would tear that transaction apart. Stop or fence the producer first."
        )
    if not marker_may_have_been_skipped(transaction.partition, transaction.first_offset, snapshot):
        return ""
    return _refuse_unless_aborted(transaction, entries)


def entries_of(transaction: OpenTransaction, history: History) -> tuple[TransactionLogEntry, ...]:
    """Return the log's records of the id that owns the producer id, oldest first; empty when none is known."""
    if transaction.transactional_id is not None:
        return history.get(transaction.transactional_id, ())
    # The id is gone or has another producer id now; its records may still be in the log.
    return next(
        (
            entries
            for entries in history.values()
            if any(entry.producer_id == transaction.producer_id for entry in entries)
        ),
        (),
    )


def marker_may_have_been_skipped(partition: TopicPartition, first_offset: int, snapshot: ClusterSnapshot) -> bool:
    """Return whether the partition can have been without a leader since the transaction's first record.

    A partition that loses its leader and gets one again is in a later leader epoch. Records appended under the present
    epoch have had a leader all the time, so no marker of theirs was skipped.
    """
    if not at_least(snapshot, SKIPS_MARKERS_SINCE):
        return False
    info = snapshot.partition(partition)
    if info is None:
        return True
    if info.leader_epoch == 0:
        return False
    start = info.leader_epoch_start_offset
    return start is None or first_offset < start


def _refuse_unless_aborted(transaction: OpenTransaction, entries: tuple[TransactionLogEntry, ...]) -> str:
    outcome = last_outcome(entries, transaction.producer_id, transaction.partition)
    if outcome in (Outcome.ABORTED, Outcome.NEVER):
        return ""
    if outcome is Outcome.UNKNOWN:
        if transaction.transactional_id is None:
            return ""
        return (
            "The partition had no leader at some time since, so this may be a committed transaction whose marker was "
            "skipped (KAFKA-20734), and the transaction log does not show how it ended."
        )
    prepare = last_prepare(entries, transaction.producer_id, transaction.partition)
    if prepare is not None and prepare.client_transaction_version >= TV2:
        if prepare.producer_epoch > transaction.producer_epoch:
            return (
                f"Offset {prepare.offset} of __transaction_state-{prepare.log_partition} decided to commit this very "
                "transaction and its marker was skipped (KAFKA-20734): it needs a COMMIT marker; an abort would "
                "destroy committed records."
            )
        return ""
    return (
        "The last transaction of this producer on this partition was committed, and the partition had no leader at "
        "some time since: these may be committed records whose marker was skipped (KAFKA-20734)."
    )
