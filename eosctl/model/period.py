"""A time period."""

from __future__ import annotations

from typing import NamedTuple


class Period(NamedTuple):
    """A time period in milliseconds since the epoch.

    Attributes:
        from_ms: Its first millisecond; None for no lower bound.
        until_ms: The millisecond after its last; None for no upper bound.
    """

    from_ms: int | None = None
    until_ms: int | None = None

    def holds(self, time_ms: int | None) -> bool:
        """Return whether a time may lie in the period; True for an unknown time."""
        return time_ms is None or self.touches(time_ms, time_ms)

    def touches(self, start_ms: int, end_ms: int) -> bool:
        """Return whether an interval overlaps the period."""
        return (self.from_ms is None or end_ms >= self.from_ms) and (self.until_ms is None or start_ms < self.until_ms)


ALL_TIME = Period()
