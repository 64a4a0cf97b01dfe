"""Spread the recorded scenarios over days: at random times, stretched, and repeated in the same files or in others."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.logs.incidents.slicing.slices import TimeSlice
from eosctl.logs.scan import LogScan, scan_paths
from eosctl.model.event_names import EventField
from eosctl.model.log_event import LogEvent, SourceSummary

FIXTURES: Final = Path(__file__).parents[1] / "fixtures"
FOLDERS: Final = ("logs", "log-reports", "logs-other-releases", "logs-transactional-stores")
BEGIN_MS: Final = 1_760_000_000_000
SPAN_MS: Final = 60 * 3_600_000
KEPT: Final = 40
"""Number of events of one file and category that a scenario keeps."""
STRETCHED: Final = (1, 1, 1, 3, 10, 40)


class Logs(NamedTuple):
    """The events and the files of a test."""

    events: list[LogEvent]
    sources: list[SourceSummary]


@cache
def recorded() -> tuple[LogScan, ...]:
    """Read the scenarios that have times."""
    places = (place for folder in FOLDERS for place in sorted((FIXTURES / folder).iterdir()) if place.suffix != ".md")
    scans = (scan_paths([place]) for place in places if place.suffix != ".tsv")
    return tuple(scan for scan in scans if any(event.time_ms is not None for event in scan.events))


def spread(chosen: random.Random, scenario_count: int, copy_count: int) -> Logs:
    """Put copies of some scenarios next to each other at random times."""
    logs = Logs([], [])
    for number, scan in enumerate(chosen.sample(recorded(), scenario_count)):
        is_shared = chosen.random() < 0.5
        begins = sorted(BEGIN_MS + chosen.randrange(SPAN_MS) for _ in range(copy_count))
        for copy, begin_ms in enumerate(begins):
            folder = f"{number}/" if is_shared else f"{number}/{copy}/"
            _add(logs, scan, folder, copy, begin_ms, chosen.choice(STRETCHED))
    return logs


def cut(chosen: random.Random, events: Sequence[LogEvent], cut_count: int) -> tuple[TimeSlice, ...]:
    """Cut the time at or next to some of the events."""
    times = sorted({event.time_ms for event in events if event.time_ms is not None})
    cuts = sorted({chosen.choice(times) + chosen.choice((-1, 0, 1, 500, 60_000)) for _ in range(cut_count)})
    return tuple(TimeSlice(start, end) for start, end in pairwise((-inf, *cuts, inf)))


def _add(logs: Logs, scan: LogScan, folder: str, copy: int, begin_ms: int, stretch: int) -> None:
    first_ms = min(event.time_ms for event in scan.events if event.time_ms is not None)

    def moved(time_ms: int | None) -> int | None:
        return None if time_ms is None else begin_ms + (time_ms - first_ms) * stretch

    logs.events.extend(
        event._replace(
            file=folder + event.file,
            time_ms=moved(event.time_ms),
            offset=event.offset + copy * 10**9,
            # Each producer id and epoch is given out once.
            fields={**event.fields, **_other_producer(event, copy)},
        )
        for event in _few(scan.events)
    )
    known = {source.file: place for place, source in enumerate(logs.sources)}
    for source in scan.sources:
        own = source._replace(
            file=folder + source.file,
            first_ms=moved(source.first_ms),
            last_ms=moved(source.last_ms),
            modified_ms=(moved(source.modified_ms) if source.modified_ms else None) or 0,
        )
        if own.file not in known:
            logs.sources.append(own)
            continue
        before = logs.sources[known[own.file]]
        firsts = [ms for ms in (before.first_ms, own.first_ms) if ms is not None]
        lasts = [ms for ms in (before.last_ms, own.last_ms) if ms is not None]
        logs.sources[known[own.file]] = before._replace(
            first_ms=min(firsts, default=None), last_ms=max(lasts, default=None)
        )


def _few(events: Sequence[LogEvent]) -> Iterator[LogEvent]:
    count: Counter[tuple[str, str]] = Counter()
    for event in events:
        count[event.file, event.category] += 1
        if count[event.file, event.category] <= KEPT:
            yield event


def _other_producer(event: LogEvent, copy: int) -> Mapping[EventField, str]:
    producer = event.fields.get("producer_id", "")
    return {"producer_id": str(int(producer) + copy * 1_000_000)} if producer.isdigit() else {}
