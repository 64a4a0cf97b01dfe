"""The marker that ends a hanging transaction: ABORT, COMMIT, or neither.

No coordinator will end a hanging transaction, but its records may have been committed. From 4.3, a coordinator treats a
partition without leader as deleted, skips its marker, and completes the transaction (KAFKA-20734), and an unclean
election can lose a written marker. Records of a committed transaction then hang, and an ABORT marker would delete them.
Records that arrive after their transaction hang as well, and a COMMIT marker would expose them. The Prepare* record of
the transaction log has the outcome. Whether its marker is missing follows from the epochs at TV2, and below TV2, where
a commit keeps the epoch, from the partition's markers.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from shlex import quote
from typing import Final

import msgspec

from eosctl.analysis.locate import locate_transactional_id
from eosctl.analysis.marker_delivery import endings, is_whole, search_since_ms, was_delivered
from eosctl.analysis.release import at_least
from eosctl.analysis.state_log import Outcome, last_outcome, was_read
from eosctl.model.evidence import DAMAGED, EvidenceKind
from eosctl.model.hang import OpenTransaction
from eosctl.model.history import History, TransactionLogEntry
from eosctl.model.marker_search import MarkerSearch
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.model.verdict import Evidence
from eosctl.text import time_text

TV2: Final = 2
# The first release whose coordinator skips markers of leaderless partitions.
SKIPS_MARKERS_SINCE: Final = (4, 0)


class Marker(Enum):
    """The required marker; `UNKNOWN` if the evidence does not show the outcome."""

    ABORT = "abort"
    COMMIT = "commit"
    NEITHER = "neither"
    UNKNOWN = "unknown"


class MarkerDecision(msgspec.Struct, frozen=True):
    """The marker that ends a hanging transaction, and the reason.

    Attributes:
        marker: The marker.
        why: The reason; for NEITHER and UNKNOWN, why none can be written.
        record: The Prepare* record that decided the transaction; None if it was not read.
        evidence: The proof of a COMMIT.
        search_since_ms: Start of the search for the producer's markers that is needed for a decision, in milliseconds
            since the epoch; None if no search helps.
    """

    marker: Marker
    why: str
    record: TransactionLogEntry | None = None
    evidence: tuple[Evidence, ...] = ()
    search_since_ms: int | None = None


def decide_marker(
    transaction: OpenTransaction, snapshot: ClusterSnapshot, history: History, *, ids_may_be_hidden: bool
) -> MarkerDecision:
    """Decide which marker ends a hanging transaction.

    Args:
        transaction: A hanging transaction.
        snapshot: The snapshot, for leader epochs, the brokers' release, and found markers.
        history: The newest part of the transaction log.
        ids_may_be_hidden: Whether brokers may have omitted transactional ids without an error.
    """
    entries = entries_of(transaction, history)
    untouchable = _why_neither(transaction, entries, ids_may_be_hidden=ids_may_be_hidden) or _damage(
        transaction, snapshot
    )
    if untouchable:
        return MarkerDecision(Marker.NEITHER, untouchable)
    if not leader_changed(transaction.partition, transaction.first_offset, snapshot):
        return MarkerDecision(
            Marker.ABORT,
            "The partition has had the same leader since the transaction's first record, so no marker of it is "
            "missing: these records arrived after their transaction had ended.",
        )
    if not was_read(snapshot):
        return MarkerDecision(
            Marker.UNKNOWN,
            "The leader changed since the transaction's first record, and the transaction log, which has the decision, "
            "was not read completely.",
        )
    record = _decision_on(transaction, entries)
    if record is None:
        return _without_decision(transaction, snapshot, entries)
    if record.state == TransactionState.PREPARE_ABORT:
        return MarkerDecision(Marker.ABORT, f"{_place(record)} decided to abort it.", record)
    if record.client_transaction_version >= TV2:
        why = (
            f"{_place(record)} decided to commit this very transaction, and its COMMIT marker is missing "
            "(KAFKA-20734): an abort would destroy committed records."
        )
        return MarkerDecision(Marker.COMMIT, why, record, (_evidence(record),))
    return _by_search(transaction, snapshot, entries, record)


def entries_of(transaction: OpenTransaction, history: History) -> tuple[TransactionLogEntry, ...]:
    """Return the log's records of the id that owns the producer id, oldest first; empty when none is known."""
    if transaction.transactional_id is not None:
        return history.get(transaction.transactional_id, ())
    # The id was removed or has another producer id now; its records may still be in the log.
    return next(
        (
            entries
            for entries in history.values()
            if any(entry.producer_id == transaction.producer_id for entry in entries)
        ),
        (),
    )


def leader_changed(partition: TopicPartition, first_offset: int, snapshot: ClusterSnapshot) -> bool:
    """Return whether the partition may have had another leader, or none, since the transaction's first record.

    A partition that loses its leader and gets one again has a later leader epoch. Records of the present epoch have
    always had a leader.
    """
    info = snapshot.partition(partition)
    if info is None:
        return True
    if info.leader_epoch == 0:
        return False
    start = info.leader_epoch_start_offset
    return start is None or first_offset < start


def _why_neither(
    transaction: OpenTransaction, entries: Sequence[TransactionLogEntry], *, ids_may_be_hidden: bool
) -> str:
    if transaction.transactional_id is None and ids_may_be_hidden and not entries:
        return (
            "An authorizer may hide the transactional id that owns this producer id, and the transaction log does not "
            "name it either. Repeat with a principal that may describe every transactional id and read "
            "__transaction_state, and that sees the producer id there."
        )
    if (
        transaction.transactional_id is None
        and ids_may_be_hidden
        and entries[-1].producer_id == transaction.producer_id
    ):
        return (
            f"The transaction log has {entries[-1].transactional_id} with this producer id, and this principal may not "
            "describe it: the id may have a transaction open by now, which the marker would tear apart. Repeat with a "
            "principal that may describe it."
        )
    if transaction.coordinator_state in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT):
        return "The coordinator is delivering the markers of its last transaction; what is decided is not touched."
    if (
        transaction.coordinator_state == TransactionState.ONGOING
        and transaction.coordinator_producer_epoch == transaction.producer_epoch
    ):
        return (
            f"{transaction.transactional_id} has another transaction open under the same epoch and may write to this "
            "partition any moment: the marker would tear that transaction apart. Stop or fence the producer first: "
            f"eosctl txn fence {quote(transaction.transactional_id or '')}"
        )
    return ""


def _damage(transaction: OpenTransaction, snapshot: ClusterSnapshot) -> str:
    """Return why a damaged transaction log forbids both markers; empty if it cannot have the decision."""
    damaged = {
        gap.subject for gap in snapshot.gaps if gap.kind is EvidenceKind.TRANSACTION_HISTORY and gap.error == DAMAGED
    }
    if transaction.transactional_id is not None and damaged:
        home = locate_transactional_id(snapshot, transaction.transactional_id)
        damaged &= {"" if home is None else str(home.partition)}
    if not damaged:
        return ""
    return (
        f"Records of {', '.join(sorted(damaged))} fail their checksum (EOS-OPS-012): the coordinator may have lost the "
        "decision on this transaction. Restore the transaction log first."
    )


def _decision_on(transaction: OpenTransaction, entries: Sequence[TransactionLogEntry]) -> TransactionLogEntry | None:
    """Return the newest Prepare* record that may belong to this epoch and partition; None without one.

    A decision has the epoch of the records or the next one: always at TV2, and below it when the coordinator aborts the
    transaction itself (timeout, new instance).
    """
    epoch = transaction.producer_epoch
    for entry in reversed(entries):
        if entry.producer_id != transaction.producer_id or transaction.partition not in entry.partitions:
            continue
        if entry.state == TransactionState.PREPARE_COMMIT:
            bumped = 1 if entry.client_transaction_version >= TV2 else 0
            if entry.producer_epoch == epoch + bumped:
                return entry
        elif entry.state == TransactionState.PREPARE_ABORT:
            below = entry.client_transaction_version < TV2 and entry.producer_epoch == epoch
            if below or entry.producer_epoch == epoch + 1:
                return entry
    return None


def _shows_epoch(transaction: OpenTransaction, entries: Sequence[TransactionLogEntry]) -> bool:
    """Return whether the log contains every decision that the records' epoch can have had."""
    if is_whole(entries, transaction.producer_id):
        return True
    first = next((entry for entry in entries if entry.producer_id == transaction.producer_id), None)
    if first is None or first.producer_epoch > transaction.producer_epoch:
        return False
    begins_epoch = first.state == TransactionState.EMPTY or first.client_transaction_version >= TV2
    return first.producer_epoch < transaction.producer_epoch or begins_epoch


def _without_decision(
    transaction: OpenTransaction, snapshot: ClusterSnapshot, entries: Sequence[TransactionLogEntry]
) -> MarkerDecision:
    if _shows_epoch(transaction, entries):
        return MarkerDecision(
            Marker.ABORT,
            "The transaction log shows all decisions of the producer in this epoch, and none to commit these records.",
        )
    outcome = last_outcome(entries, transaction.producer_id, transaction.partition)
    if outcome is Outcome.ABORTED:
        return MarkerDecision(Marker.ABORT, "The producer's last transaction was aborted.")
    if outcome is Outcome.UNKNOWN and (
        transaction.transactional_id is None or not at_least(snapshot, SKIPS_MARKERS_SINCE)
    ):
        return MarkerDecision(Marker.ABORT, "Nothing shows that these records were ever committed.")
    return MarkerDecision(
        Marker.UNKNOWN,
        "The leader changed since the transaction's first record, so this may be a committed transaction whose marker "
        "is missing (KAFKA-20734), and the transaction log does not show how it was decided.",
    )


def _by_search(
    transaction: OpenTransaction,
    snapshot: ClusterSnapshot,
    entries: Sequence[TransactionLogEntry],
    record: TransactionLogEntry,
) -> MarkerDecision:
    ended = endings(entries, transaction.producer_id, transaction.partition, record)
    since_ms = search_since_ms(ended)
    search = _search_of(transaction, snapshot)
    committed = f"{_place(record)} decided to commit the producer's last transaction on this partition"
    if search is None:
        return MarkerDecision(
            Marker.UNKNOWN,
            f"The leader changed since the transaction's first record. {committed}, and the partition was not searched "
            "for the marker.",
            record,
            search_since_ms=since_ms,
        )
    delivered = was_delivered(ended, search, whole=is_whole(entries, transaction.producer_id))
    first, last = min(search.from_offset, search.before_offset - 1), search.before_offset - 1
    searched = f"offsets {first} to {last}" if last >= 0 else "the partition, which begins with these records"
    if delivered is None:
        unread = "could not be read" if not search.complete else "do not show whether its marker is there"
        return MarkerDecision(Marker.UNKNOWN, f"{committed}, and {searched} {unread}.", record)
    if delivered:
        offset = search.markers[-1].offset
        why = f"{committed}, and its marker is at offset {offset}: these records arrived after it."
        return MarkerDecision(Marker.ABORT, why, record)
    found = (_evidence(record), Evidence("missing marker", f"not in {searched}", "Fetch"))
    return MarkerDecision(
        Marker.COMMIT,
        f"{committed}, and its COMMIT marker is missing (KAFKA-20734): it is not in {searched}.",
        record,
        found,
    )


def _search_of(transaction: OpenTransaction, snapshot: ClusterSnapshot) -> MarkerSearch | None:
    return next(
        (
            search
            for search in snapshot.marker_searches
            if search.partition == transaction.partition
            and search.producer_id == transaction.producer_id
            and search.before_offset == transaction.first_offset
        ),
        None,
    )


def _place(record: TransactionLogEntry) -> str:
    return f"Offset {record.offset} of __transaction_state-{record.log_partition}"


def _evidence(record: TransactionLogEntry) -> Evidence:
    written = f"offset {record.offset}, epoch {record.producer_epoch}, written {time_text(record.written_at_ms)}"
    return Evidence("PrepareCommit record", written, f"__transaction_state-{record.log_partition}")
