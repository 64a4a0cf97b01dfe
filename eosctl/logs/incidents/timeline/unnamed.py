"""Find the transactional ids of clients that do not log them, such as librdkafka's, in the logs of servers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence, Set
from typing import Final

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventField
from eosctl.model.log_event import LogEvent

UNKNOWN_CLOCK_MS: Final = 5_000
"""Maximum clock difference for a client without a producer id in its log, whose clock cannot be compared."""
STARTED_MS: Final = 10_000
"""A program initializes its producer this soon after its first record."""
TURNED_MS: Final = 60_000
"""A client is refused within this time after its id was taken or its transaction was rolled back."""


class Owners:
    """The transactional ids that events are about: the one that the log names, or the only candidate.

    A candidate is an id that a server denied at that time, or that was initialized when the client's log begins and
    that no other client's log names. Of several, it is the only one that was taken or rolled back before the event.
    """

    def __init__(self, timeline: LogTimeline) -> None:
        self._timeline = timeline
        self._inits = timeline.server_events("INIT_PRODUCER_ID")
        self._turns = timeline.server_events("INIT_PRODUCER_ID", "TXN_TIMEOUT_ABORT", "TXN_LATE_COMMIT")
        self._denials: dict[str, Sequence[LogEvent]] = {}
        self._by_log: dict[str, set[str]] = {}

    def transactional_id(self, event: LogEvent) -> str:
        """Return the id; empty if there is not exactly one."""
        timeline = self._timeline
        if (named := timeline.transactional_id(event)) or event.application in timeline.servers():
            return named
        if event.category == "AUTHZ_TXN_ID":
            return self.denied(event, "transactional_id")
        log = timeline.log_of(event)
        if log not in self._by_log:
            self._by_log[log] = (
                _ids_between(self._inits, timeline.log_start_ms(event), STARTED_MS) - timeline.ids_of_clients
            )
        started = self._by_log[log]
        return _only(started) or _only(self._lost_before(event, started))

    def denied(self, event: LogEvent, field: EventField) -> str:
        """Return the only name that servers denied in an event's category at its time; else an empty string."""
        if event.category not in self._denials:
            self._denials[event.category] = self._timeline.server_events(event.category)
        return _only(_between(self._denials[event.category], field, time_of(event), UNKNOWN_CLOCK_MS))

    def _lost_before(self, event: LogEvent, started: Set[str]) -> set[str]:
        """Return which of the given ids, or of all ids if none are given, were taken or rolled back before an event."""
        begin_ms = max(self._timeline.log_start_ms(event) + STARTED_MS if started else 0, time_of(event) - TURNED_MS)
        turned = _ids_between(self._turns, begin_ms, time_of(event) - begin_ms) - self._timeline.ids_of_clients
        return turned & started if started else turned


def _ids_between(events: Sequence[LogEvent], begin_ms: int, within_ms: int) -> set[str]:
    return _between(events, "transactional_id", begin_ms, within_ms)


def _between(events: Sequence[LogEvent], field: EventField, begin_ms: int, within_ms: int) -> set[str]:
    first = bisect_left(events, begin_ms - UNKNOWN_CLOCK_MS, key=time_of)
    last = bisect_right(events, begin_ms + within_ms, key=time_of)
    return {event.fields[field] for event in events[first:last] if event.fields.get(field)}


def _only(ids: Set[str]) -> str:
    return next(iter(ids)) if len(ids) == 1 else ""
