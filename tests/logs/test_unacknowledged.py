"""Records that an application does not acknowledge, as SmallRye and its health checks report them."""

from __future__ import annotations

from pathlib import Path

from tests.logs.judging import judge

WAITS = "The record 5120 from topic-partition 'parcels-2' has waited for 66 seconds to be acknowledged."
FIRST = f"2026-05-04 10:00:00,100 WARN  [io.sma.rea.mes.kafka] (vert.x-eventloop-thread-0) SRMSG18231: {WAITS}\n"
CHECK = '2026-05-04 10:{:02}:30,100 INFO  [io.sma.health] (executor-thread-1) SRHCK01001: down: {{"in":"[KO] - {}"}}\n'
BLOCKED = (
    "2026-05-04 09:{:02}:10,000 WARN  [io.ver.cor.imp.BlockedThreadChecker] (vertx-blocked-thread-checker) Thread "
    "Thread[{},5,main] has been blocked for 31240 ms, time limit is 2000 ms\n"
)
FIRST_MS = 1_777_888_800_100


def test_health_checks_repeat_one_incident(tmp_path: Path) -> None:
    checks = "".join(CHECK.format(minute, WAITS) for minute in (12, 25, 51))
    (one,) = judge(tmp_path, {"parcels.log": FIRST + checks})
    assert (one.kind, one.subject["offset"], one.t_start_ms) == ("record_not_acknowledged", "5120", FIRST_MS)
    assert one.t_end_ms == FIRST_MS + 51 * 60_000 + 30_000


def test_a_record_of_another_partition_is_another_incident(tmp_path: Path) -> None:
    found = judge(tmp_path, {"parcels.log": FIRST + CHECK.format(12, WAITS.replace("parcels-2", "parcels-9"))})
    assert sorted(str(one.subject["topic-partition"]) for one in found) == ["parcels-2", "parcels-9"]


def test_a_blocked_event_loop_may_have_triggered_it(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"parcels.log": BLOCKED.format(59, "vert.x-eventloop-thread-0") + FIRST})
    assert "vert.x-eventloop-thread-0 had been blocked for 31 s" in one.explanation
    assert {place.line for place in one.evidence} == {1, 2}


def test_a_thread_that_was_blocked_long_before_did_not(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"parcels.log": BLOCKED.format(50, "vert.x-eventloop-thread-0") + FIRST})
    assert "blocked" not in one.explanation


def test_a_missing_acknowledgment_is_not_called_slow_work(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"parcels.log": FIRST})
    assert one.root_cause == "acknowledgment-missing-or-late"
    assert "does not acknowledge the record at all, or still processes it" in one.explanation
    assert one.next_step.startswith("Check that each path of the processing method acknowledges")


def test_a_step_that_took_long_shows_slow_work(tmp_path: Path) -> None:
    step = "2026-05-04 09:59:58,000 INFO  [com.par.Store] (executor-thread-1) lookup of parcel 17 took 58112 ms\n"
    (one,) = judge(tmp_path, {"parcels.log": step + FIRST})
    assert one.root_cause == "processing-too-slow" and "at 2026-05-04T09:59:58" in one.explanation


READS = (
    "2026-05-04 10:{}:03,401 INFO  [io.sma.rea.mes.kafka] (vert.x-eventloop-thread-1) SRMSG18256: Initialize record "
    "store for topic-partition 'parcels-2' at position 5119.\n"
)


def test_a_restart_that_reads_on_is_reported(tmp_path: Path) -> None:
    ended = "2026-05-04 10:02:48,112 INFO  [io.quarkus] (Shutdown thread) parcels stopped in 0.402s\n"
    (one,) = judge(tmp_path, {"parcels.log": FIRST + ended + READS.format("03")})
    assert "2026-05-04T10:03:03.401Z" in one.explanation and len(one.evidence) >= 2


def test_a_restart_before_the_next_wait_recovers_nothing(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"parcels.log": FIRST + READS.format("03") + CHECK.format(12, WAITS)})
    assert "10:03:03" not in one.explanation
