"""Find only stack traces: records are parsed only if one of their lines does not start like a header.

In a text log, nearly every line is a header that starts with a digit or a bracket; the lines of a throwable start with
a letter or white space. So the first bytes of lines show where to search.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.logs.carriers.peeled import peeled_records
from eosctl.logs.classifier.throwable import parse_chain
from eosctl.logs.files.content import Window, content_pieces, count_newlines
from eosctl.logs.files.sources import SourceFile
from eosctl.logs.layouts import Verdict
from eosctl.logs.records.record import Buffer, Record
from eosctl.logs.records.scanner import MAX_EVENT_BYTES, HeaderReader, read_headerless
from eosctl.logs.records.sieve import sift_records
from eosctl.logs.scan import read_pieces
from eosctl.logs.tally import Split, region_of
from eosctl.logs.timestamps import TimeReference, parse_timestamp
from eosctl.model.log_findings import ExceptionCount, ExceptionKey

MINUTE_MS: Final = 60_000
PIECE_BYTES: Final = 8 * 1024 * 1024
"""Number of bytes read at a time: small enough that the allocator reuses the same memory."""
_SAMPLE_HEADERS: Final = 64
_HEADER_STARTS: Final = frozenset(b"0123456789[<%")
"""First bytes of headers that never start a line of a stack trace."""
_FRAMES: Final = re.compile(rb"(?:\tat [^\n]*\n)+")
"""Lines that are skipped in one step, because no header starts like this."""
_BLOCK_BYTES: Final = 256 * 1024
"""Block size that keeps the result of a step in the processor's cache for the next step."""
_THROWN: Final = re.compile(rb"Exception|Error|Throwable|Failure|Death|Traceback")


class TraceCounts(NamedTuple):
    """The exceptions of a split, in the order of their first appearance, and the error that ended its file early."""

    counts: tuple[ExceptionCount, ...]
    error: str = ""


def count_exceptions(split: Split) -> TraceCounts:
    """Count the stack traces of records that start in a split, by minute, classes, application, and host."""
    source = split.source
    reference = TimeReference(source.zone, source.modified_ms)
    found: dict[ExceptionKey, tuple[int, int]] = {}
    error = ""
    try:
        for piece, window in read_pieces(split, PIECE_BYTES):
            error = error or window.error
            for record in _records(piece, window):
                chain = parse_chain(record.thrown_text)
                if chain:
                    instant = parse_timestamp(record.time, reference) if record.time else None
                    minute_ms = None if instant is None else instant.ms // MINUTE_MS * MINUTE_MS
                    application = record.application or source.application
                    key = ExceptionKey(minute_ms, chain[0], chain[-1], application, record.host or source.host)
                    count, offset = found.get(key, (0, record.offset + window.base))
                    found[key] = count + 1, offset
            # Freed before the next one is read, which gets its memory: to clear new memory takes longer than to read.
            del window
    except OSError as failure:
        error = failure.strerror or str(failure)
    counts = (ExceptionCount(key, count, source.name, offset) for key, (count, offset) in found.items())
    return TraceCounts(tuple(counts), error)


def _records(split: Split, window: Window) -> Iterator[Record]:
    if split.source.wrapper:
        return peeled_records(bytes(window.data), split.source, region_of(split, window))
    end = None if split.end is None else split.end - window.base
    return find_traces(window.data, split.source.verdict, split.start - window.base, end)


def merge_counts(parts: Iterable[ExceptionCount]) -> tuple[ExceptionCount, ...]:
    """Add up the counts of splits; each keeps the place of its first part in the order of files and offsets."""
    merged: dict[ExceptionKey, ExceptionCount] = {}
    for part in sorted(parts, key=lambda one: (one.file, one.offset)):
        known = merged.get(part.key)
        merged[part.key] = part if known is None else known._replace(event_count=known.event_count + part.event_count)
    return tuple(sorted(merged.values(), key=_order))


def with_lines(counts: Iterable[ExceptionCount], sources: Iterable[SourceFile]) -> Iterator[ExceptionCount]:
    """Yield counts with the lines of their first records; 0 for a file that can no longer be read."""
    by_name = {source.name: source for source in sources}
    given = tuple(counts)
    offsets: dict[str, set[int]] = {}
    for one in given:
        offsets.setdefault(one.file, set()).add(one.offset)
    lines: dict[tuple[str, int], int] = {}
    for file, own in offsets.items():
        with suppress(OSError):
            lines |= {(file, offset): line for offset, line in _lines_at(by_name[file], sorted(own))}
    for one in given:
        yield one._replace(line=lines.get((one.file, one.offset), 0))


def _lines_at(source: SourceFile, offsets: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield each of the offsets, in ascending order, with its line."""
    path = Path(source.name)
    line, last = 1, 0
    if source.splittable:
        for offset in offsets:
            line += count_newlines(path, last, offset)
            last = offset
            yield offset, line
        return
    chunks, data = content_pieces(path), b""
    for offset in offsets:
        while last + len(data) < offset and (chunk := next(chunks, b"")):
            line, last, data = line + data.count(b"\n"), last + len(data), chunk
        line, last, data = line + data.count(b"\n", 0, offset - last), offset, data[offset - last :]
        yield offset, line


def find_traces(data: Buffer, verdict: Verdict, start: int = 0, end: int | None = None) -> Iterator[Record]:
    """Yield the records of a split that may have a throwable below their header; none that has one is missed.

    Args:
        data: The whole file, in memory or mapped.
        verdict: The file's layouts.
        start: First byte of the split.
        end: First byte after it; None means the end of the data.
    """
    stop = len(data) if end is None else min(end, len(data))
    if start >= stop:
        return
    reader = HeaderReader(verdict) if verdict.has_headers else None
    starts = _first_bytes(data, reader, start) if reader is not None else frozenset[int]()
    if reader is None or not starts or starts - _HEADER_STARTS:
        yield from sift_records(data, verdict, start, end)
        return
    unlike = _unlike_headers(data, starts, max(0, start - 1))
    resume = 0
    if start == 0 and reader.pattern.match(data) is None:
        resume = _next_header(data, reader, 0)
        yield read_headerless(data, 0, resume, 0)
    # Each search continues at the header after the previous trace, so that its frames are not checked one by one.
    place = -1
    while (place := bisect_left(unlike, resume, place + 1)) < len(unlike):
        line_start = unlike[place]
        owner = _owner(data, reader, line_start, start)
        if owner is not None and owner.start() >= stop:
            return
        resume = _next_header(data, reader, line_start + 1)
        if owner is not None and _THROWN.search(data, owner.end(), min(resume, owner.start() + MAX_EVENT_BYTES)):
            yield reader.record(data, owner, resume, 0)
        if line_start >= stop:
            return


def _unlike_headers(data: Buffer, starts: frozenset[int], begin: int) -> list[int]:
    """Return the starts of the lines after a position that do not start like a header."""
    if find_spec("numpy") is None:
        unlike_header = re.compile(rb"\n(?![" + re.escape(bytes(sorted(starts))) + rb"]|\Z)")
        return [found.end() for found in unlike_header.finditer(data, begin)]
    import numpy as np

    text = np.frombuffer(data, dtype=np.uint8)
    unlike: list[int] = []
    for block in range(begin, len(text) - 1, _BLOCK_BYTES):
        first = text[block + 1 : block + 1 + _BLOCK_BYTES]
        is_unlike = text[block : block + len(first)] == ord("\n")
        for start in starts:
            is_unlike &= first != start
        unlike += (np.flatnonzero(is_unlike) + (block + 1)).tolist()
    return unlike


def _first_bytes(data: Buffer, reader: HeaderReader, start: int) -> frozenset[int]:
    """Return the first bytes of the headers after a position."""
    return frozenset(data[found.start()] for found in islice(reader.pattern.finditer(data, start), _SAMPLE_HEADERS))


def _next_header(data: Buffer, reader: HeaderReader, position: int) -> int:
    """Return the first header at or after a position, line by line, which is faster than one search."""
    if position == 0 and reader.pattern.match(data):
        return 0
    newline = data.find(b"\n", max(0, position - 1))
    while newline >= 0:
        if frames := _FRAMES.match(data, newline + 1):
            newline = frames.end() - 1
        if reader.pattern.match(data, newline + 1):
            return newline + 1
        newline = data.find(b"\n", newline + 1)
    return len(data)


def _owner(data: Buffer, reader: HeaderReader, line_start: int, start: int) -> re.Match[bytes] | None:
    """Return the header of a line's record; None if it starts before the split."""
    position = line_start
    while position >= start:
        found = reader.pattern.match(data, position)
        if found is not None:
            return found
        if position == 0:
            return None
        position = data.rfind(b"\n", 0, position - 1) + 1
    return None


def _order(count: ExceptionCount) -> tuple[int | str, ...]:
    return (-1 if count.key.minute_ms is None else count.key.minute_ms, *count.key[1:])
