"""A timeline is readable with few and with many events, and what is still open reaches the observation."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eosctl.analysis.timeline import Focus, Sources, build_timeline, foremost
from eosctl.analysis.unseen import classify_all_open
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.timeline import BatchFact, Lane, LaneKind, Mark, Timeline, Tone
from eosctl.render.transactions.lanes import draw_lanes
from eosctl.render.transactions.repeated_marks import fold_repeated
from eosctl.render.transactions.time_scale import time_scale
from eosctl.render.transactions.timeline import TimelineFormat, render_timeline
from tests.analysis.scenes import NOW_MS, ORDERS_0, producer, transaction, two_reads


def lane(*marks: Mark, name: str = "shop") -> Lane:
    return Lane(LaneKind.PRODUCER, name, marks)


def timeline(*lanes: Lane) -> Timeline:
    marks = [mark for one in lanes for mark in one.marks]
    end = max(mark.at_ms if mark.until_ms is None else mark.until_ms for mark in marks)
    return Timeline("test", min(mark.at_ms for mark in marks), end, lanes)


def cycle(number: int, verb: str = "committed", tone: Tone = Tone.COMMIT) -> tuple[Mark, Mark]:
    at = 1_000 + 10 * number
    ended = Mark(at, at + 5, f"transaction {verb}: epoch {number}", tone, f"offset {2 * number}")
    return ended, Mark(at + 4, None, f"PrepareCommit: epoch {number}", Tone.PLAIN, f"offset {2 * number + 1}")


def hanging() -> ClusterSnapshot:
    return two_reads([producer()], [transaction("CompleteCommit", partitions=())])


def test_a_hang_is_a_bar_from_its_start_to_the_observation() -> None:
    cluster = hanging()
    found = build_timeline(Focus(partition=ORDERS_0), Sources(cluster, hangs=classify_all_open(cluster)))
    (mark,) = [one for row in found.lanes for one in row.marks if one.tone is Tone.HANGING]
    assert mark.label.startswith("hanging: ")
    assert mark.until_ms == cluster.captured_at_ms == found.until_ms
    elsewhere = Focus(transactional_id="another")
    assert not build_timeline(elsewhere, Sources(cluster, hangs=classify_all_open(cluster))).lanes


def test_an_open_bar_starts_when_its_transaction_did() -> None:
    read = two_reads([producer()], [transaction()])
    late = replace(read, captured_at_ms=read.captured_at_ms + 2_000)
    found = build_timeline(Focus(partition=ORDERS_0), Sources(late, hangs=classify_all_open(late)))
    (mark,) = [one for row in found.lanes for one in row.marks]
    assert (mark.at_ms, mark.until_ms) == (transaction().start_time_ms, late.captured_at_ms)
    assert mark.shown_at_ms is None


def test_lanes_where_something_hangs_are_always_shown() -> None:
    busy = [lane(*(Mark(at, None, "record", Tone.PLAIN, "") for at in range(9)), name=f"a-{n}") for n in range(50)]
    hung = lane(Mark(1, 9, "hanging", Tone.HANGING, ""), name="z-hangs")
    warned = lane(Mark(1, None, "an incident", Tone.WARNING, ""), name="z-warned")
    shown = [one.name for one in foremost([*busy, warned, hung], 3)]
    assert shown == ["a-0", "z-hangs", "z-warned"]


def test_files_without_a_marker_show_the_transaction_as_open() -> None:
    def batch(offset: int, committed: bool | None = None, producer_id: int = 7) -> BatchFact:
        is_transactional = producer_id == 7
        return BatchFact(ORDERS_0, offset, offset, 1, NOW_MS + offset, producer_id, 0, 0, committed, is_transactional)

    def opened(*batches: BatchFact) -> list[int]:
        found = build_timeline(Focus(partition=ORDERS_0), Sources(ClusterSnapshot(NOW_MS + 99, ""), batches=batches))
        return [one.offset for row in found.lanes for one in row.marks if one.tone is Tone.OPEN]

    assert opened(batch(0), batch(1, producer_id=8), batch(2, committed=True)) == []
    assert opened(batch(0), batch(1, committed=True), batch(2), batch(3)) == [2]


def test_repeated_transactions_are_one_mark_with_their_number() -> None:
    marks = [mark for number in range(200) for mark in cycle(number)]
    marks[200:202] = cycle(100, "aborted", Tone.ABORT)
    (folded,) = fold_repeated(timeline(lane(*marks))).lanes
    assert [mark.tone for mark in folded.marks] == [Tone.COMMIT, Tone.ABORT, Tone.COMMIT, Tone.PLAIN]
    assert folded.marks[0].label.startswith("100 times")
    assert (folded.marks[0].at_ms, folded.marks[0].until_ms) == (1_000, 1_995)


def test_thirty_thousand_events_make_a_page_of_bounded_size() -> None:
    lanes = [lane(*(mark for n in range(1_250) for mark in cycle(n)), name=f"shop-{row}") for row in range(12)]
    page = render_timeline(timeline(*lanes), NOW_MS, TimelineFormat.HTML)
    assert len(page) < 100_000
    assert "-o json and -o tsv have each" in page
    few = timeline(lane(*(mark for number in range(10) for mark in cycle(number))))
    assert fold_repeated(few) == few


@given(st.lists(st.tuples(st.sampled_from([Tone.OPEN, Tone.TAKEOVER, Tone.WARNING, Tone.PLAIN]), st.integers(0, 2))))
def test_what_calls_for_action_is_never_folded(steps: list[tuple[Tone, int]]) -> None:
    marks = [Mark(at, None, f"step {name}", tone, "") for at, (tone, name) in enumerate(steps)]
    plain = [Mark(at, None, "step", Tone.PLAIN, "") for at in range(len(marks), len(marks) + 70)]
    (folded,) = fold_repeated(timeline(lane(*marks, *plain))).lanes
    kept = [mark for mark in marks if mark.tone is not Tone.PLAIN]
    assert [mark for mark in folded.marks if mark.tone is not Tone.PLAIN] == kept


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=40))
def test_a_scale_keeps_the_order_of_times(times: list[int]) -> None:
    scale = time_scale(timeline(lane(*(Mark(at, None, "", Tone.PLAIN, "") for at in times))))
    shares = [scale.share(at) for at in sorted(times)]
    assert shares == sorted(shares)
    assert all(0.0 <= share <= 1.0 for share in shares)
    assert [tick.share for tick in scale.ticks] == sorted(tick.share for tick in scale.ticks)


def test_a_burst_before_a_long_hang_keeps_its_width() -> None:
    burst = [Mark(at, None, "record", Tone.PLAIN, "") for at in range(0, 80, 10)]
    drawn = timeline(lane(*burst, Mark(70, 800_000, "hanging", Tone.OPEN, "")))
    assert time_scale(drawn).share(70) > 0.5
    assert any(tick.is_cut and tick.text == "13 min 19 s" for tick in time_scale(drawn).ticks)


def test_no_name_leaves_its_attribute() -> None:
    drawn = draw_lanes(timeline(lane(Mark(0, None, "</title><script>", Tone.OPEN, ""), name='"><script>')))
    assert "<script>" not in drawn
    assert re.findall(r'title="([^"]*)"', drawn) == ["&quot;&gt;&lt;script&gt;"]
