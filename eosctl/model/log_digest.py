"""Everything that a report of logs shows next to the incidents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_NEAR_SHARE: Final = 0.5
TOLERATED_MS: Final = 2_000
"""Less than this is what an answer takes on a busy machine; clocks that agree show some milliseconds."""
QUARTER_MS: Final = 900_000
"""Zones are whole quarters of an hour apart."""


@dataclass(frozen=True, slots=True)
class Template:
    """A message with its values left out.

    Attributes:
        text: The message, ``<*>`` for each value.
        category: The category of its events.
        root_class: The root class of their throwable; empty without one.
        event_count: How many there are.
        first_ms: The first, ms since the epoch; None where no event carries a time.
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
    """A pair of categories of which one comes before the other.

    Attributes:
        failure: What failed.
        cause: What came before.
        failure_count: How many failures there are.
        preceded_count: How many of them it came before, within the window.
        expected_share: The share of all moments that it comes before: what chance gives.
        lift: The share of failures over that of moments.
        typical_lag_ms: The median time from it to the failure.
        score: The lift weighted by how close it comes.
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
    """Failures of a category before which nothing came that is rarer elsewhere: how many of how many."""

    failure: str
    unexplained_count: int
    failure_count: int


@dataclass(frozen=True, slots=True)
class PauseOutlook:
    """What the pauses of one application come to.

    Attributes:
        application: Whose JVM it is.
        pause_count: How many pauses its log tells.
        total_ms: Their sum.
        longest_ms: The longest.
        longest_at_ms: When that was, ms since the epoch; None where its record has no time.
        nearest: The shortest timeout that any log prints, by Kafka's name; empty when none does.
        nearest_ms: Its value; 0 when none.
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
        """Whether the longest pause took half of the shortest timeout or more."""
        return self.nearest_ms > 0 and self.longest_ms >= _NEAR_SHARE * self.nearest_ms


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """How far an application's clock, as its log was read, is from the coordinators'.

    Attributes:
        application: Whose log it is.
        offset_ms: The median of its times minus the coordinators' for the same producer id and epoch.
        pair_count: How many pairs that rests on.
    """

    application: str
    offset_ms: int
    pair_count: int

    @property
    def is_apart(self) -> bool:
        """Whether that is more than the time that an answer takes."""
        return abs(self.offset_ms) > TOLERATED_MS

    @property
    def is_like_a_zone(self) -> bool:
        """Whether it is about a whole number of quarter hours, as a zone that was read wrongly makes."""
        beside = abs(self.offset_ms + QUARTER_MS // 2) % QUARTER_MS - QUARTER_MS // 2
        return abs(self.offset_ms) > QUARTER_MS - TOLERATED_MS and abs(beside) <= TOLERATED_MS


@dataclass(frozen=True, slots=True)
class LogDigest:
    """Templates, bursts, what came before failures, pauses, and clocks.

    Attributes:
        templates: Messages without their values, new ones first.
        has_baseline: Whether there was a baseline to be new against.
        bursts: Crowded sessions, the largest first.
        precursors: What came before failures, best first.
        unexplained: Failures that nothing came before.
        pauses: Each JVM's pauses, the longest first.
        clocks: How far applications' clocks are from the coordinators', the furthest first.
    """

    templates: tuple[Template, ...]
    has_baseline: bool
    bursts: tuple[Burst, ...]
    precursors: tuple[Precursor, ...]
    unexplained: tuple[Unexplained, ...]
    pauses: tuple[PauseOutlook, ...]
    clocks: tuple[ClockOffset, ...]
