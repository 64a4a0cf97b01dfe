"""Limits of what is decoded of a log."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple


class Only(StrEnum):
    """What `--only` accepts."""

    DATA = "data"
    CONTROL = "control"
    COMMITTED = "committed"
    ABORTED = "aborted"
    OPEN = "open"

    @property
    def needs_outcomes(self) -> bool:
        """Return whether markers must be known before the first batch can be judged."""
        return self in (Only.COMMITTED, Only.ABORTED, Only.OPEN)


class Bounds(NamedTuple):
    """First and last value that are wanted, both included; None leaves a side open."""

    first: int | None = None
    last: int | None = None

    def overlaps(self, low: int, high: int) -> bool:
        """Return whether a range has a value within the bounds."""
        return (self.first is None or high >= self.first) and (self.last is None or low <= self.last)


EVERYTHING: Final = Bounds()
