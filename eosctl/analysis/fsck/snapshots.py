"""Producer snapshots against the producers that the log shows up to the same offset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eosctl.analysis.fsck.notes import WARNING, Notes
from eosctl.storage.producer_snapshot import ProducerSnapshotEntry
from eosctl.storage.survey import Unreadable

_KINDS: Final = {"version": "snapshot-version", "crc": "snapshot-crc", "entries": "snapshot-truncated"}
#: A producer that wrote so shortly before another that is kept cannot have expired alone (`producer.id.expiration.ms`
#: is a day by default).
_TOGETHER_MS: Final = 3_600_000


def note_unreadable(notes: Notes, problem: Unreadable, file: str) -> None:
    """Note a snapshot that cannot be read."""
    notes.add(_KINDS.get(problem.field, "snapshot-truncated"), problem.what, file)


def check_snapshot(
    notes: Notes,
    entries: list[ProducerSnapshotEntry],
    producers: Mapping[int, ProducerSnapshotEntry],
    begun: frozenset[int] | None,
    gap_end: int,
    file: str,
) -> None:
    """Compare a snapshot with the producers that a replay of the log knows at its offset.

    Args:
        notes: Takes the findings.
        entries: The snapshot.
        producers: The replay's state.
        begun: Producers whose state the log gives in full; None when it does for all of them.
        gap_end: Where the last gap in the log ends: batches before it may be missing.
        file: The snapshot's name.
    """
    kept = {entry.producer_id: entry for entry in entries}
    for producer_id, known in producers.items():
        entry = kept.get(producer_id)
        if entry is not None and (not gap_end or known.last_offset >= gap_end):
            fields = ["producer_epoch"]
            in_full = begun is None or producer_id in begun
            if known.last_offset >= 0 or in_full:
                fields += ["last_sequence", "last_offset", "offset_delta", "timestamp"]
            if in_full:
                fields += ["coordinator_epoch", "current_txn_first_offset"]
            _compare(notes, entry, known, fields, max(known.last_offset, 0), file)
    _note_missing(notes, entries, producers, file, always=False)


def check_last_snapshot(
    notes: Notes,
    entries: list[ProducerSnapshotEntry],
    producers: Mapping[int, ProducerSnapshotEntry],
    cleaned_to: int,
    file: str,
) -> None:
    """Compare the snapshot at the end of a compacted log with what the cleaner has left of its producers.

    Markers may be gone, so an open transaction counts only from `cleaned_to` on: the cleaner never passes one.
    """
    as_left = {
        producer_id: known._replace(current_txn_first_offset=-1)
        if known.current_txn_first_offset < cleaned_to
        else known
        for producer_id, known in producers.items()
    }
    for entry in entries:
        known = as_left.get(entry.producer_id)
        if known is not None:
            fields = ["producer_epoch", "current_txn_first_offset"]
            if known.last_offset >= 0:
                fields += ["last_sequence", "last_offset", "offset_delta"]
            _compare(notes, entry, known, fields, None, file)
    _note_missing(notes, entries, as_left, file, always=True)


def _note_missing(
    notes: Notes,
    entries: list[ProducerSnapshotEntry],
    producers: Mapping[int, ProducerSnapshotEntry],
    file: str,
    *,
    always: bool,
) -> None:
    kept = {entry.producer_id for entry in entries}
    oldest = min((entry.timestamp for entry in entries), default=None)
    for producer_id, known in producers.items():
        is_open = known.current_txn_first_offset >= 0
        recent = oldest is not None and known.timestamp > oldest - _TOGETHER_MS
        if producer_id not in kept and (is_open or recent):
            since = known.current_txn_first_offset if is_open else max(known.last_offset, 0)
            notes.add(
                "snapshot-mismatch",
                f"producer {producer_id} is in the log but not in the snapshot, which holds others of its time",
                file,
                severity=WARNING,
                since=None if always else since,
                producer_id=producer_id,
                producer_epoch=known.producer_epoch,
            )


def _compare(
    notes: Notes,
    entry: ProducerSnapshotEntry,
    known: ProducerSnapshotEntry,
    fields: list[str],
    since: int | None,
    file: str,
) -> None:
    differences = [
        f"{name} {getattr(entry, name)}, the log says {getattr(known, name)}"
        for name in fields
        if getattr(entry, name) != getattr(known, name)
    ]
    if differences:
        notes.add(
            "snapshot-mismatch",
            f"producer {entry.producer_id}: the snapshot says {'; '.join(differences)}",
            file,
            since=since,
            producer_id=entry.producer_id,
            producer_epoch=known.producer_epoch,
        )
