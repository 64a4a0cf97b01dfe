"""Logs that are judged slice by slice, with any cuts, have the incidents of all logs judged together."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import pairwise
from math import inf, isfinite
from pathlib import Path
from typing import Any

import pytest

from eosctl.logs.incidents.judge import judge_incidents, judge_logs
from eosctl.logs.incidents.remaining.record_groups import group_unexplained
from eosctl.logs.incidents.slicing.samples import Samples, outside, place_of
from eosctl.logs.incidents.slicing.sliced import SliceVerdict, count_open, join_open
from eosctl.logs.incidents.slicing.slices import (
    BUCKET_MS,
    LIVES,
    LONG_MARGIN_MS,
    MARGIN_MS,
    WHOLE,
    Key,
    Spans,
    TimeSlice,
    plan_slices,
)
from eosctl.logs.incidents.timeline.times import time_of, timed
from eosctl.logs.incidents.timeline.unnamed import STARTED_MS
from eosctl.logs.scan import scan_paths
from eosctl.model.log_event import LogEvent
from spark_log_analytics.incidents import Judging, SliceCost, explain_judging
from tests.logs.slicing import Selection, judge_all_in_slices, judge_in_slices
from tests.logs.spreading import FIXTURES, cut, recorded, spread

HOUR_MS = 3_600_000
NO_FRAME: Any = None


@pytest.mark.parametrize("seed", [1, 3, 12, 19, 205, 231, 273, 357])
def test_any_cuts_leave_the_verdict_as_it_is(seed: int) -> None:
    chosen = random.Random(seed)
    logs = spread(chosen, scenario_count=10, copy_count=1 + seed % 2)
    events = tuple(timed(logs.events, logs.sources))
    whole = judge_logs(events, logs.sources)
    assert len({one.kind for one in whole.incidents}) > 5
    incidents, groups = judge_all_in_slices(logs.events, logs.sources, cut(chosen, logs.events, 6))
    assert incidents == whole.incidents
    assert groups == group_unexplained(whole.unexplained)
    # Not every draw has records that no incident explains.
    assert groups or seed >= 200


def test_each_scenario_may_be_cut_anywhere() -> None:
    chosen = random.Random(0)
    for scan in recorded():
        # Most events of a large scenario repeat one line.
        events = scan.events[:400]
        found = judge_in_slices(events, scan.sources, cut(chosen, events, 2))
        assert found == judge_incidents(events, scan.sources)


def test_an_incident_longer_than_all_margins_is_one(tmp_path: Path) -> None:
    text = "".join(
        f"[2026-11-26 {second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d},000] ERROR [ReplicaManager "
        "broker=1] Error processing append operation on partition orders-0 (kafka.server.ReplicaManager)\n"
        "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR Set(1) is "
        "insufficient to satisfy the min.isr requirement of 2 for partition orders-0\n"
        for second in range(0, 8 * 3600, 20)
    )
    (tmp_path / "server.log").write_text(text)
    scan = scan_paths([tmp_path])
    whole = judge_incidents(scan.events, scan.sources)
    assert [one.t_end_ms - one.t_start_ms for one in whole] == [8 * HOUR_MS - 20_000]
    first_ms = whole[0].t_start_ms
    cuts = (-inf, first_ms + 2 * HOUR_MS, first_ms + 4 * HOUR_MS, first_ms + 6 * HOUR_MS, inf)
    slices = [TimeSlice(start, end) for start, end in pairwise(cuts)]
    assert judge_in_slices(scan.events, scan.sources, slices) == whole


def test_logs_on_different_clocks_are_judged_together() -> None:
    slices = [TimeSlice(-inf, 0), TimeSlice(0, 5), TimeSlice(5, inf)]
    verdicts = dict.fromkeys(slices, SliceVerdict(()))
    assert join_open(slices, verdicts) == tuple(slices)
    assert join_open(slices, {**verdicts, slices[1]: SliceVerdict((), has_other_clock=True)}) == (WHOLE,)


def test_open_slices_are_joined_with_their_neighbors() -> None:
    slices = [TimeSlice(-inf, 0), TimeSlice(0, 5), TimeSlice(5, 9), TimeSlice(9, inf)]
    verdicts = dict.fromkeys(slices, SliceVerdict(()))
    verdicts[slices[1]] = SliceVerdict((), is_open_after=True)
    assert join_open(slices, verdicts) == (slices[0], TimeSlice(0, 9), slices[3])
    verdicts[slices[1]] = SliceVerdict((), is_open_before=True)
    assert join_open(slices, verdicts) == (TimeSlice(-inf, 5), *slices[2:])


def test_slices_that_are_too_large_together_stay_apart() -> None:
    slices = [TimeSlice(-inf, 0), TimeSlice(0, 5), TimeSlice(5, 9), TimeSlice(9, inf)]
    verdicts = dict.fromkeys(slices, SliceVerdict((), is_open_after=True, event_count=500))
    joined = join_open(slices, verdicts, most_events=1000)
    assert joined == (TimeSlice(-inf, 5), TimeSlice(5, inf))
    verdicts |= dict.fromkeys(joined, SliceVerdict((), is_open_after=True, event_count=900))
    assert join_open(joined, verdicts, most_events=1000) == joined
    assert count_open(joined, verdicts) == 1
    assert count_open(slices, {**verdicts, slices[1]: SliceVerdict(())}) == 2


def test_a_job_reports_the_borders_that_incidents_may_cross() -> None:
    costs = ((WHOLE, SliceCost(1, 0, 0.1, 1.0)),)
    _, line = explain_judging(Judging(NO_FRAME, costs, open_count=2))
    assert line.startswith("Incidents may cross 2 borders between slices that are too large to join")


def test_slices_have_about_as_many_events_each() -> None:
    counts = dict.fromkeys(range(1000), 10)
    slices = plan_slices(counts, slice_events=1000)
    assert [one.end_ms - one.start_ms for one in slices[1:-1]] == [100 * BUCKET_MS] * 8
    assert plan_slices(counts, slice_events=10_000) == (WHOLE,)


def test_a_dense_hour_is_not_cut_finer_than_its_margins() -> None:
    slices = plan_slices(dict.fromkeys(range(60), 10_000), slice_events=10_000)
    assert [one.start_ms for one in slices] == [-inf, 30 * BUCKET_MS]


def test_a_slice_gets_few_of_the_events_outside_of_it() -> None:
    scan = scan_paths([FIXTURES / "logs" / "below-min-isr-392"])
    events = [event._replace(time_ms=number * 10_000) for number, event in enumerate(timed(scan.events, scan.sources))]
    slices = (TimeSlice(-inf, 10**8), TimeSlice(10**8, 1.1 * 10**8), TimeSlice(1.1 * 10**8, inf))
    [given] = [len(part) for one, part in Selection(events, []).of(slices) if one == slices[1]]
    assert given < len(events) / 10


def test_a_slice_does_not_grow_with_the_time_that_the_logs_cover() -> None:
    lives = [one for scan in recorded() for one in timed(scan.events, scan.sources) if one.category in LIVES][:100]
    assert len({one.category for one in lives}) > 5

    def size(copy_count: int) -> int:
        """Return the number of events in the middle one of as many hours, each with all of these events."""
        events = [
            event._replace(time_ms=hour * HOUR_MS + number, offset=hour * 1000 + number)
            for hour in range(copy_count)
            for number, event in enumerate(lives)
        ]
        middle = copy_count // 2 * HOUR_MS
        cuts = pairwise((-inf, middle, middle + HOUR_MS, inf))
        [_, (_, part), _] = Selection(events, []).of(tuple(TimeSlice(*one) for one in cuts))
        return len(part)

    assert 0 < size(300) == size(200)


@pytest.mark.parametrize("seed", range(5))
def test_samples_stand_for_all_events_in_any_order(seed: int) -> None:
    chosen = random.Random(seed)
    [event, *_] = recorded()[0].events
    slices = cut(chosen, [event._replace(time_ms=number * HOUR_MS) for number in range(50)], 4)
    moments = [chosen.choice([*range(0, 180_000_000, 600_000), *_borders(slices)]) for _ in range(300)]
    events = [event._replace(time_ms=time_ms, offset=number) for number, time_ms in enumerate(moments)]
    for key in (("event", "BROKER_ERROR"), ("event", "READER_STUCK"), ("server", ""), ("writer", "")):
        # Tasks see parts of the events, and another one sees what they kept.
        first, second, joined = Samples(slices), Samples(slices), Samples(slices)
        for place, one in enumerate(events):
            (first if place % 3 else second).add(key, one)
        for _, kept in (*first.by_key(), *second.by_key()):
            for one in kept:
                joined.add(key, one)
        [(_, reduced)] = joined.by_key()
        whole = sorted(events, key=place_of)
        assert len(reduced) < len(events) or key[0] == "server"
        for one in slices:
            assert _outside(one, key, reduced) == _outside(one, key, whole)


def _borders(slices: Sequence[TimeSlice]) -> list[int]:
    edges = (edge for one in slices for margin in (MARGIN_MS, LONG_MARGIN_MS) for edge in one.window(margin))
    return [int(edge) for edge in edges if isfinite(edge)]


def _outside(one: TimeSlice, key: Key, events: Sequence[LogEvent]) -> list[LogEvent]:
    return [events[place] for place in outside(one, key, [time_of(event) for event in events])]


def test_initializations_at_a_logs_start_last_as_long_as_it() -> None:
    [source, *_] = recorded()[0].sources
    spans = Spans([source._replace(first_ms=1_000_000, last_ms=9_000_000)])
    event = next(one for scan in recorded() for one in scan.events if one.category == "INIT_PRODUCER_ID")
    given = event._replace(fields={**event.fields, "coordinator_partition": "__transaction_state-3"})
    for time_ms in (1_000_000, 1_000_000 + STARTED_MS):
        assert spans.of(given._replace(time_ms=time_ms)) == (time_ms, 9_000_000)
    later_ms = 1_000_000 + 10 * STARTED_MS
    assert spans.of(given._replace(time_ms=later_ms)) == (later_ms, later_ms)


def test_the_load_of_a_coordinator_lasts_before_its_record() -> None:
    event = next(one for scan in recorded() for one in scan.events if one.category == "COORDINATOR_LOAD")
    loaded = event._replace(time_ms=9_000_000, fields={**event.fields, "load_ms": "7000000"})
    assert Spans([]).of(loaded) == (2_000_000, 9_000_000)


def test_a_job_explains_how_it_judged() -> None:
    first, last = TimeSlice(-inf, 1_700_000_000_000), TimeSlice(1_700_000_000_000, inf)
    costs = ((first, SliceCost(1200, 1, 0.5, 120.0)), (last, SliceCost(900, 2, 0.25, 300.0)))
    summary, *lines = explain_judging(Judging(NO_FRAME, costs, planned_count=3), in_detail=True)
    assert summary.startswith("Judged in 2 slices of time (planned: 3) with 900 to 1,200 events; 0.8 s of processor")
    assert lines == [
        "  - to 2023-11-14T22:13:20.000Z: 1,200 events, 1 incident, 0.5 s, 120 MB",
        "  2023-11-14T22:13:20.000Z to -: 900 events, 2 incidents, 0.2 s, 300 MB",
    ]
    assert list(explain_judging(Judging(NO_FRAME))) == []
