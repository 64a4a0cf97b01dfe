"""Recognize what programs report in their own words about their producers: that one is ready, or has committed.

The records of a client library name producer ids and epochs. A program around librdkafka, or one in Go, often logs only
a sentence of its own, with or without the transactional id.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.log_event import LogEvent

_DONE: Final = r"(?:ok|OK|done|complete|completed|succeeded|successful|finished|ready)\b"
_INITIALIZED: Final = re.compile(
    rf"\b[Ii]nit(?:ialize)?_?[Tt]ransactions(?:\(\))?[ :,]{{1,2}}{_DONE}|\b[Tt]ransactions initiali[sz]ed\b"
    r"|\bDiscovered coordinator \S+ for transactional id\b"
    r"|\bproducer id acquired\b|\b[Pp]roducer (?:is |was )?(?:ready|initiali[sz]ed)\b"
)
_STATED: Final[tuple[EventCategory, ...]] = ("METADATA_RECEIVED", "TRANSACTIONAL_ID_NAMED")
_COMMITTED: Final[tuple[EventCategory, ...]] = ("TXN_COMMITTED",)


def initializations_in_words(
    timeline: LogTimeline, event: LogEvent, start_ms: float, end_ms: float, transactional_id: str
) -> Sequence[LogEvent]:
    """Return the sentences of an event's program, in a period, that its producer with an id is initialized."""
    stated = timeline.log_between(event, start_ms, end_ms, _STATED)
    return [one for one in stated if is_initialization(one) and _may_be_of(timeline, one, transactional_id)]


def is_initialization(event: LogEvent) -> bool:
    """Return whether the message of a record is a sentence that a producer is initialized."""
    return _INITIALIZED.search(event.message) is not None


def takeover_in_words(timeline: LogTimeline, event: LogEvent, transactional_id: str, until_ms: int) -> LogEvent | None:
    """Return the last sentence of another program that it initialized an event's id, after that of its own program.

    If its own log has none, the other one may be the second file of the same program.
    """
    stated = timeline.client_events_about(transactional_id, *_STATED)
    done = [one for one in stated if time_of(one) <= until_ms and is_initialization(one)]
    others = [one for one in done if timeline.log_of(one) != timeline.log_of(event)]
    own_ms = [time_of(one) for one in done if one not in others and time_of(one) <= time_of(event)]
    return others[-1] if others and own_ms and max(own_ms) < time_of(others[-1]) else None


def commits_in_words(
    timeline: LogTimeline, event: LogEvent, start_ms: float, end_ms: float, transactional_id: str
) -> Sequence[LogEvent]:
    """Return the sentences of an event's program, in a period, that it has committed with an id."""
    stated = timeline.log_between(event, start_ms, end_ms, _COMMITTED)
    return [one for one in stated if _may_be_of(timeline, one, transactional_id)]


def _may_be_of(timeline: LogTimeline, event: LogEvent, transactional_id: str) -> bool:
    return not transactional_id or timeline.transactional_id(event) in ("", transactional_id)
