"""The time axis of lanes: long times in which nothing happened are cut short, or a burst before them would be a dot."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise
from typing import Final, NamedTuple

from eosctl.model.timeline import Timeline
from eosctl.text import duration_text, time_text

#: A time without events that takes a larger share of the whole is cut short.
_LONG: Final = 0.4
#: What a cut takes of the width.
CUT_WIDTH: Final = 0.14
_MOST_CUTS: Final = 2


class Tick(NamedTuple):
    """A label of the axis at a share of the width; `is_cut` if it gives the length of a time that is cut short."""

    share: float
    text: str
    is_cut: bool = False


class TimeScale(NamedTuple):
    """Where a time stands: shares of the width at times that rise, straight lines between them."""

    times_ms: tuple[int, ...]
    shares: tuple[float, ...]
    ticks: tuple[Tick, ...]

    def share(self, at_ms: int) -> float:
        """Return the place of a time as a share of the width, from 0 to 1; times outside are at the ends."""
        last = len(self.times_ms) - 1
        at = min(max(0, bisect_right(self.times_ms, at_ms) - 1), last - 1)
        begin, end = self.times_ms[at], self.times_ms[at + 1]
        done = min(1.0, max(0.0, (at_ms - begin) / max(1, end - begin)))
        return self.shares[at] + done * (self.shares[at + 1] - self.shares[at])


def time_scale(timeline: Timeline) -> TimeScale:
    """Return the axis of a timeline."""
    begin, end = timeline.from_ms, max(timeline.until_ms, timeline.from_ms + 1)
    marks = [mark for lane in timeline.lanes for mark in lane.marks]
    moments = {begin, end}
    for mark in marks:
        moments |= {mark.at_ms, mark.at_ms if mark.until_ms is None else mark.until_ms}
    cuts = _cuts(sorted(one for one in moments if begin <= one <= end), end - begin)
    if not cuts:
        quarters = [begin + (end - begin) * step // 4 for step in range(5)]
        return TimeScale((begin, end), (0.0, 1.0), tuple(Tick(n / 4, _clock(at)) for n, at in enumerate(quarters)))
    return _with_cuts(begin, end, cuts)


def _cuts(moments: Iterable[int], length: int) -> list[tuple[int, int]]:
    gaps = [(after - before, before, after) for before, after in pairwise(moments) if after - before > length * _LONG]
    return sorted((before, after) for _, before, after in sorted(gaps)[-_MOST_CUTS:])


def _with_cuts(begin: int, end: int, cuts: list[tuple[int, int]]) -> TimeScale:
    walls = [begin, *(wall for cut in cuts for wall in cut), end]
    pieces = list(pairwise(walls))
    # Pieces and cuts take turns; a piece without length is a moment at the edge of a cut.
    widths = [CUT_WIDTH if odd % 2 else float(after > before) for odd, (before, after) in enumerate(pieces)]
    pieces_width = sum(widths[::2]) or 1.0
    rest = 1.0 - CUT_WIDTH * len(cuts)
    shares, ticks = [0.0], [Tick(0.0, _clock(begin))]
    for number, ((before, after), width) in enumerate(zip(pieces, widths, strict=True)):
        share = width if number % 2 else width / pieces_width * rest
        if number % 2:
            ticks.append(Tick(shares[-1] + share / 2, duration_text(after - before), is_cut=True))
        elif 0 < number < len(pieces) - 1 or share > _LONG:
            ticks.append(Tick(shares[-1] + share / 2, _clock((before + after) // 2)))
        shares.append(shares[-1] + share)
    return TimeScale(tuple(walls), tuple(shares), (*ticks, Tick(1.0, _clock(end))))


def _clock(at_ms: int) -> str:
    return time_text(at_ms)[11:23]
