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


@pytest.mark.parametrize("line", [UNACKED, UNACKED_BEFORE])
def test_a_record_that_is_not_acknowledged_holds_its_partition(line: str, tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"tiles.log": line.format(1) + line.format(6)})
    assert found.kind == "record_not_acknowledged" and "tiles.cut-3" in found.explanation
    assert found.subject.get("offset", "7120") == "7120"


def test_an_unknown_error_of_a_broker_leaves_the_outcome_open(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"gate.log": UNKNOWN})
    assert (found.kind, found.subject["transactional.id"]) == ("request_failed", "gate-7")
    assert found.explanation.startswith("A broker failed") and "outcome is open" in found.explanation
