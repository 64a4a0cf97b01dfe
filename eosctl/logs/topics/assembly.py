"""Build events from a range of a partition, so that every division into ranges gives the same events.

An event belongs to the range that has the record of its header. The reader also reads some records before the range,
to detect the layouts, and continues after it until the last event of each source is complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.logs.carriers.peeled import peeled_records
from eosctl.logs.carriers.wrappers import peel
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.files.applications import application_of
from eosctl.logs.files.sources import SAMPLE_BYTES, SourceFile, shape_of
from eosctl.logs.layout_catalog import LAYOUTS, Layout
from eosctl.logs.records.record import Record
from eosctl.logs.records.scanner import OWN_RECORD, HeaderReader
from eosctl.logs.records.sieve import sift_records
from eosctl.logs.tally import SplitCounts, SplitScan, Tally, joined_spans
from eosctl.logs.topics.shipped import Source, Stream, TopicRecord, gather, source_of
from eosctl.model.log_event import LogEvent

LOOK_BACK: Final = 500
"""Number of offsets before a range that are read, too."""


class Range(NamedTuple):
    """A range of a partition: the events with the header's record in ``[start, end)``.

    Attributes:
        name: The topic and the number of the partition, as in ``logs-0``.
        topic: The topic.
        start: The first offset.
        end: The offset after the last one.
        is_first: Whether no earlier records exist or can be read.
    """

    name: str
    topic: str
    start: int
    end: int
    is_first: bool


def scan_range(
    part: Range,
    records: Sequence[TopicRecord],
    classifier: Classifier,
    zone: tzinfo | None = None,
    layouts: tuple[Layout, ...] = (),
) -> SplitScan:
    """Turn records into events; ``offset`` is that of the header's record, ``line`` the header's line in it, from 1.

    Args:
        part: The range of the requested events.
        records: The partition's records in the range, and some on both sides of it.
        classifier: Assigns categories to the events.
        zone: The time zone of timestamps without an offset.
        layouts: Layouts that take precedence over the built-in ones.
    """
    events: list[LogEvent] = []
    counts: list[SplitCounts] = []
    for source, stream in gather(records).items():
        file = _as_file(part, source, stream, zone, layouts)
        tally = Tally(file, classifier)
        for record in _records_of(part, stream, file, classifier):
            place = stream.place(record.offset)
            record = record._replace(offset=place.offset, line=place.line)
            # The timestamp is not in the header line, so its position must not be cached.
            tally.add(record if record.time else record._replace(time=place.stamp, key=b""))
        scan = tally.result()
        events += scan.events
        counts.append(scan.counts)
    events.sort(key=lambda event: (event.offset, event.line))
    return SplitScan(tuple(events), _sum(counts, part, records))


def _as_file(
    part: Range, source: Source, stream: Stream, zone: tzinfo | None, layouts: tuple[Layout, ...]
) -> SourceFile:
    wrapper, verdict = shape_of(bytes(stream.text[Stream.BEGIN : SAMPLE_BYTES]), "", (*layouts, *LAYOUTS))
    application = source.service or (application_of_path(source.path) if source.path else part.topic)
    return SourceFile(
        name=part.name,
        application=application,
        host=source.host,
        verdict=verdict,
        wrapper=wrapper,
        size_bytes=len(stream.text),
        splittable=False,
        modified_ms=stream.newest_ms or 0,
        zone=zone,
        head=b"",
    )


def _records_of(part: Range, stream: Stream, file: SourceFile, classifier: Classifier) -> Iterator[Record]:
    start, stop = stream.start_of(part.start), stream.start_of(part.end)
    if start >= stop:
        return
    text = bytes(stream.text)
    # Text before the first header belongs to a record before the range, unless the range is the first one.
    base = Stream.BEGIN if part.is_first and start == Stream.BEGIN else 0
    if file.wrapper:
        found = peeled_records(text[base:], file)
        yield from (_moved(one, base) for one in found if start <= one.offset + base < stop)
        return
    found = sift_records(text[base:], file.verdict, start - base, stop - base, classifier.forms)
    yield from (_moved(one, base) for one in found)


def _moved(record: Record, base: int) -> Record:
    return record._replace(offset=record.offset + base)


def _sum(counts: Sequence[SplitCounts], part: Range, records: Sequence[TopicRecord]) -> SplitCounts:
    first = [one.first_ms for one in counts if one.first_ms is not None]
    last = [one.last_ms for one in counts if one.last_ms is not None]
    return SplitCounts(
        size_bytes=sum(len(record.value) for record in records if part.start <= record.offset < part.end),
        event_count=sum(one.event_count for one in counts),
        unmatched_line_count=sum(one.unmatched_line_count for one in counts),
        truncated_count=sum(one.truncated_count for one in counts),
        undecodable_count=sum(one.undecodable_count for one in counts),
        first_ms=min(first, default=None),
        last_ms=max(last, default=None),
        programs=joined_spans(span for one in counts for span in one.programs),
    )


class OpenEvents:
    """The sources with a last event that is not complete yet.

    Args:
        records: The records so far.
        end: Events from this offset on do not count.
    """

    def __init__(self, records: Sequence[TopicRecord], end: int) -> None:
        self._headers = {
            source: _Headers(stream) for source, stream in gather([one for one in records if one.offset < end]).items()
        }

    def __bool__(self) -> bool:
        return bool(self._headers)

    def add(self, record: TopicRecord) -> None:
        """Add a record; a header ends the event before it."""
        source, inner = source_of(record)
        headers = self._headers.get(source)
        if headers is not None and headers.starts_event(inner.text):
            del self._headers[source]


def safe_end(records: Sequence[TopicRecord], settled: int, end: int) -> int:
    """Return the offset up to which a partition can be read: before the events that may still grow.

    Args:
        records: The last records of the partition.
        settled: Records before this offset are old enough: a source that has written nothing since is idle.
        end: The offset after the last record.
    """
    for stream in gather(records).values():
        if stream.last_offset >= settled:
            end = min(end, _Headers(stream).last_offset)
    return end


class _Headers:
    """Recognizes the headers of one source."""

    def __init__(self, stream: Stream) -> None:
        self._wrapper, verdict = shape_of(bytes(stream.text[Stream.BEGIN : SAMPLE_BYTES]), "", LAYOUTS)
        self._stream = stream
        self._pattern = HeaderReader(verdict).pattern if verdict.has_headers else OWN_RECORD

    def starts_event(self, text: bytes) -> bool:
        if self._wrapper:
            text = b"".join(part.text for part in peel(text, self._wrapper))
        return self._pattern.match(text) is not None

    @property
    def last_offset(self) -> int:
        """The offset of the last record that contains the start of an event; of the first record if none does."""
        text = bytes(self._stream.text)
        position = len(text) - 1
        while position > Stream.BEGIN:
            position = text.rfind(b"\n", 0, position) + 1
            if self.starts_event(text[position : position + 4096]):
                break
            position -= 1
        return self._stream.place(max(position, Stream.BEGIN)).offset


def application_of_path(path: str) -> str:
    """Return the name of the program that writes a file on another machine."""
    return application_of(Path(path.replace("\\", "/")))
