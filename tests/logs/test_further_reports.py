"""Further kinds of reports that were read wrongly at first: the verdict, and what it is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

UNRESOLVED = {
    "sarama": 'time="2026-02-03T09:00:0{}Z" level={} msg="cannot create producer" error="dial tcp: lookup {} on '
    '192.0.2.53:53: no such host"\n',
    "node": '{{"time":"2026-02-03T09:00:0{}Z","level":"{}","msg":"producer failed: getaddrinfo ENOTFOUND {}"}}\n',
    "python": "2026-02-03 09:00:0{} {} shop kafka: Failed to resolve '{}:9092': Temporary failure in name resolution\n",
}
UNACKED = (
    "2026-02-03 09:00:0{} WARN  [io.sma.rea.mes.kafka] (vert.x-eventloop-thread-0) SRMSG18231: The record 7120 from "
    "topic-partition 'tiles.cut-3' has waited for 61 seconds to be acknowledged. This waiting time is greater than the "
    "configured threshold (60000 ms).\n"
)
UNACKED_BEFORE = (
    "2021-02-03 09:00:0{} WARN  [io.sma.rea.mes.kafka] (vert.x-eventloop-thread-0) SRMSG18231: The amount of received "
    "messages without acking is too high for topic partition 'TopicPartition{{topic=tiles.cut, partition=3}}'.\n"
)
UNKNOWN = (
    "2026-02-03 09:00:00,250 ERROR [kafka-producer-network-thread | gate] o.a.k.c.p.i.TransactionManager - [Producer "
    "clientId=gate, transactionalId=gate-7] Transiting to fatal error state due to org.apache.kafka.common."
    "KafkaException: Unhandled error in AddOffsetsToTxnResponse: The server experienced an unexpected error when "
    "processing the request.\n"
)


@pytest.mark.parametrize("client", UNRESOLVED)
def test_a_program_that_ends_without_an_address_is_an_incident(client: str, tmp_path: Path) -> None:
    line = UNRESOLVED[client]
    (found,) = judge(tmp_path, {"shop.log": line.format(4, "fatal" if client != "python" else "CRITICAL", "kb-2.int")})
    assert (found.kind, found.subject["server"]) == ("host_not_resolved", "kb-2.int")
    assert found.confidence > 0.5


def test_a_name_that_is_retried_is_not_an_incident(tmp_path: Path) -> None:
    text = UNRESOLVED["sarama"].format(4, "warning", "kb-2.int") + 'time="2026-02-03T09:02:00Z" level=info msg="up"\n'
    assert judge(tmp_path, {"shop.log": text}) == []


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            (
                'Exception in thread "main" org.apache.kafka.common.KafkaException: Failed to construct kafka '
                "producer\nCaused by: org.apache.kafka.common.config.ConfigException: No resolvable bootstrap "
                "urls given in bootstrap.servers\n"
            ),
            "no-bootstrap-server-resolved",
        ),
        (
            (
                "%3|1770109201.100|FAIL|app#producer-1| [thrd:kb-2.int:9092/1]: kb-2.int:9092/1: Failed to resolve "
                "'kb-2.int:9092': Name or service not known (after 5ms in state CONNECT)\n"
                'cimpl.KafkaException: KafkaError{code=_TIMED_OUT,val=-185,str="Failed to initialize Producer ID: '
                'Local: Timed out"}\n'
            ),
            "name-without-an-address",
        ),
    ],
    ids=["java", "librdkafka"],
)
def test_a_client_that_cannot_start_without_an_address(text: str, cause: str, tmp_path: Path) -> None:
    (found, *_) = judge(tmp_path, {"app.log": text})
    assert (found.kind, found.root_cause) == ("host_not_resolved", cause)


@pytest.mark.parametrize("line", [UNACKED, UNACKED_BEFORE])
def test_a_record_that_is_not_acknowledged_holds_its_partition(line: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"tiles.log": line.format(1) + line.format(6)})
    assert found.kind == "record_not_acknowledged" and "tiles.cut-3" in found.explanation
    assert found.subject.get("offset", "7120") == "7120"


def test_an_unknown_error_of_a_broker_leaves_the_outcome_open(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"gate.log": UNKNOWN})
    assert (found.kind, found.subject["transactional.id"]) == ("request_failed", "gate-7")
    assert found.explanation.startswith("A broker failed") and "the transaction is open" in found.next_step


ELECTED = (
    "[2026-02-03 09:00:00,100] INFO Setting new leader for topicId 5nqQe0c8TQe2u8yV0aVn0g, partition {} to 4 using an "
    "unclean election (org.apache.kafka.controller.PartitionChangeBuilder)\n"
)
GAP = (
    "[2026-02-03 09:00:02,000] ERROR [ReplicaManager broker=4] Error processing append operation on partition frames-6 "
    "(kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence number for producer 71 at "
    "offset 900 in partition frames-6: 130 (incoming seq. number), 99 (current end sequence number)\n"
)


def test_an_unclean_election_explains_a_gap_of_its_partition(tmp_path: Path) -> None:
    (found,) = judge(tmp_path / "same", {"controller.log": ELECTED.format(6), "broker-4/server.log": GAP})
    assert (found.kind, found.subject["topic-partition"]) == ("unclean_election", "frames-6")
    assert "30 records" in found.explanation and len(found.evidence) == 2
    apart = judge(tmp_path / "other", {"controller.log": ELECTED.format(5), "broker-4/server.log": GAP})
    assert {one.kind for one in apart} == {"unclean_election", "out_of_order_sequence"}


@pytest.mark.parametrize(("rounds", "is_incident"), [(1, False), (4, True)])
def test_a_worker_that_stays_behind_its_leader(tmp_path: Path, rounds: int, is_incident: bool) -> None:
    head = "[2026-02-03 09:00:0{},250] INFO [Worker clientId=c-2:8083, groupId=cut] "
    line = head + "Current config state offset -1 does not match group assignment 52. Forcing rebalance."
    place = " (org.apache.kafka.connect.runtime.distributed.DistributedHerder:1407)\n"
    found = judge(tmp_path, {"connect.log": "".join(line.format(second) + place for second in range(rounds))})
    assert [(one.kind, one.subject["group"]) for one in found] == [
        ("connect_worker_without_assignment", "cut")
    ] * is_incident
