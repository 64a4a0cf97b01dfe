"""Report that a fault which repeats has not ended: its records reach to the end of the log, at some interval."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from eosctl.logs.digest.templates import template_of
from eosctl.logs.incidents.naming.resumed_work import Failures
from eosctl.logs.incidents.timeline.evidence import place_text
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, duration_text

LEAST: Final = 3
"""Minimum number of failures that show an interval."""
MOMENT_MS: Final = 500
"""Records of one failure, of a client library and its program, follow each other in this time."""
SHORTEST_MS: Final = 5_000
"""A fault whose last record is this close to the end of its log has not ended there, however short its interval is."""
REGULAR: Final = 0.8
"""Minimum share of pauses that are alike for a fault that returns at an interval."""
FACTOR: Final = 2
"""Maximum ratio of such a pause to the median of all."""
SHORTEST_BYTES: Final = 1_000
"""The same distance in a file without times: a few lines."""
_COUNTED: Final = re.compile(r"\d times\b")


def still_failing_text(timeline: LogTimeline, failures: Failures, explanation: str) -> str:
    """Return a sentence about a fault that still failed when its log ended; empty if it did not, or has no interval.

    Args:
        timeline: The logs.
        failures: The records of the fault. Those of another category than the first are effects of it.
        explanation: The text about the fault so far; the sentence leaves out a count that it has.
    """
    if timeline.is_undated(failures.last):
        return _still_failing_in_lines(timeline, failures, explanation)
    first = failures.events[0].category
    times = _moments([event for event in failures.events if event.category == first])
    if len(times) < LEAST:
        return ""
    pauses_ms = [after - before for before, after in pairwise(times)]
    interval_ms = int(median(pauses_ms))
    left_ms = timeline.log_end_ms(failures.last) - time_of(failures.last)
    if left_ms > max(2 * interval_ms, SHORTEST_MS):
        return ""
    counted = [] if _COUNTED.search(explanation) else [count_text(len(times), "time")]
    regular = [pause for pause in pauses_ms if interval_ms <= pause * FACTOR and pause <= interval_ms * FACTOR]
    is_regular = len(regular) >= len(pauses_ms) * REGULAR
    every = [f"about every {duration_text(interval_ms)}"] if is_regular and interval_ms else []
    how = ", ".join([*counted, *every])
    return f"It still failed when its log ended{': ' if how else ''}{how}, last in {place_text(failures.last)}."


def _still_failing_in_lines(timeline: LogTimeline, failures: Failures, explanation: str) -> str:
    """Return the same where records have no time: the order and the places of the lines show it.

    The first records of a fault differ from those that repeat, so the most frequent category counts.
    """
    counts = Counter(event.category for event in failures.events if event.file == failures.last.file)
    category, count = counts.most_common(1)[0]
    places = [one.offset for one in failures.events if (one.file, one.category) == (failures.last.file, category)]
    if count < LEAST:
        return ""
    usual = int(median(after - before for before, after in pairwise(places)))
    if timeline.bytes_after(failures.last) > max(2 * usual, SHORTEST_BYTES):
        return ""
    how = "" if _COUNTED.search(explanation) else f": {count_text(count, 'time')}"
    return f"It still failed when its log ended{how}, last in {place_text(failures.last)}."


def _moments(events: Sequence[LogEvent]) -> Sequence[int]:
    """Return the times of failures; records in other words that follow each other within a moment are one."""
    times: list[int] = []
    words: set[str] = set()
    for event in events:
        own = template_of(event.message)
        if not times or own in words or time_of(event) - times[-1] > MOMENT_MS:
            times.append(time_of(event))
            words.clear()
        words.add(own)
    return times
