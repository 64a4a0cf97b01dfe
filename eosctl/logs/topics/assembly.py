"""From the records of a part of a partition to events: the rule that makes any parts give the same events.

An event belongs to the part in which the record of its header lies. The reader looks at some records before the part,
from which the layouts are known, and reads on behind it until the last event of each source has come to its end.
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
from eosctl.logs.layouts import LAYOUTS, Layout
from eosctl.logs.records.record import Record
from eosctl.logs.records.scanner import OWN_RECORD, HeaderReader
from eosctl.logs.records.sieve import sift_records
from eosctl.logs.scan import SplitCounts, SplitScan, Tally
from eosctl.logs.topics.shipped import Source, Stream, TopicRecord, gather, source_of
from eosctl.model.log_event import LogEvent

LOOK_BACK: Final = 500
"""How many offsets in front of a part are looked at, too."""


class Range(NamedTuple):
    """A part of a partition: the events whose header's record is in ``[start, end)``.

    Attributes:
        name: The topic and the number of the partition, as in ``logs-0``.
        topic: The topic.
        start: The first offset.
        end: Behind the last.
        is_first: Whether nothing is, or can be known, of what was before.
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
    """Turn records into events; ``offset`` is that of the header's record, ``line`` its line there, from 1.

    Args:
        part: What events are wanted.
        records: The partition's records in the part, and some on both sides of it.
        classifier: Names the events.
        zone: The zone of stamps without an offset.
        layouts: Layouts to prefer to the known ones.
    """
    events: list[LogEvent] = []
    counts: list[SplitCounts] = []
    for source, stream in gather(records).items():
        file = _as_file(part, source, stream, zone, layouts)
        tally = Tally(file, classifier)
        for record in _records_of(part, stream, file, classifier):
            place = stream.place(record.offset)
            record = record._replace(offset=place.offset, line=place.line)
            # The stamp is not in the header line: nothing about its place may be learned.
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
    # What no header starts belongs to a record in front of the part, unless there is nothing in front of it.
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
    )


class OpenEvents:
    """The sources whose last event has not come to its end yet.

    Args:
        records: The records so far.
        end: Events from here on do not count.
    """

    def __init__(self, records: Sequence[TopicRecord], end: int) -> None:
        self._headers = {
            source: _Headers(stream) for source, stream in gather([one for one in records if one.offset < end]).items()
        }

    def __bool__(self) -> bool:
        return bool(self._headers)

    def add(self, record: TopicRecord) -> None:
        """Take a further record: a header ends the event before it."""
        source, inner = source_of(record)
        headers = self._headers.get(source)
        if headers is not None and headers.starts_event(inner.text):
            del self._headers[source]


def safe_end(records: Sequence[TopicRecord], settled: int, end: int) -> int:
    """Return how far a partition can be read: in front of the events that may still grow.

    Args:
        records: The last records of the partition.
        settled: What was written before this offset is old enough: a source that wrote nothing since is at rest.
        end: Behind the last record.
    """
    for stream in gather(records).values():
        if stream.last_offset >= settled:
            end = min(end, _Headers(stream).last_offset)
    return end


class _Headers:
    """Tells the headers of one source."""

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
        """The offset of the last record that holds the start of an event; of the first record when none does."""
        text = bytes(self._stream.text)
        position = len(text) - 1
        while position > Stream.BEGIN:
            position = text.rfind(b"\n", 0, position) + 1
            if self.starts_event(text[position : position + 4096]):
                break
            position -= 1
        return self._stream.place(max(position, Stream.BEGIN)).offset


def application_of_path(path: str) -> str:
    """Name who writes a file of another machine."""
    return application_of(Path(path.replace("\\", "/")))
