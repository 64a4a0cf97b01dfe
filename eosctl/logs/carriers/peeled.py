"""Scan the records of a wrapped file: each stream like a separate file, in the order of the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.logs.carriers.wrappers import Peeled, names_services, peel
from eosctl.logs.files.sources import SourceFile
from eosctl.logs.layouts import Verdict, detect_layouts
from eosctl.logs.records.record import Record
from eosctl.logs.records.sieve import sift_records

_PART_SAMPLE_BYTES: Final = 65_536


def peeled_records(data: bytes, source: SourceFile) -> Iterator[Record]:
    """Scan each stream of a wrapped file, and yield the records in the order of the file."""
    records: list[Record] = []
    for part in peel(data, source.wrapper):
        for record in sift_records(part.text, _verdict_of(part, source)):
            offset, line, stamp = part.origin(record.offset)
            service = part.name if names_services(source.wrapper) else ""
            records.append(
                record._replace(
                    # The values that are added here are not in its header line.
                    key=b"",
                    offset=offset,
                    line=line,
                    time=record.time or stamp,
                    application=record.application or service,
                    # If no machine is named, the container in the wrapper is the process's own.
                    host=record.host or part.host or (service if record.application else ""),
                )
            )
    records.sort(key=lambda record: record.offset)
    yield from records


def _verdict_of(part: Peeled, source: SourceFile) -> Verdict:
    """Return the layouts of a part: the file's, unless they do not match the part's service."""
    if not names_services(source.wrapper):
        return source.verdict
    sample = part.text[:_PART_SAMPLE_BYTES]
    known = detect_layouts(sample, source.verdict.layouts)
    if known.unmatched_count * 10 <= known.line_count:
        return source.verdict
    own = detect_layouts(sample)
    return own if own.unmatched_count < known.unmatched_count else source.verdict
