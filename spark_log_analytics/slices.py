"""Give each slice of the logs' time the events that it needs, and judge the slices in parallel.

One pass over the events packs them for the slices, and chooses samples. What is packed passes through Spark unopened;
only the task that judges a slice holds its events.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from eosctl.logs.arrays import array_of
from eosctl.logs.incidents.slicing.samples import outside
from eosctl.logs.incidents.slicing.sliced import SliceVerdict, judge_slice
from eosctl.logs.incidents.slicing.slices import BUCKET_MS, WHOLE, TimeSlice
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.period import Period
from spark_log_analytics.dividing import divide_batches, packed_row
from spark_log_analytics.packed_sources import PackedSources
from spark_log_analytics.packing import PACKED_ROWS, pack, unpack
from spark_log_analytics.rows import arrow_schema, events_of
from spark_log_analytics.workers import collect_rarely

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_DIVIDED: Final = "part long, slice long, packed binary"

Batches = Iterator["pa.RecordBatch"]
Value = TypeVar("Value")


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
    """Give events without a time that of the nearest record in their file, as ``timed`` does."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    starts = [(one.file, one.first_ms or one.modified_ms or None) for one in sources]
    known = events.sparkSession.createDataFrame(starts, "file string, start_ms long")
    in_file = Window.partitionBy("file").orderBy("offset")
    preceding = in_file.rowsBetween(Window.unboundedPreceding, 0)
    following = in_file.rowsBetween(0, Window.unboundedFollowing)
    dated = f.when(f.col("time_ms").isNotNull(), f.col("line"))
    before, after = f.last("time_ms", ignorenulls=True), f.first("time_ms", ignorenulls=True)
    to_before = f.col("line") - f.last(dated, ignorenulls=True).over(preceding)
    to_after = f.first(dated, ignorenulls=True).over(following) - f.col("line")
    nearest = (
        f.when(to_before < to_after, before.over(preceding))
        .when(to_before > to_after, after.over(following))
        .otherwise(f.least(before.over(preceding), after.over(following)))
    )
    files = events.where("time_ms is null").select("file").distinct()
    filled = (
        events.join(files, "file", "left_semi")
        .join(f.broadcast(known), "file", "left")
        .withColumn("own_ms", f.col("time_ms"))
        .withColumn("time_ms", f.coalesce(nearest, f.col("start_ms")))
        .withColumn("time_assumed", f.col("time_assumed") | f.col("own_ms").isNull())
        .where("time_ms is not null")
    )
    return events.join(files, "file", "left_anti").unionByName(filled.select(*events.columns))


class Divided(NamedTuple):
    """Events divided into slices, and the slices, in order.

    Attributes:
        frame: The cached frame, with packed events by the number of their ``slice``, and samples without one. To be
            unpersisted when no rows are needed any more.
        slices: The slices.
    """

    frame: DataFrame
    slices: tuple[TimeSlice, ...]

    def rows_of(self, slices: Sequence[TimeSlice]) -> DataFrame:
        """Return rows with the number of a ``slice``, and with events that it needs, ``packed``.

        An event may come twice for the same slice.

        Args:
            slices: Each is one of the divided slices, or several next to each other joined. What such a slice needs is
                what its parts need; samples are chosen anew.
        """
        from pyspark.sql import functions as f

        numbers = [
            (old, new)
            for old, part in enumerate(self.slices)
            for new, one in enumerate(slices)
            if one.start_ms <= part.start_ms and part.end_ms <= one.end_ms
        ]
        known = self.frame.sparkSession.createDataFrame(numbers, "slice long, number long")
        # Both branches read the frame, so it was computed once.
        owned = self.frame.join(f.broadcast(known), "slice").select("part", f.col("number").alias("slice"), "packed")
        open_ones = self.frame.where("slice is null").repartition(len(slices), "part")
        return owned.unionByName(open_ones.mapInArrow(_chooser(slices), _DIVIDED)).drop("part")


def divide(events: DataFrame, sources: Sequence[SourceSummary], slices: Sequence[TimeSlice]) -> Divided:
    """Divide events into slices.

    Args:
        events: Events with times; rows with ``EVENT_COLUMNS``.
        sources: The summaries of their files.
        slices: The slices, in order.
    """
    from pyspark import StorageLevel

    plain = PackedSources([source._replace(beginning="") for source in sources])
    events = events.select(*arrow_schema(with_counts=False).names)
    # It takes as much space as what Spark writes for a shuffle.
    frame = events.mapInArrow(_divider(plain, slices), _DIVIDED).persist(StorageLevel.DISK_ONLY)
    return Divided(frame, tuple(slices))


def _divider(packed: PackedSources, slices: Sequence[TimeSlice]) -> Callable[[Batches], Batches]:
    """Return the function that packs the events of a task for slices."""

    def pack_events(batches: Batches) -> Batches:
        return divide_batches(batches, packed.unpack(), slices)

    return pack_events


def _chooser(slices: Sequence[TimeSlice]) -> Callable[[Batches], Batches]:
    """Return the function that packs for each slice the samples that it needs; all samples of a key are in one task."""

    def choose(batches: Batches) -> Batches:
        import pyarrow as pa

        collect_rarely()
        kept = [one for batch in batches for packed in batch.column("packed") for one in unpack(packed.as_buffer())]
        if not kept:
            return
        table = pa.Table.from_batches(kept)
        keys = table.column("key").to_pylist()
        moments = list(zip(*(table.column(name).to_pylist() for name in ("time_ms", "file", "offset")), strict=True))
        chosen: list[list[int]] = [[] for _ in slices]
        in_order = sorted(range(len(keys)), key=lambda place: (keys[place], moments[place]))
        for text, group in groupby(in_order, key=keys.__getitem__):
            places, key = tuple(group), tuple(text.split("\0"))
            times = [moments[place][0] for place in places]
            for one, own in zip(slices, chosen, strict=True):
                own += (places[place] for place in outside(one, key, times))
        events = table.select(arrow_schema(with_counts=False).names)
        for number, own in enumerate(chosen):
            for some in _parts(own):
                yield packed_row(None, number, pack(events.take(array_of(some, pa.int64())).to_batches()))

    return choose


def _parts(values: Sequence[Value]) -> Iterator[Sequence[Value]]:
    for start in range(0, len(values), PACKED_ROWS):
        yield values[start : start + PACKED_ROWS]


def judge_each(
    batches: Batches, sources: Sequence[SourceSummary], slices: Sequence[TimeSlice], period: Period | None = None
) -> Iterator[tuple[int, JudgedSlice]]:
    """Judge the slices of a partition whose rows of ``divide`` are sorted by slice; yield each with its number.

    With a period, each verdict has the groups of its unexplained records. The events of one slice are held at a time.
    """
    for number, rows in groupby(_packed_rows(batches), key=itemgetter(0)):
        began = time.process_time()
        # Without a name here, they are freed before those of the next slice are unpacked.
        yield number, _judged(_unpacked(rows), sources, slices[number], period, began)


def _unpacked(rows: Iterator[tuple[int, pa.Buffer]]) -> list[LogEvent]:
    return [event for _, packed in rows for batch in unpack(packed) for event in events_of(batch)]


def judge_whole(
    batches: Batches, sources: Sequence[SourceSummary], period: Period | None = None
) -> Iterator[tuple[int, JudgedSlice]]:
    """Judge all events as one slice."""
    began = time.process_time()
    events = tuple(event for batch in batches for event in events_of(batch))
    yield 0, _judged(events, sources, WHOLE, period, began)


def _judged(
    events: Sequence[LogEvent],
    sources: Sequence[SourceSummary],
    one: TimeSlice,
    period: Period | None,
    began_s: float,
) -> JudgedSlice:
    verdict = judge_slice(events, sources, one, period)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return JudgedSlice(verdict, len(events), time.process_time() - began_s, peak_mb)


def _packed_rows(batches: Batches) -> Iterator[tuple[int, pa.Buffer]]:
    for batch in batches:
        packed = batch.column("packed")
        for place, number in enumerate(batch.column("slice").to_pylist()):
            yield number, packed[place].as_buffer()
