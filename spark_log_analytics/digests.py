"""Compute the digest of a report from the rows of a scan on Spark, with the values of ``eosctl.analysis``.

Spark counts templates and bursts where the rows are. Comparisons of events exist only in ``eosctl.analysis``, which
gets the columns and categories that it needs in one task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from eosctl.logs.arrays import array_of, batch_of_rows
from eosctl.logs.digest.bursts import MIN_EVENT_COUNT, MIN_FACTOR, SESSION_GAP_MS
from eosctl.logs.digest.clocks import compare_clocks
from eosctl.logs.digest.pauses import TIMEOUTS, weigh_pauses
from eosctl.logs.digest.precursors import CAUSES, FAILURES, rank_precursors
from eosctl.logs.digest.templates import template_of
from eosctl.model.log_digest import ClockOffset, PauseOutlook, Precursor
from eosctl.model.log_event import LogEvent
from spark_log_analytics.rows import event_of, is_problem_row

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

TEMPLATE_COLUMNS: Final = (
    "text string, category string, root_class string, event_count long, first_ms long, applications array<string>, "
    "file string, offset long"
)
BURST_COLUMNS: Final = (
    "application string, category string, start_ms long, end_ms long, event_count long, factor double"
)
PRECURSOR_COLUMNS: Final = (
    "failure string, cause string, failure_count long, preceded_count long, expected_share double, lift double, "
    "typical_lag_ms long, score double, unexplained_count long"
)
PAUSE_COLUMNS: Final = (
    "application string, pause_count long, total_ms double, longest_ms double, longest_at_ms long, nearest string, "
    "nearest_ms long"
)
CLOCK_COLUMNS: Final = "application string, offset_ms long, pair_count long"
LIFE_COLUMNS: Final = (
    "transactional_id string, first_ms long, last_ms long, initialized_count long, producer_ids array<string>, "
    "fenced_count long, timed_out_count long, aborted_count long, applications array<string>"
)
SUSPECT_COLUMNS: Final = "partition string, first_ms long, last_ms long, event_count long, categories array<string>"

_REFUSALS: Final = ("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH")
_OPEN_ENDED: Final = ("HANGING_TXN_HINT", "OPEN_TRANSACTION", "READER_STUCK", "TXN_MARKER_RETRY")
"""Categories of records about a transaction that does not end."""


def templates(events: DataFrame) -> DataFrame:
    """Count warnings, errors, and throwables by template: rows of ``TEMPLATE_COLUMNS``, the most frequent first."""
    from pyspark.sql import functions as f

    loud = _with_template(events.where(is_problem_row()))
    place = f.min(f.struct("file", "offset"))
    counted = loud.groupBy("text", "category", "root_class").agg(
        f.count("*").alias("event_count"),
        f.min("time_ms").alias("first_ms"),
        f.array_sort(f.collect_set("application")).alias("applications"),
        place.alias("place"),
    )
    columns = [column for column in counted.columns if column != "place"]
    ordered = counted.select(*columns, "place.file", "place.offset")
    return ordered.orderBy(f.desc("event_count"), "text", "category")


def ranked_templates(events: DataFrame, baseline: DataFrame | None, most: int) -> DataFrame:
    """Return the templates with ``is_new``, new ones first, then by frequency; null without a baseline."""
    from pyspark.sql import functions as f

    keys = ["text", "category", "root_class"]
    found = templates(events)
    if baseline is None:
        return found.limit(most).withColumn("is_new", f.lit(None).cast("boolean"))
    known = _with_template(baseline).select(*keys).distinct().withColumn("is_known", f.lit(True))
    flagged = found.join(known, keys, "left").withColumn("is_new", f.col("is_known").isNull()).drop("is_known")
    return flagged.orderBy(f.desc("is_new"), f.desc("event_count"), "text", "category").limit(most)


def new_templates(events: DataFrame, baseline: DataFrame) -> DataFrame:
    """Return the templates that a baseline, the events of a healthy period, does not have."""
    keys = ["text", "category", "root_class"]
    return templates(events).join(_with_template(baseline).select(*keys).distinct(), keys, "left_anti")


def bursts(events: DataFrame, gap_ms: int = SESSION_GAP_MS, min_count: int = MIN_EVENT_COUNT) -> DataFrame:
    """Find sessions that are denser than the rest: rows of ``BURST_COLUMNS``, the largest first."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    timed = events.where("time_ms is not null")
    span = timed.agg((f.max("time_ms") - f.min("time_ms") + 1).alias("span_ms"))
    loud = timed.where(is_problem_row())
    who = ["application", "category"]
    in_order = Window.partitionBy(*who).orderBy("time_ms")
    begins = f.col("time_ms") - f.lag("time_ms").over(in_order) > gap_ms
    marked = loud.select(*who, "time_ms", f.when(begins, 1).otherwise(0).alias("begins"))
    numbered = marked.withColumn(
        "session", f.sum("begins").over(in_order.rangeBetween(Window.unboundedPreceding, Window.currentRow))
    )
    sessions = numbered.groupBy(*who, "session").agg(
        f.min("time_ms").alias("start_ms"), f.max("time_ms").alias("end_ms"), f.count("*").alias("event_count")
    )
    totals = loud.groupBy(*who).agg(f.count("*").alias("total"))
    length_ms = f.greatest(f.lit(1_000), f.col("end_ms") - f.col("start_ms") + 1)
    factor = (f.col("event_count") / length_ms) / (f.col("total") / f.col("span_ms"))
    joined = sessions.where(f.col("event_count") >= min_count).join(totals, who).crossJoin(f.broadcast(span))
    found = joined.select(*who, "start_ms", "end_ms", "event_count", factor.alias("factor"))
    return found.where(f.col("factor") >= MIN_FACTOR).orderBy(
        f.desc("event_count"), "start_ms", "application", "category"
    )


def precursors(events: DataFrame) -> DataFrame:
    """Rank the records before failures: coordinator moves, rebalances, pauses, and similar before aborts and fencings.

    Returns:
        Rows of ``PRECURSOR_COLUMNS``; a row without a cause counts the failures without a precursor.
    """

    def rank(found: list[LogEvent]) -> Iterator[dict[str, Any]]:
        ranked = rank_precursors(found)
        yield from map(_plain, ranked.pairs)
        for left in ranked.unexplained:
            yield {
                "failure": left.failure,
                "failure_count": left.failure_count,
                "unexplained_count": left.unexplained_count,
            }

    # The first and the last event of any category give the time span of the logs.
    return _weighed(events, _of_categories(*(FAILURES | CAUSES)), rank, PRECURSOR_COLUMNS, with_span=True)


def pauses(events: DataFrame) -> DataFrame:
    """Compare pauses of garbage collection with the shortest timeout that clients log: rows of ``PAUSE_COLUMNS``."""
    from pyspark.sql import functions as f

    wanted = _of_categories("GC_PAUSE")
    for field, _ in TIMEOUTS:
        wanted = wanted | f.col("fields")[field].isNotNull()

    def weigh(found: list[LogEvent]) -> Iterator[dict[str, Any]]:
        yield from map(_plain, weigh_pauses(found))

    return _weighed(events, wanted, weigh, PAUSE_COLUMNS)


def clocks(events: DataFrame) -> DataFrame:
    """Compare the clocks of applications with the coordinators': rows of ``CLOCK_COLUMNS``."""

    def compare(found: list[LogEvent]) -> Iterator[dict[str, Any]]:
        yield from map(_plain, compare_clocks(found))

    return _weighed(events, _of_categories("INIT_PRODUCER_ID"), compare, CLOCK_COLUMNS)


def lives(events: DataFrame) -> DataFrame:
    """Summarize the history of each transactional id: rows of ``LIFE_COLUMNS``, ordered by id."""
    from pyspark.sql import functions as f

    def count_of(*categories: str) -> Column:
        return f.count(f.when(f.col("category").isin(*categories), 1))

    # Only the coordinator's record counts as an initialization, because the client repeats it.
    initialized = (f.col("category") == "INIT_PRODUCER_ID") & f.col("fields")["coordinator_partition"].isNotNull()
    return _summed_up(
        events,
        "transactional_id",
        f.count(f.when(initialized, 1)).alias("initialized_count"),
        f.array_sort(f.collect_set(f.col("fields")["producer_id"])).alias("producer_ids"),
        count_of(*_REFUSALS).alias("fenced_count"),
        count_of("TXN_TIMEOUT_ABORT").alias("timed_out_count"),
        count_of("TXN_ABORT_CLIENT").alias("aborted_count"),
        f.array_sort(f.collect_set("application")).alias("applications"),
    ).orderBy("transactional_id")


def hanging_suspects(events: DataFrame) -> DataFrame:
    """Return the partitions with signs of a transaction that does not end: rows of ``SUSPECT_COLUMNS``, longest first.

    The incidents judge whether a transaction hangs; these rows show the candidates and the duration of the signs.
    """
    from pyspark.sql import functions as f

    return _summed_up(
        events.where(f.col("category").isin(*_OPEN_ENDED) & f.col("time_ms").isNotNull()),
        "partition",
        f.count("*").alias("event_count"),
        f.array_sort(f.collect_set("category")).alias("categories"),
    ).orderBy(f.desc(f.col("last_ms") - f.col("first_ms")), "partition")


def _summed_up(events: DataFrame, field: str, *sums: Column) -> DataFrame:
    """Summarize events by one of their fields, from its first appearance to the last."""
    from pyspark.sql import functions as f

    named = events.withColumn(field, f.col("fields")[field]).where(f.col(field).isNotNull())
    return named.groupBy(field).agg(f.min("time_ms").alias("first_ms"), f.max("time_ms").alias("last_ms"), *sums)


def _plain(one: Precursor | PauseOutlook | ClockOffset) -> dict[str, Any]:
    return {name: getattr(one, name) for name in one.__slots__}


def _with_template(events: DataFrame) -> DataFrame:
    """Add ``text``, the message without its values, and ``root_class``, empty without a throwable."""
    from pyspark.sql import functions as f

    root = f.coalesce(f.col("exception.root_class"), f.lit("")).alias("root_class")
    columns = ("category", "time_ms", "application", "file", "offset", "message")
    rows = events.select(*columns, root)

    def blur(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            texts = array_of([template_of(text) for text in batch.column("message").to_pylist()], pa.string())
            parts = [texts if name == "message" else batch.column(name) for name in batch.schema.names]
            yield pa.RecordBatch.from_arrays(parts, names)

    places = "category string, time_ms long, application string, file string, offset long"
    names = [*columns[:-1], "text", "root_class"]
    return rows.mapInArrow(blur, f"{places}, text string, root_class string")


def _of_categories(*categories: str) -> Column:
    from pyspark.sql import functions as f

    return f.col("category").isin(*sorted(categories))


def _weighed(
    events: DataFrame,
    wanted: Column,
    weigh: Callable[[list[LogEvent]], Iterator[dict[str, Any]]],
    columns: str,
    *,
    with_span: bool = False,
) -> DataFrame:
    """Collect the relevant events in one task, and compare them there."""
    from pyspark.sql import functions as f

    kept = events.where(wanted)
    if with_span:
        edges = events.agg(f.min("time_ms").alias("first_ms"), f.max("time_ms").alias("last_ms"))
        at_edge = (f.col("time_ms") == f.col("first_ms")) | (f.col("time_ms") == f.col("last_ms"))
        kept = events.crossJoin(f.broadcast(edges)).where(wanted | at_edge).drop("first_ms", "last_ms")
    names = [column.split()[0] for column in columns.split(", ")]
    # Not coalesce, which would also run the scan before it in one task.
    ordered = kept.repartition(1).sortWithinPartitions("file", "offset")

    def weigh_all(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found = [event_of({**row, "fields": dict(row["fields"])}) for batch in batches for row in batch.to_pylist()]
        rows = [{name: row.get(name) for name in names} for row in weigh(found)]
        if rows:
            yield batch_of_rows(rows, _arrow_schema(columns))

    return ordered.mapInArrow(weigh_all, columns)


def _arrow_schema(columns: str) -> pa.Schema:
    import pyarrow as pa

    kinds = {"string": pa.string(), "long": pa.int64(), "double": pa.float64()}
    return pa.schema([(name, kinds[kind]) for name, kind in (column.split() for column in columns.split(", "))])
