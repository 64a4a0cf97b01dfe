"""What servers and their clients report of one fault: stalls, refused connections, denials, memory, and disks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from eosctl.model.incident import Incident
from tests.logs.judging import judge

GO = 'time="2026-03-02T07:{:02d}:00Z" level={} msg="{}" app=gauge-feed\n'


def found(folder: Path, text: str, name: str = "gauge-feed.log") -> Sequence[Incident]:
    return judge(folder, {name: text})


STALL = "Mar  2 07:10:{:02d} rp-1 rpk[77]: Reactor stalled for {} ms on shard 6. Backtrace: 0x3ce8d1e 0x3ceb941\n"


@pytest.mark.parametrize(("stalled_ms", "is_named"), [(6783, True), (41, False)])
def test_a_shard_that_stands_still_is_the_likely_cause(stalled_ms: int, is_named: bool, tmp_path: Path) -> None:
    lost = "2026-03-02T07:10:30Z ERROR gauges: 38 rows not delivered: Local: Message timed out\n"
    (one,) = judge(tmp_path, {"rp-1.journal": STALL.format(28, stalled_ms), "gauges.log": lost})
    assert one.kind == "send_timeout"
    assert ("stood still for 6 s" in one.explanation) is is_named


def test_the_code_of_a_denial_is_not_a_topic(tmp_path: Path) -> None:
    error = 'KafkaError{code=TOPIC_AUTHORIZATION_FAILED,val=29,str="Broker: Topic authorization failed"}'
    entry = {"event": "delivery failed", "level": "error", "timestamp": "2026-03-02T07:10:00Z", "exception": error}
    (one,) = found(tmp_path, f"{json.dumps(entry | {'topic': 'gauges'})}\n")
    assert (one.kind, one.subject["topic"]) == ("topic_authorization", "gauges")


def test_a_broker_names_the_machine_whose_handshakes_it_refuses(tmp_path: Path) -> None:
    line = (
        "[2026-03-02 07:10:{:02d},100] INFO [SocketServer brokerId=0] Failed authentication with /10.1.0.25 (SSL "
        "handshake failed) (org.apache.kafka.common.network.Selector)\n"
    )
    (one,) = judge(tmp_path, {"server.log": "".join(map(line.format, range(1, 6)))})
    assert (one.kind, one.subject["clients"]) == ("authentication_failed", ("10.1.0.25",))


def test_voters_that_refuse_each_other_elect_no_leader(tmp_path: Path) -> None:
    raft = "[2026-03-02 07:10:{},100] {} [RaftManager id=1] {} (org.apache.kafka.raft.KafkaRaftClient)\n"
    refused = "Connection to node 2 (kc-2/10.1.0.2:9093) failed authentication due to: SSL handshake failed"
    lost = "Election has timed out, backing off for 700ms before becoming a candidate again"
    candidate = "Completed transition to CandidateState(localId=1, epoch=3{}, retries=3{}, voteStates={{}})"
    log = "".join(
        raft.format(10 + at, "INFO", candidate.format(at, at))
        + raft.format(10 + at, "ERROR", refused)
        + raft.format(10 + at, "INFO", lost)
        for at in range(6)
    )
    (one,) = judge(tmp_path, {"controller-1.log": log})
    assert one.kind == "controller_quorum_lost" and "refuse each other" in one.explanation


def test_direct_memory_is_not_the_heap(tmp_path: Path) -> None:
    line = (
        "[2026-03-02 07:10:04,034] ERROR [SocketServer brokerId=3] Processor got uncaught exception. "
        "(kafka.network.Processor)\n"
    )
    thrown = "java.lang.OutOfMemoryError: {}\n"
    (one,) = judge(
        tmp_path / "a", {"server.log": line + thrown.format("Cannot reserve 4096 bytes of direct buffer memory")}
    )
    assert (one.kind, one.root_cause) == ("out_of_memory", "direct-memory-exhausted")
    assert "4,096 bytes" in one.explanation
    (one,) = judge(tmp_path / "b", {"server.log": line + thrown.format("Java heap space")})
    assert one.root_cause == "memory-exhausted"


def test_heartbeats_of_an_older_registration_are_one_fault(tmp_path: Path) -> None:
    controller = (
        "[2026-03-02 07:10:{:02d},062] INFO [QuorumController id=0] processBrokerHeartbeat: event failed with "
        "StaleBrokerEpochException in 25 microseconds. (org.apache.kafka.controller.QuorumController)\n"
    )
    broker = (
        "[2026-03-02 07:10:{:02d},070] ERROR [BrokerLifecycleManager id=1] Broker 1 sent a heartbeat request but "
        "received error {}. (kafka.server.BrokerLifecycleManager)\n"
    )
    stale = "".join(map(controller.format, (1, 3, 5)))
    both = {
        "controller-0.log": stale,
        "broker-1.log": "".join(broker.format(at, "STALE_BROKER_EPOCH") for at in (1, 3, 5)),
    }
    (one,) = judge(tmp_path / "both", both)
    assert one.subject["broker"] == "1" and "older broker epoch" in one.explanation
    other = {**both, "broker-1.log": "".join(broker.format(at, "REQUEST_TIMED_OUT") for at in (1, 3, 5))}
    assert len(judge(tmp_path / "other", other)) == 2


def test_a_failed_disk_of_a_broker_is_one_fault_of_all_topics(tmp_path: Path) -> None:
    disk = "kafka: Failed to produce message to topic {}: kafka server: Disk error when trying to access log file"
    (one,) = found(tmp_path, GO.format(1, "error", disk.format("gauges")) + GO.format(3, "error", disk.format("wells")))
    assert (one.kind, one.subject["topics"]) == ("log_dir_failure", ("gauges", "wells"))


@pytest.mark.parametrize("level", ["ERROR", "WARN "])
def test_an_operator_that_only_warns_has_failed(level: str, tmp_path: Path) -> None:
    warned = "AbstractOperator:268 - Reconciliation #55(timer) Kafka(qa/core): Failed to reconcile"
    line = f"2026-05-18 13:51:30 {level} {warned}\n"
    thrown = "io.strimzi.operator.cluster.KafkaUpgradeException: upgrade requires a message format change\n"
    (one,) = judge(tmp_path, {"operator.log": line + thrown})
    assert (one.kind, one.subject["component"]) == ("reconciliation_failed", "qa/core")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Failed to connect to 1b34de8e:9092: getaddrinfo: No such host is known.", "host_not_resolved"),
        (
            "rdkafka#producer-4:FAIL:1b34de8e:9092/7: Connect to ipv4#10.4.0.5:9092 failed: timed out",
            "brokers_not_reached",
        ),
    ],
)
def test_the_address_is_that_of_the_record(line: str, kind: str, tmp_path: Path) -> None:
    (one,) = found(tmp_path, "".join(GO.format(at, "error", line) for at in (1, 2, 4)))
    assert (one.kind, one.subject["server"]) == (kind, "1b34de8e:9092")
