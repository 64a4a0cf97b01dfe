"""Records that rotation cut in two: the first half is at the end of one file, the second at the head of the next."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePath
from typing import Final, NamedTuple, TypeAlias

from eosctl.logs.files.content import Window, count_newlines, read_content, read_window
from eosctl.logs.files.sources import SourceFile
from eosctl.logs.records.scanner import MAX_EVENT_BYTES, HeaderReader
from eosctl.model.log_event import LogEvent, SourceSummary

_CONTINUED: Final = re.compile(rb"[ \t]+\S|Caused by: |\.\.\. \d+ |Suppressed: ")
"""How a stack trace continues."""


class Half(NamedTuple):
    """The first part of a record, where it starts in its file, and how many lines are in front of it."""

    text: bytes
    offset: int
    line: int


Reader: TypeAlias = Callable[[SourceFile, Half], Sequence[LogEvent]]
"""Returns the events of a text that starts somewhere in a file."""


def join_cut_records(
    sources: Sequence[SourceFile],
    summaries: Sequence[SourceSummary],
    events: Mapping[str, Sequence[LogEvent]],
    read: Reader,
) -> Mapping[str, Sequence[LogEvent]]:
    """Return the events of files, those of records that rotation cut read as a whole, in the file of the first half.

    Args:
        sources: The files.
        summaries: What they hold, in the same order.
        events: The events of each file.
        read: Reads a record that was put together.
    """
    joined = dict(events)
    for older, newer in _neighbors(sources, summaries):
        try:
            rest = _second_half(newer)
            half = _first_half(older) if rest else None
        except OSError:
            continue
        if half is None or not _is_cut(half.text, rest):
            continue
        before = [event for event in joined[older.name] if event.offset < half.offset]
        joined[older.name] = (*before, *read(older, half._replace(text=half.text + rest)))
        joined[newer.name] = [event for event in joined[newer.name] if event.offset >= len(rest)]
    return joined


def _neighbors(
    sources: Sequence[SourceFile], summaries: Sequence[SourceSummary]
) -> Iterator[tuple[SourceFile, SourceFile]]:
    """Yield the files of each program, each with the one that follows it."""
    groups: dict[tuple[PurePath, str], list[tuple[int, str, SourceFile]]] = defaultdict(list)
    for source, summary in zip(sources, summaries, strict=True):
        if summary.first_ms is not None and not source.wrapper and source.verdict.has_headers:
            key = PurePath(source.name).parent, source.application
            groups[key].append((summary.first_ms, source.name, source))
    for parts in groups.values():
        for (_, _, older), (_, _, newer) in pairwise(sorted(parts, key=lambda part: part[:2])):
            yield older, newer


def _second_half(source: SourceFile) -> bytes:
    """Return what a file holds in front of its first header."""
    data = _read(source, 0, MAX_EVENT_BYTES).data[:MAX_EVENT_BYTES]
    found = HeaderReader(source.verdict).pattern.search(data)
    return bytes(data[: len(data) if found is None else found.start()])


def _first_half(source: SourceFile) -> Half | None:
    """Return the last record of a file, and what follows it."""
    start = max(0, source.size_bytes - MAX_EVENT_BYTES) if source.splittable else 0
    window = _read(source, start, None)
    data = bytes(window.data)
    headers = [found.start() for found in HeaderReader(source.verdict).pattern.finditer(data)]
    if not headers:
        return None
    place = headers[-1]
    lines = data.count(b"\n", 0, place) + (count_newlines(Path(source.name), 0, window.base) if window.base else 0)
    return Half(data[place:], window.base + place, lines)


def _is_cut(half: bytes, rest: bytes) -> bool:
    """Return whether a text continues in another one: in the same line, or as a stack trace."""
    return bool(rest.strip()) and (not half.endswith(b"\n") or _CONTINUED.match(rest) is not None)


def _read(source: SourceFile, start: int, end: int | None) -> Window:
    path = Path(source.name)
    if source.splittable:
        return read_window(path, start, end, 0, source.size_bytes)
    content = read_content(path)
    return Window(content.data, 0, content.error)
