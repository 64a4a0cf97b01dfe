"""Whether a hanging transaction was committed and only its marker is missing (KAFKA-20734).

A 4.x coordinator takes a partition without leader for deleted, skips its marker and writes Complete*. The outcome that
it decided stands in the Prepare* record of the transaction log, and nowhere else. A COMMIT marker may be written when
that record is about this very transaction: at TV2 its epoch follows that of the records; below TV2, where a commit
keeps the epoch, no marker of the producer may have reached the partition after the decision, or the records came later.
"""

from __future__ import annotations

from typing import Final

import msgspec

from eosctl.analysis.abort_safety import TV2, entries_of, marker_may_have_been_skipped
from eosctl.analysis.state_log import History, last_prepare
from eosctl.model.hang import OpenTransaction
from eosctl.model.history import TransactionLogEntry
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.transaction import TransactionState
from eosctl.model.verdict import Evidence
from eosctl.text import time_text

_COMPLETE: Final = (TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)


class MarkerSearch(msgspec.Struct, frozen=True):
    """A partition read for a producer's markers between the decision and the transaction's first record.

    `complete` is False when a part could not be read. `marker_offset` is the newest marker found, None when there was
    none.
    """

    from_offset: int
    before_offset: int
    complete: bool
    marker_offset: int | None = None


class Decision(msgspec.Struct, frozen=True):
    """The record that decided the transaction's outcome, and why a COMMIT marker must not follow from it.

    `refusal` is empty when the marker may be written. `needs_search` tells that the refusal is only for want of a
    `MarkerSearch`.
    """

    record: TransactionLogEntry | None
    refusal: str = ""
    needs_search: bool = False
    evidence: tuple[Evidence, ...] = ()


def find_decision(
    transaction: OpenTransaction, snapshot: ClusterSnapshot, history: History, search: MarkerSearch | None = None
) -> Decision:
    """Find how the coordinator decided a hanging transaction, and judge whether a COMMIT marker may carry it out.

    Args:
        transaction: A transaction that hangs.
        snapshot: For leader epochs and the brokers' release.
        history: The newest part of the transaction log.
        search: The partition's markers since the decision; needed below TV2.
    """
    if transaction.coordinator_state in (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT):
        return Decision(None, "The coordinator is delivering markers; what is decided is not touched.")
    if transaction.coordinator_state and transaction.coordinator_state not in _COMPLETE:
        return Decision(
            None,
            f"The coordinator has the id in state {transaction.coordinator_state}, not Complete*: its last decision "
            "is about another transaction.",
        )
    if not marker_may_have_been_skipped(transaction.partition, transaction.first_offset, snapshot):
        return Decision(
            None,
            "The partition has had a leader ever since the transaction's first record (or the release does not skip "
            "markers), so no marker of it was skipped: these records came after their transaction had ended.",
        )
    record = last_prepare(entries_of(transaction, history), transaction.producer_id, transaction.partition)
    if record is None:
        return Decision(
            None, "The Prepare* record of the transaction log cannot be read: nobody can tell what was decided."
        )
    if record.state == TransactionState.PREPARE_ABORT:
        return Decision(record, "The coordinator decided to abort it: it needs an ABORT marker (eosctl txn abort).")
    evidence = (
        Evidence(
            "PrepareCommit record",
            f"offset {record.offset}, epoch {record.producer_epoch}, written {time_text(record.written_at_ms)}",
            f"__transaction_state-{record.log_partition}",
        ),
    )
    if record.client_transaction_version >= TV2:
        if record.producer_epoch == transaction.producer_epoch + 1:
            return Decision(record, evidence=evidence)
        return Decision(
            record,
            f"The newest decision to commit carries epoch {record.producer_epoch} and the records epoch "
            f"{transaction.producer_epoch}: it was about another transaction.",
        )
    return _below_tv2(transaction, record, search, evidence)


def _below_tv2(
    transaction: OpenTransaction,
    record: TransactionLogEntry,
    search: MarkerSearch | None,
    evidence: tuple[Evidence, ...],
) -> Decision:
    if record.producer_epoch != transaction.producer_epoch:
        return Decision(
            record,
            f"The newest decision to commit is of epoch {record.producer_epoch}, the records are of epoch "
            f"{transaction.producer_epoch}: it was about another transaction.",
        )
    if search is None:
        return Decision(record, "The partition was not searched for the marker of the decision.", needs_search=True)
    if not search.complete:
        return Decision(record, "The partition could not be read back to the decision, so its marker may be there.")
    if search.marker_offset is not None:
        return Decision(
            record,
            f"The producer's marker at offset {search.marker_offset} came with or after the decision: the commit is "
            "done, and these records arrived later.",
        )
    searched = f"no marker of the producer in offsets {search.from_offset} to {search.before_offset - 1}"
    return Decision(record, evidence=(*evidence, Evidence("markers since the decision", searched, "Fetch")))
