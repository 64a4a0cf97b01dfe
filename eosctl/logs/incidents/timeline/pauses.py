"""Find the long pauses of a process: those of its garbage collector, and those that a watch in it reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from weakref import WeakKeyDictionary

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventField
from eosctl.model.log_event import LogEvent
from eosctl.text import duration_text

LONG_MS: Final = 5_000
"""A shorter pause exceeds no usual timeout of transactions or sessions (from 6 s)."""
SLACK_MS: Final = 1_500
BEFORE_MS: Final = 90_000
"""Maximum time from the end of a pause to the record of a fault that it explains."""
_FIELDS: Final[tuple[EventField, ...]] = ("pause_m", "pause_s", "pause_ms")


def pause_ms(event: LogEvent) -> float:
    """Return how long a process stood still; a watch of HikariCP writes 1m51s904ms."""
    minutes, seconds, rest = (float(event.fields.get(name) or 0) for name in _FIELDS)
    return 60_000 * minutes + 1000 * seconds + rest


_found: Final[WeakKeyDictionary[LogTimeline, Sequence[LogEvent]]] = WeakKeyDictionary()
"""The long pauses of each timeline in use: every fault asks for them, and a collector logs many short ones."""


def long_pauses(timeline: LogTimeline) -> Sequence[LogEvent]:
    """Return the pauses of at least ``LONG_MS``; each record is written at the end of its pause."""
    if timeline not in _found:
        pauses = timeline.of("GC_PAUSE", "PROCESS_PAUSED")
        _found[timeline] = [event for event in pauses if pause_ms(event) >= LONG_MS]
    return _found[timeline]


def is_silent_in(timeline: LogTimeline, event: LogEvent, pause: LogEvent) -> bool:
    """Return whether the program of an event may be the one that stood still: it logs nothing, except at the ends."""
    begin_ms = time_of(pause) - pause_ms(pause)
    return not timeline.log_between(event, begin_ms + SLACK_MS, time_of(pause) - SLACK_MS)


def stopped_by(timeline: LogTimeline, event: LogEvent) -> LogEvent | None:
    """Return the long pause of a program that covers the moment of its record, or ends with it; None without one.

    A file of the garbage collector does not name its process. It is the one that logs nothing in the pause, if only one
    process has such a pause at that time.
    """
    own = [
        pause
        for pause in long_pauses(timeline)
        if time_of(pause) - pause_ms(pause) - SLACK_MS <= time_of(event) <= time_of(pause) + SLACK_MS
        and is_silent_in(timeline, event, pause)
    ]
    is_one = len({timeline.log_of(pause) for pause in own}) == 1
    return max(own, key=pause_ms) if is_one else None


def pauses_before(timeline: LogTimeline, event: LogEvent) -> Sequence[LogEvent]:
    """Return the long pauses of an event's program just before it, by its own log or a file of its collector."""
    until_ms = time_of(event)
    near = timeline.log_between(event, until_ms - BEFORE_MS, until_ms, ("GC_PAUSE", "PROCESS_PAUSED"))
    own = [pause for pause in near if pause_ms(pause) >= LONG_MS]
    found = None if own else stopped_by(timeline, event)
    return own if found is None else [found]


def paused_text(pauses: Sequence[LogEvent]) -> str:
    """Return the sentence about the longest pause before a fault; empty without one."""
    if not pauses:
        return ""
    is_of_collector = any(event.category == "GC_PAUSE" for event in pauses)
    by_whom = "the garbage collector had stopped its process" if is_of_collector else "its process had stood still"
    return f" Before that, {by_whom} for {duration_text(round(max(map(pause_ms, pauses))))}."
