"""Separate the programs of a file with a heading for each of its parts.

People post the logs of several pods or files in one. Only a file that was read as a whole when it was inspected has
headings: a later one would be unknown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from eosctl.model.log_event import LogEvent, SourceSummary


def separate_parts(events: Iterable[LogEvent], sources: Sequence[SourceSummary]) -> Iterator[LogEvent]:
    """Yield events; those below a heading belong to the application that it names, unless they name another one."""
    owners = {source.file: source.application for source in sources}
    headings = {source.file: _parts(source.headings) for source in sources if source.headings}
    for event in events:
        found = headings.get(event.file, ())
        place = bisect_right(found, event.offset, key=itemgetter(0)) if found else 0
        name = found[place - 1][1] if place else ""
        yield event._replace(application=name) if name and event.application == owners[event.file] else event


def _parts(headings: str) -> Sequence[tuple[int, str]]:
    lines = (line.partition(" ") for line in headings.split("\n"))
    return [(int(offset), name) for offset, _, name in lines]
