"""Scan on Spark: pack splits into tasks with the same scanner in each, and process the rows.

This module names no master, stops no session, and does not use the driver's Spark context, so the same code runs
locally, submitted to a cluster, and through Spark Connect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from eosctl.logs.classifier.classify import own_classifier
from eosctl.logs.files.sources import SourceFile, Unread
from eosctl.logs.layout_catalog import Layout
from eosctl.logs.scan import SPLIT_BYTES, LogScan, cut_records, plan_scan, plan_splits, scan_split, summarize
from eosctl.logs.seams import CutRecord, join_cut_records
from eosctl.logs.tally import Split
from eosctl.logs.topics.address import Topics, around, is_topic_url, parse_topics
from eosctl.logs.topics.plan import TopicPart, plan_topics, scan_part, summarize_topics
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.period import ALL_TIME, Period
from spark_log_analytics.rows import (
    EVENT_COLUMNS,
    SCAN_COLUMNS,
    CountedSplit,
    collected,
    counted_splits,
    counts_by_file,
    events_of,
    line_bases,
    scan_batches,
)
from spark_log_analytics.split_rows import FEW_FILES, Shape, shapes_of, split_frame, splits_of
from spark_log_analytics.task_costs import TaskClock

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

OPEN_COST_BYTES: Final = 1024 * 1024
"""The cost of a file in addition to its bytes, so that a task does not get thousands of small files."""

ENOUGH_TASKS: Final = 16
"""The number of tasks that keeps a machine busy to the end; larger inputs first make tasks larger, then more."""
MOST_SPLITS: Final = 4
"""Maximum size of a task as a multiple of a split."""

SMALL_FILE_EVENTS: Final = 25_000
MOST_SMALL_FILES: Final = 8
FILE_EVENTS: Final = 250_000
"""Number of events in a file of a table: large for readers, but smaller if several tasks could not write otherwise."""


Bin: TypeAlias = tuple[Split | TopicPart, ...]
"""What a task reads."""


class Reading(NamedTuple):
    """The input: files, parts of topics, and inputs that cannot be read."""

    sources: tuple[SourceFile, ...]
    parts: tuple[TopicPart, ...]
    unread: tuple[Unread, ...]

    def summarize(self, splits: Iterable[CountedSplit]) -> tuple[SourceSummary, ...]:
        """Add up the counts of each file and each partition."""
        counts = counts_by_file(splits)
        files = tuple(summarize(source, counts.get(source.name, [])) for source in self.sources)
        names = dict.fromkeys(part.range.name for part in self.parts)
        return files + summarize_topics({name: counts.get(name, []) for name in names})

    def cut_records(self, splits: Iterable[CountedSplit]) -> tuple[CutRecord, ...]:
        """Read the records that rotation cut, on the driver: the only ones that one task cannot see."""
        counts = counts_by_file(splits)
        summaries = [summarize(source, counts.get(source.name, [])) for source in self.sources]
        return tuple(cut_records(self.sources, summaries, own_classifier()))


_NOT_UTF8: Final = "its name is not UTF-8, and tables hold no other: rename it"


def plan_reading(
    paths: Iterable[str | Path | Topics],
    zone: tzinfo | None = None,
    layouts: tuple[Layout, ...] = (),
    period: Period = ALL_TIME,
) -> Reading:
    """Inspect the files and the topics to scan, on the driver; topics are limited to records around the period.

    Raises:
        TopicError: A topic cannot be read.
    """
    parts: list[TopicPart] = []
    lost: list[Unread] = []
    files: list[Path] = []
    for path in paths:
        if isinstance(path, Topics) or is_topic_url(path):
            topics = path if isinstance(path, Topics) else parse_topics(path)
            found, gone = plan_topics(around(topics, period), zone, layouts)
            parts += found
            lost += gone
        else:
            files.append(Path(path))
    sources, unread = plan_scan(files, zone, layouts)
    named = tuple(source for source in sources if _written(source.name) == source.name)
    others = (Unread(_written(one.name), _NOT_UTF8, True) for one in sources if _written(one.name) != one.name)
    missing = (one._replace(name=_written(one.name)) for one in unread)
    return Reading(named, tuple(parts), (*missing, *others, *lost))


def _written(name: str) -> str:
    r"""Return the name of a file as text: bytes that are not UTF-8 as ``\xff``."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def pack_splits(sources: Sequence[SourceFile], split_bytes: int = SPLIT_BYTES) -> tuple[tuple[Split, ...], ...]:
    """Divide large files and group small ones, so that each task reads about ``split_bytes``.

    For large inputs a task reads a few times as much, because a task costs as much as some tens of MB.
    """
    total_bytes = sum(source.size_bytes for source in sources)
    splits = min(max(1, total_bytes // (ENOUGH_TASKS * split_bytes)), MOST_SPLITS)
    task_bytes = splits * (split_bytes + OPEN_COST_BYTES)
    bins: list[tuple[Split, ...]] = []
    current: list[Split] = []
    filled = 0
    for source in sources:
        for split in plan_splits(source, split_bytes):
            cost = (split.end or source.size_bytes) - split.start + min(OPEN_COST_BYTES, split_bytes)
            if current and filled + cost > task_bytes:
                bins.append(tuple(current))
                current, filled = [], 0
            current.append(split)
            filled += cost
    if current:
        bins.append(tuple(current))
    return tuple(bins)


def scan_frame(
    spark: SparkSession,
    sources: Sequence[SourceFile],
    split_bytes: int = SPLIT_BYTES,
    parts: Sequence[TopicPart] = (),
) -> DataFrame:
    """Scan on Spark.

    Args:
        spark: Any session; it is not changed.
        sources: The files to scan; every executor must be able to read them under the same names.
        split_bytes: The number of bytes that a task reads.
        parts: The parts of topics to scan, one per task.

    Returns:
        Rows of ``SCAN_COLUMNS``; line numbers are relative to the start of the split, see ``number_rows``.
    """
    # Only summaries have beginnings, which are five sixths of a file's description.
    bare = [source._replace(beginning="") for source in sources]
    packed = pack_splits(bare, split_bytes)
    of_topics: list[Bin] = [(part,) for part in parts]
    if len(sources) <= FEW_FILES:
        return _scan_from_function(spark, [*packed, *of_topics])
    shapes = shapes_of(packed)
    rows = split_frame(spark, packed, shapes).mapInArrow(_row_scanner(shapes), SCAN_COLUMNS)
    # Parts of topics may hold passwords, which rows would show.
    return rows.unionByName(_scan_from_function(spark, of_topics)) if of_topics else rows


def _scan_from_function(spark: SparkSession, bins: Sequence[Bin]) -> DataFrame:
    """Scan bins that the function of the tasks brings along, so that each task gets all of them."""
    tasks = spark.range(0, len(bins), 1, max(1, len(bins)))
    return tasks.mapInArrow(_scanner_of(bins), SCAN_COLUMNS)


def _row_scanner(shapes: Sequence[Shape]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that Spark runs: it gets splits as rows and scans them."""

    def scan(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _scan_bins((split,) for split in splits_of(batches, shapes))

    return scan


def _scanner_of(bins: Sequence[Bin]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that Spark runs: it gets bin numbers and scans the bins."""

    def scan(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return _scan_bins(bins[number] for batch in batches for number in batch.column(0).to_pylist())

    return scan


def _scan_bins(bins: Iterable[Bin]) -> Iterator[pa.RecordBatch]:
    from spark_log_analytics.workers import collect_rarely, keep_loaded

    collect_rarely()
    clock = TaskClock()
    classifier = own_classifier()
    for part in chain.from_iterable(bins):
        if isinstance(part, Split):
            yield from scan_batches(part.source.name, part.start, scan_split(part, classifier), clock)
        else:
            yield from scan_batches(part.range.name, part.range.start, scan_part(part, classifier), clock)
    keep_loaded()


def collect_counts(rows: DataFrame) -> tuple[CountedSplit, ...]:
    """Collect the counts of a scan's splits on the driver; cache the scan first if the events are needed, too."""
    return counted_splits(collected(rows.where("counts is not null")))


def number_rows(
    rows: DataFrame, splits: Sequence[CountedSplit], name_of: Callable[[str], str] | None = None
) -> DataFrame:
    """Turn line numbers of splits into line numbers of files, and drop the rows of counts.

    ``name_of`` returns the name by which a file is reported; None for the name by which it is read.
    """
    from pyspark.sql import functions as f

    bases = [
        (file, start, base, name_of(file) if name_of else file) for (file, start), base in line_bases(splits).items()
    ]
    known = rows.sparkSession.createDataFrame(bases, "file string, split_start long, base long, shown string")
    numbered = (
        rows.where("counts is null")
        .join(f.broadcast(known), ["file", "split_start"])
        .withColumn("line", f.col("line") + f.col("base"))
    )
    if name_of is not None:
        numbered = numbered.withColumn("file", f.col("shown"))
    return numbered.drop("split_start", "kept_count", "counts", "cost", "base", "shown")


def whole_rows(
    rows: DataFrame,
    reading: Reading,
    splits: Sequence[CountedSplit],
    name_of: Callable[[str], str] | None = None,
    stored_cuts: Sequence[CutRecord] = (),
) -> DataFrame:
    """Number the rows of a scan, and read the records that rotation cut in two as one.

    ``name_of`` returns the name by which a file is reported; None for the name by which it is read. ``stored_cuts`` are
    such records of logs that only Spark reads.
    """
    numbered = number_rows(rows, splits, name_of)
    cuts = (*reading.cut_records(splits), *stored_cuts)
    return _joined(numbered, cuts, name_of or str) if cuts else numbered


def _joined(events: DataFrame, cuts: Sequence[CutRecord], name_of: Callable[[str], str]) -> DataFrame:
    """Return events with those of records that rotation cut read as a whole."""
    from pyspark.sql import functions as f

    ends = [(name_of(cut.older), cut.offset) for cut in cuts]
    heads = [(name_of(cut.newer), cut.rest_bytes) for cut in cuts]
    spark = events.sparkSession
    kept = (
        events.join(f.broadcast(spark.createDataFrame(ends, "file string, end_offset long")), "file", "left")
        .join(f.broadcast(spark.createDataFrame(heads, "file string, head_bytes long")), "file", "left")
        .where("end_offset is null or offset < end_offset")
        .where("head_bytes is null or offset >= head_bytes")
        .drop("end_offset", "head_bytes")
    )
    whole = [event._replace(file=name_of(cut.older)) for cut in cuts for event in cut.events]
    if not whole:
        return kept
    # Not from an Arrow table, which Spark before 4.0 does not take.
    return kept.unionByName(spark.createDataFrame([tuple(event) for event in whole], EVENT_COLUMNS))


def in_one_task(events: DataFrame) -> DataFrame:
    """Cache a few events in one part: what is computed of them then takes one task, and no shuffle between two."""
    return events.coalesce(1).persist()


def into_files(events: DataFrame, event_count: int) -> DataFrame:
    """Group events into parts that are large enough for a file: a file costs as much as thousands of events."""
    files = max(min(MOST_SMALL_FILES, -(-event_count // SMALL_FILE_EVENTS)), -(-event_count // FILE_EVENTS), 1)
    return events.coalesce(files)


def collect_scan(reading: Reading, batches: Iterable[pa.RecordBatch]) -> LogScan:
    """Return the scan of an input from the batches of its frame."""
    import pyarrow.compute as pc

    events: list[LogEvent] = []
    starts: list[int] = []
    counts: list[Mapping[str, Any]] = []
    for batch in batches:
        is_event = pc.is_null(batch.column("counts"))
        own = batch.filter(is_event)
        events += events_of(own)
        starts += own.column("split_start").to_pylist()
        counts += batch.filter(pc.invert(is_event)).to_pylist()
    splits = counted_splits(counts)
    bases = line_bases(splits)
    names = (*(source.name for source in reading.sources), *(part.range.name for part in reading.parts))
    place = {name: number for number, name in enumerate(dict.fromkeys(names))}
    for number, (event, start) in enumerate(zip(events, starts, strict=True)):
        events[number] = event._replace(line=event.line + bases[event.file, start])
    events.sort(key=lambda event: (place[event.file], event.offset))
    by_file: dict[str, Sequence[LogEvent]] = dict.fromkeys(place, ())
    by_file |= {file: tuple(own) for file, own in groupby(events, key=lambda event: event.file)}
    joined = join_cut_records(by_file, reading.cut_records(splits))
    return LogScan(tuple(chain(*joined.values())), reading.summarize(splits), reading.unread)


def in_period(rows: DataFrame, period: Period, start: str = "time_ms", end: str = "time_ms") -> DataFrame:
    """Keep the rows within a period, and those without a time; ``start`` and ``end`` are the time columns."""
    from pyspark.sql import functions as f

    if period.from_ms is not None:
        rows = rows.where(f.col(end).isNull() | (f.col(end) >= period.from_ms))
    if period.until_ms is not None:
        rows = rows.where(f.col(start).isNull() | (f.col(start) < period.until_ms))
    return rows


def exception_timeline(events: DataFrame) -> DataFrame:
    """Count exceptions by minute, class, root class, application, and host."""
    from pyspark.sql import functions as f

    return (
        events.where("exception is not null")
        .groupBy(
            (f.floor(f.col("time_ms") / 60_000) * 60_000).alias("minute_ms"),
            f.col("exception.class_name").alias("class_name"),
            f.col("exception.root_class").alias("root_class"),
            "application",
            "host",
        )
        .agg(f.count("*").alias("event_count"))
        .orderBy("minute_ms", "class_name", "root_class", "application", "host")
    )


def new_failures(events: DataFrame, baseline: DataFrame) -> DataFrame:
    """Return the exceptions with a fingerprint that the baseline lacks, with their count and first time."""
    from pyspark.sql import functions as f

    known = (
        baseline.where("exception is not null").select(f.col("exception.fingerprint").alias("fingerprint")).distinct()
    )
    return (
        events.where("exception is not null")
        .groupBy(f.col("exception.fingerprint").alias("fingerprint"), f.col("exception.root_class").alias("root_class"))
        .agg(f.count("*").alias("event_count"), f.min("time_ms").alias("first_ms"))
        .join(known, "fingerprint", "left_anti")
        .orderBy("first_ms")
    )
