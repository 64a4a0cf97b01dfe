"""Choose the few events of each name that stand for the others outside of a slice's window (see ``slices``)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from eosctl.logs.incidents.slicing.slices import (
    ELECTION,
    ENDLESS,
    LIFE,
    LONG_MARGIN_MS,
    MARGIN_MS,
    Key,
    TimeSlice,
    margin_of,
)
from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT
from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import LogEvent

LAST_SIGNS: Final = 20
"""Number of the last events of a server that show how it ended."""


class Sampling(NamedTuple):
    """How many events of a key stand for the others of a period, and the margin of the slices that have them all."""

    first_count: int
    last_count: int
    margin_ms: int


def sampling_of(key: Key) -> Sampling:
    """Return how the events of a key are sampled; its first two parts decide."""
    if key[0] == ELECTION:
        return Sampling(1, 0, MARGIN_MS)
    if key[0] not in ("event", LIFE):
        return Sampling(1, LAST_SIGNS if key[0] == "server" else 1, MARGIN_MS)
    category: EventCategory = key[1]  # type: ignore[assignment]
    is_life = key[0] == LIFE
    first_count = MAX_EVIDENCE_COUNT if is_life or category in ENDLESS else 1
    return Sampling(first_count, LAST_SIGNS if is_life else 1, margin_of(category))


def outside(one: TimeSlice, key: Key, times: Sequence[int]) -> Iterator[int]:
    """Yield the places of the events outside of a slice's window that stand for the others.

    Args:
        one: The slice.
        key: The key of all events.
        times: The times of the events, in order; those that ``Samples`` kept give the same as all.
    """
    sampling = sampling_of(key)
    start_ms, end_ms = one.window(sampling.margin_ms)
    if key[0] == ELECTION and bisect_left(times, start_ms) == bisect_right(times, end_ms):
        # Only an election that a broker logs again needs its first record.
        return
    for start, end in ((0, bisect_left(times, start_ms)), (bisect_right(times, end_ms), len(times))):
        if end - start <= sampling.first_count + sampling.last_count:
            yield from range(start, end)
        else:
            yield from range(start, start + sampling.first_count)
            yield from range(end - sampling.last_count, end)


class Samples:
    """The events of each key that any slice may need; they may be added in any order.

    Of each period between two borders of windows, it keeps the first ones and the last.
    """

    def __init__(self, slices: Iterable[TimeSlice]) -> None:
        windows = [(margin, [one.window(margin) for one in slices]) for margin in (MARGIN_MS, LONG_MARGIN_MS)]
        self.edges = {margin: sorted({edge for window in found for edge in window}) for margin, found in windows}
        """The borders between the periods, by the margin of the windows."""
        self._kept: dict[Key, _Kept] = {}

    def add(self, key: Key, event: LogEvent) -> None:
        """Add an event with a time."""
        kept = self._kept.get(key)
        if kept is None:
            sampling = sampling_of(key)
            most = sampling.first_count + sampling.last_count
            kept = self._kept[key] = _Kept(sampling.first_count, most, self.edges[sampling.margin_ms], {})
        time_ms = event.time_ms or 0
        # Events exactly at a border belong to neither side of it.
        period = bisect_left(kept.edges, time_ms) + bisect_right(kept.edges, time_ms)
        own = kept.periods.get(period)
        if own is None:
            kept.periods[period] = [event]
            return
        if place_of(own[-1]) <= place_of(event):
            own.append(event)
        else:
            insort(own, event, key=place_of)
        if len(own) > kept.most:
            del own[kept.first_count]

    def by_key(self) -> Iterator[tuple[Key, Sequence[LogEvent]]]:
        """Yield each key with what was kept of its events, in order."""
        for key, kept in self._kept.items():
            yield key, [event for _, own in sorted(kept.periods.items()) for event in own]


class _Kept(NamedTuple):
    """What is kept of the events of a key, by the number of their period, each in order."""

    first_count: int
    most: int
    edges: Sequence[float]
    periods: dict[int, list[LogEvent]]


def place_of(event: LogEvent) -> tuple[int, str, int]:
    """Return the place of an event in the order of time."""
    return event.time_ms or 0, event.file, event.offset
