"""The offset index of a segment, which maps offsets to positions in the log.

An entry (a batch's last offset, the batch's position) is added whenever more than `index.interval.bytes` have been
appended since the last entry.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

ENTRY_BYTES: Final = 8
_ENTRY: Final = struct.Struct(">ii")
_RELATIVE_OFFSET: Final = struct.Struct(">i")


class OffsetEntry(NamedTuple):
    """An offset and the position (bytes) of the batch that ends with it."""

    offset: int
    position: int


def decode_offset_entries(data: bytes, base_offset: int) -> Iterator[OffsetEntry]:
    """Decode the entries of a file, sorted or not."""
    for relative_offset, position in _ENTRY.iter_unpack(data):
        yield OffsetEntry(base_offset + relative_offset, position)


def offset_entry_fault(entry: OffsetEntry, before: OffsetEntry | None, base_offset: int) -> str:
    """Return why a broker cannot have written an entry after another (None: as the first), or "" if it can."""
    if entry.offset < base_offset:
        return f"offset {entry.offset} is below the segment's first, {base_offset}"
    if entry.position < 0:
        return f"position {entry.position} is negative"
    if before is not None and (entry.offset <= before.offset or entry.position <= before.position):
        return (
            f"offset {entry.offset} at position {entry.position} does not follow offset {before.offset} at position "
            f"{before.position}"
        )
    return ""


class OffsetIndex:
    """The offset index of a segment, in memory in the file's encoding."""

    __slots__ = ("base_offset", "entries")

    def __init__(self, base_offset: int, entries: bytes = b"") -> None:
        """Create an index from entries in ascending order, without preallocated zeros."""
        self.base_offset = base_offset
        self.entries = bytearray(entries)

    def __len__(self) -> int:
        return len(self.entries) // ENTRY_BYTES

    def __getitem__(self, index: int) -> OffsetEntry:
        relative_offset, position = _ENTRY.unpack_from(self.entries, index * ENTRY_BYTES)
        return OffsetEntry(self.base_offset + relative_offset, position)

    @property
    def last(self) -> OffsetEntry:
        """Return the last entry; for an empty index, the segment's start."""
        return self[len(self) - 1] if self.entries else OffsetEntry(self.base_offset, 0)

    def append(self, offset: int, position: int) -> None:
        """Append an entry."""
        self.entries += _ENTRY.pack(offset - self.base_offset, position)

    def lookup(self, offset: int) -> OffsetEntry:
        """Find the last entry at or below an offset; the segment's start if no entry precedes it."""
        count = self._count_up_to(offset)
        return self[count - 1] if count else OffsetEntry(self.base_offset, 0)

    def first_from(self, offset: int) -> OffsetEntry | None:
        """Find the first entry at or above an offset."""
        count = self._count_up_to(offset - 1)
        return self[count] if count < len(self) else None

    def last_within(self, position: int, upper_bound: int | None) -> OffsetEntry:
        """Find the last entry up to a position whose batch ends below an offset bound, or the segment's start."""
        entries, limit = self.entries, None if upper_bound is None else upper_bound - self.base_offset
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            relative_offset, entry_position = _ENTRY.unpack_from(entries, middle * ENTRY_BYTES)
            if entry_position <= position and (limit is None or relative_offset < limit):
                low = middle + 1
            else:
                high = middle
        return self[low - 1] if low else OffsetEntry(self.base_offset, 0)

    def truncate_to(self, offset: int) -> None:
        """Remove the entries at and above an offset."""
        del self.entries[self._count_up_to(offset - 1) * ENTRY_BYTES :]

    def _count_up_to(self, offset: int) -> int:
        target, entries = offset - self.base_offset, self.entries
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if _RELATIVE_OFFSET.unpack_from(entries, middle * ENTRY_BYTES)[0] <= target:
                low = middle + 1
            else:
                high = middle
        return low
