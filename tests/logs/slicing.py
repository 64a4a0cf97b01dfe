"""Judge logs slice by slice in one process, with the functions that the tasks of Spark use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from eosctl.logs.incidents.remaining.record_groups import RecordGroup, merge_groups
from eosctl.logs.incidents.slicing.samples import Samples, outside, place_of
from eosctl.logs.incidents.slicing.sliced import SliceVerdict, Windows, join_open, judge_slice
from eosctl.logs.incidents.slicing.slices import TimeSlice, keys_of
from eosctl.logs.incidents.timeline.logs import ProgramLogs
from eosctl.logs.incidents.timeline.times import time_of, timed
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.period import ALL_TIME


def judge_in_slices(
    events: Iterable[LogEvent], sources: Sequence[SourceSummary], slices: Sequence[TimeSlice]
) -> tuple[Incident, ...]:
    """Judge logs slice by slice in this process; the incidents must be those of ``judge_incidents``."""
    return judge_all_in_slices(events, sources, slices)[0]


def judge_all_in_slices(
    events: Iterable[LogEvent], sources: Sequence[SourceSummary], slices: Sequence[TimeSlice]
) -> tuple[tuple[Incident, ...], tuple[RecordGroup, ...]]:
    """Return the incidents of slices, and the groups of records that no incident explains."""
    selection = Selection(tuple(timed(events, sources)), sources)
    verdicts: dict[TimeSlice, SliceVerdict] = {}
    current = tuple(slices)
    while True:
        for one, part in selection.of(tuple(one for one in current if one not in verdicts)):
            verdicts[one] = judge_slice(part, sources, one, ALL_TIME)
        joined = join_open(current, verdicts)
        if joined == current:
            break
        current = joined
    found = [incident for one in current for incident in verdicts[one].incidents]
    groups = merge_groups(group for one in current for group in verdicts[one].groups)
    return tuple(sorted(found, key=lambda one: (one.t_start_ms, one.kind, str(one.subject)))), groups


class Selection:
    """The events that each slice needs, out of events with times."""

    def __init__(self, events: Sequence[LogEvent], sources: Sequence[SourceSummary]) -> None:
        self._events = sorted(events, key=place_of)
        self._sources = sources
        logs = ProgramLogs((), sources)
        self._keys = [tuple(keys_of(event, logs.of_file(event.file))) for event in self._events]

    def of(self, slices: Sequence[TimeSlice]) -> Iterator[tuple[TimeSlice, Sequence[LogEvent]]]:
        """Yield each slice with its events in order of time."""
        if not slices:
            return
        found: list[dict[tuple[str, int], LogEvent]] = [{} for _ in slices]
        windows, samples = Windows(slices, self._sources), Samples(slices)
        for event, keys in zip(self._events, self._keys, strict=True):
            for number in windows.numbers_of(event):
                found[number][event.file, event.offset] = event
            for key in keys:
                samples.add(key, event)
        for key, kept in samples.by_key():
            times = [time_of(event) for event in kept]
            for one, part in zip(slices, found, strict=True):
                for place in outside(one, key, times):
                    part.setdefault((kept[place].file, kept[place].offset), kept[place])
        for one, part in zip(slices, found, strict=True):
            yield one, tuple(part.values())
