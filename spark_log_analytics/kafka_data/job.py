"""Read Kafka's files on Spark: each task reads whole partitions, and their facts are added up.

Executors need pyarrow, and the compiled packages that ``environment.py`` packs.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from eosctl.model.kafka_data import DataSummary, DuplicateKey, KeyUse
from spark_log_analytics.kafka_data.plan import Plan
from spark_log_analytics.kafka_data.rows import columns, fact_batches, fact_of
from spark_log_analytics.kafka_data.summary import KEPT, Summarizer

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

OPEN_COST_BYTES: Final = 1024 * 1024
"""The cost of a partition in addition to its bytes, so that empty ones are distributed, too."""


def share_out(plan: Plan, task_count: int) -> tuple[tuple[Path, ...], ...]:
    """Assign partitions to tasks of about equal size; the largest ones first, each to the smallest task."""
    tasks: list[tuple[int, int, list[Path]]] = [(0, number, []) for number in range(max(1, task_count))]
    for size, directory in sorted(zip(plan.size_bytes, plan.directories, strict=True), reverse=True):
        filled, number, directories = heapq.heappop(tasks)
        directories.append(directory)
        heapq.heappush(tasks, (filled + size + OPEN_COST_BYTES, number, directories))
    return tuple(tuple(directories) for _, _, directories in sorted(tasks, key=lambda task: task[1]) if directories)


def facts_frame(spark: SparkSession, plan: Plan, business_key: str | None = None, tasks_per_core: int = 3) -> DataFrame:
    """Read the partitions of a plan.

    Args:
        spark: Any session; it is not changed.
        plan: The partitions; the directories must have the same names on every executor.
        business_key: The expression for the business key, see ``business_key``; None to skip business keys.
        tasks_per_core: The number of tasks per core, so that one large partition does not hold up the others.

    Returns:
        Rows of ``rows.columns()``.
    """
    shares = share_out(plan, min(len(plan.directories), _core_count(spark) * tasks_per_core))
    tasks = spark.range(0, len(shares), 1, max(1, len(shares)))
    return tasks.mapInArrow(_reader_of(shares, business_key), columns())


def _core_count(spark: SparkSession) -> int:
    """Return the number of tasks that run in parallel; a default for Spark Connect, which does not report it."""
    try:
        return max(1, int(spark.sparkContext.defaultParallelism))
    except AttributeError:
        return 8


def _reader_of(shares: Sequence[Sequence[Path]], business_key: str | None) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that Spark runs: it gets share numbers and reads their partitions."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from spark_log_analytics.kafka_data.environment import enter_environment

        enter_environment()
        from spark_log_analytics.kafka_data.business_key import parse_business_key
        from spark_log_analytics.kafka_data.partition import read_partition

        key_of = None if business_key is None else parse_business_key(business_key)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for directory in shares[number]:
                    yield from fact_batches(read_partition(directory, key_of))

    return read


def summarize_frame(facts: DataFrame, plan: Plan, *, with_keys: bool) -> DataSummary:
    """Add up the facts of the partitions; persist ``facts``, because it is read several times.

    Set ``with_keys`` if business keys were read.
    """
    from pyspark.sql import functions as f

    summarizer = Summarizer()
    for damage in plan.unreadable:
        summarizer.add(damage)
    ended = f.col("partition_transaction.fate").isin("committed", "aborted") | f.col(
        "coordinated_transaction.fate"
    ).isin("committed", "aborted")
    for row in facts.where("key_use is null").where(~f.coalesce(ended, f.lit(False))).collect():
        summarizer.add(fact_of(row.asDict(recursive=True)))
    if not with_keys:
        return summarizer.finish()
    duplicates = duplicate_keys(facts).persist()
    try:
        count = duplicates.count()
        most = duplicates.orderBy(f.desc("record_count"), "topic", "key").limit(KEPT).collect()
    finally:
        duplicates.unpersist()
    return summarizer.finish(
        (
            DuplicateKey(
                row.topic, row.key, row.record_count, KeyUse(**row.first.asDict()), KeyUse(**row.last.asDict())
            )
            for row in most
        ),
        count,
    )


def duplicate_keys(facts: DataFrame) -> DataFrame:
    """Return the business keys that readers of committed data get more than once, with the first and last record."""
    from pyspark.sql import functions as f

    place = f.struct("timestamp_ms", "partition", "offset")
    return (
        facts.where("key_use is not null")
        .select("key_use.*", f.col("key_use").alias("use"))
        .groupBy("topic", "digest")
        .agg(
            f.count("*").alias("record_count"),
            f.min_by("use", place).alias("first"),
            f.max_by("use", place).alias("last"),
        )
        .where("record_count > 1")
        .select("topic", f.col("first.key").alias("key"), "record_count", "first", "last")
    )
