"""Logs in any file system that Spark reaches (``s3a:``, ``hdfs:``, ``abfss:``, ``gs:``, ``dbfs:``).

Spark's own source of binary files lists and reads them, so addresses, globs, and credentials are those of Spark. A file
goes to one task as a whole; the task keeps it on its disk while it scans it. Tried on HDFS, S3, and ViewFs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote

from eosctl.logs.files.dating import copied_after_ms
from eosctl.logs.files.sources import OTHER_NAME, Unread, may_hold_records
from eosctl.logs.files.urls import path_in
from eosctl.logs.seams import CutRecord
from eosctl.model.log_event import SourceSummary
from spark_log_analytics.outcome import job_errors, reason_of
from spark_log_analytics.rows import collected, programs_of
from spark_log_analytics.storage_problems import file_of_error, is_absent
from spark_log_analytics.stored_cuts import continued_files, read_cut_records
from spark_log_analytics.stored_files import STORED_COLUMNS, FileReport, Reading, Seam, nothing_of, scanner_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LARGEST_BYTES: Final = 1024**3
"""Spark hands a file over as one value. The JVM and Arrow hold several copies of it, and more than 2 GiB never fit."""

MOST_TRIED: Final = 20
"""Number of unreadable files that are read again, alone, to find out why."""
VANISHED: Final = "it vanished after it was listed"
NO_FILES: Final = "there are no files"


class StoredScan(NamedTuple):
    """The scan of stored logs.

    Attributes:
        rows: Rows of ``SCAN_COLUMNS``.
        cached: What they are made of, to be dropped with ``unpersist``.
        summaries: The files that were read.
        unread: Those that were not.
        cuts: The records that rotation cut.
    """

    rows: Sequence[DataFrame]
    cached: Sequence[DataFrame]
    summaries: tuple[SourceSummary, ...]
    unread: tuple[Unread, ...]
    cuts: tuple[CutRecord, ...] = ()


def scan_stored(spark: SparkSession, urls: Sequence[str], reading: Reading) -> StoredScan:
    """Scan all logs at or below URLs, which may hold globs.

    A URL that cannot be listed is among the unread, and so is a file that cannot be read, or has vanished since it was
    listed; one that has changed since then is named.
    """
    reading = reading._replace(named=frozenset(map(path_in, urls)))
    listed: dict[str, str] = {}
    unread: list[Unread] = []
    frames: list[DataFrame] = []
    for url in urls:
        try:
            files = _files(spark, url)
            encoded = {unquote(name): name for name in files.inputFiles()}
            found = {row.path: row.length for row in files.select("path", "length").collect()}
        except job_errors() as error:
            unread.append(Unread(url, reason_of(error), True))
            continue
        names, skipped = _wanted(url, found, reading)
        wanted = set(names)
        unread += [
            Unread(path, VANISHED, True) for path in sorted(encoded.keys() - found.keys()) if _is_wanted(path, reading)
        ]
        unread += skipped
        frames.append(_other_than(files, [encoded[path] for path in found if path in listed or path not in wanted]))
        listed |= {path: encoded[path] for path in names}
    cached: list[DataFrame] = []
    reports: dict[str, FileReport] = {}
    for place, files in enumerate(frames):
        scan = _scan_readable(files, reading, listed)
        frames[place] = scan.files
        cached.append(scan.rows)
        reports |= scan.reports
    for path in sorted(listed.keys() - {report.archive or path for path, report in reports.items()})[:MOST_TRIED]:
        if reason := _obstacle(spark, path):
            reports[path] = _unreadable(path, reason)
    scans = list(cached)
    by_ms = 0
    undated = [path for path, report in reports.items() if not (report.is_dated or report.reason)]
    lags_ms = [
        report.summary.modified_ms - report.summary.last_ms
        for report in reports.values()
        if report.is_dated and report.summary.last_ms is not None
    ]
    if undated and (by_ms := copied_after_ms(lags_ms)):
        scans = [_without(rows, undated) for rows in scans]
        holders = sorted({listed[reports[path].archive or path] for path in undated})
        later = [_scan_readable(_only(files, holders), reading._replace(by_ms=by_ms), listed) for files in frames]
        again = [scan.rows for scan in later]
        cached += again
        # An archive is read as a whole, also those members that were dated.
        scans += [_with(rows, undated) for rows in again]
        # Their first events are left out, so their first reports must not stand for files that vanished.
        second = {path: report for scan in later for path, report in scan.reports.items()}
        reports |= {path: second.get(path) or _vanished(path, reports[path].archive) for path in undated}
    summaries, gaps = _judge(listed, reports)
    continued = continued_files(reports.values())
    holders = sorted({listed[reports[path].archive or path] for path in continued})
    again_read = [_only(files, holders) for files in frames] if continued else []
    cuts = tuple(read_cut_records(again_read, continued, reading._replace(by_ms=by_ms)))
    rows = [rows.where("report is null").drop("report") for rows in scans]
    return StoredScan(rows, cached, summaries, (*unread, *gaps), cuts)


def _files(spark: SparkSession, url: str) -> DataFrame:
    """Return the files at or below a URL, with size and time of the listing and of the reading.

    A file that vanishes or cannot be read has no row, so its absence must be noticed.
    """
    from pyspark.sql import functions as f

    reader = spark.read.format("binaryFile").option("recursiveFileLookup", True)
    files = reader.option("ignoreMissingFiles", True).option("ignoreCorruptFiles", True).load(url)
    return files.select(
        "path",
        "length",
        "content",
        f.unix_millis("modificationTime").alias("modified_ms"),
        f.col("_metadata.file_path").alias("encoded"),
        f.col("_metadata.file_size").alias("listed_length"),
        f.unix_millis("_metadata.file_modification_time").alias("listed_ms"),
    )


def _wanted(url: str, found: Mapping[str, int], reading: Reading) -> tuple[list[str], list[Unread]]:
    """Return which of the files below a URL may be logs, and what is not read."""
    wanted = [path for path in found if _is_wanted(path, reading)]
    skipped = [Unread(path, _too_large(found[path]), True) for path in wanted if found[path] > LARGEST_BYTES]
    if not found:
        skipped.append(Unread(url, NO_FILES, False))
    skipped += [Unread(path, OTHER_NAME, False) for path in sorted(found.keys() - set(wanted))]
    return [path for path in wanted if found[path] <= LARGEST_BYTES], skipped


def _is_wanted(path: str, reading: Reading) -> bool:
    """Whether a file is read: one that was named itself is, under any name."""
    place = path_in(path)
    return place in reading.named or may_hold_records(place)


def _too_large(length: int) -> str:
    return (
        f"{length:,} bytes are more than Spark hands to a task as one value ({LARGEST_BYTES:,}); compress or split the "
        "file, or mount the storage and name the file by its path"
    )


def _only(files: DataFrame, encoded: Sequence[str]) -> DataFrame:
    """Keep files by their encoded names, by which Spark leaves out the others without opening them."""
    from pyspark.sql import functions as f

    return files.where(f.col("encoded").isin(*encoded))


def _other_than(files: DataFrame, encoded: Sequence[str]) -> DataFrame:
    """Leave out files by their encoded names, without opening them."""
    from pyspark.sql import functions as f

    return files.where(~f.col("encoded").isin(*encoded)) if encoded else files


def _without(rows: DataFrame, paths: Sequence[str]) -> DataFrame:
    from pyspark.sql import functions as f

    return rows.join(f.broadcast(_files_named(rows, paths)), "file", "left_anti")


def _with(rows: DataFrame, paths: Sequence[str]) -> DataFrame:
    from pyspark.sql import functions as f

    return rows.join(f.broadcast(_files_named(rows, paths)), "file", "left_semi")


def _files_named(rows: DataFrame, paths: Sequence[str]) -> DataFrame:
    return rows.sparkSession.createDataFrame([(path,) for path in sorted(paths)], "file string")


class _Scan(NamedTuple):
    """The scan of files: those that Spark can read, their cached rows, and their reports."""

    files: DataFrame
    rows: DataFrame
    reports: dict[str, FileReport]


def _scan_readable(files: DataFrame, reading: Reading, listed: Mapping[str, str]) -> _Scan:
    """Scan files, and leave out those at which Spark stops: it skips others, but none that a storage denies.

    Raises:
        Exception: Spark stops for another reason, or at too many files (``job_errors``).
    """
    denied: dict[str, FileReport] = {}
    while True:
        rows = _scan(files, reading)
        try:
            return _Scan(files, rows, denied | _reports(rows))
        except job_errors() as error:
            rows.unpersist()
            path = unquote(file_of_error(str(error)))
            if path not in listed or path in denied or len(denied) == MOST_TRIED:
                raise
            denied[path] = _unreadable(path, reason_of(error))
            files = _other_than(files, [listed[path]])


def _scan(files: DataFrame, reading: Reading) -> DataFrame:
    from pyspark.sql import functions as f

    kept = files.where(f.col("length") <= LARGEST_BYTES)
    return kept.mapInArrow(scanner_of(reading), STORED_COLUMNS).persist()


def _reports(rows: DataFrame) -> dict[str, FileReport]:
    """Run a scan, and return what it reports, by file."""
    reports: dict[str, FileReport] = {}
    for row in collected(rows.where("report is not null").select("report.*")):
        fields, seam = row.pop("summary"), row.pop("seam")
        summary = SourceSummary(**{**fields, "programs": programs_of(fields["programs"])})
        reports[summary.file] = FileReport(summary, **row, seam=None if seam is None else Seam(**seam))
    return reports


def _obstacle(spark: SparkSession, path: str) -> str:
    """Read a file alone, and return why that fails; empty if it does not, or if the file has vanished."""
    strict = spark.read.format("binaryFile").option("ignoreMissingFiles", True).option("ignoreCorruptFiles", False)
    try:
        # Spark takes paths for globs.
        strict.load(re.sub(r"([{}\[\]*?\\])", r"\\\1", path)).selectExpr("length(content)").collect()
    except job_errors() as error:
        return "" if is_absent(str(error)) else reason_of(error)
    return ""


def _judge(
    listed: Iterable[str], reports: Mapping[str, FileReport]
) -> tuple[tuple[SourceSummary, ...], tuple[Unread, ...]]:
    """Compare what was listed with what was read."""
    summaries: list[SourceSummary] = []
    unread: list[Unread] = []
    found: dict[str, list[FileReport]] = {path: [] for path in listed}
    for report in reports.values():
        found[report.archive or report.summary.file].append(report)
    for report in chain.from_iterable(of_file or [_vanished(path)] for path, of_file in found.items()):
        if report.reason:
            is_failure = report.is_failure or report.change != ""
            unread.append(Unread(report.summary.file, report.change or report.reason, is_failure))
        else:
            summaries.append(report.summary._replace(error=report.summary.error or report.change))
    summaries.sort(key=lambda summary: PurePosixPath(summary.file))
    return tuple(summaries), tuple(sorted(unread))


def _vanished(url: str, archive: str = "") -> FileReport:
    return _unreadable(url, VANISHED)._replace(archive=archive)


def _unreadable(url: str, reason: str) -> FileReport:
    return FileReport(summary=nothing_of(url), archive="", change="", reason=reason, is_failure=True, is_dated=True)
