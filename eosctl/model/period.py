"""A time to look at."""

from __future__ import annotations

from typing import NamedTuple


class Period(NamedTuple):
    """A time to look at, ms since the epoch.

    Attributes:
        from_ms: Its first millisecond; None from the beginning on.
        until_ms: That behind its last; None to the end.
    """

    from_ms: int | None = None
    until_ms: int | None = None

    def holds(self, time_ms: int | None) -> bool:
        """Return whether it may have been then; of what has no time nobody knows."""
        return time_ms is None or self.touches(time_ms, time_ms)

    def touches(self, start_ms: int, end_ms: int) -> bool:
        """Return whether some of what began and ended then was in it."""
        return (self.from_ms is None or end_ms >= self.from_ms) and (self.until_ms is None or start_ms < self.until_ms)


ALL_TIME = Period()
