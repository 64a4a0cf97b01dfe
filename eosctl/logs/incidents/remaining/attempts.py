"""Divide the records of one category and subject into faults: a pause, or work between them, ends a fault.

A client repeats an attempt after a backoff, which it doubles as a rule. A connection that is lost every 45 minutes is
not one that is away for hours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.classifier.catalog import CatalogedIncident
from eosctl.logs.incidents.remaining.lasting import reports_no_broker
from eosctl.logs.incidents.timeline.backoffs import GROWTH, retries
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.logs.incidents.timeline.work import WORK, is_work
from eosctl.model.log_event import LogEvent

EPISODE_MS: Final = 600_000
"""A fault that repeats within ten minutes has not ended."""
LASTING_MS: Final = 3_600_000
"""A client that retries for hours may wait longer after each attempt."""
_OF_CONNECTIONS: Final = frozenset({"BOOTSTRAP_DISCONNECTED", "BROKERS_UNREACHED", "HOST_NOT_RESOLVED"})
"""Categories of attempts to connect, which a client repeats after a backoff."""


def attempts_of(
    timeline: LogTimeline, events: Sequence[LogEvent], known: CatalogedIncident
) -> Iterator[Sequence[LogEvent]]:
    """Yield the parts of a category's records that are about one fault, in order of time."""
    if events[0].category in _OF_CONNECTIONS:
        return (part for span in _retried(timeline, events) for part in _without_work(timeline, span))
    gap_ms = max(LASTING_MS if known.lasting_s > 0 else EPISODE_MS, known.renewed_s * 1000)
    return _with_backoff(timeline, events, gap_ms)


def _with_backoff(timeline: LogTimeline, events: Sequence[LogEvent], gap_ms: int) -> Iterator[list[LogEvent]]:
    return retries(events, gap_ms, lambda before, after: _has_work(timeline, before, after))


def _has_work(timeline: LogTimeline, before: LogEvent, after: LogEvent) -> bool:
    return any(map(is_work, timeline.log_between(before, time_of(before), time_of(after), WORK)))


def _retried(timeline: LogTimeline, events: Sequence[LogEvent]) -> Iterator[list[LogEvent]]:
    """Split records of a fault that clients retry at each pause that is too long for the next attempt.

    A connection that is lost every 45 minutes is not one that is away for hours.
    """
    for part in _with_backoff(timeline, events, LASTING_MS):
        current: list[LogEvent] = []
        longest_ms = 0
        for event in part:
            pause_ms = time_of(event) - time_of(current[-1]) if current else 0
            if pause_ms > EPISODE_MS and pause_ms > GROWTH * longest_ms:
                yield current
                current, pause_ms, longest_ms = [], 0, 0
            longest_ms = max(longest_ms, pause_ms)
            current.append(event)
        yield current


def _without_work(timeline: LogTimeline, events: Sequence[LogEvent]) -> Iterator[Sequence[LogEvent]]:
    """Split reports that no broker is left at the work that their program does between them.

    librdkafka reports for a moment that all brokers are down when the last idle connection ends. A client that reaches
    some of its brokers works next to the others.
    """
    if not all(reports_no_broker(event) for event in events):
        yield events
        return
    current: list[LogEvent] = []
    for event in events:
        if current and _has_work(timeline, current[-1], event):
            yield current
            current = []
        current.append(event)
    yield current
