"""Scan a file or a part of it for events and counts, in one process or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import tzinfo
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.logs.carriers.peeled import MARGINS as WRAPPED_MARGINS
from eosctl.logs.carriers.peeled import peeled_records
from eosctl.logs.carriers.wrappers import DOCUMENT, EXPORTS, INSIDE, is_of_lines
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.files.content import (
    REPLACED,
    Margins,
    Window,
    begins_with,
    inflated_windows,
    is_streamed,
    read_content,
    read_window,
)
from eosctl.logs.files.dating import date_sources
from eosctl.logs.files.inputs import Opened, opened_inputs
from eosctl.logs.files.sources import SourceFile, Unread, inspect_file, list_files
from eosctl.logs.layout_catalog import Layout
from eosctl.logs.records.scanner import MAX_EVENT_BYTES, scan_records
from eosctl.logs.records.sieve import WINDOW_BYTES
from eosctl.logs.seams import CutRecord, Half, find_cut_records, join_cut_records
from eosctl.logs.tally import Split, SplitCounts, SplitScan, Tally, joined_spans
from eosctl.logs.work_records import thinned
from eosctl.model.log_event import LogEvent, SourceSummary

SPLIT_BYTES: Final = 64 * 1024 * 1024
PIECE_BYTES: Final = WINDOW_BYTES
"""How much of a split is read at a time."""
_MARGINS: Final = Margins(1, MAX_EVENT_BYTES + 1)
"""What is read around a piece: an event that is longer than the most that is kept of one is cut by either end."""


class LogScan(NamedTuple):
    """The content of logs: events ordered by file and offset, a summary of each file, and files that were not read."""

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
        paths: The inputs.
        zone: The time zone of timestamps without an offset; without it, UTC is assumed and the events are marked.
        layouts: Layouts that take precedence over the built-in ones.
        progress: Called with a description of the next input.
    """
    with opened_inputs(paths, progress) as opened:
        return as_named(_scan_files(opened.paths, zone, layouts, progress), opened)


def as_named(scan: LogScan, opened: Opened) -> LogScan:
    """Return a scan of opened inputs with their original names, and with the unread parts of archives."""
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
    events: dict[str, Sequence[LogEvent]] = {}
    sources: list[SourceSummary] = []
    found, unread = plan_scan(paths, zone, layouts, progress)
    for source in found:
        scans: list[SplitScan] = []
        for split in plan_splits(source):
            progress(place_in_words(split))
            scans.append(scan_split(split, classifier))
        events[source.name] = tuple(thinned(number_lines(scans)))
        sources.append(summarize(source, [scan.counts for scan in scans]))
    joined = join_cut_records(events, cut_records(found, sources, classifier))
    return LogScan(tuple(chain(*joined.values())), tuple(sources), unread)


def cut_records(
    found: Sequence[SourceFile], sources: Sequence[SourceSummary], classifier: Classifier
) -> Iterator[CutRecord]:
    """Yield the records that rotation cut in files, with their events."""
    return find_cut_records(found, sources, lambda source, half: whole_record(source, half, classifier))


def whole_record(source: SourceFile, half: Half, classifier: Classifier) -> tuple[LogEvent, ...]:
    """Return the events of a record that starts in a file and was put together."""
    tally = Tally(source, classifier)
    for record in peeled_records(half.text, source) if source.wrapper else scan_records(half.text, source.verdict):
        tally.add(record._replace(line=record.line + half.line), half.offset)
    return tally.result().events


def plan_scan(
    paths: Iterable[Path],
    zone: tzinfo | None = None,
    layouts: tuple[Layout, ...] = (),
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[tuple[SourceFile, ...], tuple[Unread, ...]]:
    """Inspect the files to scan at or below paths, and find those that cannot be scanned.

    ``zone`` is that of timestamps without an offset, ``layouts`` take precedence over the built-in ones, and
    ``progress`` is called with a description of the next file.
    """
    sources: list[SourceFile] = []
    unread: list[Unread] = []
    given = dict.fromkeys(paths)
    for path, reason in list_files(given):
        progress(str(path))
        inspected = Unread(str(path), reason, False) if reason else inspect_file(path, zone, layouts)
        if isinstance(inspected, Unread):
            # What was named should have been read; a folder also holds other files.
            unread.append(inspected._replace(is_failure=inspected.is_failure or path in given))
        else:
            sources.append(inspected)
    return date_sources(sources), tuple(unread)


def join_scans(scans: Iterable[LogScan]) -> LogScan:
    """Join the scans of several inputs."""
    events, sources, unread = zip(*scans, strict=True)
    return LogScan(tuple(chain(*events)), tuple(chain(*sources)), tuple(chain(*unread)))


def plan_splits(source: SourceFile, split_bytes: int = SPLIT_BYTES) -> Iterator[Split]:
    """Divide a file into parts that can be scanned independently."""
    yield from cut_split(Split(source, 0, None), split_bytes)


def cut_split(split: Split, piece_bytes: int) -> Iterator[Split]:
    """Divide a part of a file into smaller ones, if the file's parts can be read independently."""
    source = split.source
    stop = source.size_bytes if split.end is None else split.end
    if not source.splittable or stop - split.start <= piece_bytes:
        yield split
        return
    for start in range(split.start, stop, piece_bytes):
        end = start + piece_bytes
        yield Split(source, start, end if end < stop else split.end)


def place_in_words(split: Split) -> str:
    """Return the name of a part's file and the position in it, to show the progress in a large file."""
    return f"{split.source.name}, {split.start / 1e6:,.0f} of {split.source.size_bytes / 1e6:,.0f} MB"


def read_pieces(split: Split, piece_bytes: int) -> Iterator[tuple[Split, Window]]:
    """Read a part of a file, piece by piece, with one piece in memory at a time.

    Documents, exports, files in other encodings, and some compressed files have only one piece.

    Raises:
        OSError: The file cannot be opened.
    """
    source, path = split.source, Path(split.source.name)
    if source.splittable or not (is_streamed(source.head) and is_of_lines(source.wrapper)):
        for piece in cut_split(split, piece_bytes):
            yield piece, _read_split(piece)
        return
    start = 0
    for window in inflated_windows(path, piece_bytes, _margins_of(source)):
        # The stream is open by now, so what takes the file's place later does no harm.
        if not start and not begins_with(path, source.head):
            yield split, Window(b"", 0, REPLACED)
            return
        is_last = window.base + len(window.data) <= start + piece_bytes
        yield Split(source, start, None if is_last else start + piece_bytes), window
        start += piece_bytes


def _margins_of(source: SourceFile) -> Margins:
    return WRAPPED_MARGINS if source.wrapper else _MARGINS


def _read_split(split: Split) -> Window:
    source, path = split.source, Path(split.source.name)
    if source.splittable:
        window = read_window(path, split.start, split.end, _margins_of(source), source.size_bytes)
    else:
        content = read_content(path)
        window = Window(content.data, 0, content.error)
    # Checked afterwards, so that neither the layout nor the offsets of a replacement file count for this one.
    return window if begins_with(path, source.head) else Window(b"", window.base, REPLACED)


def scan_split(split: Split, classifier: Classifier) -> SplitScan:
    """Scan a part of a file."""
    tally = Tally(split.source, classifier)
    try:
        for piece, window in read_pieces(split, PIECE_BYTES):
            tally.take(piece, window)
            # Freed before the next one is read, which gets its memory: to clear new memory takes longer than to read.
            del window
    except OSError as failure:
        tally.fail(failure.strerror or str(failure))
    return tally.result()


def summarize(source: SourceFile, counts: Sequence[SplitCounts]) -> SourceSummary:
    """Add up the counts of a file's parts."""
    layout = "+".join(part for part in (source.wrapper, source.verdict.name) if part)
    whole = summarize_counts(source.name, source.application, layout, counts)
    is_cut = whole.undecodable_count > 0 and source.wrapper.partition(INSIDE)[0] in (DOCUMENT, *EXPORTS)
    return whole._replace(
        error=whole.error or ("the document is truncated or damaged, and was not read to its end" if is_cut else ""),
        beginning=source.beginning,
        sample_line_count=source.verdict.line_count,
        sample_unmatched_count=source.verdict.unmatched_count,
        modified_ms=source.modified_ms,
        headings=source.headings,
    )


def summarize_counts(name: str, application: str, layout: str, counts: Sequence[SplitCounts]) -> SourceSummary:
    """Add up the counts of parts with one name."""
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
        programs=joined_spans(span for part in counts for span in part.programs),
    )


def number_lines(scans: Sequence[SplitScan]) -> Iterator[LogEvent]:
    """Turn line numbers of splits into line numbers of the file; the splits must be those of one file, in order."""
    before = 0
    for scan in scans:
        behind = before
        yield from (event._replace(line=event.line + behind) for event in scan.events) if behind else scan.events
        before += scan.counts.newline_count
