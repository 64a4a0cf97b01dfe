"""Clients whose logs name no transactional id, as librdkafka's need not: servers' logs may tell which one is theirs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence, Set
from typing import Final

from eosctl.analysis.incidents.story import LogStory, time_of
from eosctl.model.log_event import LogEvent

UNKNOWN_CLOCK_MS: Final = 5_000
"""How far clocks may differ where a client prints no producer id, by which its own could be compared."""
STARTED_MS: Final = 10_000
"""A program initialises its producer this soon after its first record."""


class Owners:
    """Tells the transactional id that an event is about: what its log names, or the only one that can be meant.

    That is the one that a server denied at that time, or that was initialised when the client's log begins and that no
    other client's log names.
    """

    def __init__(self, story: LogStory) -> None:
        self._story = story
        self._denials = story.server_events("AUTHZ_TXN_ID")
        self._inits = story.server_events("INIT_PRODUCER_ID")
        self._by_log: dict[str, str] = {}

    def transactional_id(self, event: LogEvent) -> str:
        """Return the id; empty when there is none, or more than one."""
        story = self._story
        if (named := story.transactional_id(event)) or event.application in story.servers():
            return named
        if event.category == "AUTHZ_TXN_ID":
            return _only(_ids_between(self._denials, time_of(event), UNKNOWN_CLOCK_MS))
        log = story.log_of(event)
        if log not in self._by_log:
            ids = _ids_between(self._inits, story.log_start_ms(event), STARTED_MS)
            self._by_log[log] = _only(ids - story.ids_of_clients)
        return self._by_log[log]


def _ids_between(events: Sequence[LogEvent], begin_ms: int, within_ms: int) -> set[str]:
    first = bisect_left(events, begin_ms - UNKNOWN_CLOCK_MS, key=time_of)
    last = bisect_right(events, begin_ms + within_ms, key=time_of)
    return {event.fields["transactional_id"] for event in events[first:last] if event.fields.get("transactional_id")}


def _only(ids: Set[str]) -> str:
    return next(iter(ids)) if len(ids) == 1 else ""
