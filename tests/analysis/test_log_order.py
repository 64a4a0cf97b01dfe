"""In one log offsets order what happened; clocks only where they agree with them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eosctl.analysis.blame.report import explain_blame
from eosctl.analysis.log_order import LogPosition, effective_times, place_by_offset
from eosctl.analysis.timeline import Focus, Sources, build_timeline
from eosctl.model.timeline import BatchFact, Mark, Tone
from eosctl.model.transaction import ProducerState
from eosctl.render.transactions.timeline import timeline_rows
from tests.analysis.scenes import ORDERS_0, entry, look, snapshot

POSITIONS = st.builds(LogPosition, st.sampled_from(["a-0", "b-0"]), st.integers(0, 50), st.booleans())
EVENTS = st.lists(st.tuples(st.none() | POSITIONS, st.integers(0, 100)), max_size=40)


@given(EVENTS)
def test_offsets_order_the_events_of_one_log(events: list[tuple[LogPosition | None, int]]) -> None:
    times = effective_times(events)
    for (position, own), time in zip(events, times, strict=True):
        if position is None:
            assert time == own
    for log in ("a-0", "b-0"):
        placed = [
            (position.offset, index, time)
            for index, ((position, _), time) in enumerate(zip(events, times, strict=True))
            if position is not None and position.log == log
        ]
        shown = [time for *_, time in sorted(placed)]
        assert shown == sorted(shown)


def test_one_wrong_clock_moves_its_own_event_only() -> None:
    for wrong in (5, 9_000):
        times = [100, 110, wrong, 120, 130]
        events = [(LogPosition("orders-0", offset), time) for offset, time in enumerate(times)]
        assert effective_times(events) == [100, 110, 110, 120, 130]
    first = [(LogPosition("orders-0", offset), time) for offset, time in enumerate([900, 10, 20])]
    assert effective_times(first) == [10, 10, 20]


def test_a_contradiction_is_shown_with_its_clock() -> None:
    marks = [
        Mark(100, None, "marker", Tone.COMMIT, "", "orders-0", 3),
        Mark(40, None, "late records", Tone.PLAIN, "", "orders-0", 4),
        Mark(130, None, "marker", Tone.ABORT, "", "orders-0", 5),
    ]
    shown = sorted(place_by_offset(marks[::-1]), key=lambda mark: mark.order)
    assert [mark.offset for mark in shown] == [3, 4, 5]
    assert [mark.at_ms for mark in shown] == [100, 40, 130]
    assert ["producer's clock" in mark.label for mark in shown] == [False, True, False]


def test_the_timeline_of_a_partition_rises_with_its_offsets() -> None:
    facts = [
        BatchFact(ORDERS_0, offset, offset, 1, at_ms, 7, 0, 0)
        for offset, at_ms in [(10, 1_000), (11, 1_200), (12, 400), (13, 1_300), (14, 1_300)]
    ]
    timeline = build_timeline(Focus(partition=ORDERS_0), Sources(snapshot(), batches=facts[::-1]))
    rows = timeline_rows(timeline)
    assert [row[-1] for row in rows] == [f"orders-0 offset {offset}" for offset in range(10, 15)]
    assert ["clock" in row[3] for row in rows] == [False, False, True, False, False]


def test_blame_dates_the_last_batch_by_its_own_time_stamp() -> None:
    told = entry("Ongoing", 4)
    state = ProducerState(7, 0, 1, told.written_at_ms - 50, 0, 12)
    evidence = snapshot(look((state,)), transaction_history=(told,))
    (moment,) = [m for m in explain_blame(evidence, "app").timeline if m.actor == "broker 1"]
    assert moment.at_ms == told.written_at_ms - 50
