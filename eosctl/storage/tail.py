"""The newest batches of a log, kept in memory: most reads want them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class Tail:
    """Batches that follow each other up to the log's end.

    Attributes:
        first_offset: Reads from here on need no file.
        end: Running count of the bytes of all batches, those that were dropped too.
    """

    __slots__ = ("_batches", "_ends", "_last_offsets", "_start", "end", "first_offset")

    def __init__(self, first_offset: int) -> None:
        """Start empty at the log's end.

        Args:
            first_offset: The log's end offset; reads from here on need no file.
        """
        self.first_offset = first_offset
        self._batches: list[bytes] = []
        self._last_offsets: list[int] = []
        self._ends: list[int] = []  # running count of bytes after each batch
        self._start = 0  # and before the first
        self.end = 0  # and after the last

    def append(self, batch: bytes, last_offset: int) -> int:
        """Add the batch that follows; returns the new `end`."""
        end = self.end = self.end + len(batch)
        self._ends.append(end)
        self._batches.append(batch)
        self._last_offsets.append(last_offset)
        return end

    def after(self, end: int) -> bytes:
        """Return the batches that were added since `end` was this; they must not have been dropped."""
        ends = self._ends
        if (ends[-2] if len(ends) > 1 else self._start) == end:
            return self._batches[-1]
        return b"".join(self._batches[bisect_right(ends, end) :])

    def read(self, offset: int, max_bytes: int, upper_bound: int | None = None) -> bytes:
        """Return whole batches from the one that holds `offset` on, at least one and no more than `max_bytes`.

        Args:
            offset: First offset wanted; not below `first_offset`.
            max_bytes: Most bytes, unless the first batch alone is larger.
            upper_bound: Only batches that end below this offset.
        """
        last_offsets = self._last_offsets
        first, after = bisect_left(last_offsets, offset), len(last_offsets)
        if upper_bound is not None and after and upper_bound <= last_offsets[-1]:
            after = bisect_left(last_offsets, upper_bound)
        if first >= after:
            return b""
        if first + 1 == after:
            return self._batches[first]
        limit = (self._ends[first - 1] if first else self._start) + max_bytes
        if self._ends[after - 1] > limit:
            after = max(first + 1, bisect_right(self._ends, limit, first, after))
        return b"".join(self._batches[first:after])

    def shrink_to(self, max_bytes: int) -> None:
        """Drop the oldest batches when more than `max_bytes` are held.

        A quarter goes at once: dropping moves all that stays, which would otherwise be done for every batch.
        """
        end = self.end
        if end - self._start > max_bytes:
            self._drop(bisect_left(self._ends, end - max_bytes + (max_bytes >> 2)) + 1)

    def drop_before(self, offset: int) -> None:
        """Drop the batches that end below an offset: files hold something else in their place now."""
        self._drop(bisect_left(self._last_offsets, offset))
        self.first_offset = max(self.first_offset, offset)

    def _drop(self, count: int) -> None:
        if count:
            self.first_offset = self._last_offsets[count - 1] + 1
            self._start = self._ends[count - 1]
            del self._batches[:count], self._last_offsets[:count], self._ends[:count]
