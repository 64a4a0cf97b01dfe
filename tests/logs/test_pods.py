"""What Kubernetes reports of a pod is a part of the fault of the Kafka server in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from tests.logs.judging import judge

BROKER = "[2026-09-14 {}] {} {} ({})\n"
FULL = (
    BROKER.format("03:11:20,100", "ERROR", "Error while appending records to bets-4 in dir /data/kafka", "x.y.Log")
    + "java.io.IOException: No space left on device\n"
    + BROKER.format(
        "03:11:20,200",
        "ERROR",
        "Shutdown broker because all log dirs in /data/kafka have failed",
        "kafka.log.LogManager",
    )
)
STARTED = BROKER.format("03:10:00,000", "INFO", "[BrokerServer id=6] Transition from STARTING to STARTED", "k.s.B")
CRASHES = "NAME      READY   STATUS             RESTARTS   AGE\n{}   0/1     CrashLoopBackOff   9          30m\n"


def found_in(folder: Path, server: str, pods: str, name: str = "bets-kafka-6.log") -> Sequence[Incident]:
    return [one for one in judge(folder, {name: server, "pods.txt": pods}) if one.severity is not Severity.INFO]


def test_a_crashing_pod_is_an_effect_of_its_brokers_fault(tmp_path: Path) -> None:
    (one,) = found_in(tmp_path, STARTED + FULL, CRASHES.format("bets-kafka-6"))
    assert (one.kind, one.subject["pod"]) == ("log_dir_failure", "bets-kafka-6")
    assert "Effect (pod_not_running)" in one.explanation
    assert {Path(place.file).name for place in one.evidence} == {"bets-kafka-6.log", "pods.txt"}


@pytest.mark.parametrize("pod", ["bets-kafka-7", "feed-api-6f7b9"])
def test_a_crashing_pod_of_another_server_stays(pod: str, tmp_path: Path) -> None:
    kinds = {one.kind for one in found_in(tmp_path, STARTED + FULL, CRASHES.format(pod))}
    assert kinds == {"log_dir_failure", "pod_not_running"}


PRINTED = (
    "$ kubectl -n pay logs {} --previous\n"
    "2026-03-17 10:45:08,392 INFO pay.main transactional.id=pay-tx\n"
    "2026-03-17 10:45:10,100 ERROR pay.txn KafkaError code=TRANSACTIONAL_ID_AUTHORIZATION_FAILED: Broker: "
    "Transactional Id authorization failed, transactional.id=pay-tx\n"
    "2026-03-17 10:45:10,338 CRITICAL pay.main leaving with exit code 3\n"
    "$ kubectl -n pay get pods\n"
)


@pytest.mark.parametrize(("pod", "count"), [("pay-6f7b9-x2x4q", 1), ("feed-6f7b9-zzk8p", 2)])
def test_a_crashing_pod_is_an_effect_of_its_programs_fault(pod: str, count: int, tmp_path: Path) -> None:
    found = judge(tmp_path, {"ticket.txt": PRINTED.format("pay-6f7b9-x2x4q") + CRASHES.format(pod)})
    assert len(found) == count and found[0].kind == "transactional_id_authorization"
    assert (found[0].subject.get("pod") == pod) == (count == 1)


UNRESOLVED = (
    "[RaftManager id=0] Error connecting to node vote-1.vote.prod.svc:9093 (id: 1 rack: null)",
    "java.net.UnknownHostException: vote-1.vote.prod.svc",
)


def test_a_pending_pod_is_the_cause_of_a_lost_quorum(tmp_path: Path) -> None:
    candidate = (
        "[RaftManager id=0] Completed transition to CandidateState(localId=0, epoch={0}, retries={0}, voteStates="
        "{{0=GRANTED, 1=UNRECORDED, 2=UNRECORDED}}, highWatermark=Optional.empty, electionTimeoutMs=1100)"
    )
    text = ""
    for turn in range(1, 9):
        at = f"03:10:{turn * 5:02},000"
        text += BROKER.format(at, "INFO", candidate.format(turn), "org.apache.kafka.raft.QuorumState")
        leader = f"[QuorumController id=0] In the new epoch {turn}, the leader is (none)."
        text += BROKER.format(at, "INFO", leader, "x.Q")
        text += BROKER.format(at, "WARN", UNRESOLVED[0], "org.apache.kafka.clients.NetworkClient")
        text += f"{UNRESOLVED[1]}\n"
    events = (
        "Events (vote-1):\n  Warning  FailedScheduling  2m  default-scheduler  "
        "0/4 nodes are available: 4 Insufficient cpu.\n"
    )
    found = {one.kind: one for one in found_in(tmp_path, text, events, "vote-0.log")}
    one = found["controller_quorum_lost"]
    assert "pod_not_running" not in found
    assert "Cause: Kubernetes finds no node for vote-1" in one.explanation
    assert one.next_step.startswith("Free or add what the nodes lack")


LOST = (
    "2026-03-20 13:44:{} INFO  [kafka-7-raft-io-thread] KafkaRaftClient:3136 - [RaftManager id=7] Election timed out "
    "before receiving sufficient vote responses to become candidate. Current epoch election state: EpochElection(a)\n"
    "2026-03-20 13:44:{} WARN  [kafka-7-raft-outbound-request-thread] NetworkClient:870 - [RaftManager id=7] "
    "Connection to node 8 (ctl-8/10.9.0.8:9090) could not be established. Node may not be available.\n"
)
WAITED = (
    "[2026-03-20 13:45:20,000] ERROR [BrokerServer id={}] Received a fatal error while waiting for the controller to "
    "acknowledge that we are caught up (kafka.server.BrokerServer)\n"
    "java.util.concurrent.CancellationException\n"
)


@pytest.mark.parametrize(
    ("broker", "pods", "left"),
    [
        (2, ("bus-brokers-2", "bus-brokers-3"), 0),
        (2, ("bus-brokers-2",), 0),
        (2, ("bus-brokers-3", "feed-api-x"), 1),
        (2, ("bus-brokers-2", "bus-controllers-8"), 1),
    ],
)
def test_brokers_without_a_quorum_end_again(broker: int, pods: Sequence[str], left: int, tmp_path: Path) -> None:
    rows = [CRASHES.format(pod).splitlines(keepends=True)[1] for pod in pods]
    listed = CRASHES.splitlines(keepends=True)[0] + "".join(rows)
    logs = {
        "controller.log": "".join(LOST.format(second, second) for second in ("10", "12", "14", "16")),
        "server.log": WAITED.format(broker),
        "pods.txt": listed,
    }
    found = {one.kind: one for one in judge(tmp_path, logs)}
    assert [kind for kind in found if kind == "pod_not_running"] == ["pod_not_running"] * left
    quorum = found["controller_quorum_lost"]
    assert ("Effect (pod_not_running)" in quorum.explanation) is not bool(left)


CONTROLLER = "[QuorumController id={}] {}"
LOGGER = "org.apache.kafka.controller.QuorumController"
CHECKPOINT = "Error while writing to checkpoint file /data/__cluster_metadata-0/leader-epoch-checkpoint"
CHANNEL = "org.apache.kafka.storage.internals.log.LogDirFailureChannel"
PARTS = (
    f"$ kubectl -n bets get pods\n{CRASHES.format('bets-kafka-0')}\n{{print}} bets-kafka-0 --previous --tail=60\n"
    + BROKER.format("03:11:19,260", "INFO", CONTROLLER.format(0, "In the new epoch 911, the leader is 2."), LOGGER)
    + BROKER.format("03:11:20,100", "ERROR", CHECKPOINT, CHANNEL)
    + "java.io.IOException: No space left on device\n\n{print} bets-kafka-2 --since=5m\n"
    + BROKER.format(
        "03:10:50,770", "INFO", CONTROLLER.format(2, "Fencing broker 0 because its session has timed out."), LOGGER
    )
    + "\n$ df -h /data\n/dev/sdd  7.8G  6.1G  1.7G  79% /data\n"
)


@pytest.mark.parametrize("command", ["$ kubectl -n bets logs", "ops@jump:~$ oc logs"])
def test_commands_divide_the_logs_of_several_pods(command: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"ticket.txt": PARTS.format(print=command)})
    assert (one.kind, one.subject["broker"], one.subject["pod"]) == ("log_dir_failure", "0", "bets-kafka-0")
    assert "fenced" in one.explanation and "kubectl logs --previous" not in one.next_step


def test_containers_of_one_file_are_divided(tmp_path: Path) -> None:
    text = PARTS.partition("\n\n")[2].format(print="# docker logs").replace(" --previous --tail=60", "")
    found = judge(tmp_path, {"paste.txt": text})
    assert [one.subject["broker"] for one in found if one.kind == "log_dir_failure"] == ["0"]
