"""Short excerpts of clients without Java, and of the pipelines that use them: one record can show that they gave up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths
from tests.logs.judging import judge

VECTOR = (
    '2026-02-03T09:00:04.1{}Z ERROR sink{{component_kind="sink" component_id=to_kb component_type=kafka}}: '
    "vector_common: Service call failed. No retries or retries exhausted. error=Some(KafkaError (Message production "
    "error: {}))\n"
)
TELEGRAF = (
    "2026-02-03T09:00:04Z E! [agent] Error writing to outputs.kafka: kafka: Failed to produce message to topic "
    "tiles.cut: kafka server: {}\n"
)
BROD = (
    "09:00:0{} [info] Group member (cutters,coor=#PID<0.7.0>,cb=#PID<0.6.0>,generation=3):\n"
    "re-joining group, reason::{}\n"
)
SARAMA = (
    "[sarama]2026/02/03 09:00:0{} client/coordinator coordinator for consumergroup cutters is #4 (kb-4.int:9092)\n"
    "[sarama]2026/02/03 09:00:0{} rebalance error: kafka server: Request was for a consumer group that is not "
    "coordinated by this broker.\n"
)
CASES = {
    "vector": (
        VECTOR.format("0", "UnknownTopicOrPartition (Broker: Unknown topic or partition)"),
        ("topic_not_found", {"component": "to_kb"}),
    ),
    "kcat": (
        "% ERROR: Topic tiles.cut error: Broker: Unknown topic or partition\n",
        ("topic_not_found", {"topic": "tiles.cut"}),
    ),
    "fluentd": (
        (
            "2026-02-03 09:00:04 +0000 [warn]: #0 Send exception occurred: Could not connect to leader for partition "
            "tiles.cut/15\n2026-02-03 09:00:04 +0000 [warn]: #0 failed to flush the buffer. error_class="
            'Kafka::UnknownTopicOrPartition error="Kafka::UnknownTopicOrPartition"\n'
        ),
        ("topic_not_found", {"topic": "tiles.cut"}),
    ),
    "telegraf": (
        TELEGRAF.format("Disk error when trying to access log file on the disk."),
        ("log_dir_failure", {"topic": "tiles.cut"}),
    ),
    "too large": (
        TELEGRAF.format("Message was too large, server rejected it to avoid allocation error."),
        ("record_too_large", {"topic": "tiles.cut"}),
    ),
    "brod": (BROD.format(1, "unknown_member_id"), ("member_fenced", {"group": "cutters"})),
    "two of one instance": (BROD.format(1, "fenced_instance_id"), ("member_fenced", {"group": "cutters"})),
    "sarama": (
        "".join(SARAMA.format(second, second) for second in (1, 2, 3)),
        ("coordinator_unavailable", {"group": "cutters"}),
    ),
    "no leader": (
        "".join(
            f"2026-02-03T09:00:0{second}.000Z\tINFO\tkafka/log.go:53\tclient/metadata fetching metadata for [tiles.cut]"
            f" from broker kb-4.int:9092\n2026-02-03T09:00:0{second}.500Z\tINFO\tkafka/log.go:53\tkafka message: "
            "client/metadata found some partitions to be leaderless\n"
            for second in (1, 2, 3)
        ),
        ("partition_without_leader", {"topic": "tiles.cut"}),
    ),
    "expired certificate": (
        (
            "%3|1770109201.100|FAIL|cut#consumer-1| [thrd:ssl://kb-4.int:9093/bootstrap]: ssl://kb-4.int:9093/4: Failed"
            " to verify broker certificate: certificate has expired (after 14ms in state CONNECT)\n"
        ),
        ("authentication_failed", {"server": "kb-4.int:9093"}),
    ),
    "no connection": (
        "".join(
            f'Feb  3 09:00:0{second} cut-1 benthos[7]: level=warning msg="unable to open connection to broker" '
            'addr="kb-4.int:9093" broker=4 err="dial tcp 192.0.2.4:9093: i/o timeout"\n'
            for second in (1, 3, 5)
        ),
        ("brokers_not_reached", {"server": "kb-4.int:9093"}),
    ),
    "unreadable response": (
        (
            '{"@timestamp":"2026-02-03T09:00:04Z","component":"benthos.input","level":"ERROR","message":"kafka: error'
            ' while consuming tiles.cut/3: kafka: insufficient data to decode packet, more bytes expected"}\n'
        ),
        ("response_not_decoded", {"topic-partition": "tiles.cut-3"}),
    ),
    "fetch limit": (
        (
            "2026-02-03T09:00:04.100Z ERROR source{component_id=from_kb}: vector: Failed to read message. error="
            "Message consumption error: MessageSizeTooLarge (Broker: Message size too large)\n"
        ),
        ("record_too_large", {"component": "from_kb"}),
    ),
    "a partition that a topic does not have": (
        (
            "ts=2026-02-03T09:00:04.070Z level=info msg=ready topic=tiles.cut\n"
            'ts=2026-02-03T09:00:04.071Z level=error msg="failed to write" err="invalid record partitioning choice of 2'
            ' from 1 available"\n'
        ),
        ("topic_not_found", {}),
    ),
    "kafka-go": (
        "".join(
            f"kafka-go: 2026/02/03 09:00:0{second} Failed to join group cutters: [16] Not Coordinator For Group: the "
            "broker is not\n"
            for second in (1, 2, 3)
        ),
        ("coordinator_unavailable", {"group": "cutters"}),
    ),
    "aiokafka": (
        "ERROR:aiokafka.producer.sender:Got error produce response on topic-partition TopicPartition(topic='tiles', "
        "partition=4), retrying. Error: <class 'aiokafka.errors.NotLeaderForPartitionError'>\n" * 3,
        ("partition_without_leader", {"topic-partition": "tiles-4"}),
    ),
    "traceback below a healthy record": (
        (
            "09:00:04 [INFO] processor: New partitions assigned: {Partition(topic=Topic(name='tiles'), index=4): 7}\n"
            "Traceback (most recent call last):\n"
            '  File "/p/consumer.py", line 414, in poll\n'
            'arroyo.errors.OffsetOutOfRange: KafkaError{code=_AUTO_OFFSET_RESET,val=-140,str="Offset out of range"}\n'
            "09:00:05 [INFO] processor: closing\n"
        ),
        ("offset_out_of_range", {"topic-partition": "tiles-4"}),
    ),
    "static member": (
        (
            '%7|1770109201.100|HEARTBEAT|cut#consumer-1| [thrd:main]: Group "cutters" heartbeat error response'
            " in state up: Broker: Static consumer fenced by other consumer with same group.instance.id\n"
        ),
        ("member_fenced", {"group": "cutters"}),
    ),
    "text next to JSON": (
        "".join(
            f'{{"level":"ERROR","timestamp":"2026-02-03T09:00:0{second}Z","logger":"kafkajs","message":"[Producer] '
            'Failed to send messages: The group coordinator is not available"}\n'
            for second in (4, 5, 6)
        )
        + "[cut] There is already an ongoing transaction for this producer\n",
        ("coordinator_unavailable", {}),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_an_excerpt_of_a_client_has_a_cause(case: str, tmp_path: Path) -> None:
    text, (kind, subject) = CASES[case]
    found = judge(tmp_path, {"cut.log": text})
    assert [one.kind for one in found] == [kind]
    assert {name: found[0].subject.get(name) for name in subject} == subject


RECOVERS = {
    "vector retries": VECTOR.format("0", "X").replace(
        "Service call failed. No retries or retries exhausted. error=Some(KafkaError (Message production error: X))",
        "Retrying after error. error=UnknownTopicOrPartition",
    ),
    "librdkafka retries": "%7|1770109201.100|REQERR|cut#producer-1| [thrd:main]: kb-4.int:9092/4: MetadataRequest"
    " failed: Broker: Unknown topic or partition: actions Refresh\n",
    "the coordinator is found": "".join(SARAMA.format(second, second) for second in (1, 2, 3))
    + "[sarama]2026/02/03 09:00:09 consumer/broker/4 added subscription to tiles.cut/3\n",
    "the broker is reached": "".join(
        f'time="2026-02-03T09:00:0{second}Z" level=warning msg="unable to dial" addr="kb-4.int:9093"\n'
        for second in (1, 3, 5)
    )
    + 'time="2026-02-03T09:00:19Z" level=info msg="Input type kafka is now active"\n',
}


@pytest.mark.parametrize("case", RECOVERS)
def test_a_client_that_recovers_is_not_an_incident(case: str, tmp_path: Path) -> None:
    assert judge(tmp_path, {"cut.log": RECOVERS[case]}) == []


def test_a_consumer_before_a_large_record_holds_no_transaction(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"cut.log": CASES["fetch limit"][0]})
    assert found.root_cause == "record-above-fetch-limit" and "transaction" not in found.explanation


def test_a_log_of_redpanda_is_that_of_a_broker(tmp_path: Path) -> None:
    text = (
        "INFO  2026-02-03 09:00:04,100 [shard 1:main] tx - tx_gateway_frontend.cc:24 - [tx_id=cut-1] producer "
        "{producer_identity: id=130, epoch=4} is fenced of by {producer_identity: id=130, epoch=5}\n"
        "WARN  2026-02-03 09:00:05,100 [shard 1:main] raft - [group_id:3, {kafka/tiles/0}] consensus.cc:9 - No space "
        "left on device\n"
    )
    fenced, full = judge(tmp_path, {"rp.log": text})
    assert (fenced.kind, fenced.subject["transactional.id"]) == ("invalid_producer_epoch", "cut-1")
    assert "the broker refused it" in fenced.explanation
    assert full.kind == "log_dir_failure"
    assert full.subject["topic-partition"] == "tiles-0"
    assert not full.subject.keys() & {"group", "application", "transactional.id"}


def test_records_of_opentelemetry_are_read(tmp_path: Path) -> None:
    record = {
        "timeUnixNano": "1770109204100000000",
        "severityText": "Warning",
        "body": {"stringValue": "Broker: Unknown topic or partition"},
    }
    service = {"attributes": [{"key": "service.name", "value": {"stringValue": "cutter"}}]}
    request = {"resourceLogs": [{"resource": service, "scopeLogs": [{"scope": {}, "logRecords": [record] * 2}]}]}
    for name, text in (
        ("one.json", json.dumps(request, indent=1)),
        ("lines.json", f"{json.dumps(request)}\n{json.dumps(request)}\n"),
    ):
        (tmp_path / name).write_text(text)
    scan = scan_paths([tmp_path])
    assert [(one.application, one.time_ms) for one in scan.events] == [("cutter", 1770109204100)] * 6
    lines = [one.line for one in scan.events if one.file.endswith("lines.json")]
    assert lines == [1, 1, 2, 2]


@pytest.mark.parametrize(
    ("layout", "line"),
    [
        (
            "clickhouse",
            (
                "2026.02.03 09:00:04.123456 [ 77 ] {} <Error> StorageKafka (cut.tiles): Consumer error: Broker: Topic "
                "authorization failed"
            ),
        ),
        (
            "pingcap",
            (
                '[2026/02/03 18:00:04.123 +09:00] [ERROR] [sink.go:91] ["cut feed failed"] [changefeed=cuts] '
                '[error="kafka: Failed to produce message to topic cuts: kafka server: Message was too large"]'
            ),
        ),
        (
            "level-in-brackets",
            "09:00:04.123456789 [Error ] [CUTTER] cannot commit: Broker: Group authorization failed",
        ),
        (
            "level-in-brackets",
            "[2026-02-03 09:00:04.123 +00:00] <Error> cannot commit: Broker: Group authorization failed",
        ),
        (
            "level-alone",
            "[ERROR] cannot commit; group: cutters, err: TOPIC_AUTHORIZATION_FAILED: Not authorized to access topics",
        ),
    ],
)
def test_layouts_of_programs_without_java(layout: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / "cut.log"
    path.write_text(f"{line}\n" * 2)
    scan = scan_paths([path])
    assert [one.level for one in scan.events] == ["ERROR", "ERROR"]
    assert scan.sources[0].layout == layout
