"""Bounds for decoding a log."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple


class Only(StrEnum):
    """The values of `--only`."""

    DATA = "data"
    CONTROL = "control"
    COMMITTED = "committed"
    ABORTED = "aborted"
    OPEN = "open"

    @property
    def needs_outcomes(self) -> bool:
        """Return whether markers must be read before the first batch can be judged."""
        return self in (Only.COMMITTED, Only.ABORTED, Only.OPEN)


class Bounds(NamedTuple):
    """The first and last wanted value, inclusive; None for no bound."""

    first: int | None = None
    last: int | None = None

    def overlaps(self, low: int, high: int) -> bool:
        """Return whether a range overlaps the bounds."""
        return (self.first is None or high >= self.first) and (self.last is None or low <= self.last)


EVERYTHING: Final = Bounds()
