"""Give each slice of the logs' time the events that it needs, and judge the slices in parallel.

Every step reads its events as a stream of batches; only the last one holds the events of one slice at a time.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from eosctl.logs.arrays import array_of
from eosctl.logs.incidents.logs import ProgramLogs
from eosctl.logs.incidents.sliced import SliceVerdict, judge_slice, slices_with
from eosctl.logs.incidents.slices import BUCKET_MS, Key, LogStarts, Sample, TimeSlice, keys_of
from eosctl.model.log_event import LogEvent, SourceSummary
from spark_log_analytics.rows import EVENT_COLUMNS, arrow_schema, event_batch, events_of
from spark_log_analytics.workers import collect_rarely

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

BATCH_EVENTS: Final = 4096
SAMPLED_EVENTS: Final = 256
"""Number of events of a key that a task collects before it drops those that no slice needs."""
_SLICED: Final = f"{EVENT_COLUMNS}, slice long"
_SAMPLED: Final = f"{EVENT_COLUMNS}, key string"

Batches = Iterator["pa.RecordBatch"]


class TimeCounts(NamedTuple):
    """The number of events by the number of their minute, and of those without a time."""

    by_bucket: dict[int, int]
    untimed_count: int


class JudgedSlice(NamedTuple):
    """A slice's verdict and its cost: the events that it got, its processor time, and its worker's most memory."""

    verdict: SliceVerdict
    event_count: int
    cpu_s: float
    peak_mb: float


def count_by_time(events: DataFrame) -> TimeCounts:
    """Count events by the minute, on Spark."""
    from pyspark.sql import functions as f

    rows = events.groupBy(f.floor(f.col("time_ms") / BUCKET_MS).alias("bucket")).count().collect()
    untimed = sum(row["count"] for row in rows if row["bucket"] is None)
    return TimeCounts({row["bucket"]: row["count"] for row in rows if row["bucket"] is not None}, untimed)


def timed_frame(events: DataFrame, sources: Sequence[SourceSummary]) -> DataFrame:
    """Give events without a time that of the record before or after them in their file, as ``timed`` does."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    starts = [(one.file, one.first_ms or one.modified_ms or None) for one in sources]
    known = events.sparkSession.createDataFrame(starts, "file string, start_ms long")
    in_file = Window.partitionBy("file").orderBy("offset")
    before = f.last("time_ms", ignorenulls=True).over(in_file.rowsBetween(Window.unboundedPreceding, 0))
    after = f.first("time_ms", ignorenulls=True).over(in_file.rowsBetween(0, Window.unboundedFollowing))
    files = events.where("time_ms is null").select("file").distinct()
    filled = (
        events.join(files, "file", "left_semi")
        .join(f.broadcast(known), "file", "left")
        .withColumn("own_ms", f.col("time_ms"))
        .withColumn("time_ms", f.coalesce(before, after, f.col("start_ms")))
        .withColumn("time_assumed", f.col("time_assumed") | f.col("own_ms").isNull())
        .where("time_ms is not null")
    )
    return events.join(files, "file", "left_anti").unionByName(filled.select(*events.columns))


def slice_frame(events: DataFrame, sources: Sequence[SourceSummary], slices: Sequence[TimeSlice]) -> DataFrame:
    """Return the events that each slice needs, once for each slice, with its number in the column ``slice``.

    An event may come twice for the same slice.

    Args:
        events: Events with times; rows with ``EVENT_COLUMNS``.
        sources: The summaries of their files.
        slices: The slices, in order.
    """
    plain = [source._replace(beginning="") for source in sources]
    events = events.select(*arrow_schema(with_counts=False).names)
    sampled = (
        events.mapInArrow(_sampler(plain, slices), _SAMPLED)
        .repartition("key")
        .sortWithinPartitions("key", "time_ms", "file", "offset")
        .mapInArrow(_chooser(slices), _SLICED)
    )
    return events.mapInArrow(_divider(plain, slices), _SLICED).unionByName(sampled)


def _divider(sources: Sequence[SourceSummary], slices: Sequence[TimeSlice]) -> Callable[[Batches], Batches]:
    """Return the function that repeats each event for the slices whose windows have it."""

    def divide(batches: Batches) -> Batches:
        import pyarrow as pa

        collect_rarely()
        starts = LogStarts(sources)
        for batch in batches:
            rows: list[int] = []
            numbers: list[int] = []
            for row, event in enumerate(events_of(batch)):
                for number in slices_with(event, slices, starts):
                    rows.append(row)
                    numbers.append(number)
            taken = batch.take(array_of(rows, pa.int64()))
            yield pa.RecordBatch.from_arrays(
                [*taken.columns, array_of(numbers, pa.int64())], names=[*batch.schema.names, "slice"]
            )

    return divide


def _sampler(sources: Sequence[SourceSummary], slices: Sequence[TimeSlice]) -> Callable[[Batches], Batches]:
    """Return the function that keeps the events of each key that any slice may need, as far as a task sees them."""

    def sample(batches: Batches) -> Batches:
        import pyarrow as pa

        collect_rarely()
        logs = ProgramLogs((), sources)
        kept: dict[Key, list[LogEvent]] = {}
        limits: dict[Key, int] = {}
        for batch in batches:
            for event in events_of(batch):
                for key in keys_of(event, logs.of_file(event.file)):
                    own = kept.setdefault(key, [])
                    own.append(event)
                    if len(own) > limits.get(key, SAMPLED_EVENTS):
                        own[:] = _reduced(key, own, slices)
                        limits[key] = 2 * len(own) + SAMPLED_EVENTS
        chosen = ((event, _text_of(key)) for key, own in kept.items() for event in _reduced(key, own, slices))
        yield from _labeled(chosen, "key", pa.string())

    return sample


def _reduced(key: Key, events: Iterable[LogEvent], slices: Sequence[TimeSlice]) -> list[LogEvent]:
    return list(Sample(key, slices).reduce(sorted(events, key=_place)))


def _place(event: LogEvent) -> tuple[int, str, int]:
    return event.time_ms or 0, event.file, event.offset


def _text_of(key: Key) -> str:
    """Return a key as a short text; only its first two parts matter for what is kept of its events."""
    rest = blake2b("\0".join(key).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f"{key[0]}\0{key[1]}\0{rest}"


def _labeled(events: Iterable[tuple[LogEvent, object]], name: str, kind: pa.DataType) -> Batches:
    """Yield batches of events with one more column."""
    import pyarrow as pa

    rest = iter(events)
    while pairs := list(islice(rest, BATCH_EVENTS)):
        batch = event_batch([event for event, _ in pairs])
        labels = array_of([label for _, label in pairs], kind)
        yield pa.RecordBatch.from_arrays([*batch.columns, labels], names=[*batch.schema.names, name])


def _chooser(slices: Sequence[TimeSlice]) -> Callable[[Batches], Batches]:
    """Return the function that repeats the samples for the slices that need them; keys come one after the other."""

    def choose(batches: Batches) -> Batches:
        import pyarrow as pa

        collect_rarely()
        yield from _labeled(_chosen(batches, slices), "slice", pa.int64())

    return choose


def _chosen(batches: Batches, slices: Sequence[TimeSlice]) -> Iterator[tuple[LogEvent, int]]:
    for key, pairs in groupby(_labels(batches, "key"), key=itemgetter(0)):
        sample = Sample(tuple(key.split("\0")), slices)
        events = tuple(sample.reduce([event for _, event in pairs]))
        for number in range(len(slices)):
            for event in sample.of_slice(number, events):
                yield event, number


def _labels(batches: Batches, name: str) -> Iterator[tuple[Any, LogEvent]]:
    for batch in batches:
        yield from zip(batch.column(name).to_pylist(), events_of(batch), strict=True)


def judge_each(
    batches: Batches, sources: Sequence[SourceSummary], slices: Sequence[TimeSlice]
) -> Iterator[tuple[int, JudgedSlice]]:
    """Judge the slices of a partition whose rows are sorted by slice; yield each with its number."""
    for number, pairs in groupby(_labels(batches, "slice"), key=itemgetter(0)):
        began = time.process_time()
        # The same event may come as a sample, too.
        events = {(event.file, event.offset): event for _, event in pairs}
        verdict = judge_slice(tuple(events.values()), sources, slices[number])
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield number, JudgedSlice(verdict, len(events), time.process_time() - began, peak_mb)
