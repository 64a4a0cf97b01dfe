"""How many events and problems the logs hold over time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eosctl.model.log_digest import Histogram
from eosctl.model.log_event import LogEvent, is_problem

BIN_COUNT: Final = 48
MIN_EVENT_COUNT: Final = 5
"""Fewer events are listed, not counted."""
_STEPS_MS: Final = (
    *(1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000),
    *(1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000),
)
"""Widths of bins that people count in."""


def count_over_time(events: Iterable[LogEvent]) -> Histogram | None:
    """Count events by time, in at most ``BIN_COUNT`` bins of equal width.

    Returns:
        None for fewer than ``MIN_EVENT_COUNT`` events with a time, and for events of one moment.
    """
    moments = [(event.time_ms, is_problem(event)) for event in events if event.time_ms is not None]
    if len(moments) < MIN_EVENT_COUNT:
        return None
    first, last = min(moments)[0], max(moments)[0]
    if first == last:
        return None
    step_ms = step_of(first, last)
    start_ms = first // step_ms * step_ms
    counts = [0] * ((last - start_ms) // step_ms + 1)
    problems = [0] * len(counts)
    for moment, is_bad in moments:
        counts[(moment - start_ms) // step_ms] += 1
        problems[(moment - start_ms) // step_ms] += is_bad
    return Histogram(start_ms, step_ms, tuple(counts), tuple(problems))


def step_of(first: int, last: int) -> int:
    """Return the smallest width with which a span takes no more than ``BIN_COUNT`` bins; of days, whole ones."""
    step_ms = next((step for step in _STEPS_MS if last // step - first // step < BIN_COUNT), None)
    return step_ms or -(-(last - first + 1) // ((BIN_COUNT - 1) * _STEPS_MS[-1])) * _STEPS_MS[-1]
