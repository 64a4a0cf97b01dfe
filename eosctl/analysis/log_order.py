"""Order events of a log by offset, independent of the clocks of their writers."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec.structs import replace

from eosctl.model.timeline import Mark, Tone


class LogPosition(NamedTuple):
    """A position in a log: `log` is `topic-partition`; `by_broker` is whether a broker's clock dates the event."""

    log: str
    offset: int
    by_broker: bool = True


def effective_times(events: Sequence[tuple[LogPosition | None, int]]) -> list[int]:
    """Return a time for each event so that the events of a log are in offset order.

    Events with times that increase with the offsets keep them: the longest such chain of broker-dated events, and
    between these of producer-dated events. Any other event gets the time of its predecessor in the log, so a wrong
    clock moves only its own event.

    Args:
        events: The position of each event (None outside of a log) and its own time in milliseconds.

    Returns:
        Times in milliseconds, in the order of `events`.
    """
    times = [time for _, time in events]
    by_log: dict[str, list[tuple[LogPosition, int]]] = defaultdict(list)
    for index, (position, _) in enumerate(events):
        if position is not None:
            by_log[position.log].append((position, index))
    for places in by_log.values():
        places.sort(key=lambda place: (place[0].offset, place[1]))
        kept = _kept([(position.by_broker, times[index]) for position, index in places])
        last = times[places[min(kept)][1]]
        for at, (_, index) in enumerate(places):
            last = times[index] if at in kept else last
            times[index] = last
    return times


def _kept(dated: Sequence[tuple[bool, int]]) -> set[int]:
    """Return the indexes of the events that keep their times, for a log in offset order."""
    by_broker = [index for index, (is_brokers, _) in enumerate(dated) if is_brokers]
    kept = {by_broker[at] for at in _longest_rising([dated[index][1] for index in by_broker])}
    walls = [-1, *sorted(kept), len(dated)]
    for before, after in pairwise(walls):
        low = dated[before][1] if before >= 0 else -math.inf
        high = dated[after][1] if after < len(dated) else math.inf
        between = [
            index for index in range(before + 1, after) if not dated[index][0] and low <= dated[index][1] <= high
        ]
        kept |= {between[at] for at in _longest_rising([dated[index][1] for index in between])}
    return kept


def _longest_rising(times: Sequence[int]) -> list[int]:
    """Return the indexes of a longest non-decreasing subsequence."""
    ends: list[int] = []
    heads: list[int] = []
    before: list[int] = []
    for index, time in enumerate(times):
        at = bisect_right(ends, time)
        before.append(heads[at - 1] if at else -1)
        ends[at : at + 1] = [time]
        heads[at : at + 1] = [index]
    chain: list[int] = []
    index = heads[-1] if heads else -1
    while index >= 0:
        chain.append(index)
        index = before[index]
    return chain[::-1]


def place_by_offset(marks: Sequence[Mark]) -> list[Mark]:
    """Return marks with their display times; a mark whose clock contradicts its log is labeled."""
    positions = [LogPosition(mark.log, mark.offset, _is_by_broker(mark)) if mark.log else None for mark in marks]
    shown = effective_times([(position, mark.at_ms) for position, mark in zip(positions, marks, strict=True)])
    return [
        mark if time == mark.at_ms else replace(mark, shown_at_ms=time, label=f"{mark.label} ({_clock(mark)})")
        for mark, time in zip(marks, shown, strict=True)
    ]


def _is_by_broker(mark: Mark) -> bool:
    """Return whether a broker dated a mark: brokers write markers and records of internal topics."""
    return mark.tone in (Tone.COMMIT, Tone.ABORT) or mark.log.startswith("__")


def _clock(mark: Mark) -> str:
    whose = "broker" if _is_by_broker(mark) else "producer"
    return f"time by the {whose}'s clock, shown in the order of the log"
