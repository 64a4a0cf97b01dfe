"""Scan stored files in a task of Spark: each with its content, and the members of archives below their URL."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import tzinfo
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from eosctl.logs.arrays import batch_of_rows
from eosctl.logs.classifier.classify import Classifier, own_classifier
from eosctl.logs.files.applications import application_of
from eosctl.logs.files.dating import date_source, dated_by_itself, has_dates
from eosctl.logs.files.hosts import host_of_path
from eosctl.logs.files.inputs import opened_inputs
from eosctl.logs.files.sources import (
    SourceFile,
    Unread,
    archive_of,
    inspect_file,
    list_files,
    reason_against,
)
from eosctl.logs.files.urls import path_in
from eosctl.logs.layout_catalog import Layout
from eosctl.logs.scan import SPLIT_BYTES, plan_splits, scan_split, summarize
from eosctl.logs.seams import log_of, second_half
from eosctl.logs.tally import SplitCounts
from eosctl.model.log_event import SourceSummary
from eosctl.text import time_text
from spark_log_analytics.rows import PROGRAM_COLUMNS, SCAN_COLUMNS, arrow_schema, program_type, scan_batches
from spark_log_analytics.task_costs import TaskClock
from spark_log_analytics.workers import keep_loaded

if TYPE_CHECKING:
    import pyarrow as pa

EMPTY_ARCHIVE: Final = "an archive without logs"

_TEXTS: Final = ("file", "application", "layout", "error", "beginning", "headings")
_SUMMARY_TYPES: Final = {
    name: PROGRAM_COLUMNS if name == "programs" else "string" if name in _TEXTS else "long"
    for name in SourceSummary._fields
}
_SUMMARY: Final = ",".join(f"{name}:{kind}" for name, kind in _SUMMARY_TYPES.items())
STORED_COLUMNS: Final = (
    f"{SCAN_COLUMNS}, report struct<summary:struct<{_SUMMARY}>,archive:string,change:string,reason:string,"
    "is_failure:boolean,is_dated:boolean,seam:struct<wrapper:string,raw:binary,text:binary>>"
)
"""The columns of a scan, and one row a file that carries nothing but its report."""


class Seam(NamedTuple):
    """The start of a file that may continue the last record of another one.

    Attributes:
        wrapper: The wrapper of its lines; empty without one.
        raw: What is in front of its first header; empty if it begins with a record.
        text: The same without the wrapper.
    """

    wrapper: str
    raw: bytes
    text: bytes


class FileReport(NamedTuple):
    """What a task found a file to be.

    Attributes:
        summary: Its summary, under its URL; that of a member of an archive is below the archive's.
        archive: The URL of the archive that holds it; empty for a file.
        change: How it differs from what was listed; empty if it does not.
        reason: Why it was not scanned; empty when it was.
        is_failure: Whether it should have been.
        is_dated: Whether its stamps have day and year.
        seam: Its start; None if no record of another file can continue there.
    """

    summary: SourceSummary
    archive: str
    change: str
    reason: str
    is_failure: bool
    is_dated: bool
    seam: Seam | None = None


class Reading(NamedTuple):
    """How files are read.

    Attributes:
        zone: The zone of stamps without an offset.
        layouts: Layouts to prefer to the known ones.
        split_bytes: After how many bytes events are handed on.
        by_ms: How much earlier than its last change a file ends if its stamps lack day or year.
        named: The files that were named themselves, which are read under any name.
    """

    zone: tzinfo | None = None
    layouts: tuple[Layout, ...] = ()
    split_bytes: int = SPLIT_BYTES
    by_ms: int = 0
    named: frozenset[PurePosixPath] = frozenset()


def scanner_of(reading: Reading) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that Spark runs: it gets files with their content."""

    def scan(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tools = _Tools(reading, own_classifier(), TaskClock())
        for copy in copies(batches):
            yield from _scan_copy(copy, tools)
        keep_loaded()

    return scan


class Copy(NamedTuple):
    """A copy of a stored file on the disk of the task.

    Attributes:
        path: The copy.
        url: The file.
        change: How the file changed since it was listed; empty if it did not.
    """

    path: Path
    url: str
    change: str


def copies(batches: Iterator[pa.RecordBatch]) -> Iterator[Copy]:
    """Yield a copy of each file of a task, which is removed afterwards."""
    disk = os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")[0]
    with tempfile.TemporaryDirectory(prefix="eosctl-stored-", dir=disk or None) as folder:
        for batch in batches:
            paths, contents = batch.column("path"), batch.column("content")
            times, listed = batch.column("modified_ms"), (batch.column("listed_length"), batch.column("listed_ms"))
            for place in range(batch.num_rows):
                url = paths[place].as_py()
                copy = Path(folder, path_in(url).name)
                content = contents[place].as_buffer()
                copy.write_bytes(content)
                found = _State(content.size, times[place].as_py())
                os.utime(copy, ns=(found.modified_ms * 1_000_000,) * 2)
                yield Copy(copy, url, _change(_State(*(column[place].as_py() for column in listed)), found))
                copy.unlink()


@contextmanager
def opened(copy: Copy) -> Iterator[tuple[Mapping[Path, str], str]]:
    """Yield the file of a copy, or the members of an archive, with their URLs, and what of it was not unpacked."""
    if archive_of(copy.path) not in ("tar", "zip"):
        yield {copy.path: copy.url}, ""
        return
    with opened_inputs([copy.path]) as found:
        members = {
            member: f"{copy.url}{found.name_of(str(member)).removeprefix(str(copy.path))}"
            for member, _ in list_files(found.paths)
        }
        is_empty = all(map(reason_against, members))
        yield members, "; ".join(one.reason for one in found.unread) or (EMPTY_ARCHIVE if is_empty else "")


class _Tools(NamedTuple):
    """What a task reads files with."""

    reading: Reading
    classifier: Classifier
    clock: TaskClock


def _scan_copy(copy: Copy, tools: _Tools) -> Iterator[pa.RecordBatch]:
    """Scan the copy of a file, or the members of an archive under names below its URL."""
    with opened(copy) as (files, reason):
        for file, url in files.items():
            archive = "" if file == copy.path else copy.url
            yield from _scan_file(file, url, _Origin(archive, copy.change), tools)
        if reason:
            report = FileReport(
                summary=nothing_of(copy.url),
                archive="",
                change=copy.change,
                reason=reason,
                is_failure=reason != EMPTY_ARCHIVE,
                is_dated=True,
            )
            yield _report_batch(report)


class _Origin(NamedTuple):
    """The archive of a file, and how the file or its archive changed since it was listed."""

    archive: str
    change: str


def _scan_file(copy: Path, url: str, origin: _Origin, tools: _Tools) -> Iterator[pa.RecordBatch]:
    """Yield the events of a file, the counts of its splits, and its report."""
    source, is_dated = source_of(copy, url, tools.reading)
    is_named = not origin.archive and path_in(url) in tools.reading.named
    if not is_named and (reason := reason_against(copy)):
        source = Unread(url, reason, False)
    if isinstance(source, Unread):
        yield _report_batch(FileReport(nothing_of(url), *origin, source.reason, source.is_failure, True))
        return
    counts: list[SplitCounts] = []
    for split in plan_splits(source, tools.reading.split_bytes):
        scan = scan_split(split, tools.classifier)
        counts.append(scan.counts)
        named = scan._replace(events=tuple(event._replace(file=url) for event in scan.events))
        yield from map(_without_report, scan_batches(url, split.start, named, tools.clock))
    seam = None
    if log_of(source) is not None:
        with suppress(OSError):
            seam = Seam(source.wrapper, *second_half(source))
    report = FileReport(
        summary=summarize(source, counts)._replace(file=url),
        archive=origin.archive,
        change=origin.change,
        reason="",
        is_failure=False,
        is_dated=is_dated,
        seam=seam,
    )
    yield _report_batch(report)


def source_of(copy: Path, url: str, reading: Reading) -> tuple[SourceFile | Unread, bool]:
    """Recognize the copy of a file; return whether its stamps have day and year, too."""
    place = Path(path_in(url))
    source = inspect_file(copy, reading.zone, reading.layouts)
    if isinstance(source, Unread):
        return source, True
    is_dated = has_dates(source)
    source = source._replace(application=application_of(place), host=host_of_path(place))
    return dated_by_itself(source) if is_dated else date_source(source, reading.by_ms), is_dated


def nothing_of(url: str) -> SourceSummary:
    """Return the summary of a file without events."""
    return SourceSummary(
        file=url,
        application="",
        layout="",
        size_bytes=0,
        event_count=0,
        unmatched_line_count=0,
        truncated_count=0,
        undecodable_count=0,
        first_ms=None,
        last_ms=None,
        error="",
    )


def _schema() -> pa.Schema:
    import pyarrow as pa

    kinds = {"string": pa.string(), "long": pa.int64(), PROGRAM_COLUMNS: program_type()}
    summary = pa.struct([(name, kinds[kind]) for name, kind in _SUMMARY_TYPES.items()])
    flags = (("is_failure", pa.bool_()), ("is_dated", pa.bool_()))
    seam = pa.struct([("wrapper", pa.string()), ("raw", pa.binary()), ("text", pa.binary())])
    report = pa.struct(
        [
            ("summary", summary),
            *((name, pa.string()) for name in ("archive", "change", "reason")),
            *flags,
            ("seam", seam),
        ]
    )
    return arrow_schema(with_counts=True).append(pa.field("report", report))


def _without_report(batch: pa.RecordBatch) -> pa.RecordBatch:
    import pyarrow as pa

    schema = _schema()
    nothing = pa.nulls(batch.num_rows, schema.field("report").type)
    return pa.RecordBatch.from_arrays([*batch.columns, nothing], schema=schema)


def _report_batch(report: FileReport) -> pa.RecordBatch:
    return batch_of_rows([{"file": report.summary.file, "report": report}], _schema())


class _State(NamedTuple):
    """Size and time of a file."""

    length: int
    modified_ms: int


def _change(listed: _State, found: _State) -> str:
    """Return how a file changed between its listing and its reading; empty if it did not."""
    if listed == found:
        return ""
    times = f"changed at {time_text(found.modified_ms)}, when listed at {time_text(listed.modified_ms)}"
    if found.length < listed.length:
        return f"it has become smaller: {found.length} bytes of {listed.length}"
    if found.length > listed.length:
        return f"it has grown or was replaced: {found.length} bytes, when listed {listed.length}"
    return f"it was replaced by one of the same size: {times}"
