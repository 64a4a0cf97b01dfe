"""Scan the records of a wrapped file: each stream like a separate file, in the order of the file.

Streams take turns in a file, so the lines of a record may be apart. A record ends ``SPAN_BYTES`` after its first line,
and the lines of its stream behind it are cut off. So a reader of a part of the file needs no more than this on both
sides, and finds the same records as a reader of the whole file.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise
from operator import itemgetter
from typing import Final, NamedTuple

from eosctl.logs.carriers.wrappers import SPAN_BYTES, SYSLOG, Peeled, names_services, peel, stamps_as_written
from eosctl.logs.files.content import Margins
from eosctl.logs.files.sources import SourceFile
from eosctl.logs.layouts import Verdict, detect_layouts
from eosctl.logs.levels import find_level
from eosctl.logs.records.forms import Forms
from eosctl.logs.records.record import Record
from eosctl.logs.records.sieve import sift_records
from eosctl.logs.timestamps import in_zone_of, lacks_date, lacks_day

MARGINS: Final = Margins(SPAN_BYTES + 1, SPAN_BYTES, has_whole_lines=True)
"""What must be read on both sides of a part of a wrapped file."""
_PART_SAMPLE_BYTES: Final = 65_536


class Region(NamedTuple):
    """The part of the data that is scanned.

    Attributes:
        start: Its first byte.
        end: The first byte after it; None means the end of the data.
        is_start_of_file: Whether the data begins with the file; otherwise, it may begin within a line.
    """

    start: int = 0
    end: int | None = None
    is_start_of_file: bool = True


WHOLE: Final = Region()


class Placed(NamedTuple):
    """A record of a stream.

    Attributes:
        record: The record as the program wrote it; its offset and line are those in the stream.
        offset: The offset of its first line in the data.
        line: The number of this line, from 0, counted from the start of the region.
        time: Its own time, or the wrapper's.
        application: The program; empty if neither the record nor the wrapper names it.
        host: The machine; empty if neither names it.
    """

    record: Record
    offset: int
    line: int
    time: str
    application: str
    host: str


def as_placed(record: Record) -> Placed:
    """Return a record of a file without a wrapper."""
    return Placed(
        record=record,
        offset=record.offset,
        line=record.line,
        time=record.time,
        application=record.application,
        host=record.host,
    )


def peeled_records(data: bytes, source: SourceFile, region: Region = WHOLE) -> Iterator[Record]:
    """Yield the records of ``placed_records`` with their offsets and lines, and what the wrapper adds."""
    for one in placed_records(data, source, region):
        # The values that are added here are not in its header line.
        yield one.record._replace(
            key=b"", offset=one.offset, line=one.line, time=one.time, application=one.application, host=one.host
        )


def placed_records(
    data: bytes, source: SourceFile, region: Region = WHOLE, forms: Forms | None = None
) -> Iterator[Placed]:
    """Yield the records of a wrapped file that start in a region.

    Args:
        data: The file, or the region with ``MARGINS`` on both sides.
        source: The file.
        region: The region.
        forms: The cache of forms.
    """
    first = 0 if region.is_start_of_file else data.find(b"\n") + 1
    if first == 0 and not region.is_start_of_file:
        return
    before = data.count(b"\n", first, region.start) - data.count(b"\n", region.start, first)
    region = region._replace(start=region.start - first, end=None if region.end is None else region.end - first)
    found: list[Placed] = []
    is_zone_open = source.zone is None and stamps_as_written(source.wrapper)
    for part in peel(data[first:], source.wrapper):
        verdict = _verdict_of(part, source)
        service = part.name if names_services(source.wrapper) else ""
        has_syslogs = source.wrapper.endswith(SYSLOG)
        for record in _records_of(part, verdict, region, forms):
            offset, line, stamp = part.origin(record.offset)
            found.append(
                Placed(
                    record=_with_level(record._replace(matched=True) if has_syslogs and stamp else record, stamp),
                    offset=offset + first,
                    line=line - before,
                    time=_time(record.time, stamp, is_zone_open=is_zone_open),
                    application=record.application or service,
                    # If no machine is named, the container in the wrapper is the process's own.
                    host=record.host or part.host or (service if record.application else ""),
                )
            )
    found.sort(key=lambda one: one.offset)
    yield from found


def _with_level(record: Record, stamp: str) -> Record:
    """Return a record with the level at the beginning of its message: what a wrapper stamps is not prose."""
    level = find_level(record.message).level if stamp and not record.level else ""
    return record._replace(level=level, key=b"") if level else record


def first_open_record(data: bytes, source: SourceFile) -> int:
    """Return the offset of the first record that may still grow, in the last part of a wrapped file."""
    stop = data.rfind(b"\n") + 1
    least = stop
    for part in peel(data[:stop], source.wrapper):
        verdict = _verdict_of(part, source)
        pattern = verdict.header() if verdict.has_headers else None
        for place, origin in zip(reversed(part.starts), reversed(part.origins), strict=True):
            if stop - origin > SPAN_BYTES:
                break
            if pattern is None or pattern.match(part.text, place):
                least = min(least, origin)
                break
        else:
            least = min([least, *part.origins[:1]])
    return least


def _records_of(part: Peeled, verdict: Verdict, region: Region, forms: Forms | None) -> Iterator[Record]:
    """Yield the records of a stream that start in a region, with offsets in the stream's text."""
    gaps = zip(part.lasts, part.origins[1:], strict=False)
    cuts = [number for number, (last, begin) in enumerate(gaps, 1) if begin - last > SPAN_BYTES]
    for first, last in pairwise((0, *cuts, len(part.origins))):
        low = bisect_left(part.origins, region.start, first, last)
        high = last if region.end is None else bisect_left(part.origins, region.end, first, last)
        if low >= high:
            continue
        base = part.starts[first]
        stop = part.starts[last] if last < len(part.starts) else len(part.text)
        text = part.text if last - first == len(part.starts) else part.text[base:stop]
        end = part.starts[high] - base if high < last else None
        for record in sift_records(text, verdict, part.starts[low] - base, end, forms):
            own = record._replace(offset=record.offset + base) if base else record
            yield _cut(own, part, verdict) if own.rest or part.joints else own


def _cut(record: Record, part: Peeled, verdict: Verdict) -> Record:
    """Return a record without what is too far behind the start of its first line."""
    first = bisect_right(part.starts, record.offset) - 1
    limit = part.origins[first] + SPAN_BYTES
    behind = bisect_right(part.origins, limit, first)
    joint = bisect_right(part.joints, limit, key=itemgetter(1))
    end = part.starts[behind] if behind < len(part.starts) else len(part.text)
    is_joint_nearer = joint < len(part.joints) and part.joints[joint][0] < end
    if not is_joint_nearer and (
        behind == len(part.origins) or first + record.rest.count("\n") + 2 < behind or not record.rest
    ):
        return record
    text = part.text[record.offset : part.joints[joint][0] if is_joint_nearer else end]
    shorter = next(iter(sift_records(text, verdict)))
    if (shorter.message, shorter.rest) == (record.message, record.rest):
        return record
    return record._replace(message=shorter.message, rest=shorter.rest, truncated=True, key=b"")


def _time(own: str, around: str, *, is_zone_open: bool) -> str:
    """Return the time of a record: its own, in the zone that the wrapper shows, or the wrapper's.

    The wrapper's counts if the record has none, or only a clock.

    Args:
        own: The record's timestamp.
        around: The wrapper's.
        is_zone_open: Whether the zone of timestamps without an offset is unknown, and the wrapper can show it.
    """
    is_fuller = any(lacks(own) and not lacks(around) for lacks in (lacks_date, lacks_day))
    if around and (not own or is_fuller):
        return around
    return in_zone_of(own, around) if around and is_zone_open else own


def _verdict_of(part: Peeled, source: SourceFile) -> Verdict:
    """Return the layouts of a part: the file's, unless they do not match the part's service."""
    if not names_services(source.wrapper):
        return source.verdict
    sample = part.text[:_PART_SAMPLE_BYTES]
    known = detect_layouts(sample, source.verdict.layouts)
    if known.unmatched_count * 10 <= known.line_count:
        return source.verdict
    own = detect_layouts(sample)
    has_syslogs = not own.has_headers and source.wrapper.endswith(SYSLOG)
    return own if has_syslogs or own.unmatched_count < known.unmatched_count else source.verdict
