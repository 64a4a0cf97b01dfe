"""Separate work from a running total that stands still: a program reports both in the same words.

A line such as `progress: 321988 events written` comes every minute, also while nothing is written. Only a total that
grows after a fault shows work, or one that begins anew: growth up to the first line after the fault may be older.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from eosctl.logs.incidents.timeline.work import VERBS
from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import LogEvent

COUNTS: Final[tuple[EventCategory, ...]] = ("WORK_DONE",)
"""Categories of records that can have a running total."""
LEAST: Final = 3
"""Minimum number of counts that show by themselves that they are totals: they grow, and never fall."""
_TOTAL: Final = re.compile(r"(?i:\b(?:progress|total|so far|overall|altogether)\b)")
_COUNT: Final = re.compile(
    rf"(?i:(?<![\w.,:-])(\d[\d,_]*) (?:[\w-]+ ){{1,3}}{VERBS}\b|\b{VERBS}\b[^\d\n]{{0,40}}(?<![\w.])(\d[\d,_]*))"
)
_DIGITS: Final = re.compile(r"\d[\d,_]*")


class RunningTotals:
    """Decides for the records of work after a fault, in order of time, if a total has moved."""

    def __init__(self, before: Iterable[LogEvent]) -> None:
        """Take the records of the same program before the fault."""
        self._before: dict[str, list[int]] = defaultdict(list)
        self._last: dict[str, int] = {}
        for event in before:
            if (count := _count(event.message)) is not None:
                self._before[_words(event)].append(count)

    def shows_work(self, event: LogEvent) -> bool:
        """Return whether the next record after the fault shows more than a running total that has not changed."""
        words = _words(event)
        count = _count(event.message) if event.category in COUNTS else None
        if count is None or not self._is_total(event.message, words, count):
            return True
        known = self._last.get(words)
        before = self._before[words][-1] if self._before[words] else None
        self._last[words] = count
        if known is not None:
            return count != known
        return before is not None and count < before

    def _is_total(self, message: str, words: str, count: int) -> bool:
        if _TOTAL.search(message):
            return True
        counts = self._before[words]
        # The same number once more is a further sign of a total that stands still, unless all are the same.
        if counts and count == counts[-1]:
            counts = [*counts, count]
        never_fell = all(left <= right for left, right in pairwise(counts))
        return len(counts) >= LEAST and never_fell and counts[0] < counts[-1]


def _words(event: LogEvent) -> str:
    return f"{event.thread}\0{_DIGITS.sub('0', event.message)}"


def _count(message: str) -> int | None:
    found = _COUNT.search(message)
    digits = re.sub(r"\D", "", found[1] or found[2]) if found else ""
    return int(digits) if digits else None
