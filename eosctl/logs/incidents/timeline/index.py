"""Index events by category, writer, value, and time, so that a lookup does not scan all of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from enum import Enum
from itertools import accumulate
from math import inf
from operator import attrgetter
from typing import Final, Generic, TypeAlias, TypeVar

from eosctl.logs.incidents.timeline.second_categories import category_of_cause
from eosctl.model.event_names import EventCategory, EventField
from eosctl.model.log_event import LogEvent

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)

_TIME: Final = attrgetter("time_ms")


class Writer(Enum):
    """The writers of the requested events."""

    ANY = "any"
    CLIENT = "client"
    SERVER = "server"


#: The writer and categories of events, the field that is looked up, and a field that they must have.
_Looked: TypeAlias = tuple[Writer, tuple[EventCategory, ...], EventField, EventField | None]


class EventIndex:
    """The events of a timeline. Every lookup returns them in the order of time; each kind is collected once.

    Args:
        events: Events with times, in order.
        servers: The applications that are brokers or controllers.
        order: The key that the events are in the order of.
    """

    def __init__(
        self, events: Iterable[LogEvent], servers: Set[str], order: Callable[[LogEvent], tuple[int, str, int]]
    ) -> None:
        self._servers = servers
        self._order = order
        by_category: dict[EventCategory, list[LogEvent]] = defaultdict(list)
        for event in events:
            by_category[event.category].append(event)
            if cause := category_of_cause(event):
                by_category[cause].append(event)
        self._of: dict[tuple[Writer, tuple[EventCategory, ...]], Sequence[LogEvent]] = {
            (Writer.ANY, (category,)): tuple(found) for category, found in by_category.items()
        }
        self._by_value: dict[_Looked, dict[str | None, list[LogEvent]]] = {}

    def of(self, categories: tuple[EventCategory, ...], writer: Writer = Writer.ANY) -> Sequence[LogEvent]:
        """Return the events of some categories and writers."""
        key = writer, categories
        if key not in self._of:
            self._of[key] = self._gathered(categories, writer)
        return self._of[key]

    def with_value(
        self,
        field: EventField,
        value: str,
        categories: tuple[EventCategory, ...],
        writer: Writer = Writer.ANY,
        having: EventField | None = None,
    ) -> Sequence[LogEvent]:
        """Return the events of some categories and writers with a given value in a field, and with another field."""
        key = writer, categories, field, having
        if key not in self._by_value:
            found = self._by_value[key] = defaultdict(list)
            for event in self.of(categories, writer):
                if not having or event.fields.get(having):
                    found[event.fields.get(field)].append(event)
        return self._by_value[key].get(value, ())

    def _gathered(self, categories: tuple[EventCategory, ...], writer: Writer) -> Sequence[LogEvent]:
        if writer is not Writer.ANY:
            is_server = writer is Writer.SERVER
            return tuple(one for one in self.of(categories) if (one.application in self._servers) is is_server)
        if len(categories) == 1:
            return ()
        # A record of two of the categories is one event.
        found = {id(one): one for category in categories for one in self.of((category,))}
        return tuple(sorted(found.values(), key=self._order))


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> Mapping[Key, list[Item]]:
    """Group items by their key, keeping their order."""
    groups: dict[Key, list[Item]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups


def within(events: Sequence[LogEvent], start_ms: float, end_ms: float) -> Sequence[LogEvent]:
    """Return the events of a period, both ends included; they must have times and be in order."""
    return events[bisect_left(events, start_ms, key=_TIME) : bisect_right(events, end_ms, key=_TIME)]


def last_before(events: Sequence[LogEvent], time_ms: int) -> LogEvent | None:
    """Return the last event before a moment; the events must have times and be in order."""
    place = bisect_left(events, time_ms, key=_TIME)
    return events[place - 1] if place else None


class Intervals(Generic[Item]):
    """Items with a start and an end; those that overlap a period are found without a scan of all.

    Args:
        lasting: The start, the end, and the item of each interval. Both ends are included; an end may be infinite.
    """

    def __init__(self, lasting: Iterable[tuple[float, float, Item]]) -> None:
        self._all = sorted(lasting, key=lambda one: one[0])
        self._starts = [start for start, _, _ in self._all]
        self._last_ends = list(accumulate((end for _, end, _ in self._all), max))

    def has(self, start_ms: float, end_ms: float) -> bool:
        """Return whether an item overlaps a period, both ends included."""
        count = bisect_right(self._starts, end_ms)
        return count > 0 and self._last_ends[count - 1] >= start_ms

    def touching(self, start_ms: float, end_ms: float = inf) -> list[Item]:
        """Return the items that overlap a period, both ends included, the latest start first."""
        found = []
        for place in range(bisect_right(self._starts, end_ms) - 1, -1, -1):
            if self._last_ends[place] < start_ms:
                break
            if self._all[place][1] >= start_ms:
                found.append(self._all[place][2])
        return found
