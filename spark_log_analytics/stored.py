"""Logs in any file system that Spark reaches (``s3a:``, ``hdfs:``, ``abfss:``, ``gs:``, ``dbfs:``).

Spark's own source of binary files lists and reads them, so addresses, globs, and credentials are those of Spark. A file
goes to one task as a whole; the task keeps it on its disk while it scans it. Tried on HDFS, S3, and ViewFs.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import tzinfo
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from eosctl.logs.arrays import batch_of_rows
from eosctl.logs.classifier.classify import Classifier, own_classifier
from eosctl.logs.files.applications import application_of
from eosctl.logs.files.dating import copied_after_ms, date_source, has_dates
from eosctl.logs.files.hosts import host_of_path
from eosctl.logs.files.sources import Unread, inspect_file, is_exported, is_named_like_log, is_named_like_table
from eosctl.logs.files.urls import path_in
from eosctl.logs.layouts import Layout
from eosctl.logs.scan import SPLIT_BYTES, SplitCounts, plan_splits, scan_split, summarize
from eosctl.model.log_event import SourceSummary
from spark_log_analytics.outcome import job_errors, reason_of
from spark_log_analytics.rows import SCAN_COLUMNS, arrow_schema, collected, scan_batches
from spark_log_analytics.workers import keep_loaded

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

LARGEST_BYTES: Final = 1024**3
"""Spark hands a file over as one value. The JVM and Arrow hold several copies of it, and more than 2 GiB never fit."""

VANISHED: Final = "it vanished after it was listed"
NO_FILES: Final = "there are no files"

_TEXTS: Final = ("file", "application", "layout", "error", "beginning")
_SUMMARY_TYPES: Final = {name: "string" if name in _TEXTS else "long" for name in SourceSummary._fields}
_SUMMARY: Final = ",".join(f"{name}:{kind}" for name, kind in _SUMMARY_TYPES.items())
STORED_COLUMNS: Final = (
    f"{SCAN_COLUMNS}, report struct<summary:struct<{_SUMMARY}>,length:long,reason:string,is_failure:boolean,"
    "is_dated:boolean>"
)
"""The columns of a scan, and one row a file that carries nothing but its report."""


class FileReport(NamedTuple):
    """What a task found a file to be.

    Attributes:
        summary: Its summary, under its URL.
        length: Its size in the file system, bytes.
        reason: Why it was not scanned; empty when it was.
        is_failure: Whether it should have been.
        is_dated: Whether its stamps have day and year.
    """

    summary: SourceSummary
    length: int
    reason: str
    is_failure: bool
    is_dated: bool


class StoredScan(NamedTuple):
    """The scan of stored logs.

    Attributes:
        rows: Rows of ``SCAN_COLUMNS``.
        cached: What they are made of, to be dropped with ``unpersist``.
        summaries: The files that were read.
        unread: Those that were not.
    """

    rows: Sequence[DataFrame]
    cached: Sequence[DataFrame]
    summaries: tuple[SourceSummary, ...]
    unread: tuple[Unread, ...]


class Reading(NamedTuple):
    """How files are read.

    Attributes:
        zone: The zone of stamps without an offset.
        layouts: Layouts to prefer to the known ones.
        split_bytes: After how many bytes events are handed on.
        by_ms: How much earlier than its last change a file ends if its stamps lack day or year.
    """

    zone: tzinfo | None = None
    layouts: tuple[Layout, ...] = ()
    split_bytes: int = SPLIT_BYTES
    by_ms: int = 0


def scan_stored(spark: SparkSession, urls: Sequence[str], reading: Reading) -> StoredScan:
    """Scan all logs at or below URLs, which may hold globs.

    A URL that cannot be listed is among the unread; a file that cannot be read fails the job, one that has vanished or
    was cut is named.
    """
    sizes: dict[str, int] = {}
    unread: list[Unread] = []
    cached: list[DataFrame] = []
    for url in urls:
        try:
            files = _files(spark, [url])
            found = {row.path: row.length for row in files.select("path", "length").collect()}
        except job_errors() as error:
            unread.append(Unread(url, reason_of(error), True))
            continue
        wanted, skipped = _wanted(url, found)
        unread += skipped
        cached.append(_scan(_without(files, found.keys() & sizes.keys()), reading))
        sizes |= {path: found[path] for path in wanted if path not in sizes}
    scans, reports = list(cached), _reports(cached)
    undated = [path for path, report in reports.items() if not (report.is_dated or report.reason)]
    lags_ms = [
        report.summary.modified_ms - report.summary.last_ms
        for report in reports.values()
        if report.is_dated and report.summary.last_ms is not None
    ]
    if undated and (by_ms := copied_after_ms(lags_ms)):
        scans = [_without(rows, undated, "file") for rows in scans]
        cached.append(_scan(_files(spark, list(map(_quoted, undated))), reading._replace(by_ms=by_ms)))
        scans.append(cached[-1])
        reports |= _reports(cached[-1:])
    summaries, gaps = _judge(sizes, reports)
    rows = [rows.where("report is null").drop("report") for rows in scans]
    return StoredScan(rows, cached, summaries, (*unread, *gaps))


def _files(spark: SparkSession, urls: list[str]) -> DataFrame:
    """Return the files at or below URLs; a file that vanishes has no row, so its absence must be noticed."""
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", True)
    return reader.option("ignoreMissingFiles", True).option("ignoreCorruptFiles", False).load(urls)


def _wanted(url: str, found: Mapping[str, int]) -> tuple[list[str], list[Unread]]:
    """Return which of the files below a URL may be logs, and what is not read."""
    wanted = [path for path in found if _is_wanted(path, url)]
    skipped = [Unread(path, _too_large(found[path]), True) for path in wanted if found[path] > LARGEST_BYTES]
    if not found:
        skipped.append(Unread(url, NO_FILES, False))
    elif others := len(found) - len(wanted):
        skipped.append(Unread(url, f"{others} files do not have names of logs", False))
    return [path for path in wanted if found[path] <= LARGEST_BYTES], skipped


def _is_wanted(path: str, url: str) -> bool:
    """Whether a file is read: one that was named itself is, under any name."""
    place = path_in(path)
    return place == path_in(url) or is_named_like_log(place) or is_named_like_table(place)


def _too_large(length: int) -> str:
    return (
        f"{length:,} bytes are more than Spark hands to a task as one value ({LARGEST_BYTES:,}); compress or split the "
        "file, or mount the storage and name the file by its path"
    )


def _quoted(path: str) -> str:
    """Spell a path so that nothing in it is a glob."""
    return re.sub(r"[\\*?{}\[\]]", r"\\\g<0>", path)


def _without(rows: DataFrame, paths: Sequence[str] | set[str], column: str = "path") -> DataFrame:
    from pyspark.sql import functions as f

    if not paths:
        return rows
    left_out = rows.sparkSession.createDataFrame([(path,) for path in sorted(paths)], f"{column} string")
    return rows.join(f.broadcast(left_out), column, "left_anti")


def _scan(files: DataFrame, reading: Reading) -> DataFrame:
    from pyspark.sql import functions as f

    kept = files.where(f.col("length") <= LARGEST_BYTES)
    rows = kept.select("path", f.unix_millis("modificationTime").alias("modified_ms"), "length", "content")
    return rows.mapInArrow(_scanner(reading), STORED_COLUMNS).persist()


def _reports(scans: Sequence[DataFrame]) -> dict[str, FileReport]:
    """Run scans, and return what they report, by file."""
    reports: dict[str, FileReport] = {}
    for rows in scans:
        for row in collected(rows.where("report is not null").select("report.*")):
            summary = SourceSummary(**row.pop("summary"))
            reports[summary.file] = FileReport(summary, **row)
    return reports


def _judge(
    sizes: Mapping[str, int], reports: Mapping[str, FileReport]
) -> tuple[tuple[SourceSummary, ...], tuple[Unread, ...]]:
    """Compare what was listed with what was read."""
    summaries: list[SourceSummary] = []
    unread: list[Unread] = []
    for path in sorted(sizes, key=PurePosixPath):
        report = reports.get(path)
        if report is None:
            unread.append(Unread(path, VANISHED, True))
        elif report.reason:
            unread.append(Unread(path, report.reason, report.is_failure))
        else:
            is_cut = report.length < sizes[path]
            cut = f"it has become smaller: {report.length} bytes of {sizes[path]}" if is_cut else ""
            summaries.append(report.summary._replace(error=report.summary.error or cut))
    return tuple(summaries), tuple(unread)


def _scanner(reading: Reading) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that Spark runs: it gets files with their content."""

    def scan(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        classifier = own_classifier()
        disk = os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")[0]
        with tempfile.TemporaryDirectory(prefix="eosctl-stored-", dir=disk or None) as folder:
            for batch in batches:
                paths, times, contents = (batch.column(name) for name in ("path", "modified_ms", "content"))
                for place in range(batch.num_rows):
                    url = paths[place].as_py()
                    copy = Path(folder, path_in(url).name)
                    content = contents[place].as_buffer()
                    copy.write_bytes(content)
                    modified_ns = times[place].as_py() * 1_000_000
                    os.utime(copy, ns=(modified_ns, modified_ns))
                    yield from _scan_file(copy, url, content.size, reading, classifier)
                    copy.unlink()
        keep_loaded()

    return scan


def _scan_file(copy: Path, url: str, length: int, reading: Reading, classifier: Classifier) -> Iterator[pa.RecordBatch]:
    """Yield the events of a file, the counts of its splits, and its report."""
    place = Path(path_in(url))
    source = inspect_file(copy, reading.zone, reading.layouts)
    if isinstance(source, Unread) or (is_named_like_table(place) and not is_exported(copy)):
        reason, is_failure = source[1:] if isinstance(source, Unread) else ("a table without log records", False)
        yield _report_batch(FileReport(_nothing_of(url), length, reason, is_failure, True))
        return
    is_dated = has_dates(source)
    source = source._replace(application=application_of(place), host=host_of_path(place))
    source = source if is_dated else date_source(source, reading.by_ms)
    counts: list[SplitCounts] = []
    for split in plan_splits(source, reading.split_bytes):
        scan = scan_split(split, classifier)
        counts.append(scan.counts)
        named = scan._replace(events=tuple(event._replace(file=url) for event in scan.events))
        yield from map(_without_report, scan_batches(url, split.start, named))
    yield _report_batch(FileReport(summarize(source, counts)._replace(file=url), length, "", False, is_dated))


def _nothing_of(url: str) -> SourceSummary:
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

    kinds = {"string": pa.string(), "long": pa.int64()}
    summary = pa.struct([(name, kinds[kind]) for name, kind in _SUMMARY_TYPES.items()])
    flags = (("is_failure", pa.bool_()), ("is_dated", pa.bool_()))
    report = pa.struct([("summary", summary), ("length", pa.int64()), ("reason", pa.string()), *flags])
    return arrow_schema(with_counts=True).append(pa.field("report", report))


def _without_report(batch: pa.RecordBatch) -> pa.RecordBatch:
    import pyarrow as pa

    schema = _schema()
    nothing = pa.nulls(batch.num_rows, schema.field("report").type)
    return pa.RecordBatch.from_arrays([*batch.columns, nothing], schema=schema)


def _report_batch(report: FileReport) -> pa.RecordBatch:
    return batch_of_rows([{"file": report.summary.file, "report": report}], _schema())
