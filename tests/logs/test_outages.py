"""Servers that disappeared without a record in their own logs: other logs show it."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.incidents.judge import judge_incidents
from eosctl.logs.scan import scan_paths
from tests.logs.judging import judge

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


def other(message: str, second: int = 0) -> str:
    return f"[2026-11-21 09:29:{second:02d},000] INFO {message} (org.apache.kafka.clients.NetworkClient)\n"


def test_a_start_after_an_unanswered_request_is_a_restart(tmp_path: Path) -> None:
    cut_off = other(
        "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] Cancelled in-flight FETCH request with correlation id "
        "64 due to node 1 being disconnected (elapsed time since creation: 90ms, elapsed time since send: 90ms, "
        "throttle time: 0ms, request timeout: 30000ms)"
    )
    found = judge(tmp_path, {"broker-1/server.log": START, "broker-3/server.log": cut_off})
    assert [(one.kind, one.subject["broker"]) for one in found] == [("broker_restart", "1")]
    assert "how it ended is not in these logs" in found[0].explanation


def test_a_broker_that_is_only_waited_for_has_not_crashed(tmp_path: Path) -> None:
    awaited = other("[RaftManager id=3] Node 1 disconnected.") + other(
        "[RaftManager id=3] Connection to node 1 (/10.0.0.1:9093) could not be established. Node may not be available."
    )
    assert judge(tmp_path, {"broker-1/server.log": START, "broker-3/server.log": awaited}) == []


def test_followers_name_the_controller_that_they_lost(tmp_path: Path) -> None:
    for state, name in (
        ("CandidateState", "leaderId"),
        ("ProspectiveState", "leader"),
        ("CandidateState", "leader=10.0.3.7:9093 (id: 1 rack: null) voter"),  # 3.7 to 3.9
    ):
        folder = tmp_path / state / name[:8]
        alive = other("[QuorumController id=1] Beginning snapshot 12")
        lost = f"[2026-11-21 09:29:02,000] INFO {LOST.format(state, name)} (org.apache.kafka.raft.QuorumState)\n"
        found = judge(folder, {"broker-1/controller.log": alive + START, "broker-3/controller.log": lost + TAKEN})
        assert [(one.kind, one.subject["controller"]) for one in found] == [("controller_failover", "1")]


def test_nodes_that_share_a_services_name_are_separated(tmp_path: Path) -> None:
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


def test_a_broker_stopped_soon_after_its_start_was_restarted(tmp_path: Path) -> None:
    stopped = (
        "[2026-11-21 09:29:40,000] INFO Terminating process due to signal SIGTERM "
        "(org.apache.kafka.common.utils.LoggingSignalHandler)\n"
    )
    log = (
        START
        + stopped
        + START.replace("09:29:3", "09:29:4").replace("09:29:40,000] INFO Reg", "09:29:41,000] INFO Reg")
    )
    (found,) = judge(tmp_path, {"broker-1/server.log": log})
    assert (found.kind, found.subject["broker"]) == ("broker_restart_clean", "1")


def test_each_of_two_crashes_begins_after_the_start_before_it(tmp_path: Path) -> None:
    fenced = (
        "[2026-11-21 09:{},000] INFO [QuorumController id=3] Fencing broker 1 at epoch 4 because its session has "
        "timed out. (org.apache.kafka.controller.ReplicationControlManager)\n"
    )
    alive = "[2026-11-21 09:{},000] INFO [GroupCoordinator 1]: Resigned as the group coordinator for partition 1 "
    alive += "(kafka.coordinator.group.GroupCoordinator)\n"
    broker = alive.format("29:05") + START + alive.format("29:45") + START.replace("09:29", "09:30")
    controller = fenced.format("29:20") + fenced.format("30:10")
    found = judge(tmp_path, {"broker-1/server.log": broker, "broker-3/controller.log": controller})
    assert [one.kind for one in found] == ["broker_crash", "broker_crash"]
    assert found[1].t_start_ms - found[0].t_start_ms == 40_000


def test_a_shortage_has_no_cause_in_a_broker_that_was_back(tmp_path: Path) -> None:
    shortage = (
        "[2026-11-21 09:30:{},000] ERROR [ReplicaManager broker=3] Error processing append operation on partition "
        "ledger-1 (kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.NotEnoughReplicasException: The size "
        "of the current ISR Set(3) is insufficient to satisfy the min.isr requirement of 2 for partition ledger-1\n"
    )
    fenced = (
        "[2026-11-21 09:{},000] INFO [QuorumController id=3] Fencing broker {} at epoch 4 because its session has "
        "timed out. (org.apache.kafka.controller.ReplicationControlManager)\n"
    )
    first = other("[GroupCoordinator 1]: Elected as the group coordinator for partition 1", 5) + START
    found = judge(
        tmp_path,
        {
            "broker-1/server.log": first,
            "broker-3/controller.log": fenced.format("29:20", 1) + fenced.format("30:05", 2),
            "broker-3/server.log": shortage.format("06") + shortage.format("20"),
        },
    )
    assert [(one.kind, one.subject.get("broker", one.subject.get("brokers"))) for one in found] == [
        ("broker_crash", "1"),
        ("not_enough_replicas", ("2",)),
    ]


def test_a_shortage_ends_before_its_broker_is_fenced_again(tmp_path: Path) -> None:
    fenced = (
        "[2026-11-{},000] INFO [QuorumController id=3] Fencing broker 2 at epoch 4 because its session has timed out. "
        "(org.apache.kafka.controller.ReplicationControlManager)\n"
    )
    shortage = (
        "[2026-11-{},000] ERROR [ReplicaManager broker=3] Error processing append operation on partition ledger-1 "
        "(kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.NotEnoughReplicasException: The size of the "
        "current ISR Set(3) is insufficient to satisfy the min.isr requirement of 2 for partition ledger-1\n"
    )
    first, later = ("21 09:30:06", "21 09:30:20"), ("22 18:00:00", "22 18:00:20")
    found = judge(
        tmp_path,
        {
            "broker-3/controller.log": fenced.format("21 09:30:05") + fenced.format("24 11:00:00"),
            "broker-3/server.log": "".join(map(shortage.format, (*first, *later))),
        },
    )
    shortages = [one for one in found if one.kind == "not_enough_replicas"]
    assert [one.subject["brokers"] for one in shortages] == [("2",), ("2",)]
    # The second one began with its first refused write, not with the loss of the broker a day before.
    assert [one.t_end_ms - one.t_start_ms for one in shortages] == [15_000, 20_000]
    assert [len(one.evidence) for one in shortages] == [3, 3]


RAFT_CUT = (
    "[RaftManager id=3] Cancelled in-flight FETCH request with correlation id 66 due to node 1 being disconnected "
    "(elapsed time since creation: 392ms, elapsed time since send: 391ms, throttle time: 0ms, request timeout: 2000ms)"
)


def test_the_source_of_metadata_fetches_was_the_controller(tmp_path: Path) -> None:
    for files in (
        {"broker-1/server.log": START, "broker-3/controller.log": other(RAFT_CUT) + TAKEN},
        # The controller has no log at all.
        {"broker-3/controller.log": other(RAFT_CUT) + TAKEN},
    ):
        found = judge(tmp_path / str(len(files)), files)
        assert [(one.kind, one.subject["controller"]) for one in found] == [("controller_failover", "1")]


def test_a_controller_followed_by_another_one_had_resigned(tmp_path: Path) -> None:
    assert judge(tmp_path, {"broker-3/controller.log": TAKEN + other(RAFT_CUT, second=9)}) == []


def _controller_record(second: int, message: str) -> str:
    return f"[2026-11-21 09:29:{second:02d},000] INFO [QuorumController id=9] {message} (kafka.Beats)\n"


@pytest.mark.parametrize("files", [("controller.log",), ("controller.log", "controller.out")])
@pytest.mark.parametrize(
    ("back", "kinds"),
    [
        ((30, 31), ["not_enough_replicas"]),
        # Correctly one after the other.
        ((10, 31), ["baseline", "broker_restart_clean", "broker_restart_clean"]),
    ],
)
def test_brokers_that_stopped_together_caused_a_shortage(
    back: tuple[int, int], kinds: list[str], files: tuple[str, ...], tmp_path: Path
) -> None:
    granted = "The request from broker {} to unfence has been granted because it has caught up"
    asked = "Unfenced broker {} has requested and been granted a controlled shutdown."
    controller = "".join(
        [
            _controller_record(2, asked.format(5)),
            _controller_record(11, asked.format(6)) if back[0] == 10 else _controller_record(3, asked.format(6)),
            _controller_record(back[0], granted.format(5)),
            _controller_record(back[1], granted.format(6)),
        ]
    )
    refused = "".join(
        f"[2026-11-21 09:29:{second:02d},000] ERROR [ReplicaManager broker=7] Error processing append operation on "
        "partition orders-1 (kafka.server.ReplicaManager)\norg.apache.kafka.common.errors.NotEnoughReplicasException: "
        "The size of the current ISR Set(7) is insufficient to satisfy the min.isr requirement of 2 for orders-1\n"
        for second in (12, 20, 28)
    )
    said = {f"controller-9/{file}": controller for file in files}
    found = judge(tmp_path, {**said, "broker-7/server.log": refused})
    assert sorted(one.kind for one in found) == kinds
    if len(found) == 1:
        assert (found[0].subject["brokers"], found[0].confidence) == (("5", "6"), 0.9)


@pytest.mark.parametrize(("epochs", "kind"), [((71, 71), "broker_fenced"), ((71, 99), "broker_crash")])
def test_a_broker_unfenced_with_its_old_epoch_never_ended(epochs: tuple[int, int], kind: str, tmp_path: Path) -> None:
    before, after = epochs
    controller = other(
        f"[QuorumController id=3] Fencing broker 7 at epoch {before} because its session has timed out.", 10
    ) + other(
        "[QuorumController id=3] The request from broker 7 to unfence has been granted because it has caught up with "
        f"the offset of its register broker record {after}.",
        40,
    )
    (found,) = judge(tmp_path, {"controller.log": controller})
    assert (found.kind, found.subject) == (kind, {"broker": "7"})
    assert (found.t_end_ms - found.t_start_ms == 30_000) == (kind == "broker_fenced")


def test_a_broker_that_logs_after_its_fencing_never_ended(tmp_path: Path) -> None:
    fenced = other("[QuorumController id=3] Fencing broker 7 at epoch 71 because its session has timed out.", 10)
    words = "Unable to send a heartbeat because the RPC got timed out before it could be sent."
    silent = other(f"[BrokerLifecycleManager id=7] {words}", 12)
    (found,) = judge(tmp_path, {"controller.log": fenced, "broker-7/server.log": silent})
    assert (found.kind, found.root_cause) == ("broker_fenced", "running-broker-missed-heartbeats")


@pytest.mark.parametrize(("own", "kind"), [(False, "broker_restart"), (True, "broker_crash")])
def test_records_of_another_node_show_no_end_of_a_broker(own: bool, kind: str, tmp_path: Path) -> None:
    alive = other("[GroupCoordinator 1]: Elected as the group coordinator for partition 1", 5) if own else ""
    of_others = other("[Controller id=3, targetBrokerId=1] Node 1 disconnected.", 6) + other(
        "[Controller id=3, targetBrokerId=1] Connection to node 1 (b1/10.0.0.1:9092) could not be established. Broker "
        "may not be available.",
        7,
    )
    later = "".join(
        other(f"[GroupCoordinator 1]: Resigned as the group coordinator for partition {n}", 40) for n in "12"
    )
    (found,) = judge(tmp_path, {"broker-1.log": alive + of_others.replace("INFO", "WARN") + START + later})
    assert (found.kind, found.subject) == (kind, {"broker": "1"})


def test_a_start_after_the_words_of_an_application(tmp_path: Path) -> None:
    words = "2026-11-21 09:28:01.000 WARN [main] a.Pay - Connection to node 1 could not be established\n"
    (one,) = judge(tmp_path, {"all.log": words + START})
    assert one.kind == "broker_restart" and "how it ended is not in these logs" in one.explanation


HALT = (
    "[2026-11-21 09:29:07,000] ERROR Error while writing a file to /k (kafka.server.LogDirFailureChannel)\n"
    "java.io.IOException: No space left on device\n"
    "[2026-11-21 09:29:08,000] ERROR Shutdown broker because all log dirs in /k have failed (kafka.log.LogManager)\n"
)


@pytest.mark.parametrize("halt", [HALT, ""])
def test_a_halt_for_a_failed_disk_is_not_a_crash(halt: str, tmp_path: Path) -> None:
    alive = other("[BrokerLifecycleManager id=1] The broker has been unfenced. Transitioning from RECOVERY to RUNNING.")
    lost = other("[RaftManager id=3] Node 1 disconnected.", 9)
    found = judge(tmp_path, {"broker-1/server.log": alive + halt + START, "broker-3/server.log": lost})
    assert [one.kind for one in found] == (["log_dir_failure"] if halt else ["broker_crash"])


def test_a_crash_after_a_halt_and_a_start_is_found(tmp_path: Path) -> None:
    again = START.replace("09:29:3", "09:36:3")
    lost = other("[RaftManager id=3] Node 1 disconnected.", 9).replace("09:29", "09:36")
    alive = other("[BrokerLifecycleManager id=1] The broker has been unfenced.", 8).replace("09:29", "09:36")
    found = judge(tmp_path, {"broker-1/server.log": HALT + START + alive + again, "broker-3/server.log": lost})
    assert [one.kind for one in found] == ["log_dir_failure", "broker_crash"]
