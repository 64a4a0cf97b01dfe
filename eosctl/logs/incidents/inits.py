"""The initialisations that the logs of clients tell of: a client's own ones, and those of producers without an id."""

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
    """The initialisations of one client, earliest first, and the producer ids and epochs that they gave it."""

    events: Sequence[LogEvent]
    identities: frozenset[tuple[str, str]]

    def until(self, time_ms: int) -> Sequence[LogEvent]:
        """Return the last ones that are not later than a moment."""
        end = bisect_left(self.events, time_ms + 1, key=attrgetter("time_ms"))
        return self.events[max(0, end - _KEPT) : end]


class InitsOfLogs:
    """The initialisations of each log, gathered once for each client that is looked up.

    Args:
        events: Events with times, in order.
        log_of: Names the log of an event.
    """

    def __init__(self, events: Iterable[LogEvent], log_of: Callable[[LogEvent], str]) -> None:
        self._log_of = log_of
        self._told: dict[tuple[str, str | None], list[LogEvent]] = defaultdict(list)
        for event in events:
            if event.category == "INIT_PRODUCER_ID":
                self._told[log_of(event), event.fields.get("transactional_id")].append(event)
        self._own: dict[tuple[str, str, str | None], Inits] = {}

    def has_plain_before(self, event: LogEvent) -> bool:
        """Whether a producer without a transactional id was initialised in the log of an event before it."""
        plain = self._told.get((self._log_of(event), None), ())
        return any((one.time_ms or 0) <= (event.time_ms or 0) for one in plain[:1])

    def of_client(self, event: LogEvent, transactional_id: str) -> Inits:
        """Return the initialisations of an id, or without one, that an event's log tells of its client."""
        log, client = self._log_of(event), event.fields.get("client_id")
        key = log, transactional_id, client
        if key not in self._own:
            told = (*self._told.get((log, transactional_id), ()), *self._told.get((log, None), ()))
            own = [one for one in told if not client or one.fields.get("client_id", client) == client]
            self._own[key] = Inits(sorted(own, key=_PLACE), frozenset(map(identity_of, own)))
        return self._own[key]


def identity_of(event: LogEvent) -> tuple[str, str]:
    """Return the producer id and epoch of an event; empty where it names none."""
    return event.fields.get("producer_id", ""), event.fields.get("producer_epoch", "")
