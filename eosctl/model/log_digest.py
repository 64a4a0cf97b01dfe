"""The parts of a log report other than incidents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_NEAR_SHARE: Final = 0.5
TOLERATED_MS: Final = 2_000
"""Shorter than a response on a busy machine; synchronized clocks differ by some milliseconds."""
QUARTER_MS: Final = 900_000
"""Time zones differ by whole quarters of an hour."""


@dataclass(frozen=True, slots=True)
class Template:
    """A message with its values left out.

    Attributes:
        text: The message, `<*>` for each value.
        category: The category of its events.
        root_class: The root class of their throwable; empty without one.
        event_count: How many there are.
        first_ms: The first, ms since the epoch; None if no event carries a time.
        applications: Who printed it, in order.
        file: Where the first is.
        offset: At which byte.
        is_new: Whether the baseline does not have it; None without a baseline.
    """

    text: str
    category: str
    root_class: str
    event_count: int
    first_ms: int | None
    applications: tuple[str, ...]
    file: str
    offset: int
    is_new: bool | None


@dataclass(frozen=True, slots=True)
class Burst:
    """Events of one category and application close together.

    Attributes:
        application: Who printed them.
        category: What they are.
        start_ms: The first, ms since the epoch.
        end_ms: The last.
        event_count: How many.
        factor: How much denser they come than over all of the logs.
    """

    application: str
    category: str
    start_ms: int
    end_ms: int
    event_count: int
    factor: float


@dataclass(frozen=True, slots=True)
class Precursor:
    """A pair of categories in which one precedes the other.

    Attributes:
        failure: The failing category.
        cause: The preceding category.
        failure_count: Number of failures.
        preceded_count: Number of failures that it precedes within the window.
        expected_share: The share of all times that it precedes, i.e. the share by chance.
        lift: The share of failures divided by the share by chance.
        typical_lag_ms: The median time from it to the failure.
        score: The lift weighted by proximity.
    """

    failure: str
    cause: str
    failure_count: int
    preceded_count: int
    expected_share: float
    lift: float
    typical_lag_ms: int
    score: float


@dataclass(frozen=True, slots=True)
class Unexplained:
    """Failures of a category without a significant precursor: their number, and the total."""

    failure: str
    unexplained_count: int
    failure_count: int


@dataclass(frozen=True, slots=True)
class PauseOutlook:
    """The JVM pauses of an application.

    Attributes:
        application: The application.
        pause_count: Number of logged pauses.
        total_ms: Their sum.
        longest_ms: The longest.
        longest_at_ms: Its time, milliseconds since the epoch; None if its record has none.
        nearest: The shortest logged timeout, by Kafka's name; empty without one.
        nearest_ms: Its value; 0 without one.
    """

    application: str
    pause_count: int
    total_ms: float
    longest_ms: float
    longest_at_ms: int | None
    nearest: str
    nearest_ms: int

    @property
    def is_near(self) -> bool:
        """Return whether the longest pause took at least half of the shortest timeout."""
        return self.nearest_ms > 0 and self.longest_ms >= _NEAR_SHARE * self.nearest_ms


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """The difference between an application's clock and the coordinators' clocks.

    Attributes:
        application: The application.
        offset_ms: The median difference of times for the same producer id and epoch.
        pair_count: Number of compared pairs.
    """

    application: str
    offset_ms: int
    pair_count: int

    @property
    def is_apart(self) -> bool:
        """Return whether the difference exceeds a response time."""
        return abs(self.offset_ms) > TOLERATED_MS

    @property
    def is_like_a_zone(self) -> bool:
        """Return whether it is about a whole number of quarter hours, as with a wrong time zone."""
        remainder = abs(self.offset_ms + QUARTER_MS // 2) % QUARTER_MS - QUARTER_MS // 2
        return abs(self.offset_ms) > QUARTER_MS - TOLERATED_MS and abs(remainder) <= TOLERATED_MS


@dataclass(frozen=True, slots=True)
class Histogram:
    """The number of events over time.

    Attributes:
        start_ms: The start of the first bin, ms since the epoch.
        bin_ms: The width of a bin.
        event_counts: The events of each bin.
        problem_counts: Those of them that are warnings, errors, or throwables.
    """

    start_ms: int
    bin_ms: int
    event_counts: tuple[int, ...]
    problem_counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LogDigest:
    """Templates, bursts, precursors of failures, pauses, clocks, and events over time (None for too few)."""

    templates: tuple[Template, ...]
    has_baseline: bool
    bursts: tuple[Burst, ...]
    precursors: tuple[Precursor, ...]
    unexplained: tuple[Unexplained, ...]
    pauses: tuple[PauseOutlook, ...]
    clocks: tuple[ClockOffset, ...]
    histogram: Histogram | None
