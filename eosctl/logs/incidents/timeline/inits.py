"""Find the initializations that clients log: their own, and those of producers without a transactional id."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from eosctl.model.log_event import LogEvent

_KEPT: Final = 20
_PLACE: Final = attrgetter("time_ms", "file", "offset")


class Inits(NamedTuple):
    """The initializations of one client, earliest first, and the producer ids and epochs that it received."""

    events: Sequence[LogEvent]
    identities: frozenset[tuple[str, str]]

    def until(self, time_ms: int) -> Sequence[LogEvent]:
        """Return the last initializations that are not later than a moment."""
        end = bisect_left(self.events, time_ms + 1, key=attrgetter("time_ms"))
        return self.events[max(0, end - _KEPT) : end]


class InitsOfLogs:
    """The initializations of each log; those of a client are collected at its first lookup.

    Args:
        events: Events with times, in order.
        log_of: Returns the name of an event's log.
    """

    def __init__(self, events: Iterable[LogEvent], log_of: Callable[[LogEvent], str]) -> None:
        self._log_of = log_of
        self._by_log: dict[tuple[str, str | None], list[LogEvent]] = defaultdict(list)
        for event in events:
            if event.category == "INIT_PRODUCER_ID":
                self._by_log[log_of(event), event.fields.get("transactional_id")].append(event)
        self._own: dict[tuple[str, str, str | None], Inits] = {}

    def has_plain_before(self, event: LogEvent) -> bool:
        """Return whether the log of an event has an earlier initialization without a transactional id."""
        plain = self._by_log.get((self._log_of(event), None), ())
        return any((one.time_ms or 0) <= (event.time_ms or 0) for one in plain[:1])

    def plain_before(self, event: LogEvent) -> Sequence[LogEvent]:
        """Return the earlier initializations of an event's log that name a client, but no transactional id."""
        plain = self._by_log.get((self._log_of(event), None), ())
        return [one for one in plain if one.fields.get("client_id") and (one.time_ms or 0) <= (event.time_ms or 0)]

    def of_client(self, event: LogEvent, transactional_id: str) -> Inits:
        """Return the initializations of an event's client in its log: those of the id, and those without one."""
        log, client = self._log_of(event), event.fields.get("client_id")
        key = log, transactional_id, client
        if key not in self._own:
            inits = (*self._by_log.get((log, transactional_id), ()), *self._by_log.get((log, None), ()))
            own = [one for one in inits if not client or one.fields.get("client_id", client) == client]
            self._own[key] = Inits(sorted(own, key=_PLACE), frozenset(map(identity_of, own)))
        return self._own[key]


def identity_of(event: LogEvent) -> tuple[str, str]:
    """Return the producer id and epoch of an event; empty where it names none."""
    return event.fields.get("producer_id", ""), event.fields.get("producer_epoch", "")
