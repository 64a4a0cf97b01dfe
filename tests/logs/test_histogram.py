"""Events over time, as the report draws them first."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.cli import main
from eosctl.logs.digest.histogram import BIN_COUNT, MIN_EVENT_COUNT, count_over_time
from eosctl.model.log_event import LogEvent
from eosctl.render.logs.digest import histogram_lines

DAY_MS = 86_400_000


def event(time_ms: int | None, level: str = "INFO") -> LogEvent:
    return LogEvent("a.log", 0, 1, time_ms, False, level, "", "", "a", "", "CLIENT_START", {}, None, "")


@given(st.lists(st.integers(0, 4000 * DAY_MS), min_size=MIN_EVENT_COUNT, max_size=60))
def test_every_event_is_in_one_bin(moments: list[int]) -> None:
    found = count_over_time(event(moment, "WARN" if moment % 2 else "INFO") for moment in moments)
    if found is None:
        assert len(set(moments)) == 1
        return
    assert 1 <= len(found.event_counts) <= BIN_COUNT
    assert sum(found.event_counts) == len(moments)
    assert sum(found.problem_counts) == sum(moment % 2 for moment in moments)
    assert found.start_ms <= min(moments) < found.start_ms + found.bin_ms
    assert found.event_counts[0] > 0 < found.event_counts[-1]


def test_few_events_and_events_of_one_moment_are_not_drawn() -> None:
    assert count_over_time([event(moment) for moment in range(MIN_EVENT_COUNT - 1)]) is None
    assert count_over_time([event(7)] * 100) is None
    assert count_over_time([event(None)] * 100) is None


def test_a_bar_without_events_is_blank_and_the_highest_is_full() -> None:
    moments = [0, 60_000, 60_001, 60_002, 180_000]
    found = count_over_time([event(moment, "ERROR") for moment in moments])
    assert found is not None
    label, line = histogram_lines(found)[0]
    assert label == "problems"
    assert line.startswith(f"▃{' ' * 11}█{' ' * 23}▃  ")
    assert "5 in all, at most 3 a bar, at 1970-01-01T00:01:00" in line


def test_a_report_begins_with_headline_and_histogram(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "app.log"
    text = "INFO [Producer clientId=a, transactionalId=b] ProducerId set to 3 with epoch {0} (o.a.k.TransactionManager)"
    log.write_text("".join(f"[2026-11-21 09:3{n}:00,000] {text.format(n)}\n" for n in range(8)), "utf-8")
    for output in ("table", "markdown"):
        main(["logs", "report", str(log), "-o", output])
        shown = capsys.readouterr().out
        assert shown.index("No incident") < shown.index("8 in all, at most 1 a bar") < shown.index("Read 1 file")
