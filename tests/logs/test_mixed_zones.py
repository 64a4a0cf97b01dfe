"""Python's timestamps are local time, librdkafka's between them are UTC: two records of one file give the zone."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from eosctl.logs.incidents.timeline.timeline import LogTimeline
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


INNER_MS = 1_795_259_278_258
"""11:07:58.258 in UTC."""
CARRIED = {
    "journald": ("2026-11-21T13:07:58+02:00 pump-1 pump[7]: {}", 2),
    "journald in UTC": ("2026-11-21T11:07:58+00:00 pump-1 pump[7]: {}", 5.5),
    "kubectl": ("2026-11-21T11:07:58.301234567Z {}", -8),
    "docker": ('{{"log":"{}\\n","stream":"stdout","time":"2026-11-21T11:07:59.112Z"}}', 1),
    "compose": ("pump-1  | 2026-11-21T11:07:58.301234567Z {}", 1),
    "ts": ("2026-11-21T06:08:11-0500 {}", -5),
    "already UTC": ("2026-11-21T13:07:58+02:00 pump-1 pump[7]: {}", 0),
}


@pytest.mark.parametrize("name", CARRIED)
@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M:%S,258", "%Y/%m/%d %H:%M:%S.258"])
def test_the_stamp_around_a_record_gives_its_zone(name: str, form: str, tmp_path: Path) -> None:
    around, hours = CARRIED[name]
    stamp = (AT + timedelta(hours=hours)).strftime(form)
    (tmp_path / "pump.log").write_text(
        around.format(f"{stamp} ERROR pump: stopped: OUT_OF_ORDER_SEQUENCE_NUMBER") + "\n"
    )
    (event,) = scan_paths([tmp_path]).events
    assert (event.time_ms, event.time_assumed) == (INNER_MS, False)


def test_a_stamp_that_no_zone_explains_stays_as_it_is(tmp_path: Path) -> None:
    line = (
        "2026-11-21T15:21:07+02:00 pump-1 pump[7]: 2026-11-21 11:07:58,258 ERROR pump: OUT_OF_ORDER_SEQUENCE_NUMBER\n"
    )
    (tmp_path / "pump.log").write_text(line)
    (event,) = scan_paths([tmp_path]).events
    assert (event.time_ms, event.time_assumed) == (INNER_MS, True)


def test_a_zone_that_the_user_names_counts_first(tmp_path: Path) -> None:
    around, _ = CARRIED["journald"]
    line = around.format("2026-11-21 13:07:58,258 ERROR pump: OUT_OF_ORDER_SEQUENCE_NUMBER\n")
    (tmp_path / "pump.log").write_text(line)
    (event,) = scan_paths([tmp_path], zone=timezone(timedelta(hours=3))).events
    assert event.time_ms == INNER_MS - 3_600_000
