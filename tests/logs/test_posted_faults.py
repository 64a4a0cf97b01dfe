"""Faults of clients as people post them: a record or two, in the words of many libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

KAFKAJS = '{{"level":"ERROR","timestamp":"2026-02-03T09:00:0{}.100Z","logger":"kafkajs","message":{}}}\n'
NODE_RDKAFKA = (
    "[2026-02-03 09:00:0{}.100] [WARN] tiles - {{ Error: Local: Broker transport failure\n"
    "  origin: 'local',\n  code: -1,\n  stack: 'Error: Local: Broker transport failure' }}\n"
)
JAVA = (
    "[2026-02-03 09:00:0{},100] WARN [Consumer clientId={}-1, groupId={}] {} (org.apache.kafka.clients.NetworkClient)\n"
)
UNREACHED = "Connection to node 1 (kb-1/192.0.2.1:9092) could not be established. Node may not be available."
LEADERLESS = "Error while fetching metadata with correlation id 2 : {{{}.cut=LEADER_NOT_AVAILABLE}}"
POSTED = {
    "KafkaJS connection": (
        KAFKAJS.format(1, '"[Connection] Connection timeout","broker":"kb-1:9092"')
        + KAFKAJS.format(1, '"[BrokerPool] Failed to connect to seed broker, trying another broker from the list"'),
        "brokers_not_reached",
    ),
    "KafkaJS lock": (
        KAFKAJS.format(1, r'"[BrokerPool] KafkaJSLockTimeout: Timeout while acquiring lock: \"connect to broker kb\""'),
        "brokers_not_reached",
    ),
    "KafkaJS metadata": (
        KAFKAJS.format(1, '"[Connection] Response Metadata","error":"This server does not host this topic-partition"'),
        "topic_not_found",
    ),
    "sarama metadata": (
        (
            "[sarama] 2026/02/03 09:00:01 client/metadata got error from broker -1 while fetching metadata: read tcp "
            "192.0.2.2:6234->192.0.2.1:9092: i/o timeout\n"
            "[sarama] 2026/02/03 09:00:01 client/metadata no available broker to send metadata request to\n"
        ),
        "brokers_not_reached",
    ),
    "node-rdkafka": (NODE_RDKAFKA.format(1) + NODE_RDKAFKA.format(2), "connections_lost"),
    "object with a source line": (
        (
            '{\n  "timestamp": "2026-02-03 09:00:01.100",\n  "title": "ERROR",\n  "line": 122,\n  "data": {\n'
            '    "message": "Poll failed",\n    "error": {"stack": "Error: Local: Broker transport failure"}\n  }\n}\n'
        ),
        "connections_lost",
    ),
    "two clients": (
        JAVA.format(1, "a", "a", UNREACHED) + JAVA.format(2, "b", "b", UNREACHED),
        "brokers_not_reached",
    ),
    "two topics": (
        JAVA.format(1, "a", "a", LEADERLESS.format("a")) + JAVA.format(2, "b", "b", LEADERLESS.format("b")),
        "partition_without_leader",
    ),
    "kafka-python": (
        (
            "2026-02-03 09:00:01,100 - kafka.coordinator - WARNING - Marking the coordinator dead (node coordinator-0) "
            "for group tiles: Heartbeat session expired.\n"
            "2026-02-03 09:00:01,300 - kafka.coordinator.consumer - WARNING - Auto offset commit failed for group "
            "tiles: NodeNotReadyError: coordinator-0\n"
        ),
        "coordinator_unavailable",
    ),
    "old Java consumer": (
        "".join(
            f"2026-02-03 09:00:0{second},100 INFO AbstractCoordinator - Marking the coordinator kb-1:9092 (id: "
            "2147483646 rack: null) dead for group tiles\n"
            for second in (1, 4)
        ),
        "coordinator_unavailable",
    ),
    "controller": (
        (
            "[2026-02-03 09:00:01,100] WARN [RequestSendThread controllerId=7] Controller 7 epoch 2 fails to send "
            "request (type: UpdateMetadataRequest) to broker kb-8:9092 (id: 8 rack: null). Reconnecting to broker. "
            "(kafka.controller.RequestSendThread)\n"
        ),
        "brokers_not_reached",
    ),
}


@pytest.mark.parametrize("name", POSTED)
def test_what_is_posted_is_a_doubtful_incident(name: str, tmp_path: Path) -> None:
    text, kind = POSTED[name]
    (found,) = judge(tmp_path, {"app.log": text})
    assert (found.kind, found.severity) == (kind, Severity.WARNING)
    assert found.confidence <= 0.5


@pytest.mark.parametrize("name", ["two clients", "two topics"])
def test_one_failure_each_is_silent_in_a_longer_log(name: str, tmp_path: Path) -> None:
    later = "[2026-02-03 09:05:00,000] INFO Kafka version: 3.9.0 (org.apache.kafka.common.utils.AppInfoParser)\n"
    assert judge(tmp_path, {"app.log": POSTED[name][0] + later}) == []


def test_idle_connections_that_end_are_not_lost(tmp_path: Path) -> None:
    text = (
        "%3|1770109201.{0}|FAIL|tiles#producer-1| [thrd:kb-1:9092/1]: kb-1:9092/1: Disconnected (after 600{0}ms in "
        "state UP)\n2026-02-03 09:00:01 ERROR Local: Broker transport failure: kb-1:9092/1: Disconnected (after "
        "600{0}ms in state UP)\n"
    )
    assert judge(tmp_path, {"app.log": text.format(100) + text.format(200)}) == []


def test_a_fence_in_librdkafkas_words_is_not_a_poison_record(tmp_path: Path) -> None:
    text = (
        "[2026-02-03 09:00:01.149 ERR] Failed to process stream task 4-6 due to the following error:\n"
        "Streams.Errors.StreamsException: Error encountered trying to send record to topic tiles : Local: This "
        "instance has been fenced by a newer instance\n"
    )
    (found,) = judge(tmp_path, {"app.log": text})
    assert found.kind == "producer_fenced"


def test_a_flush_during_a_flush_leaves_offsets_unstored(tmp_path: Path) -> None:
    text = (
        "[2026-02-03 09:00:01,100] ERROR Unhandled exception when committing WorkerSourceTask{id=tiles-0}:  "
        "(org.apache.kafka.connect.runtime.SourceTaskOffsetCommitter)\n"
        "org.apache.kafka.connect.errors.ConnectException: OffsetStorageWriter is already flushing\n"
    )
    (found,) = judge(tmp_path, {"worker.log": text})
    assert (found.kind, found.subject["connector.task"]) == ("connector_offsets_not_stored", "tiles-0")


def test_a_request_in_the_words_of_old_brokers_has_failed(tmp_path: Path) -> None:
    text = (
        "[2026-02-03 09:00:01,100] ERROR [KafkaApi-3] Error when handling request {controller_id=0} "
        "(kafka.server.KafkaApis)\njava.io.IOException: Map failed\n"
    )
    (found,) = judge(tmp_path, {"server.log": text})
    assert (found.kind, found.subject["broker"]) == ("request_failed", "3")
