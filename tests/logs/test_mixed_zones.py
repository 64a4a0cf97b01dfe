"""Python's timestamps are local time, librdkafka's between them are UTC: two records of one file give the zone."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from eosctl.logs.incidents.timeline import LogTimeline
from eosctl.logs.scan import scan_paths

STARTED = "{} INFO [MainThread] pump: starting, transactional.id=pay-1\n"
FAILED = "%3|1795259278.258|FAIL|pump#producer-1| [thrd:k:9092/1]: k:9092/1: Disconnected (after 60000ms in state UP)\n"
STOPPED = "{} ERROR [MainThread] pump: stopped, transactional.id=pay-1: _FENCED\n"
AT = datetime(2026, 11, 21, 11, 7, 58, 258_000)
AT_MS = 1_795_259_278_258


def local(at: datetime, hours: float) -> str:
    stamp = at + timedelta(hours=hours)
    return f"{stamp:%Y-%m-%d %H:%M:%S},{stamp.microsecond // 1000:03}"


@pytest.mark.parametrize("hours", [1, 2, 5.5, -8])
def test_one_adjacent_record_to_the_second_gives_the_zone(hours: float, tmp_path: Path) -> None:
    (tmp_path / "pump.log").write_text(FAILED + STOPPED.format(local(AT + timedelta(milliseconds=40), hours)))
    scan = scan_paths([tmp_path])
    assert [event.time_ms for event in LogTimeline(scan.events, scan.sources).events] == [AT_MS, AT_MS + 40]


@pytest.mark.parametrize("hours", [1, 2, 5.5])
def test_time_that_runs_backwards_gives_the_zone(hours: float, tmp_path: Path) -> None:
    (tmp_path / "pump.log").write_text(STARTED.format(local(AT - timedelta(seconds=20), hours)) + FAILED)
    scan = scan_paths([tmp_path])
    timeline = LogTimeline(scan.events, scan.sources)
    assert [event.time_ms for event in timeline.events] == [AT_MS - 20_000, AT_MS]
    assert [(source.first_ms, source.last_ms) for source in timeline.sources] == [(AT_MS - 20_000, AT_MS)]


def test_a_quarter_of_an_hour_may_be_a_time_out(tmp_path: Path) -> None:
    (tmp_path / "pump.log").write_text(FAILED + STOPPED.format(local(AT, 0.25)))
    scan = scan_paths([tmp_path])
    assert LogTimeline(scan.events, scan.sources).events[-1].time_ms == AT_MS + 900_000
