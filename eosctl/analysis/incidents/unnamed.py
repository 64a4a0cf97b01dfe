"""Clients whose logs name no transactional id, as librdkafka's need not: servers' logs may tell which one is theirs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eosctl.analysis.incidents.story import LogStory, time_of
from eosctl.model.log_event import LogEvent

UNKNOWN_CLOCK_MS: Final = 5_000
"""How far clocks may differ where a client prints no producer id, by which its own could be compared."""
STARTED_MS: Final = 10_000
"""A program initialises its producer this soon after its first record."""


def transactional_id_of(story: LogStory, event: LogEvent) -> str:
    """Return the transactional id that an event is about: what its log names, or the only one that can be meant.

    That is the one that a server denied at that time, or that was initialised when the client's log begins and that no
    other client's log names. Empty when there is none, or more than one.
    """
    if (named := story.transactional_id(event)) or event.application in story.servers():
        return named
    if event.category == "AUTHZ_TXN_ID":
        ids = _ids_between(story.server_events("AUTHZ_TXN_ID"), time_of(event), UNKNOWN_CLOCK_MS)
    else:
        begin = story.log_start_ms(event)
        inits = story.server_events("INIT_PRODUCER_ID")
        ids = _ids_between(inits, begin, STARTED_MS) - story.ids_of_clients
    return ids.pop() if len(ids) == 1 else ""


def _ids_between(events: Iterable[LogEvent], begin_ms: int, within_ms: int) -> set[str]:
    near = (event for event in events if begin_ms - UNKNOWN_CLOCK_MS <= time_of(event) <= begin_ms + within_ms)
    return {event.fields["transactional_id"] for event in near if event.fields.get("transactional_id")}
