"""Judge logs slice by slice, and join slices that an incident may cross."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Final, NamedTuple

from eosctl.logs.incidents.joining.returns import GAP_MS
from eosctl.logs.incidents.judge import judge_timeline
from eosctl.logs.incidents.remaining.record_groups import RecordGroup, group_unexplained
from eosctl.logs.incidents.slicing.slices import (
    JOINED_EVENTS,
    LIVES,
    LONG_MARGIN_MS,
    MARGIN_MS,
    WHOLE,
    Spans,
    TimeSlice,
    gap_of,
    margin_of,
)
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.period import Period

_IN_FILE: Final = attrgetter("offset", "line")


class SliceVerdict(NamedTuple):
    """The verdict on a slice.

    Attributes:
        incidents: The incidents that the slice owns.
        is_open_before: Whether one of them may have begun before the events that the slice has.
        is_open_after: Whether one of them may continue after them.
        has_other_clock: Whether clocks differ, so that no slice may be judged without all logs.
        groups: The records of the slice that call for action and that no incident explains.
        event_count: The number of events that the slice got.
    """

    incidents: tuple[Incident, ...]
    is_open_before: bool = False
    is_open_after: bool = False
    has_other_clock: bool = False
    groups: tuple[RecordGroup, ...] = ()
    event_count: int = 0


class Windows:
    """The windows of slices, which must be in order."""

    def __init__(self, slices: Sequence[TimeSlice], sources: Sequence[SourceSummary]) -> None:
        self._spans = Spans(sources)
        self.bounds: Mapping[int, tuple[tuple[float, ...], tuple[float, ...]]] = {
            margin: (tuple(one.window(margin)[0] for one in slices), tuple(one.window(margin)[1] for one in slices))
            for margin in (MARGIN_MS, LONG_MARGIN_MS)
        }
        """The first moments of the windows and the last ones, by margin."""

    def numbers_of(self, event: LogEvent) -> range:
        """Return the numbers of the slices that get an event other than as a sample."""
        begins_ms, ends_ms = self.bounds[margin_of(event.category)]
        first_ms, last_ms = self._spans.of(event)
        return range(bisect_left(ends_ms, float(first_ms)), bisect_right(begins_ms, float(last_ms)))


def judge_slice(
    events: Sequence[LogEvent], sources: Sequence[SourceSummary], one: TimeSlice, period: Period | None = None
) -> SliceVerdict:
    """Judge the events of a slice, and keep the incidents that it owns.

    Args:
        events: The events that the slice needs, all with times, in any order; the same event may come twice.
        sources: The summaries of all files.
        one: The slice.
        period: The period whose unexplained records are grouped; None for no groups.
    """
    events = in_scan_order(events, sources)
    timeline = LogTimeline(events, sources)
    if one != WHOLE and timeline.has_moved:
        return SliceVerdict((), has_other_clock=True)
    known = timeline.by_place
    spans = Spans(sources)
    kept: list[Incident] = []
    is_open_before = is_open_after = False
    judgment = judge_timeline(timeline, events)
    for incident in judgment.incidents:
        evidence = [known[place.file, place.offset] for place in incident.evidence]
        # A later success is evidence, too, but the slice of the fault has all of its records.
        if not one.owns(min(max(map(time_of, evidence), default=incident.t_start_ms), incident.t_end_ms)):
            continue
        kept.append(incident)
        bounded = [event for event in evidence if event.category not in LIVES and _is_momentary(event, spans)]
        is_open_before = is_open_before or any(_is_at_start(event, one) for event in bounded)
        is_open_after = is_open_after or any(_is_at_end(incident, event, one) for event in bounded)
    groups = () if period is None else group_unexplained(_owned(judgment.unexplained, one, period))
    return SliceVerdict(tuple(kept), is_open_before, is_open_after, groups=groups, event_count=len(events))


def _owned(events: Iterable[LogEvent], one: TimeSlice, period: Period) -> Iterator[LogEvent]:
    for event in events:
        if (one == WHOLE or one.owns(time_of(event))) and period.holds(event.time_ms):
            yield event


def in_scan_order(events: Iterable[LogEvent], sources: Sequence[SourceSummary]) -> Sequence[LogEvent]:
    """Return events in the order of their files, and of their places in them, each once."""
    of_files: dict[str, list[LogEvent]] = defaultdict(list)
    for event in events:
        of_files[event.file].append(event)
    place = {source.file: number for number, source in enumerate(sources)}
    found: list[LogEvent] = []
    for _, own in sorted(of_files.items(), key=lambda one: (place.get(one[0], len(place)), one[0])):
        # A record of a topic may hold several events.
        own.sort(key=_IN_FILE)
        found.append(own[0])
        found.extend(other for one, other in pairwise(own) if _IN_FILE(one) != _IN_FILE(other))
    return found


def _is_momentary(event: LogEvent, spans: Spans) -> bool:
    """Return whether an event is about its own moment, so that similar ones may be before or after the window."""
    first_ms, last_ms = spans.of(event)
    return last_ms - first_ms < GAP_MS


def _is_at_start(event: LogEvent, one: TimeSlice) -> bool:
    """Return whether an incident with this evidence may have begun before the slice's window."""
    begin_ms, _ = one.window(margin_of(event.category))
    return abs(time_of(event) - begin_ms) <= gap_of(event.category)


def _is_at_end(incident: Incident, event: LogEvent, one: TimeSlice) -> bool:
    """Return whether an incident with this evidence may continue after the slice's window."""
    _, end_ms = one.window(margin_of(event.category))
    return abs(incident.t_end_ms - end_ms) <= gap_of(event.category)


def join_open(
    slices: Sequence[TimeSlice], verdicts: Mapping[TimeSlice, SliceVerdict], most_events: int = JOINED_EVENTS
) -> tuple[TimeSlice, ...]:
    """Join the slices between which an incident may continue; all of them if clocks differ.

    Slices stay apart if together they have more than ``most_events``: a fault without an end must not bring all logs
    into one task. Such a fault ends with the window of the slice that reports it.
    """
    if any(verdicts[one].has_other_clock for one in slices):
        return (WHOLE,)
    joined: list[TimeSlice] = []
    event_count = 0
    continues = False
    for one in slices:
        verdict = verdicts[one]
        is_open = bool(joined) and (continues or verdict.is_open_before)
        if is_open and event_count + verdict.event_count <= most_events:
            joined[-1] = TimeSlice(joined[-1].start_ms, one.end_ms)
            event_count += verdict.event_count
        else:
            joined.append(one)
            event_count = verdict.event_count
        continues = verdict.is_open_after
    return tuple(joined)


def count_open(slices: Sequence[TimeSlice], verdicts: Mapping[TimeSlice, SliceVerdict]) -> int:
    """Return the number of borders between slices that an incident may cross."""
    return sum(verdicts[one].is_open_after or verdicts[other].is_open_before for one, other in pairwise(slices))
