"""The newest batches of a log, kept in memory because most reads request them."""

from __future__ import annotations

from bisect import bisect_left


class Tail:
    """Consecutive batches up to the log end offset.

    Attributes:
        first_offset: Reads from this offset on need no file.
        size_bytes: Size of all held batches.
    """

    __slots__ = ("_batches", "_last_offsets", "first_offset", "size_bytes")

    def __init__(self, first_offset: int) -> None:
        """Create an empty tail.

        Args:
            first_offset: The log end offset; reads from here on need no file.
        """
        self.first_offset = first_offset
        self.size_bytes = 0
        self._batches: list[bytes] = []
        self._last_offsets: list[int] = []

    def append(self, batch: bytes, last_offset: int) -> int:
        """Add the next batch; return the new `size_bytes`."""
        self._batches.append(batch)
        self._last_offsets.append(last_offset)
        size_bytes = self.size_bytes = self.size_bytes + len(batch)
        return size_bytes

    def newest(self, count: int) -> bytes:
        """Return the newest batches, concatenated. The caller ensures that they have not been dropped."""
        return self._batches[-1] if count == 1 else b"".join(self._batches[-count:])

    def read(self, offset: int, max_bytes: int, upper_bound: int | None = None) -> bytes:
        """Return whole batches, starting with the one that contains `offset`; at least one, at most `max_bytes`.

        Args:
            offset: First offset; not below `first_offset`.
            max_bytes: Maximum size, unless the first batch alone is larger.
            upper_bound: Return only batches that end below this offset.
        """
        last_offsets = self._last_offsets
        first, after = bisect_left(last_offsets, offset), len(last_offsets)
        if upper_bound is not None and after and upper_bound <= last_offsets[-1]:
            after = bisect_left(last_offsets, upper_bound)
        if first >= after:
            return b""
        if self.size_bytes > max_bytes:
            after = first + max(1, _count_within(self._batches[first:after], max_bytes))
        return b"".join(self._batches[first:after])

    def shrink_to(self, max_bytes: int) -> None:
        """Drop the oldest batches until at most three quarters of `max_bytes` remain.

        Dropping moves the remaining batches; dropping a quarter in one step amortizes that cost.
        """
        surplus, count = self.size_bytes - (max_bytes - (max_bytes >> 2)), 0
        while surplus > 0:
            surplus -= len(self._batches[count])
            count += 1
        self._drop(count)

    def drop_before(self, offset: int) -> None:
        """Drop the batches that end below an offset; the files have other content there now."""
        self._drop(bisect_left(self._last_offsets, offset))
        self.first_offset = max(self.first_offset, offset)

    def _drop(self, count: int) -> None:
        if count:
            self.first_offset = self._last_offsets[count - 1] + 1
            self.size_bytes -= sum([len(batch) for batch in self._batches[:count]])
            del self._batches[:count], self._last_offsets[:count]


def _count_within(batches: list[bytes], max_bytes: int) -> int:
    """Return how many of the first batches fit into `max_bytes`."""
    for count, batch in enumerate(batches):
        max_bytes -= len(batch)
        if max_bytes < 0:
            return count
    return len(batches)
