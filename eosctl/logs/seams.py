"""Records that rotation cut in two: the first half is at the end of one file, the second at the head of the next."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path, PurePath
from typing import Final, NamedTuple, TypeAlias

from eosctl.logs.carriers.wrappers import DOCUMENT, EXPORTS, INSIDE, Peeled, peel
from eosctl.logs.files.content import Margins, Tail, count_newlines, first_inflated, last_inflated, read_window
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


class _Rest(NamedTuple):
    """The second part of a record, as it is in its file and without a wrapper."""

    raw: bytes
    text: bytes


Reader: TypeAlias = Callable[[SourceFile, Half], Sequence[LogEvent]]
"""Returns the events of a text that starts somewhere in a file."""


class CutRecord(NamedTuple):
    """A record that rotation cut.

    Attributes:
        older: The file with its first half.
        offset: Where it starts there; it is the last one.
        newer: The file with its second half.
        rest_bytes: The length of that half, at the head of the file.
        events: The events of the whole record, in the older file.
    """

    older: str
    offset: int
    newer: str
    rest_bytes: int
    events: Sequence[LogEvent]


def join_cut_records(
    events: Mapping[str, Sequence[LogEvent]], cuts: Iterable[CutRecord]
) -> Mapping[str, Sequence[LogEvent]]:
    """Return the events of files, those of records that rotation cut read as a whole, in the file of the first half."""
    joined = dict(events)
    for cut in cuts:
        before = [event for event in joined[cut.older] if event.offset < cut.offset]
        joined[cut.older] = (*before, *cut.events)
        joined[cut.newer] = [event for event in joined[cut.newer] if event.offset >= cut.rest_bytes]
    return joined


def find_cut_records(
    sources: Sequence[SourceFile], summaries: Sequence[SourceSummary], read: Reader
) -> Iterator[CutRecord]:
    """Yield the records that rotation cut.

    Args:
        sources: The files.
        summaries: What they hold, in the same order.
        read: Reads a record that was put together.
    """
    for older, newer in _neighbors(sources, summaries):
        try:
            rest = _second_half(newer)
            half = _first_half(older) if rest.raw else None
        except OSError:
            continue
        if half is None or not _is_cut(half.text, rest):
            continue
        events = read(older, half._replace(text=half.text + rest.raw))
        yield CutRecord(older.name, half.offset, newer.name, len(rest.raw), events)


def _neighbors(
    sources: Sequence[SourceFile], summaries: Sequence[SourceSummary]
) -> Iterator[tuple[SourceFile, SourceFile]]:
    """Yield the files of each program, each with the one that follows it."""
    groups: dict[tuple[PurePath, str, str], list[tuple[int, str, SourceFile]]] = defaultdict(list)
    for source, summary in zip(sources, summaries, strict=True):
        is_of_lines = source.wrapper.partition(INSIDE)[0] not in (DOCUMENT, *EXPORTS)
        if summary.first_ms is not None and is_of_lines and source.verdict.has_headers:
            key = PurePath(source.name).parent, source.application, source.wrapper
            groups[key].append((summary.first_ms, source.name, source))
    for parts in groups.values():
        for (_, _, older), (_, _, newer) in pairwise(sorted(parts, key=lambda part: part[:2])):
            yield older, newer


def _second_half(source: SourceFile) -> _Rest:
    """Return what a file holds in front of its first header."""
    data = _head_of(source)
    if not source.wrapper:
        found = HeaderReader(source.verdict).pattern.search(data)
        rest = data[: len(data) if found is None else found.start()]
        return _Rest(rest, rest)
    part = _only_part(data, source)
    if part is None:
        return _Rest(b"", b"")
    found = HeaderReader(source.verdict).pattern.search(part.text)
    if found is None:
        return _Rest(data, part.text)
    return _Rest(data[: part.origin(found.start())[0]], part.text[: found.start()])


def _first_half(source: SourceFile) -> Half | None:
    """Return the last record of a file, and what follows it."""
    data, base, newline_count = _tail_of(source)
    if source.wrapper and base:
        # What is left of a line cannot be unwrapped.
        first = data.find(b"\n") + 1
        newline_count += data.count(b"\n", 0, first)
        data, base = data[first:], base + first
    part = _only_part(data, source) if source.wrapper else None
    if source.wrapper and part is None:
        return None
    headers = [one.start() for one in HeaderReader(source.verdict).pattern.finditer(part.text if part else data)]
    if not headers:
        return None
    place = part.origin(headers[-1])[0] if part else headers[-1]
    return Half(data[place:], base + place, newline_count + data.count(b"\n", 0, place))


def _only_part(data: bytes, source: SourceFile) -> Peeled | None:
    """Return the lines of a wrapped file without their wrapper; None if they are of several streams."""
    parts = list(islice(peel(data, source.wrapper), 2))
    return parts[0] if len(parts) == 1 else None


def _is_cut(half: bytes, rest: _Rest) -> bool:
    """Return whether a text continues in another one: in the same line, or as a stack trace."""
    return bool(rest.text.strip()) and (not half.endswith(b"\n") or _CONTINUED.match(rest.text) is not None)


def _head_of(source: SourceFile) -> bytes:
    path = Path(source.name)
    if source.splittable:
        return bytes(read_window(path, 0, MAX_EVENT_BYTES, Margins(1, 0), source.size_bytes).data[:MAX_EVENT_BYTES])
    return first_inflated(path, MAX_EVENT_BYTES)


def _tail_of(source: SourceFile) -> Tail:
    path = Path(source.name)
    if not source.splittable:
        return last_inflated(path, MAX_EVENT_BYTES)
    start = max(0, source.size_bytes - MAX_EVENT_BYTES)
    data, base, _ = read_window(path, start, None, Margins(1, 0), source.size_bytes)
    return Tail(bytes(data), base, count_newlines(path, 0, base) if base else 0)
