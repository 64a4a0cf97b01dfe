"""Count exceptions on Spark: each task adds up its splits, so that only a few rows are transferred."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from eosctl.logs.arrays import batch_of_rows
from eosctl.logs.files.sources import SourceFile
from eosctl.logs.scan import SPLIT_BYTES
from eosctl.logs.tally import Split
from eosctl.logs.traces import count_exceptions, merge_counts
from eosctl.model.log_findings import ExceptionCount, ExceptionKey
from spark_log_analytics.job import pack_splits

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

COUNT_COLUMNS: Final = (
    "minute_ms long, class_name string, root_class string, application string, host string, event_count long, "
    "file string, offset long, error string"
)
"""The columns of partial counts; a row with an error is a file that could not be read to its end."""


def exceptions_frame(spark: SparkSession, sources: Sequence[SourceFile], split_bytes: int = SPLIT_BYTES) -> DataFrame:
    """Count exceptions by minute, classes, application, and host.

    Args:
        spark: Any session; it is not changed.
        sources: The files to scan; every executor must be able to read them under the same names.
        split_bytes: The number of bytes that a task reads.

    Returns:
        Rows of ``COUNT_COLUMNS`` with partial counts: one for each split and key.
    """
    bins = pack_splits(sources, split_bytes)
    tasks = spark.range(0, len(bins), 1, max(1, len(bins)))
    return tasks.mapInArrow(_counter_of(bins), COUNT_COLUMNS)


def exceptions_on_spark(
    spark: SparkSession, sources: Sequence[SourceFile], split_bytes: int = SPLIT_BYTES
) -> tuple[tuple[ExceptionCount, ...], dict[str, str]]:
    """Count on Spark, and collect the result on the driver.

    Returns:
        The counts, and the errors of files that could not be read to their end.
    """
    rows = exceptions_frame(spark, sources, split_bytes).collect()
    counts = [
        ExceptionCount(
            ExceptionKey(row.minute_ms, row.class_name, row.root_class, row.application, row.host),
            row.event_count,
            row.file,
            row.offset,
        )
        for row in rows
        if row.event_count
    ]
    return merge_counts(counts), {row.file: row.error for row in rows if row.error}


def _counter_of(bins: Sequence[Sequence[Split]]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that Spark runs: it gets bin numbers and counts in the bins."""

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from spark_log_analytics.workers import collect_rarely, keep_loaded

        collect_rarely()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _batch(bins[number])
        keep_loaded()

    return count


def _batch(splits: Sequence[Split]) -> pa.RecordBatch:
    import pyarrow as pa

    text, number = pa.string(), pa.int64()
    schema = pa.schema(
        [
            *(("minute_ms", number), ("class_name", text), ("root_class", text), ("application", text), ("host", text)),
            *(("event_count", number), ("file", text), ("offset", number), ("error", text)),
        ]
    )
    rows: list[dict[str, Any]] = []
    for split in splits:
        found = count_exceptions(split)
        rows += [
            {**one.key._asdict(), "event_count": one.event_count, "file": one.file, "offset": one.offset}
            for one in found.counts
        ]
        if found.error:
            rows.append({"file": split.source.name, "event_count": 0, "error": found.error})
    return batch_of_rows(rows, schema)
