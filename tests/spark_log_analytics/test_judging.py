"""Spark judges many events in slices of time, with the verdict of one process."""

from __future__ import annotations

import random
from typing import Any

import pytest

from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.incidents.slicing.sliced import in_scan_order
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import timed
from tests.logs.spreading import Logs, spread

pytestmark = pytest.mark.spark


def frame_of(spark: Any, logs: Logs) -> Any:
    import pyarrow as pa

    from spark_log_analytics.rows import EVENT_COLUMNS, event_batch

    table = pa.Table.from_batches([event_batch(logs.events)])
    return spark.createDataFrame(table, EVENT_COLUMNS).repartition(3).persist()


def is_on_one_clock(logs: Logs) -> bool:
    times = {(event.file, event.offset): event.time_ms for event in logs.events}
    timeline = LogTimeline(in_scan_order(timed(logs.events, logs.sources), logs.sources), logs.sources)
    return all(times[event.file, event.offset] in (None, event.time_ms) for event in timeline.events)


def test_slices_have_the_verdict_of_one_process(spark: Any) -> None:
    from spark_log_analytics.incidents import incident_of, judge_events

    drawn = (spread(random.Random(seed), scenario_count=10, copy_count=2) for seed in range(3, 30))
    logs = next(filter(is_on_one_clock, drawn))  # Others are judged as a whole.
    events = frame_of(spark, logs)
    judging = judge_events(events, logs.sources, slice_events=len(logs.events) // 4)
    found = tuple(incident_of(row.asDict(recursive=True)) for row in judging.incidents.collect())
    assert len(judging.slices) > 2
    assert sum(cost.incident_count for _, cost in judging.slices) == len(found)
    for cached in (events, *judging.cached):
        cached.unpersist()
    assert found == judge_incidents(logs.events, logs.sources)


def test_events_without_a_time_get_that_of_their_neighbors(spark: Any) -> None:
    from spark_log_analytics.rows import event_of
    from spark_log_analytics.slices import timed_frame

    logs = spread(random.Random(2), scenario_count=12, copy_count=1)
    events = [event._replace(time_ms=None) if place % 3 else event for place, event in enumerate(logs.events[:300])]
    events += [event._replace(file="without-a-time.log", time_ms=None) for event in events[:5]]
    frame = timed_frame(frame_of(spark, Logs(events, logs.sources)), logs.sources)
    found = {(one.file, one.offset): one for one in (event_of(row.asDict(recursive=True)) for row in frame.collect())}
    assert found == {(one.file, one.offset): one for one in timed(events, logs.sources)}
