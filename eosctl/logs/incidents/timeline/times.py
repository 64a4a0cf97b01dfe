"""Give each event a time, and divide events by pauses and keys."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

from eosctl.logs.incidents.timeline.index import grouped
from eosctl.logs.incidents.timeline.titles import demoted
from eosctl.logs.records.record import SHELL
from eosctl.model.log_event import CALM_LEVELS, LogEvent, SourceSummary

PLACE = attrgetter("time_ms", "file", "offset")
"""The order of events: by time, and by place at the same time."""


def time_of(event: LogEvent) -> int:
    """Return the time of an event of a timeline, which always has one."""
    return event.time_ms or 0


def is_thrown_below(event: LogEvent) -> bool:
    """Return whether an event is an exception without a time below a record of another subject, whose time it has.

    Runtimes print an uncaught exception without a header, and minutes after the last record. So does a command.
    """
    return event.application == SHELL or (event.level in CALM_LEVELS and bool(event.fields.get("thrown")))


def timed(events: Iterable[LogEvent], sources: Sequence[SourceSummary]) -> Iterator[LogEvent]:
    """Yield events with a time; one without it gets that of the nearest in its file. Files without any are left out.

    The end of a container, which Compose reports without a time, gets that of the container's last record before it.
    """
    # Pasted text without any timestamp gets the time at which it was saved.
    starts = {source.file: source.first_ms or source.modified_ms or None for source in sources}
    for file, part in grouped(events, attrgetter("file")).items():
        ordered = sorted(part, key=attrgetter("offset"))
        known = [event for event in ordered if event.time_ms is not None]
        last_of: dict[str, LogEvent] = {}
        for event in ordered:
            if event.time_ms is not None:
                last_of[event.application] = event
                yield event
                continue
            place = bisect_left(known, event.line, key=attrgetter("line"))
            own = last_of.get(event.fields.get("container", ""))
            around = known[max(place - 1, 0) : place + 1] if own is None else [own]
            near = ((abs(one.line - event.line), time_of(one)) for one in around)
            _, time_ms = min(near, default=(0, starts.get(file)))
            if time_ms is not None:
                yield demoted(event, known)._replace(time_ms=time_ms, time_assumed=True)


def episodes(events: Sequence[LogEvent], gap_ms: int) -> Iterator[list[LogEvent]]:
    """Split events, in order of time, at every pause that is longer than the gap."""
    current: list[LogEvent] = []
    for event in events:
        if current and time_of(event) - time_of(current[-1]) > gap_ms:
            yield current
            current = []
        current.append(event)
    if current:
        yield current


def by_key(pairs: Iterable[tuple[str, LogEvent]]) -> dict[str, list[LogEvent]]:
    """Group events by a key, keeping their order."""
    groups: dict[str, list[LogEvent]] = defaultdict(list)
    for key, event in pairs:
        groups[key].append(event)
    return groups
