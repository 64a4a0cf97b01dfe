"""Offset and time indexes against the log that they point into."""

from __future__ import annotations

from collections import deque

from eosctl.analysis.fsck.notes import Notes
from eosctl.storage.index_file import IndexFile
from eosctl.storage.offset_index import ENTRY_BYTES as OFFSET_ENTRY_BYTES
from eosctl.storage.offset_index import OffsetEntry, decode_offset_entries
from eosctl.storage.time_index import ENTRY_BYTES as TIME_ENTRY_BYTES
from eosctl.storage.time_index import TimeEntry, decode_time_entries
from eosctl.wire.records.header import BatchHeader


class OffsetIndexCheck:
    """Compares a segment's batches with its offset index.

    An entry is the last offset of a batch and the batch's position. Brokers before 4.0 make one entry for all batches
    of an append: then it is the last offset of a later one. What matters to a reader holds in both cases: an entry
    leads to the start of a batch, and no batch before it reaches the entry's offset.
    """

    def __init__(self, notes: Notes, index: IndexFile, base_offset: int, log_bytes: int, file: str) -> None:
        """Check the entries by themselves; entries found wrong are not compared with the log."""
        self._notes, self._file = notes, file
        self._open: list[tuple[int, OffsetEntry]] = []
        self._due: deque[tuple[int, OffsetEntry]] = deque()
        if index.stray_bytes:
            size = len(index.entries) + index.zero_bytes + index.stray_bytes
            notes.add("index-size", f"the size {size} is not a multiple of {OFFSET_ENTRY_BYTES}", file)
        before: OffsetEntry | None = None
        for number, entry in enumerate(decode_offset_entries(index.entries, base_offset)):
            if before is not None and (entry.offset <= before.offset or entry.position <= before.position):
                notes.add(
                    "index-unordered",
                    f"entry {number} (offset {entry.offset}, position {entry.position}) does not follow entry "
                    f"{number - 1} (offset {before.offset}, position {before.position})",
                    file,
                    entry=number,
                )
                self._due.clear()
                return
            before = entry
            if entry.position < 0 or entry.position >= log_bytes:
                notes.add(
                    "index-out-of-range",
                    f"entry {number}: position {entry.position} is past the end of the segment ({log_bytes} bytes)",
                    file,
                    entry=number,
                )
            elif entry.offset < base_offset:
                notes.add(
                    "index-out-of-range",
                    f"entry {number}: offset {entry.offset} is below the segment's {base_offset}",
                    file,
                    entry=number,
                )
            else:
                self._due.append((number, entry))

    def follow(self, position: int, header: BatchHeader) -> None:
        """Compare a batch with the entries that lead to it."""
        while self._due and self._due[0][1].position <= position:
            number, entry = self._due.popleft()
            self._settle()
            if entry.position < position:
                self._report(number, entry, f"no batch starts at position {entry.position}")
            elif entry.offset < header.last_offset:
                self._report(number, entry, f"the batch there ends with offset {header.last_offset}")
            elif entry.offset > header.last_offset:
                self._open.append((number, entry))
        if self._open and self._open[0][1].offset == header.last_offset:
            self._open.clear()

    def finish(self) -> None:
        """Judge what is left when the segment has been read in full."""
        self._settle()
        for number, entry in self._due:
            self._report(number, entry, f"no batch starts at position {entry.position}")

    def _settle(self) -> None:
        """Report an entry if no batch before the next entry ends with its offset."""
        for number, entry in self._open:
            self._report(number, entry, "no batch behind that position ends with the offset")
        self._open.clear()

    def _report(self, number: int, entry: OffsetEntry, what: str) -> None:
        self._notes.add(
            "index-mismatch",
            f"entry {number} (offset {entry.offset}, position {entry.position}): {what}",
            self._file,
            entry=number,
            offset=entry.offset,
        )


class TimeIndexCheck:
    """Follows a segment's batches with its time index in hand.

    An entry is the largest timestamp up to a place, and the offset of the batch (or record) that has it.
    """

    def __init__(self, notes: Notes, index: IndexFile, base_offset: int, file: str) -> None:
        """Check the entries by themselves; entries found wrong are not compared with the log."""
        self._notes, self._file = notes, file
        self._due: deque[tuple[int, TimeEntry]] = deque()
        self._largest = -1
        if index.stray_bytes:
            size = len(index.entries) + index.zero_bytes + index.stray_bytes
            notes.add("timeindex-size", f"the size {size} is not a multiple of {TIME_ENTRY_BYTES}", file)
        before: TimeEntry | None = None
        for number, entry in enumerate(decode_time_entries(index.entries, base_offset)):
            if before is not None and (entry.timestamp < before.timestamp or entry.offset < before.offset):
                notes.add(
                    "timeindex-unordered",
                    f"entry {number} (timestamp {entry.timestamp}, offset {entry.offset}) does not follow entry "
                    f"{number - 1} (timestamp {before.timestamp}, offset {before.offset})",
                    file,
                    entry=number,
                )
                self._due.clear()
                return
            before = entry
            self._due.append((number, entry))

    def follow(self, header: BatchHeader) -> None:
        """Compare a batch with the entries that name its offsets."""
        self._largest = max(self._largest, header.max_timestamp)
        while self._due and self._due[0][1].offset <= header.last_offset:
            number, entry = self._due.popleft()
            if entry.offset < header.base_offset:
                self._report(number, entry, "no batch holds that offset")
            elif entry.timestamp != header.max_timestamp:
                self._report(number, entry, f"the log says {header.max_timestamp}")
            elif entry.timestamp < self._largest:
                self._report(number, entry, f"an earlier batch has {self._largest}")

    def finish(self) -> None:
        """Judge what is left when the segment has been read in full."""
        for number, entry in self._due:
            self._report(number, entry, "no batch holds that offset")

    def _report(self, number: int, entry: TimeEntry, what: str) -> None:
        self._notes.add(
            "timeindex-mismatch",
            f"entry {number}: timestamp {entry.timestamp} at offset {entry.offset}; {what}",
            self._file,
            entry=number,
            offset=entry.offset,
        )
