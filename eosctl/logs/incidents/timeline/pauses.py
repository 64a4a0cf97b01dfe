"""Find the long pauses of a process: those of its garbage collector, and those that a watch in it reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventField
from eosctl.model.log_event import LogEvent

LONG_MS: Final = 5_000
"""A shorter pause exceeds no usual timeout of transactions or sessions (from 6 s)."""
SLACK_MS: Final = 1_500
_FIELDS: Final[tuple[EventField, ...]] = ("pause_m", "pause_s", "pause_ms")


def pause_ms(event: LogEvent) -> float:
    """Return how long a process stood still; a watch of HikariCP writes 1m51s904ms."""
    minutes, seconds, rest = (float(event.fields.get(name) or 0) for name in _FIELDS)
    return 60_000 * minutes + 1000 * seconds + rest


def long_pauses(timeline: LogTimeline) -> Sequence[LogEvent]:
    """Return the pauses of at least ``LONG_MS``; each record is written at the end of its pause."""
    return [event for event in timeline.of("GC_PAUSE", "PROCESS_PAUSED") if pause_ms(event) >= LONG_MS]


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
