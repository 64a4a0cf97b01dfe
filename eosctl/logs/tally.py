"""Collect the events and counts of a part of a file, piece by piece."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from eosctl.logs.carriers.peeled import Placed, Region, as_placed, placed_records
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.files.content import Window
from eosctl.logs.files.sources import SourceFile
from eosctl.logs.records.record import Buffer, Record
from eosctl.logs.records.sieve import sift_records
from eosctl.logs.timestamps import Instant, TimeReference, parse_timestamp
from eosctl.logs.work_records import WorkRecords
from eosctl.model.log_event import LogEvent, ProgramSpan

MOST_PROGRAMS: Final = 1_000
"""Number of programs of a file whose times are kept; those of further ones are taken to last as long as the file."""


class Split(NamedTuple):
    """A part of a file: the events with a header that starts in ``[start, end)``; None as ``end`` is the file's end."""

    source: SourceFile
    start: int
    end: int | None


class SplitCounts(NamedTuple):
    """The counts of a split.

    Attributes:
        size_bytes: The size after decompression.
        newline_count: The number of line breaks, which gives the line numbers of the following splits.
        event_count: The number of records.
        unmatched_line_count: The number of records without a known header.
        truncated_count: The number of records that were truncated.
        undecodable_count: The number of records that were not UTF-8.
        first_ms: The time of the first record that has one.
        last_ms: The time of the last record that has one.
        error: The reason why the split could not be read to its end.
        programs: The times of the programs that records name.
    """

    size_bytes: int = 0
    newline_count: int = 0
    event_count: int = 0
    unmatched_line_count: int = 0
    truncated_count: int = 0
    undecodable_count: int = 0
    first_ms: int | None = None
    last_ms: int | None = None
    error: str = ""
    programs: tuple[ProgramSpan, ...] = ()


class SplitScan(NamedTuple):
    """The events of a split, with line numbers from the split's start, and its counts."""

    events: tuple[LogEvent, ...]
    counts: SplitCounts


def region_of(piece: Split, window: Window) -> Region:
    """Return the place of a piece of a wrapped file in its window."""
    end = None if piece.end is None else piece.end - window.base
    return Region(piece.start - window.base, end, window.base == 0)


def _count_newlines(data: Buffer, start: int, stop: int) -> int:
    if isinstance(data, bytes):
        return data.count(b"\n", start, stop)
    step = 1 << 24
    return sum(data[position : min(position + step, stop)].count(b"\n") for position in range(start, stop, step))


def joined_spans(spans: Iterable[ProgramSpan]) -> tuple[ProgramSpan, ...]:
    """Return one span for each program, of the spans in a file's parts in order.

    >>> joined_spans([ProgramSpan("a", "", 1, 2), ProgramSpan("b", "", 2, 3), ProgramSpan("a", "", 5, 6)])[0]
    ProgramSpan(application='a', host='', first_ms=1, last_ms=6)
    """
    found: dict[tuple[str, str], ProgramSpan] = {}
    for span in spans:
        earlier = found.setdefault((span.application, span.host), span)
        found[span.application, span.host] = earlier._replace(last_ms=span.last_ms)
    return tuple(found.values())[:MOST_PROGRAMS]


class Tally:
    """Collects the events and counts of one source, piece by piece."""

    def __init__(self, source: SourceFile, classifier: Classifier) -> None:
        self._source = source
        self._classifier = classifier
        self._reference = TimeReference(source.zone, source.modified_ms)
        self._events: list[LogEvent] = []
        self._work = WorkRecords()
        self._size = self._newlines = self._records = self._unmatched = self._truncated = self._undecodable = 0
        self._first: int | None = None
        self._last: int | None = None
        self._programs: dict[tuple[str, str], list[int]] = {}
        self._error = ""

    def take(self, piece: Split, window: Window) -> None:
        """Scan the bytes of a piece."""
        data, base, error = window
        start, end = piece.start - base, None if piece.end is None else piece.end - base
        forms, offset, line = self._classifier.forms, start, 0
        stop = len(data) if end is None else min(end, len(data))
        if self._source.wrapper:
            for placed in placed_records(bytes(data), self._source, region_of(piece, window), forms):
                offset, line = placed.offset, placed.line
                self.place(placed, base)
        else:
            for record in sift_records(data, self._source.verdict, start, end, forms):
                offset, line = record.offset, record.line
                self.add(record, base)
        self._size += max(0, stop - start)
        # The last record has its line number, so only the lines after it remain to be counted.
        self._newlines += line + _count_newlines(data, offset, stop)
        self.fail(error)

    def fail(self, error: str) -> None:
        """Store the reason why a piece could not be read to its end; empty if it could."""
        self._error = self._error or error

    def add(self, record: Record, base: int = 0) -> None:
        """Add a record with an offset relative to ``base``."""
        self.place(as_placed(record), base)

    def place(self, placed: Placed, base: int = 0) -> None:
        """Add a record of a stream with an offset relative to ``base``."""
        record = placed.record
        self._records += 1 + record.passed_count
        self._truncated += record.truncated
        self._undecodable += record.undecodable
        self._unmatched += not record.matched
        instant = parse_timestamp(placed.time, self._reference) if placed.time else None
        if instant is not None:
            self._first = instant.ms if self._first is None else self._first
            self._last = instant.ms
        time_ms = None if instant is None else instant.ms
        application, host = placed.application or self._source.application, placed.host or self._source.host
        if time_ms is not None and (placed.application or placed.host):
            self._see(application, host, time_ms)
        if record.is_only_work and self._work.drops(time_ms, application, host, record.thread, record.message):
            return
        classified = self._classifier.classify(record)
        if classified is None:
            return
        event = LogEvent(
            file=self._source.name,
            offset=placed.offset + base,
            line=placed.line + self._newlines + 1,
            time_ms=time_ms,
            time_assumed=_assumed(instant),
            level=record.level,
            thread=record.thread,
            logger=record.logger,
            application=application,
            host=host,
            category=classified.category,
            fields=classified.fields,
            exception=classified.exception,
            message=classified.message,
        )
        if self._work.keeps(event):
            self._events.append(event)

    def _see(self, application: str, host: str, time_ms: int) -> None:
        span = self._programs.get((application, host))
        if span is not None:
            span[1] = time_ms
        elif len(self._programs) < MOST_PROGRAMS:
            self._programs[application, host] = [time_ms, time_ms]

    def result(self) -> SplitScan:
        """Return the events and the counts."""
        counts = SplitCounts(
            size_bytes=self._size,
            newline_count=self._newlines,
            event_count=self._records,
            unmatched_line_count=self._unmatched,
            truncated_count=self._truncated,
            undecodable_count=self._undecodable,
            first_ms=self._first,
            last_ms=self._last,
            error=self._error,
            programs=tuple(ProgramSpan(*names, *times_ms) for names, times_ms in self._programs.items()),
        )
        return SplitScan(tuple(self._events), counts)


def _assumed(instant: Instant | None) -> bool:
    return instant is not None and instant.assumed
