"""A moment by which an operation must be over, on the clock of the running event loop."""

from __future__ import annotations

import asyncio
from typing import NamedTuple


class Deadline(NamedTuple):
    """A point in loop time (seconds)."""

    at: float

    @classmethod
    def after(cls, timeout_ms: float) -> Deadline:
        """Return the deadline that lies `timeout_ms` ahead."""
        return cls(asyncio.get_running_loop().time() + timeout_ms / 1000)

    def remaining_ms(self) -> float:
        """Return the time that is left, ms; 0 when it has passed."""
        return max(0.0, (self.at - asyncio.get_running_loop().time()) * 1000)

    def earliest(self, timeout_ms: float) -> Deadline:
        """Return this deadline or the one `timeout_ms` ahead, whichever comes first."""
        return min(self, Deadline.after(timeout_ms))
