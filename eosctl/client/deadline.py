"""A deadline of an operation, on the clock of the running event loop."""

from __future__ import annotations

import asyncio
from typing import NamedTuple


class Deadline(NamedTuple):
    """A time on the event loop's clock (seconds)."""

    at: float

    @classmethod
    def after(cls, timeout_ms: float) -> Deadline:
        """Return the deadline `timeout_ms` from now."""
        return cls(asyncio.get_running_loop().time() + timeout_ms / 1000)

    def remaining_ms(self) -> float:
        """Return the remaining milliseconds; 0 after the deadline."""
        return max(0.0, (self.at - asyncio.get_running_loop().time()) * 1000)

    def earliest(self, timeout_ms: float) -> Deadline:
        """Return the earlier of this deadline and the one `timeout_ms` from now."""
        return min(self, Deadline.after(timeout_ms))
