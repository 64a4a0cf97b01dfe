"""Read the records that rotation cut in stored logs: the first half is in one file, the second in the next one.

The scan reports the second half, which is at the start of a file. Only if there is one, the file before it is read a
second time, in a task, for the first half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from eosctl.logs.arrays import batch_of_rows
from eosctl.logs.classifier.classify import own_classifier
from eosctl.logs.files.sources import SourceFile
from eosctl.logs.scan import whole_record
from eosctl.logs.seams import CutRecord, Part, Rest, find_cut_record, neighbors
from spark_log_analytics.packing import pack, unpack
from spark_log_analytics.rows import event_batch, events_of
from spark_log_analytics.stored_files import Copy, FileReport, Reading, copies, opened, source_of
from spark_log_analytics.workers import keep_loaded

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_COLUMNS: Final = "older string, offset long, newer string, rest_bytes long, events binary"


class Continued(NamedTuple):
    """The file that follows another one, and its start, which may continue the last record of that one."""

    newer: str
    rest: Rest


def continued_files(reports: Iterable[FileReport]) -> dict[str, Continued]:
    """Return the files that may end with the first half of a record, with the second half, by name."""
    parts: list[Part] = []
    rests: dict[str, Rest] = {}
    for report in reports:
        summary, seam = report.summary, report.seam
        if seam is not None and summary.first_ms is not None:
            log = PurePosixPath(summary.file).parent, summary.application, seam.wrapper
            parts.append(Part(summary.file, log, summary.first_ms))
            rests[summary.file] = Rest(seam.raw, seam.text)
    return {older: Continued(newer, rests[newer]) for older, newer in neighbors(parts) if rests[newer].text.strip()}


def read_cut_records(
    frames: Iterable[DataFrame], continued: Mapping[str, Continued], reading: Reading
) -> Iterator[CutRecord]:
    """Read files again, in tasks, and yield the records that continue in the next file.

    Args:
        frames: The files to read again, with those that hold the continued ones as members.
        continued: What ``continued_files`` returns.
        reading: How files are read; it must be that of the scan.
    """
    for files in frames:
        rows = files.mapInArrow(cut_reader_of(continued, reading), _COLUMNS)
        for row in rows.collect():
            events = tuple(event for batch in unpack(bytes(row.events)) for event in events_of(batch))
            yield CutRecord(row.older, row.offset, row.newer, row.rest_bytes, events)


def cut_reader_of(
    continued: Mapping[str, Continued], reading: Reading
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that Spark runs: it gets files with their content, and yields cut records."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for copy in copies(batches):
            for cut in _cut_records(copy, continued, reading):
                yield _batch(cut)
        keep_loaded()

    return read


def _cut_records(copy: Copy, continued: Mapping[str, Continued], reading: Reading) -> Iterator[CutRecord]:
    """Yield the records of a file, or of the members of an archive, that continue in the next file."""
    classifier = own_classifier()
    with opened(copy) as (files, _):
        for file, url in files.items():
            source, _ = source_of(file, url, reading)
            if url in continued and isinstance(source, SourceFile):
                read = partial(whole_record, classifier=classifier)
                for cut in find_cut_record(source, *continued[url], read):
                    yield cut._replace(older=url, events=[event._replace(file=url) for event in cut.events])


def _batch(cut: CutRecord) -> pa.RecordBatch:
    import pyarrow as pa

    number = pa.int64()
    columns = [("older", pa.string()), ("offset", number), ("newer", pa.string()), ("rest_bytes", number)]
    row = {**cut._asdict(), "events": pack([event_batch(cut.events)])}
    return batch_of_rows([row], pa.schema([*columns, ("events", pa.binary())]))
