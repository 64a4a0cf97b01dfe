"""Correct the category of records by the records next to them: an attempt by its result, an error by its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import LogEvent

RESULT_MS: Final = 5_000
"""Maximum time from an attempt to its result."""
REASON_MS: Final = 1_000
"""Maximum time from a refused connection to a client's error about the request that it was for."""
OPENED_MS: Final = 600_000
_DROPPED: Final[EventCategory] = "RECORDS_DROPPED"
_PURGED: Final = "(Local: Purged in "
_BREAKER: Final = "circuit breaker is open"
_ANSWERS: Final[tuple[EventCategory, ...]] = ("NOT_LEADER", "UNKNOWN_TOPIC")
"""Errors about a topic or partition that open Sarama's breaker, as failed connections do."""
_ATTEMPT: Final = "attempting "
_REFUSED: Final[EventCategory] = "COORDINATOR_REFUSED"
_UNREACHED: Final[EventCategory] = "BROKERS_UNREACHED"
_ANSWERED: Final = ("UNKNOWN_SERVER_ERROR", "[Error -1]", "Unexpected error in ")
"""Signs that a broker answered with the error code -1."""


def has_failed(timeline: LogTimeline, attempt: LogEvent) -> bool:
    """Return whether Redpanda's attempt to expire a transaction failed: its next record of the producer reports so."""
    if attempt.category != "TXN_TIMEOUT_ABORT" or _ATTEMPT not in attempt.message:
        return False
    producer = attempt.fields.get("producer_id", "")
    results = timeline.log_between(attempt, time_of(attempt), time_of(attempt) + RESULT_MS, (_REFUSED,))
    return bool(producer) and any(one.fields.get("producer_id") == producer for one in results)


def restate(timeline: LogTimeline, events: Iterable[LogEvent]) -> Iterator[LogEvent]:
    """Yield events; one that the records next to it correct has their category."""
    for event in events:
        if has_failed(timeline, event):
            yield event._replace(category=_REFUSED)
        elif _is_of_connection(timeline, event):
            yield event._replace(category=_UNREACHED)
        elif _is_of_drop(timeline, event):
            yield event._replace(category=_DROPPED)
        elif opener := _opened_by(timeline, event):
            yield event._replace(category=opener.category, fields={**opener.fields, **event.fields})
        else:
            yield event


def _is_of_connection(timeline: LogTimeline, event: LogEvent) -> bool:
    """Return whether a client's error without a name follows a connection that it could not make: nothing answered."""
    if event.category != "UNKNOWN_SERVER_ERROR" or event.application in timeline.servers():
        return False
    if event.time_ms is None or any(sign in event.message for sign in _ANSWERED):
        return False
    return bool(timeline.log_between(event, event.time_ms - REASON_MS, event.time_ms, (_UNREACHED,)))


def _is_of_drop(timeline: LogTimeline, event: LogEvent) -> bool:
    """Return whether a pipeline reports a message that its client purged, and next to it that it drops the event.

    Purges are also the end of a failed transaction, but pipelines have no transactions.
    """
    if event.category != "TXN_STATE_ERROR" or event.time_ms is None or _PURGED not in event.message:
        return False
    return bool(timeline.log_between(event, event.time_ms - REASON_MS, event.time_ms + REASON_MS, (_DROPPED,)))


def _opened_by(timeline: LogTimeline, event: LogEvent) -> LogEvent | None:
    """Return the answer of a broker that opened Sarama's breaker, which then refuses records; None for others."""
    if event.category != _UNREACHED or _BREAKER not in event.message or event.time_ms is None:
        return None
    before = timeline.log_between(event, event.time_ms - OPENED_MS, event.time_ms, (*_ANSWERS, _UNREACHED))
    reasons = [one for one in before if _BREAKER not in one.message]
    return reasons[-1] if reasons and reasons[-1].category in _ANSWERS else None
