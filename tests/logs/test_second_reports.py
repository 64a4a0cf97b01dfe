"""Reports of readers, controllers, and Streams threads that were taken for harmless, or for another fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.render.logs.verdict import headline
from eosctl.services.log_findings import collect_log_findings
from tests.logs.judging import judge

TRUNCATED = (
    "2022-10-11 10:40:05,113 INFO  [main] SubscriptionState - [Consumer clientId=audit-1, groupId=audit-read] "
    "Truncation detected for partition ledger-0 at offset FetchPosition{offset=4412219, offsetEpoch=Optional[31], "
    "currentLeader=LeaderAndEpoch{leader=Optional[k2:9092 (id: 2 rack: null)], epoch=33}}, resetting offset to the "
    "first offset known to diverge FetchPosition{offset=4409801, offsetEpoch=Optional[31]}\n"
)
ROUNDS = (
    "[2025-01-14 04:13:51,672] INFO [RaftManager id=2] Completed transition to CandidateState(localId=2, epoch=112, "
    "retries=1, electionTimeoutMs=1701) (org.apache.kafka.raft.QuorumState)\n"
    "[2025-01-14 04:13:53,380] INFO [RaftManager id=2] Election has timed out, backing off for 1000ms before becoming "
    "a candidate again (org.apache.kafka.raft.KafkaRaftClient)\n"
    "[2025-01-14 04:13:54,401] INFO [RaftManager id=2] Re-elect as candidate after election backoff has completed "
    "(org.apache.kafka.raft.KafkaRaftClient)\n"
)
UNREACHABLE = (
    "[2025-01-14 04:14:41,120] WARN [RaftManager id=2] Connection to node 1 (ctl1/10.8.0.11:9093) could not be "
    "established. Node may not be available. (org.apache.kafka.clients.NetworkClient)\n"
)
LEADER = (
    "[2025-01-14 04:13:55,100] INFO [RaftManager id=2] Completed transition to FollowerState(fetchTimeoutMs=2000, "
    "epoch=113, leaderId=3, voters=[1, 2, 3]) (org.apache.kafka.raft.QuorumState)\n"
)
BEGIN_FAILED = (
    "2023-09-29 11:10:03.220 ERROR 1 --- [d-app-StreamThread-88] o.a.k.s.processor.internals.TaskManager  : "
    "stream-thread [d-app-7a0c-StreamThread-88] Failed to process stream task 0_1712 due to the following error:\n"
    "org.apache.kafka.streams.errors.StreamsException: Error encountered trying to begin a new transaction\n"
    "Caused by: org.apache.kafka.common.KafkaException: org.apache.kafka.common.errors.{error}: {text}\n"
    "2023-09-29 11:10:03.266 ERROR 1 --- [d-app-StreamThread-88] org.apache.kafka.streams.KafkaStreams    : "
    "stream-client [d-app-7a0c] Replacing thread in the streams uncaught exception handler\n"
)


def kinds(tmp_path: Path, text: str) -> list[str]:
    return [one.kind for one in judge(tmp_path, {"server.log": text})]


def test_truncation_behind_a_reader_is_critical(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"reader.log": TRUNCATED})
    assert (found.kind, found.severity.value, found.subject["topic-partition"]) == (
        "log_truncated",
        "critical",
        "ledger-0",
    )


def test_an_election_without_end_is_a_lost_quorum(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"server.log": ROUNDS + UNREACHABLE})
    assert (found.kind, found.subject) == ("controller_quorum_lost", {"controller": "2", "unreachable": ("1",)})
    assert found.explanation.startswith("Controller 2 could not win")


@pytest.mark.parametrize("text", [ROUNDS, ROUNDS + LEADER, ROUNDS + LEADER + UNREACHABLE])
def test_a_second_round_is_not_a_lost_quorum(tmp_path: Path, text: str) -> None:
    assert "controller_quorum_lost" not in kinds(tmp_path, text)


def test_a_quoted_error_is_the_cause_of_a_dead_thread(tmp_path: Path) -> None:
    text = BEGIN_FAILED.format(
        error="InvalidPidMappingException", text="The producer attempted to use a producer id which is not assigned"
    )
    assert kinds(tmp_path, text) == ["transactional_id_expired"]


def test_a_quoted_serialization_error_is_a_poison_record(tmp_path: Path) -> None:
    text = BEGIN_FAILED.format(error="SerializationException", text="Unknown magic byte!")
    assert kinds(tmp_path, text) == ["streams_uncaught_exception"]


def test_a_fenced_broker_that_still_logs_has_not_died(tmp_path: Path) -> None:
    broker = (
        "[2024-12-19 19:44:12,505] INFO [BrokerLifecycleManager id=5] Unable to send a heartbeat because the RPC got "
        "timed out before it could be sent. (kafka.server.BrokerLifecycleManager)\n"
        "[2024-12-19 19:44:19,010] INFO [BrokerLifecycleManager id=5] Broker 5 sent a heartbeat request but received "
        "error STALE_BROKER_EPOCH. (kafka.server.BrokerLifecycleManager)\n"
    )
    controller = (
        "[2024-12-19 19:44:18,991] INFO [QuorumController id=100] Fencing broker 5 because its session has timed out. "
        "(org.apache.kafka.controller.ReplicationControlManager)\n"
    )
    (found,) = judge(tmp_path, {"b/server.log": broker, "c/controller.log": controller})
    assert (found.kind, found.subject) == ("broker_fenced", {"broker": "5"})
    (died,) = judge(tmp_path / "alone", {"controller.log": controller})
    assert died.kind == "broker_crash"


def test_repeated_fencing_has_a_count_and_an_interval(tmp_path: Path) -> None:
    fencing = (
        "[2024-12-19 {}] INFO [QuorumController id=100] Fencing broker {} because its session has timed out. "
        "(org.apache.kafka.controller.ReplicationControlManager)\n"
    )
    silence = (
        "[2024-12-19 {}] INFO [BrokerLifecycleManager id=5] Broker 5 sent a heartbeat request but received error "
        "STALE_BROKER_EPOCH. (kafka.server.BrokerLifecycleManager)\n"
    )
    times = ["19:44:18,991", "19:49:18,991", "19:54:18,991"]
    log = "".join(fencing.format(time, 5) for time in times) + fencing.format("19:54:19,200", 6)
    found = {one.subject["broker"]: one.explanation for one in judge(tmp_path / "alone", {"controller.log": log})}
    assert "fenced broker 5 3 times, every 5 min on average" in found["5"]
    assert "times" not in found["6"]
    broker = "".join(silence.format(time.replace(":18,", f":{second},")) for time in times for second in (12, 25))
    both = judge(tmp_path / "both", {"b/server.log": broker, "c/controller.log": log})
    (stalled,) = [one for one in both if one.subject["broker"] == "5"]
    assert stalled.kind == "broker_fenced"
    assert "fenced broker 5 3 times, every 5 min on average" in stalled.explanation


def test_an_excerpt_with_many_lost_elections_is_a_lost_quorum(tmp_path: Path) -> None:
    text = (
        "[2025-01-14 04:13:51,672] INFO [RaftManager id=2] Completed transition to CandidateState(localId=2, "
        "epoch=112, retries={}, electionTimeoutMs=1701) from CandidateState(localId=2, epoch=111) "
        "(org.apache.kafka.raft.QuorumState)\n"
    )
    assert kinds(tmp_path, text.format(14)) == ["controller_quorum_lost"]
    assert kinds(tmp_path, text.format(2)) == []


def test_an_error_that_is_retried_is_still_counted(tmp_path: Path) -> None:
    path = tmp_path / "cart.log"
    path.write_text(
        '{"level":"ERROR","timestamp":"2024-10-07T12:12:12.120Z","logger":"kafkajs","message":"[Connection] Response '
        'AddPartitionsToTxn(key: 24, version: 1)","error":"The producer attempted to update a transaction while '
        'another concurrent operation on the same transaction was ongoing"}\n'
    )
    text = headline(collect_log_findings([path]))
    assert text.startswith("No incident found. 1 error record is of a kind that programs often recover from; ")
    assert "that they did was not checked" in text
    assert f"{path}:1" in text


def test_an_unexplained_fault_quotes_its_last_cause(tmp_path: Path) -> None:
    text = (
        "[2025-03-05 08:00:00,100] ERROR [BrokerServer id=3] Fatal error during broker startup. Prepare to shutdown "
        "(kafka.server.BrokerServer)\n"
        "java.lang.RuntimeException: cannot start\n"
        "Caused by: org.apache.kafka.common.config.ConfigException: Missing required configuration zookeeper.connect\n"
    )
    (found,) = judge(tmp_path, {"server.log": text})
    assert "Its last cause: ConfigException: Missing required configuration zookeeper.connect." in found.explanation


def test_a_late_wake_up_is_the_same_incident(tmp_path: Path) -> None:
    report = (Path(__file__).parents[1] / "fixtures" / "log-reports" / "twelfth.txt").read_text("utf-8")
    text = report.partition("=== a slow thread that notices its removal late\n")[2].partition("@@ s.log\n")[2]
    (found,) = judge(tmp_path, {"s.log": text.partition("=== ")[0]})
    assert (found.kind, len(found.evidence)) == ("task_migrated", 2)
