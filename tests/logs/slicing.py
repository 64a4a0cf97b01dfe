"""Judge logs slice by slice in one process, with the functions that the tasks of Spark use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from eosctl.logs.incidents.logs import ProgramLogs
from eosctl.logs.incidents.sliced import SliceVerdict, join_open, judge_slice, slices_with
from eosctl.logs.incidents.slices import Key, LogStarts, Sample, TimeSlice, keys_of
from eosctl.logs.incidents.timeline import time_of, timed
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, SourceSummary


def judge_in_slices(
    events: Iterable[LogEvent], sources: Sequence[SourceSummary], slices: Sequence[TimeSlice]
) -> tuple[Incident, ...]:
    """Judge logs slice by slice in this process; the incidents must be those of ``judge_incidents``."""
    selection = Selection(tuple(timed(events, sources)), sources)
    verdicts: dict[TimeSlice, SliceVerdict] = {}
    current = tuple(slices)
    while True:
        for one, part in selection.of(tuple(one for one in current if one not in verdicts)):
            verdicts[one] = judge_slice(part, sources, one)
        joined = join_open(current, verdicts)
        if joined == current:
            break
        current = joined
    found = [incident for one in current for incident in verdicts[one].incidents]
    return tuple(sorted(found, key=lambda one: (one.t_start_ms, one.kind, str(one.subject))))


class Selection:
    """The events that each slice needs, out of events with times."""

    def __init__(self, events: Sequence[LogEvent], sources: Sequence[SourceSummary]) -> None:
        self._events = sorted(events, key=lambda event: (time_of(event), event.file, event.offset))
        self._starts = LogStarts(sources)
        self._samples: dict[Key, list[LogEvent]] = defaultdict(list)
        logs = ProgramLogs((), sources)
        for event in self._events:
            for key in keys_of(event, logs.of_file(event.file)):
                self._samples[key].append(event)

    def of(self, slices: Sequence[TimeSlice]) -> Iterator[tuple[TimeSlice, Sequence[LogEvent]]]:
        """Yield each slice with its events in order of time."""
        found: list[dict[tuple[str, int], LogEvent]] = [{} for _ in slices]
        for event in self._events:
            for number in slices_with(event, slices, self._starts):
                found[number][event.file, event.offset] = event
        for key, events in self._samples.items():
            sample = Sample(key, slices)
            kept = tuple(sample.reduce(events))
            for number in range(len(slices)):
                for event in sample.of_slice(number, kept):
                    found[number].setdefault((event.file, event.offset), event)
        for one, part in zip(slices, found, strict=True):
            yield one, tuple(part.values())
