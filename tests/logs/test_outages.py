"""Servers that went away without a word of their own: others tell."""

from __future__ import annotations

from pathlib import Path

from eosctl.analysis.incidents.judge import judge_incidents
from eosctl.model.incident import Incident
from spark_log_analytics.scan import scan_paths

START = (
    "[2026-11-21 09:29:30,000] INFO Registered signal handlers for TERM, INT, HUP "
    "(org.apache.kafka.common.utils.LoggingSignalHandler)\n"
    "[2026-11-21 09:29:31,000] INFO [BrokerServer id=1] Transition from SHUTDOWN to STARTING "
    "(kafka.server.BrokerServer)\n"
)
LOST = (
    "[RaftManager id=3] Completed transition to {}(localId=3, epoch=4) from FollowerState(fetchTimeoutMs=2000, "
    "epoch=3, {}=1, voters=[1, 2, 3])"
)
TAKEN = (
    "[2026-11-21 09:29:03,000] INFO [QuorumController id=3] Becoming the active controller at epoch 4, next write "
    "offset 826. (org.apache.kafka.controller.QuorumController)\n"
)


def judge(folder: Path, files: dict[str, str]) -> list[Incident]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    scan = scan_paths([folder])
    return list(judge_incidents(scan.events, scan.sources))


def other(message: str, second: int = 0) -> str:
    return f"[2026-11-21 09:29:{second:02d},000] INFO {message} (org.apache.kafka.clients.NetworkClient)\n"


def test_a_quiet_broker_that_left_a_request_unanswered_has_crashed(tmp_path: Path) -> None:
    cut_off = other(
        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Cancelled in-flight FETCH request with correlation id "
        "64 due to node 1 being disconnected (elapsed time since creation: 90ms, elapsed time since send: 90ms, "
        "throttle time: 0ms, request timeout: 30000ms)"
    )
    found = judge(tmp_path, {"broker-1/server.log": START, "broker-3/server.log": cut_off})
    assert [(one.kind, one.subject["broker"]) for one in found] == [("broker_crash", "1")]


def test_a_broker_that_is_only_waited_for_has_not_crashed(tmp_path: Path) -> None:
    awaited = other("[RaftManager id=3] Node 1 disconnected.") + other(
        "[RaftManager id=3] Connection to node 1 (/10.0.0.1:9093) could not be established. Node may not be available."
    )
    assert judge(tmp_path, {"broker-1/server.log": START, "broker-3/server.log": awaited}) == []


def test_followers_name_the_controller_that_they_lost(tmp_path: Path) -> None:
    for state, name in (("CandidateState", "leaderId"), ("ProspectiveState", "leader")):
        folder = tmp_path / state
        alive = other("[QuorumController id=1] Beginning snapshot 12")
        lost = f"[2026-11-21 09:29:02,000] INFO {LOST.format(state, name)} (org.apache.kafka.raft.QuorumState)\n"
        found = judge(folder, {"broker-1/controller.log": alive + START, "broker-3/controller.log": lost + TAKEN})
        assert [(one.kind, one.subject["controller"]) for one in found] == [("controller_failover", "1")]


def test_nodes_that_share_a_services_name_are_told_apart(tmp_path: Path) -> None:
    for node in (1, 2):
        stopped = (
            "[2026-11-21 09:29:00,000] INFO Terminating process due to signal SIGTERM "
            "(org.apache.kafka.common.utils.LoggingSignalHandler)\n"
            "[2026-11-21 09:29:05,000] INFO [BrokerServer id=1] shut down completed (kafka.server.BrokerServer)\n"
        )
        lines = (stopped + START).replace("09:29", f"09:{20 + node}").replace("id=1", f"id={node}").splitlines()
        folder = tmp_path / f"node-{node}"
        folder.mkdir()
        (folder / "server.log").write_text("".join(f"Nov 21 09:21:00 host kafka[9]: {line}\n" for line in lines))
    scan = scan_paths([tmp_path])
    found = judge_incidents(scan.events, scan.sources)
    assert {one.subject["broker"] for one in found if one.kind == "broker_restart_clean"} == {"1", "2"}
