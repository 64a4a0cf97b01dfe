"""Instances of Kafka Streams that were killed, by threads whose names do not show the application."""

from __future__ import annotations

from pathlib import Path

from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from tests.logs.judging import judge

THREAD = "tolls-7-StreamThread-1"
KILLED = "2026-05-04T10:00:00Z host7 kernel: Memory cgroup out of memory: Killed process 4410 (java)\n"
LINE = "2026-05-04 10:{},000 {} [main] o.a.k.streams - {}\n"
JOINED = LINE.format(
    "01:00",
    "INFO",
    f"[Consumer clientId={THREAD}-consumer, groupId=toll-engine] Adding newly assigned partitions: tolls-3",
)
WIPED = LINE.format(
    "01:02",
    "WARN",
    f"stream-thread [{THREAD}] stream-task [0_3] State store sums did not find checkpoint offsets while stores are not "
    "empty, since under EOS it has the risk of getting uncommitted data in stores we have to treat it as a task "
    "corruption error and wipe out the local state of task 0_3 before re-bootstrapping",
)
CLOSED = LINE.format("01:04", "INFO", f"stream-thread [{THREAD}] Active task(s) got corrupted. Triggering a rebalance.")
RESTORED = LINE.format(
    "06:30",
    "INFO",
    f"stream-thread [{THREAD}] Finished restoring changelog toll-engine-sums-changelog-3 to store sums with a total "
    "number of 7120 records",
)
RUNNING = LINE.format("06:31", "INFO", f"stream-thread [{THREAD}] State transition from PARTITIONS_ASSIGNED to RUNNING")


def read(folder: Path, *lines: str) -> list[Incident]:
    """Judge the log of an instance."""
    return judge(folder, {"tolls.log": "".join(lines)})


def test_the_group_of_its_consumer_names_the_application(tmp_path: Path) -> None:
    (one,) = read(tmp_path, JOINED, WIPED, CLOSED, RESTORED, RUNNING)
    assert (one.kind, one.subject["application.id"]) == ("task_corrupted", "toll-engine")


def test_a_record_that_tasks_were_closed_is_not_a_further_fault(tmp_path: Path) -> None:
    (one,) = read(tmp_path, JOINED, WIPED, CLOSED, RESTORED, RUNNING)
    assert "ran again at 2026-05-04T10:06:31.000Z" in one.explanation
    assert 5 in {place.line for place in one.evidence}


def test_a_kill_that_its_program_recovered_from_is_an_error(tmp_path: Path) -> None:
    (one,) = read(tmp_path, KILLED, JOINED, WIPED, CLOSED, RESTORED, RUNNING)
    assert (one.kind, one.severity) == ("out_of_memory", Severity.ERROR)
    assert one.t_start_ms == 1_777_888_800_000 and "7,120 records" in one.explanation


def test_a_kill_without_a_recovery_stays_critical(tmp_path: Path) -> None:
    (one,) = read(tmp_path, KILLED, JOINED, WIPED, CLOSED)
    assert (one.kind, one.severity) == ("out_of_memory", Severity.CRITICAL)
