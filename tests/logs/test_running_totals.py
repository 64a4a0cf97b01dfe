"""A running total that stands still does not show work; one that grows after a fault, or begins anew, does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.logs.incidents.naming.running_totals import RunningTotals
from eosctl.model.log_event import LogEvent
from tests.logs.judging import judge

LINE = "2026-05-04 {},000 {} {}\n"
FAULT = "commit failed: This instance has been fenced by a newer instance (_FENCED), giving up"


def explained(before: Sequence[str], after: Sequence[str], folder: Path) -> str:
    text = LINE.format("07:59:00", "INFO", "producer ready, transactional.id=ferry-4")
    text += "".join(LINE.format(f"08:0{minute}:00", "INFO", words) for minute, words in enumerate(before))
    text += LINE.format("08:10:00", "ERROR", f"{FAULT} transactional.id=ferry-4")
    text += "".join(LINE.format(f"08:{minute}:00", "INFO", words) for minute, words in enumerate(after, 11))
    (one,) = judge(folder, {"ferry.log": text})
    return one.explanation


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["progress: 210 cars written", "progress: 377 cars written"], ["progress: 377 cars written"] * 3),
        (["stats: 99 cars written", "stats: 210 cars written", "stats: 377 cars written"], ["stats: 377 cars written"]),
        # It may have grown before the fault.
        (["progress: 210 cars written"], ["progress: 377 cars written"] * 2),
        ([], ["delivered 40 cars so far"] * 2),
        (["stats: 99 cars written", "stats: 210 cars written"], ["stats: 210 cars written"]),
    ],
)
def test_a_total_that_stands_still_is_not_work(before: list[str], after: list[str], tmp_path: Path) -> None:
    assert "continued its work" not in explained(before, after, tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "at"),
    [
        (["progress: 210 cars written"], [f"progress: {count} cars written" for count in (210, 210, 215)], "08:13:00"),
        (["progress: 210 cars written"], ["progress: 12 cars written"], "08:11:00"),
        # Each batch has the same size.
        (["flushed 500 cars"] * 4, ["flushed 500 cars"], "08:11:00"),
        (["wrote 40 cars", "wrote 12 cars", "wrote 40 cars"], ["wrote 40 cars"], "08:11:00"),
    ],
)
def test_counts_that_move_are_work(before: list[str], after: list[str], at: str, tmp_path: Path) -> None:
    assert f"continued its work at 2026-05-04T{at}.000Z" in explained(before, after, tmp_path)


def named(clock: str, level: str, message: str, **values: object) -> str:
    return json.dumps({"time": f"2026-05-04T{clock}Z", "level": level, "msg": message, **values}) + "\n"


@pytest.mark.parametrize(
    ("values", "is_work"),
    [
        ([{"count": 210}, {"count": 210}], False),
        ([{"count": 0}], False),
        ([{"count": 210, "failed": 4}, {"count": 210, "failed": 9}], False),
        ([{"count": 210}, {"count": 377}, {"count": 401}], True),
        ([{"count": 12, "failed": 0}], True),
        ([{}], True),
    ],
)
def test_named_counts_count_as_words_do(values: list[dict[str, int]], is_work: bool, tmp_path: Path) -> None:
    text = "".join(named(f"08:0{at}:00", "info", "cars delivered", count=count) for at, count in enumerate((99, 210)))
    text += named("08:10:00", "error", f"{FAULT} transactional.id=ferry-4")
    text += "".join(named(f"08:{at}:00", "info", "cars delivered", **one) for at, one in enumerate(values, 11))
    (one,) = judge(tmp_path, {"ferry.log": text})
    assert ("continued its work" in one.explanation) == is_work


def progress(count: int) -> LogEvent:
    words = f"progress: {count} cars written"
    return LogEvent("ferry.log", 0, 1, 0, False, "INFO", "", "", "ferry", "", "WORK_DONE", {}, None, words)


@given(before=st.lists(st.integers(1, 10**9)), count=st.integers(10**9, 10**12), repeats=st.integers(1, 9))
def test_a_repeated_total_never_shows_work(before: list[int], count: int, repeats: int) -> None:
    totals = RunningTotals(map(progress, before))
    assert not any(totals.shows_work(progress(count)) for _ in range(repeats))
    assert totals.shows_work(progress(count + 1))
