"""The transaction index of a segment against the transactions that its markers ended."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from eosctl.analysis.fsck.notes import Notes
from eosctl.storage.producer_replay import CompletedTxn
from eosctl.storage.txn_index import ENTRY_BYTES, AbortedTxn, decode_aborted_txns
from eosctl.wire.errors import WireError


class SeenAbort(NamedTuple):
    """A transaction that an abort marker of this segment has ended.

    Attributes:
        txn: The transaction as the log gives it.
        has_records: Whether records of it are left; the cleaner removes them and then needs no entry.
        is_certain: Whether the log begins before the transaction, so that its first offset is known.
        lso_is_certain: Whether every transaction open at the time is known.
    """

    txn: CompletedTxn
    has_records: bool
    is_certain: bool
    lso_is_certain: bool


def check_txn_index(
    notes: Notes, data: bytes | None, aborts: list[SeenAbort], marker_offsets: set[int], file: str
) -> None:
    """Compare a segment's transaction index with its log.

    Args:
        notes: Takes the findings.
        data: The file's content, None when it is absent.
        aborts: The aborted transactions whose marker lies in the segment, in the order of the markers.
        marker_offsets: Offsets of all abort markers in the segment, also of transactions without data.
        file: The file's name.
    """
    entries = _decode(notes, data or b"", file)
    if entries is None:
        return
    for number, (before, entry) in enumerate(pairwise(entries), 1):
        if entry.last_offset <= before.last_offset:
            notes.add(
                "txnindex-unordered",
                f"entry {number} ends at {entry.last_offset}, the one before it at {before.last_offset}",
                file,
                entry=number,
            )
            break
    unmatched = dict(enumerate(entries))
    for abort in aborts:
        _match(notes, abort, unmatched, file)
    for number, entry in unmatched.items():
        if entry.last_offset in marker_offsets and not any(a.txn.last_offset == entry.last_offset for a in aborts):
            continue  # its data is gone, cleaned or deleted with older segments
        notes.add(
            "txnindex-extra",
            f"entry {number}: producer {entry.producer_id}, offsets {entry.first_offset}-{entry.last_offset}: no such "
            "aborted transaction in the log",
            file,
            since=entry.last_offset,
            entry=number,
            producer_id=entry.producer_id,
            offset=entry.last_offset,
        )


def _decode(notes: Notes, data: bytes, file: str) -> list[AbortedTxn] | None:
    whole = len(data) - len(data) % ENTRY_BYTES
    if whole != len(data):
        notes.add("txnindex-size", f"the size {len(data)} is not a multiple of {ENTRY_BYTES}", file)
    try:
        return decode_aborted_txns(data[:whole])
    except WireError as error:
        notes.add("txnindex-version", f"{error.what}, known is 0", file, entry=error.offset // ENTRY_BYTES)
        return None


def _match(notes: Notes, abort: SeenAbort, unmatched: dict[int, AbortedTxn], file: str) -> None:
    txn = abort.txn
    same_end = [n for n, e in unmatched.items() if (e.producer_id, e.last_offset) == (txn.producer_id, txn.last_offset)]
    same_start = [
        n for n, e in unmatched.items() if (e.producer_id, e.first_offset) == (txn.producer_id, txn.first_offset)
    ]
    if not same_end and not same_start:
        if abort.has_records:
            notes.add(
                "txnindex-missing",
                f"the ABORT marker of producer {txn.producer_id} at offset {txn.last_offset} (transaction from "
                f"{txn.first_offset}) has no entry: a read_committed reader would return aborted records",
                file,
                producer_id=txn.producer_id,
                offset=txn.last_offset,
            )
        return
    number = (same_end or same_start)[0]
    entry = unmatched.pop(number)
    if entry.last_offset != txn.last_offset:
        what = f"lastOffset {entry.last_offset}, the marker is at {txn.last_offset}"
    elif entry.first_offset > txn.first_offset:
        what = f"firstOffset {entry.first_offset}, the transaction starts at {txn.first_offset}"
        what += ": aborted records become visible"
    elif entry.first_offset < txn.first_offset and abort.is_certain:
        what = f"firstOffset {entry.first_offset}, the transaction starts at {txn.first_offset}"
    else:
        what = ""
    if what:
        since = txn.first_offset if entry.first_offset < txn.first_offset else None
        notes.add(
            "txnindex-wrong-range",
            f"entry {number}, producer {txn.producer_id}: {what}",
            file,
            since=since,
            entry=number,
            producer_id=txn.producer_id,
            offset=txn.last_offset,
        )
    elif entry.last_stable_offset != txn.last_stable_offset and abort.lso_is_certain:
        notes.add(
            "txnindex-wrong-lso",
            f"entry {number}: lastStableOffset {entry.last_stable_offset}, the log gives {txn.last_stable_offset}",
            file,
            since=txn.first_offset,
            entry=number,
            producer_id=txn.producer_id,
            offset=txn.last_offset,
        )
