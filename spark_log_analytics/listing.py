"""Bring the events that a list shows to the driver, task by task; all others stay on the executors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from eosctl.logs.arrays import array_of
from eosctl.model.log_event import LogEvent, SourceSummary
from eosctl.model.period import Period
from spark_log_analytics.job import in_period
from spark_log_analytics.packing import pack, unpack
from spark_log_analytics.rows import events_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

EVENT_BYTES: Final = 3 * 1024
"""The memory that a process needs to read, sort, and print an event."""


class TooManyEventsError(Exception):
    """The events of a list are more than this process can hold."""

    def __init__(self, event_count: int) -> None:
        super().__init__(f"The list has {event_count:,} events, which is more than the memory of this machine holds.")


def list_events(
    events: DataFrame, sources: Sequence[SourceSummary], period: Period, categories: frozenset[str]
) -> tuple[LogEvent, ...]:
    """Return events in scan order.

    Args:
        events: The events of a scan, with ``EVENT_COLUMNS``.
        sources: The summaries of their files, in scan order.
        period: The time of the events to return; events without a time are in it.
        categories: The categories to return; none for all.

    Raises:
        TooManyEventsError: This process cannot hold the events.
    """
    from pyspark.sql import functions as f

    wanted = in_period(events, period)
    if categories:
        wanted = wanted.where(f.col("category").isin(*sorted(categories)))
    packed = wanted.mapInArrow(_packed, "event_count long, batch binary").persist()
    try:
        # All tasks run in parallel here; afterwards, each result is only transferred: all together may exceed the
        # driver's result limit.
        event_count = packed.selectExpr("coalesce(sum(event_count), 0)").collect()[0][0]
        if event_count * EVENT_BYTES > _memory_bytes():
            raise TooManyEventsError(event_count)
        found = [event for row in packed.toLocalIterator() for batch in unpack(row.batch) for event in events_of(batch)]
    finally:
        packed.unpersist()
    order = {source.file: number for number, source in enumerate(sources)}
    return tuple(sorted(found, key=lambda event: (order[event.file], event.offset)))


def _packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Turn each batch into one compressed value: a result with rows is several times as large."""
    import pyarrow as pa

    for batch in batches:
        values = [array_of([batch.num_rows], pa.int64()), array_of([pack([batch])], pa.binary())]
        yield pa.RecordBatch.from_arrays(values, ["event_count", "batch"])


def _memory_bytes() -> int:
    """Return the memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
