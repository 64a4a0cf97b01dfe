"""The scan of a file or a part of it: records in, events and counts out, in one process and on a cluster alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import tzinfo
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.logs.carriers.peeled import peeled_records
from eosctl.logs.carriers.wrappers import DOCUMENT, EXPORTS, INSIDE
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.files.content import REPLACED, Window, begins_with, count_newlines, read_content, read_window
from eosctl.logs.files.dating import date_sources
from eosctl.logs.files.inputs import Opened, opened_inputs
from eosctl.logs.files.sources import SourceFile, Unread, find_files, inspect_file
from eosctl.logs.layouts import Layout
from eosctl.logs.records.record import Buffer, Record
from eosctl.logs.records.scanner import MAX_EVENT_BYTES
from eosctl.logs.records.sieve import WINDOW_BYTES, sift_records
from eosctl.logs.timestamps import Instant, TimeReference, parse_timestamp
from eosctl.model.log_event import LogEvent, SourceSummary

SPLIT_BYTES: Final = 64 * 1024 * 1024
PIECE_BYTES: Final = WINDOW_BYTES
"""How much of a split is read at a time."""


class Split(NamedTuple):
    """A part of a file: the events whose header starts in ``[start, end)``; ``end`` None means the end of the file."""

    source: SourceFile
    start: int
    end: int | None


class SplitCounts(NamedTuple):
    """What a split held beside its events.

    Attributes:
        size_bytes: Its size after decompression.
        newline_count: Line ends in it, from which the line numbers of the splits behind it follow.
        event_count: Records.
        unmatched_line_count: Records without a known header.
        truncated_count: Records that were cut.
        undecodable_count: Records that were not UTF-8.
        first_ms: Time of the first record that carries one.
        last_ms: Time of the last.
        error: Why it could not be read to its end.
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


class SplitScan(NamedTuple):
    """The events of a split, their lines counted from the split's start, and its counts."""

    events: tuple[LogEvent, ...]
    counts: SplitCounts


class LogScan(NamedTuple):
    """What logs hold: events in the order of files and offsets, a summary of each file, files that were not read."""

    events: tuple[LogEvent, ...]
    sources: tuple[SourceSummary, ...]
    unread: tuple[Unread, ...]


def scan_paths(
    paths: Iterable[Path],
    zone: tzinfo | None = None,
    layouts: tuple[Layout, ...] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> LogScan:
    """Scan files, directories, archives, pipes, and standard input (``-``) in this process.

    Args:
        paths: What to read.
        zone: The zone of stamps without an offset; without one UTC is assumed, and the events say so.
        layouts: Layouts to prefer to the known ones.
        progress: Called with what is read next, in words.
    """
    with opened_inputs(paths, progress) as opened:
        return as_named(_scan_files(opened.paths, zone, layouts, progress), opened)


def as_named(scan: LogScan, opened: Opened) -> LogScan:
    """Return a scan of opened inputs with their own names, and with what of archives could not be read."""
    unread = (*(one for one in scan.unread if one.name not in opened.archives), *opened.unread)
    if not opened.names:
        return scan._replace(unread=unread)
    return LogScan(
        tuple(event._replace(file=opened.name_of(event.file)) for event in scan.events),
        tuple(source._replace(file=opened.name_of(source.file)) for source in scan.sources),
        tuple(one._replace(name=opened.name_of(one.name)) for one in unread),
    )


def _scan_files(
    paths: Iterable[Path], zone: tzinfo | None, layouts: tuple[Layout, ...], progress: Callable[[str], None]
) -> LogScan:
    classifier = Classifier()
    events: list[LogEvent] = []
    sources: list[SourceSummary] = []
    found, unread = plan_scan(paths, zone, layouts, progress)
    for source in found:
        scans: list[SplitScan] = []
        for split in plan_splits(source):
            progress(place_in_words(split))
            scans.append(scan_split(split, classifier))
        events += number_lines(scans)
        sources.append(summarize(source, [scan.counts for scan in scans]))
    return LogScan(tuple(events), tuple(sources), unread)


def plan_scan(
    paths: Iterable[Path],
    zone: tzinfo | None = None,
    layouts: tuple[Layout, ...] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[tuple[SourceFile, ...], tuple[Unread, ...]]:
    """Find out what the files to scan are, and which can't be.

    Args:
        paths: Files and directories.
        zone: The zone of stamps without an offset.
        layouts: Layouts to prefer to the known ones.
        progress: Called with what is looked at next, in words.
    """
    sources: list[SourceFile] = []
    unread: list[Unread] = []
    for path in find_files(paths):
        progress(str(path))
        inspected = inspect_file(path, zone, layouts)
        if isinstance(inspected, Unread):
            unread.append(inspected)
        else:
            sources.append(inspected)
    return date_sources(sources), tuple(unread)


def join_scans(scans: Iterable[LogScan]) -> LogScan:
    """Put what was read of several places together."""
    events, sources, unread = zip(*scans, strict=True)
    return LogScan(tuple(chain(*events)), tuple(chain(*sources)), tuple(chain(*unread)))


def plan_splits(source: SourceFile, split_bytes: int = SPLIT_BYTES) -> Iterator[Split]:
    """Cut a file into parts that can be scanned independently."""
    yield from cut_split(Split(source, 0, None), split_bytes)


def cut_split(split: Split, piece_bytes: int) -> Iterator[Split]:
    """Cut a part of a file into smaller ones, where parts of it can be read on their own."""
    source = split.source
    stop = source.size_bytes if split.end is None else split.end
    if not source.splittable or stop - split.start <= piece_bytes:
        yield split
        return
    for start in range(split.start, stop, piece_bytes):
        end = start + piece_bytes
        yield Split(source, start, end if end < stop else split.end)


def place_in_words(split: Split) -> str:
    """Return which file a part is of, and how far into it: what is told while a large file is read."""
    return f"{split.source.name}, {split.start / 1e6:,.0f} of {split.source.size_bytes / 1e6:,.0f} MB"


def read_split(split: Split) -> Window:
    """Read what the scan of a split needs.

    Raises:
        OSError: The file cannot be opened.
    """
    source, path = split.source, Path(split.source.name)
    if source.splittable:
        # An event that is longer than the most that is kept of one is cut by either end.
        window = read_window(path, split.start, split.end, MAX_EVENT_BYTES + 1, source.size_bytes)
    else:
        content = read_content(path)
        window = Window(content.data, 0, content.error)
    # Looked at afterwards, so that nothing of another file passes for this one's: not its layout, nor its offsets.
    return window if begins_with(path, source.head) else Window(b"", window.base, REPLACED)


def scan_split(split: Split, classifier: Classifier) -> SplitScan:
    """Scan a part of a file."""
    tally = Tally(split.source, classifier)
    for piece in cut_split(split, PIECE_BYTES):
        try:
            window = read_split(piece)
        except OSError as failure:
            tally.fail(failure.strerror or str(failure))
            break
        tally.take(piece, window)
        # Freed before the next one is read, which gets its memory: to clear new memory takes longer than to read.
        del window
    return tally.result()


def count_newlines_before(split: Split) -> int:
    """Count the line ends of a file in front of a split.

    Raises:
        OSError: The file cannot be read.
    """
    return count_newlines(Path(split.source.name), 0, split.start) if split.start else 0


def _count_newlines(data: Buffer, start: int, stop: int) -> int:
    if isinstance(data, bytes):
        return data.count(b"\n", start, stop)
    step = 1 << 24
    return sum(data[position : min(position + step, stop)].count(b"\n") for position in range(start, stop, step))


def summarize(source: SourceFile, counts: Sequence[SplitCounts]) -> SourceSummary:
    """Add up what the parts of a file held."""
    layout = "+".join(part for part in (source.wrapper, source.verdict.name) if part)
    whole = summarize_counts(source.name, source.application, layout, counts)
    is_cut = whole.undecodable_count > 0 and source.wrapper.partition(INSIDE)[0] in (DOCUMENT, *EXPORTS)
    return whole._replace(
        error=whole.error or ("the document is cut or damaged, and not read to its end" if is_cut else ""),
        beginning=source.beginning,
        sample_line_count=source.verdict.line_count,
        sample_unmatched_count=source.verdict.unmatched_count,
        modified_ms=source.modified_ms,
    )


def summarize_counts(name: str, application: str, layout: str, counts: Sequence[SplitCounts]) -> SourceSummary:
    """Add up the counts of what goes by one name."""
    return SourceSummary(
        file=name,
        application=application,
        layout=layout,
        size_bytes=sum(part.size_bytes for part in counts),
        event_count=sum(part.event_count for part in counts),
        unmatched_line_count=sum(part.unmatched_line_count for part in counts),
        truncated_count=sum(part.truncated_count for part in counts),
        undecodable_count=sum(part.undecodable_count for part in counts),
        first_ms=next((part.first_ms for part in counts if part.first_ms is not None), None),
        last_ms=next((part.last_ms for part in reversed(counts) if part.last_ms is not None), None),
        error=next((part.error for part in counts if part.error), ""),
    )


def number_lines(scans: Sequence[SplitScan]) -> Iterator[LogEvent]:
    """Turn lines counted from each split's start into lines of the file; the splits are those of one file, in order."""
    before = 0
    for scan in scans:
        for event in scan.events:
            yield event._replace(line=event.line + before)
        before += scan.counts.newline_count


class Tally:
    """Gathers the events and counts of one source, piece by piece."""

    def __init__(self, source: SourceFile, classifier: Classifier) -> None:
        self._source = source
        self._classifier = classifier
        self._reference = TimeReference(source.zone, source.modified_ms)
        self._events: list[LogEvent] = []
        self._size = self._newlines = self._records = self._unmatched = self._truncated = self._undecodable = 0
        self._first: int | None = None
        self._last: int | None = None
        self._error = ""

    def take(self, piece: Split, window: Window) -> None:
        """Scan what was read of a piece."""
        data, base, error = window
        start, end = piece.start - base, None if piece.end is None else piece.end - base
        if self._source.wrapper:
            records = peeled_records(bytes(data), self._source)
        else:
            records = sift_records(data, self._source.verdict, start, end, self._classifier.forms)
        offset, line = start, 0
        for record in records:
            offset, line = record.offset, record.line
            self.add(record, base)
        stop = len(data) if end is None else min(end, len(data))
        self._size += max(0, stop - start)
        # The last record has its line's number, so only what is behind it is left to count.
        self._newlines += line + _count_newlines(data, offset, stop)
        self.fail(error)

    def fail(self, error: str) -> None:
        """Remember why a piece could not be read to its end; empty when it could."""
        self._error = self._error or error

    def add(self, record: Record, base: int = 0) -> None:
        """Take a record whose offset counts from ``base``."""
        self._records += 1 + record.passed_count
        self._truncated += record.truncated
        self._undecodable += record.undecodable
        self._unmatched += not record.matched
        instant = parse_timestamp(record.time, self._reference) if record.time else None
        if instant is not None:
            self._first = instant.ms if self._first is None else self._first
            self._last = instant.ms
        classified = self._classifier.classify(record)
        if classified is not None:
            self._events.append(
                LogEvent(
                    file=self._source.name,
                    offset=record.offset + base,
                    line=record.line + self._newlines + 1,
                    time_ms=None if instant is None else instant.ms,
                    time_assumed=_assumed(instant),
                    level=record.level,
                    thread=record.thread,
                    logger=record.logger,
                    application=record.application or self._source.application,
                    host=record.host or self._source.host,
                    category=classified.category,
                    fields=classified.fields,
                    exception=classified.exception,
                    message=classified.message,
                )
            )

    def result(self) -> SplitScan:
        """Return what was found."""
        counts = SplitCounts(
            self._size,
            self._newlines,
            self._records,
            self._unmatched,
            self._truncated,
            self._undecodable,
            self._first,
            self._last,
            self._error,
        )
        return SplitScan(tuple(self._events), counts)


def _assumed(instant: Instant | None) -> bool:
    return instant is not None and instant.assumed
