"""A task that judges several slices holds the events of one at a time, also between two searches for garbage."""

from __future__ import annotations

import gc
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any

import pytest

from eosctl.logs.incidents.slicing.sliced import SliceVerdict, judge_slice
from eosctl.logs.incidents.slicing.slices import TimeSlice
from eosctl.logs.incidents.timeline.times import timed
from eosctl.model.log_event import LogEvent
from spark_log_analytics import slices
from spark_log_analytics.dividing import packed_row
from spark_log_analytics.packing import pack
from spark_log_analytics.rows import event_batch
from tests.logs.spreading import spread

pytest.importorskip("pyarrow", reason="the spark extra is not installed")


def held_count() -> int:
    return sum(type(one) is LogEvent for one in gc.get_objects())


@contextmanager
def without_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def test_a_task_holds_the_events_of_one_slice_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    logs = spread(random.Random(4), scenario_count=6, copy_count=1)
    events = list(timed(logs.events, logs.sources))[:3000]
    rows = [packed_row(None, number, pack([event_batch(events)])) for number in range(3)]
    held: list[int] = []

    def counted(given: Sequence[LogEvent], *others: Any) -> SliceVerdict:
        held.append(held_count() - before)
        return judge_slice(given, *others)

    monkeypatch.setattr(slices, "judge_slice", counted)
    periods = (TimeSlice(-inf, 0), TimeSlice(0, 1), TimeSlice(1, inf))
    with without_collection():
        before = held_count()
        judged = [one for _, one in slices.judge_each(iter(rows), logs.sources, periods)]
        assert held_count() == before
    assert held == [len(events)] * 3
    assert judged[-1].verdict.incidents
