"""Recognize the pauses of a client that waits longer after each attempt, so that its attempts stay one fault.

Clients and pipelines multiply their wait by a factor, two as a rule, add jitter, and stop at a maximum, which may be
more than an hour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.log_event import LogEvent

GROWTH: Final = 4
"""Maximum ratio of a pause to the one before it."""
JITTER: Final = 0.75
"""Minimum ratio of a pause to the one before it: at the maximum, jitter makes some of them shorter."""
LEAST: Final = 4
"""Minimum ratio of the longest pause to the first one: faults that return by chance do not grow in order."""
STEPS: Final = 3
"""Minimum number of pauses that show it."""
LONGEST_MS: Final = 5_400_000
"""Maximum pause within a backoff. Slices of long logs have only samples of what is further away, and the pauses
between samples grow, too."""
MOMENT_MS: Final = 500
"""Records of one attempt, of a client library and its program, follow each other in this time."""


def retries(
    events: Sequence[LogEvent], gap_ms: int, is_over: Callable[[LogEvent, LogEvent], bool] = lambda *_: False
) -> Iterator[list[LogEvent]]:
    """Split the records of a fault at each pause that is longer than the gap, and that no backoff explains.

    Args:
        events: The records, in order of time.
        gap_ms: The maximum pause without a backoff.
        is_over: Returns whether the fault was over between two records.
    """
    pauses_ms = [time_of(after) - time_of(before) for before, after in pairwise(events)]
    expected = iter(in_backoff([pause_ms for pause_ms in pauses_ms if pause_ms > MOMENT_MS]))
    current = list(events[:1])
    for pause_ms, (before, after) in zip(pauses_ms, pairwise(events), strict=True):
        is_expected = pause_ms > MOMENT_MS and next(expected)
        if pause_ms > gap_ms and (not is_expected or is_over(before, after)):
            yield current
            current = []
        current.append(after)
    if current:
        yield current


def in_backoff(pauses_ms: Sequence[int], longest_ms: int = LONGEST_MS) -> Sequence[bool]:
    """Return for each pause, in milliseconds, whether it belongs to a backoff with none longer than a limit.

    >>> in_backoff([1_000, 2_100, 3_900, 8_200, 8_000])
    [True, True, True, True, True]
    >>> in_backoff([600_000, 600_000, 2_700_000, 90_000])
    [False, False, False, False]
    """
    return [
        len(run) >= STEPS and LEAST * max(run[0], 1) <= max(run) <= longest_ms
        for run in _runs(pauses_ms, longest_ms)
        for _ in run
    ]


def _runs(pauses_ms: Sequence[int], longest_ms: int) -> Iterator[list[int]]:
    """Split pauses where one is too long or too short to follow the one before it."""
    current = list(pauses_ms[:1])
    for before, after in pairwise(pauses_ms):
        is_usual = before <= longest_ms and after <= longest_ms
        if not (is_usual and before * JITTER <= after <= before * GROWTH):
            yield current
            current = []
        current.append(after)
    if current:
        yield current
