"""Starts and restarts as planned: what a client retries until it succeeds is not an incident and calls for nothing."""

from __future__ import annotations

from pathlib import Path

from eosctl.logs.incidents.judge import judge_logs
from eosctl.logs.scan import scan_paths

MOVED_COORDINATOR = (
    "[2026-02-03 09:00:01,000] INFO [Consumer clientId=tiles-1, groupId=tiles] Node 1 disconnected. (o.a.k.Network)\n"
    "[2026-02-03 09:00:02,000] ERROR [Consumer clientId=tiles-1, groupId=tiles] Offset commit failed on partition "
    "tiles.cut-1 at offset 7: This is not the correct coordinator. (o.a.k.ConsumerCoordinator)\n"
    "[2026-02-03 09:00:03,000] INFO [Consumer clientId=tiles-1, groupId=tiles] Discovered group coordinator "
    "kb-2:9092 (id: 2147483645 rack: null) (o.a.k.ConsumerCoordinator)\n"
    "[2026-02-03 09:04:00,000] INFO Cut 8 tiles. (com.example.Cutter)\n"
)


def test_a_commit_that_java_repeats_calls_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "tiles.log").write_text(MOVED_COORDINATOR)
    scan = scan_paths([tmp_path])
    assert judge_logs(scan.events, scan.sources) == ((), ())


def test_a_commit_that_a_program_reports_stays_open(tmp_path: Path) -> None:
    own = "[2026-02-03 09:00:04,000] ERROR Commit failed: This is not the correct coordinator. (com.example.Cutter)\n"
    (tmp_path / "tiles.log").write_text(own + MOVED_COORDINATOR)
    scan = scan_paths([tmp_path])
    judgment = judge_logs(scan.events, scan.sources)
    assert [event.line for event in judgment.unexplained] == [1]
