"""The time index of a segment, which maps timestamps to offsets.

An entry (largest timestamp so far, offset of its batch) is added with each offset index entry if the timestamp has
increased. A final entry is added when the segment is closed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

ENTRY_BYTES: Final = 12
NO_TIMESTAMP: Final = -1
_ENTRY: Final = struct.Struct(">qi")
_TIMESTAMP: Final = struct.Struct(">q")


class TimeEntry(NamedTuple):
    """The largest timestamp (milliseconds since the epoch) up to and including the batch that ends at an offset."""

    timestamp: int
    offset: int


def decode_time_entries(data: bytes, base_offset: int) -> Iterator[TimeEntry]:
    """Decode the entries of a file, sorted or not."""
    for timestamp, relative_offset in _ENTRY.iter_unpack(data):
        yield TimeEntry(timestamp, base_offset + relative_offset)


def time_entry_fault(entry: TimeEntry, before: TimeEntry | None, base_offset: int) -> str:
    """Return why a broker cannot have written an entry after another (None: as the first), or "" if it can."""
    if entry.offset < base_offset:
        return f"offset {entry.offset} is below the segment's first, {base_offset}"
    if entry.timestamp < 0:
        return f"timestamp {entry.timestamp} is negative"
    if before is not None and (entry.timestamp <= before.timestamp or entry.offset < before.offset):
        return (
            f"timestamp {entry.timestamp} at offset {entry.offset} does not follow timestamp {before.timestamp} at "
            f"offset {before.offset}"
        )
    return ""


class TimeIndex:
    """The time index of a segment, in memory in the file's encoding."""

    __slots__ = ("base_offset", "entries")

    def __init__(self, base_offset: int, entries: bytes = b"") -> None:
        """Create an index from entries in ascending order, without preallocated zeros."""
        self.base_offset = base_offset
        self.entries = bytearray(entries)

    def __len__(self) -> int:
        return len(self.entries) // ENTRY_BYTES

    def __getitem__(self, index: int) -> TimeEntry:
        timestamp, relative_offset = _ENTRY.unpack_from(self.entries, index * ENTRY_BYTES)
        return TimeEntry(timestamp, self.base_offset + relative_offset)

    @property
    def last(self) -> TimeEntry:
        """Return the last entry; for an empty index, no timestamp at the segment's start."""
        return self[len(self) - 1] if self.entries else TimeEntry(NO_TIMESTAMP, self.base_offset)

    def append_if_later(self, timestamp: int, offset: int) -> None:
        """Append an entry if its timestamp is above the last one's."""
        if timestamp > self.last.timestamp:
            self.entries += _ENTRY.pack(timestamp, offset - self.base_offset)

    def lookup(self, timestamp: int) -> TimeEntry:
        """Find the last entry at or below a timestamp; the segment's start if no entry precedes it."""
        entries = self.entries
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if _TIMESTAMP.unpack_from(entries, middle * ENTRY_BYTES)[0] <= timestamp:
                low = middle + 1
            else:
                high = middle
        return self[low - 1] if low else TimeEntry(NO_TIMESTAMP, self.base_offset)

    def truncate_to(self, offset: int) -> None:
        """Remove the entries at and above an offset."""
        count = len(self)
        while count and self[count - 1].offset >= offset:
            count -= 1
        del self.entries[count * ENTRY_BYTES :]
