"""Records that rotation cut in two: the first half is at the end of one file, the second at the head of the next."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
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


class Rest(NamedTuple):
    """The second part of a record, as it is in its file and without a wrapper; empty if a file begins with a record."""

    raw: bytes
    text: bytes


class Part(NamedTuple):
    """A file that may be a part of a rotated log.

    Attributes:
        name: The file.
        log: What the parts of a log have in common.
        first_ms: The time of its first record, ms since the epoch.
    """

    name: str
    log: tuple[PurePath, str, str]
    first_ms: int


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
    by_name = {source.name: source for source in sources}
    parts = (
        Part(source.name, log, summary.first_ms)
        for source, summary in zip(sources, summaries, strict=True)
        if summary.first_ms is not None and (log := log_of(source)) is not None
    )
    for older, newer in neighbors(parts):
        with suppress(OSError):
            yield from find_cut_record(by_name[older], newer, second_half(by_name[newer]), read)


def find_cut_record(older: SourceFile, newer: str, rest: Rest, read: Reader) -> Iterator[CutRecord]:
    """Yield the record that rotation cut between two files, if there is one.

    Raises:
        OSError: The older file cannot be read.
    """
    half = _first_half(older) if rest.raw else None
    if half is not None and _is_cut(half.text, rest):
        events = read(older, half._replace(text=half.text + rest.raw))
        yield CutRecord(older.name, half.offset, newer, len(rest.raw), events)


def log_of(source: SourceFile) -> tuple[PurePath, str, str] | None:
    """Return what the parts of a rotated log have in common; None for a file that no record continues."""
    is_of_lines = source.wrapper.partition(INSIDE)[0] not in (DOCUMENT, *EXPORTS)
    if not (is_of_lines and source.verdict.has_headers):
        return None
    return PurePath(source.name).parent, source.application, source.wrapper


def neighbors(parts: Iterable[Part]) -> Iterator[tuple[str, str]]:
    """Yield the names of the parts of each log, each with the one that follows it."""
    logs: dict[tuple[PurePath, str, str], list[tuple[int, str]]] = defaultdict(list)
    for part in parts:
        logs[part.log].append((part.first_ms, part.name))
    for own in logs.values():
        for (_, older), (_, newer) in pairwise(sorted(own)):
            yield older, newer


def second_half(source: SourceFile) -> Rest:
    """Return what a file holds in front of its first header.

    Raises:
        OSError: The file cannot be read.
    """
    data = _head_of(source)
    if not source.wrapper:
        found = HeaderReader(source.verdict).pattern.search(data)
        rest = data[: len(data) if found is None else found.start()]
        return Rest(rest, rest)
    part = _only_part(data, source)
    if part is None:
        return Rest(b"", b"")
    found = HeaderReader(source.verdict).pattern.search(part.text)
    if found is None:
        return Rest(data, part.text)
    return Rest(data[: part.origin(found.start())[0]], part.text[: found.start()])


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


def _is_cut(half: bytes, rest: Rest) -> bool:
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
