"""Clients without Java, and the pipelines that use them: the reason that a record names, and what they overcome."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from tests.logs.judging import judge

FLUENT = "[2026/03/02 07:{:02d}:{:02d}] [{}] [output:kafka:kafka.2] {}\n"
DOWN = "fluent-bit#producer-3: [thrd:ssl://kb-1.int:9094/bootstrap]: 3/3 brokers are down"
DELIVERED = "message delivered (431 bytes, partition 4)"
SARAMA = "2026-03-02T07:10:{:02d}Z D! [sarama] {}\n"
GO = 'time="2026-03-02T07:{:02d}:00Z" level={} msg="{}" app=gauge-feed\n'
LIBRARY = "%{}|{:.3f}|{}|rdkafka#producer-4| [thrd:main]: {}\n"
START = 1_772_435_400.0


def found(folder: Path, text: str, name: str = "gauge-feed.log") -> Sequence[Incident]:
    return judge(folder, {name: text})


def test_idle_connections_next_to_deliveries_are_harmless(tmp_path: Path) -> None:
    rounds = [(minute, FLUENT.format(minute, 9, "error", DOWN)) for minute in (1, 2, 4, 9, 14)]
    sent = [FLUENT.format(minute, 30, "debug", DELIVERED) for minute, _ in rounds]
    working = "".join(text + after for (_, text), after in zip(rounds, sent, strict=True))
    assert found(tmp_path / "idle", working) == []
    (one,) = found(tmp_path / "away", "".join(text for _, text in rounds))
    assert one.kind == "brokers_not_reached"


def test_a_connection_set_up_in_vain_explains_lost_messages(tmp_path: Path) -> None:
    vain = "[thrd:kb-1.int:9092/1]: kb-1.int:9092/1: Connection setup timed out in state CONNECT (after 30021ms in {})"
    tries = "".join(FLUENT.format(minute, 0, "error", vain.format("state CONNECT")) for minute in (1, 2, 3))
    lost = FLUENT.format(6, 1, " warn", "message delivery failed: Local: Message timed out") * 2
    (one,) = found(tmp_path, tries + lost)
    assert (one.kind, one.root_cause) == ("send_timeout", "brokers-not-reached")
    assert one.t_start_ms % 3_600_000 == 60_000
    assert "kb-1.int:9092" in one.subject["servers"]


def test_an_end_during_authentication_is_a_refusal(tmp_path: Path) -> None:
    ended = "Failed to read response while authenticating with SASL to broker kb-1.int:9096: EOF"
    metadata = "client/metadata got error from broker -1 while fetching metadata: EOF"
    text = "".join(SARAMA.format(at, ended) + SARAMA.format(at, metadata) for at in range(1, 5))
    (one,) = found(tmp_path, text)
    assert one.kind == "authentication_failed"
    assert one.subject["server"] == "kb-1.int:9096"


@pytest.mark.parametrize(
    ("reason", "kind", "cause"),
    [
        (
            ": 2 errors occurred: * dial tcp: lookup kb-1.int on 10.1.0.2:53: no such host",
            "host_not_resolved",
            "name-without-an-address",
        ),
        (
            ": 2 errors occurred: * dial tcp 10.1.7.4:9092: connect: connection refused",
            "brokers_not_reached",
            "connections-fail",
        ),
        (": EOF", "brokers_not_reached", "connection-ended-by-the-broker"),
        (" (Is your cluster reachable?)", "client_gave_up", "no-broker-usable"),
    ],
)
def test_the_reason_of_each_broker_is_that_of_the_client(tmp_path: Path, reason: str, kind: str, cause: str) -> None:
    text = f"kafka: client has run out of available brokers to talk to{reason}"
    entries = [{"level": "error", "ts": f"2026-03-02T07:10:{at}Z", "msg": text} for at in (10, 40)]
    (one,) = found(tmp_path, "".join(f"{json.dumps(entry)}\n" for entry in entries))
    assert (one.kind, one.root_cause) == (kind, cause)
    assert "__transaction_state" not in one.next_step


def test_writes_that_end_with_a_connection_are_lost(tmp_path: Path) -> None:
    tried = "error writing messages to gauges.raw (partition 2, attempt 0): EOF"
    text = GO.format(1, "error", tried) + GO.format(1, "error", "flush failed: kafka write errors (1/1)")
    (one,) = found(tmp_path, text + GO.format(4, "info", "312 gauges written"))
    assert one.kind == "records_dropped"


def test_empty_fetches_of_a_reader_are_harmless(tmp_path: Path) -> None:
    empty = "the kafka reader got an unknown error reading partition 5 of gauges.raw at offset 71: unexpected EOF"
    text = "".join(GO.format(at, "error", empty) + GO.format(at, "info", "processed 9 gauges") for at in range(1, 9))
    assert found(tmp_path, text) == []


def test_a_node_without_the_coordinator_and_its_client_are_one(tmp_path: Path) -> None:
    node = "WARN  2026-03-02 07:10:{:02d},200 [shard 1] kafka - server.cc:1132 - failed to allocate pid, ec: {}\n"
    client = LIBRARY.format(
        4,
        START,
        "GETPID",
        "Failed to acquire transactional PID from broker TxnCoordinator/0: Broker: Coordinator not available: retrying",
    )
    nodes = "".join(node.format(at, "tx_errc::coordinator_not_available") for at in range(1, 6))
    clients = "".join(client.replace("|1772435400.000|", f"|{START + at:.3f}|") for at in range(1, 6))
    ended = "2026-03-02T07:11:05Z ERROR init_transactions failed: Local: Timed out\n"
    (whole,) = judge(tmp_path / "both", {"rp-1.log": nodes, "gauge-feed.log": clients + ended})
    assert whole.root_cause == "node-does-not-coordinate"
    (alone,) = judge(tmp_path / "client", {"gauge-feed.log": clients + ended})
    assert alone.kind == "coordinator_unavailable"
    assert "Effect (init_producer_id_timeout)" in alone.explanation


def test_a_client_that_only_reports_its_wait_is_an_effect(tmp_path: Path) -> None:
    node = "Mar  2 07:10:{:02d} rp-1 rpk[77]: WARN  2026-03-02 07:10:{:02d},200 [shard 1] kafka - server.cc:1132 - {}\n"
    refused = "failed to allocate pid, ec: tx_errc::coordinator_not_available"
    nodes = "".join(node.format(at, at, refused) for at in (5, 10, 15, 20))
    waited = "2026-03-02 07:{:02d}:35,921 ERROR gauge_feed: init_transactions failed: Local: Timed out\n"
    (whole,) = judge(tmp_path / "near", {"rp-1.journal": nodes, "gauge-feed.log": waited.format(10)})
    assert (whole.root_cause, whole.subject["host"]) == ("node-does-not-coordinate", "rp-1")
    apart = judge(tmp_path / "later", {"rp-1.journal": nodes, "gauge-feed.log": waited.format(40)})
    assert {one.kind for one in apart} == {"coordinator_unavailable", "init_producer_id_timeout"}


@pytest.mark.parametrize("verb", ["aborting", "committing"])
def test_a_node_that_cannot_end_a_transaction_is_one_fault(verb: str, tmp_path: Path) -> None:
    text = "WARN  2026-03-02 07:{},200 [shard 1:main] tx - tx_gateway_frontend.cc:9 - [tx_id={{meter-2}}] error {} "
    text += "transaction - tx_errc::leader_not_found\n"
    (one,) = found(tmp_path, "".join(text.format(at, verb) for at in ("10:00", "10:01", "24:40", "24:41")))
    assert (one.root_cause, one.subject["transactional.id"]) == ("node-does-not-coordinate", "meter-2")
    assert "rpk cluster" in one.next_step and "__transaction_state" not in one.next_step


def test_a_size_in_an_error_of_one_letter_is_read(tmp_path: Path) -> None:
    text = (
        'time=2026-03-02T07:10:01Z level=debug msg="lines not written" e="Kafka { source: KafkaError (Message '
        'production error: MessageSizeTooLarge (Broker: Message size too large)) }" target="gauges::write"\n'
    )
    (one,) = found(tmp_path, text * 2)
    assert one.kind == "record_too_large"


def test_a_crash_of_a_consumer_begins_with_its_connection(tmp_path: Path) -> None:
    def entry(at: float, text: str, **values: object) -> str:
        stamp = f"2026-03-02T07:10:{at:06.3f}Z"
        whole = {"level": "ERROR", "timestamp": stamp, "logger": "kafkajs", "message": text, **values}
        return f"{json.dumps(whole)}\n"

    refused = "connect ECONNREFUSED 10.1.7.4:9092"
    tries = [entry(at, f"[Connection] Connection error: {refused}", broker="10.1.7.4:9092") for at in (2, 4, 9)]
    crash = "[Consumer] Crash: KafkaJSNumberOfRetriesExceeded: Connection error: "
    ended = entry(20, f"{crash}{refused}", groupId="gauges")
    joined = entry(48, "[ConsumerGroup] Consumer has joined the group", groupId="gauges").replace("ERROR", "INFO")
    (one,) = found(tmp_path / "away", "".join([*tries, ended, joined]))
    assert (one.kind, one.root_cause, one.severity) == ("consumer_ended", "brokers-not-reached", Severity.WARNING)
    assert one.t_start_ms % 60_000 == 2_000
    other = entry(20, "[Consumer] Crash: TypeError: Cannot read properties of undefined", groupId="gauges")
    kinds = [one.root_cause for one in found(tmp_path / "own", "".join([*tries, other, joined]))]
    assert "brokers-not-reached" not in kinds


def test_a_shipper_that_writes_nothing_names_the_partition(tmp_path: Path) -> None:
    lines = [
        "[error]: #2 Timed out while writing to gauges/{part} on kb-3.int:9092 (node_id=3)",
        "[error]: #2 Failed to send all messages; keeping remaining messages in buffer",
        "[warn]: #2 Send exception occurred: Failed to send messages to gauges/{part}, gauges/7",
    ]
    rounds = [f"2026-03-02 07:10:{at:02d} +0000 {line}\n" for at in (2, 4, 8, 16) for line in lines]
    (one,) = found(tmp_path / "all", "".join(rounds).format(part=4))
    assert (one.kind, one.subject["topic-partition"]) == ("send_repeated", "gauges-4")
    assert "Timed out while writing to gauges/4" in one.explanation
    sent = "2026-03-02 07:10:{:02d} +0000 [info]: #2 Sending 2 messages to kb-3.int:9092 (node_id=3)\n"
    later = "".join(sent.format(at) for at in range(20, 60, 5))
    assert found(tmp_path / "once", "".join(rounds[:2]).format(part=4) + later) == []


def test_members_that_rejoin_name_the_group_in_their_tags(tmp_path: Path) -> None:
    line = '{{"level":"{}","message":"[[gauge-readers] {{}}:] {}","timestamp":"2026-03-02T07:10:{:02d}Z"}}\n'
    rounds = [
        line.format(level, text, at)
        for at in (5, 20, 35, 50)
        for level, text in (
            ("ERROR", "Error sending heartbeat: Kafka::UnknownMemberId"),
            ("ERROR", "Failed to join group; resetting member id and retrying in 1s..."),
            ("INFO", "Joined group `gauge-readers` with member id `m`"),
        )
    ]
    (one,) = found(tmp_path, "".join(rounds))
    assert (one.kind, one.subject["group"]) == ("group_not_stable", "gauge-readers")


@pytest.mark.parametrize(
    ("reason", "setting"),
    [
        ("unknown/unsupported kafka version '4.4.0' accessing 'output.kafka'", "version"),
        ("missing required field accessing 'output.kafka.hosts'", "output.kafka.hosts"),
    ],
)
def test_a_beat_that_refuses_its_output_has_no_client(tmp_path: Path, reason: str, setting: str) -> None:
    text = "2026-03-02T07:10:01.318Z\tINFO\tinstance/beat.go:636\tSetup Beat: filebeat\n"
    ended = "2026-03-02T07:10:01.402Z\tCRIT\tinstance/beat.go:956\tExiting: error initializing publisher: "
    (one,) = found(tmp_path, f"{text}{ended}{reason} (source:'/etc/filebeat/beat.yml')\n")
    assert one.kind == "client_setting_refused"
    assert f"the setting {setting}" in one.explanation


@pytest.mark.parametrize(
    "text",
    [
        "kafka.common.MessageSizeTooLargeException: Found a message larger than the maximum fetch size on topic gauges",
        "There are some messages at {gauges-4=71} whose size is larger than the fetch size 1048576 and hence cannot be",
    ],
)
def test_the_fetch_size_of_a_consumer_is_not_a_limit_of_brokers(tmp_path: Path, text: str) -> None:
    (one,) = found(tmp_path, f"2026-03-02T07:10:02.100Z ERROR [Reader] stopped: {text}\n")
    assert (one.kind, one.root_cause) == ("record_too_large", "record-above-fetch-limit")


def test_a_stamp_of_a_change_feed_has_its_own_zone(tmp_path: Path) -> None:
    line = (
        '[2026/03/02 16:10:0{}.000 +09:00] [ERROR] [feed.go:7] ["feed failed"] [changefeed=gauge-feed] '
        '[error="kafka: Failed to produce message to topic gauges: kafka server: Message was too large"]\n'
    )
    (one,) = found(tmp_path, line.format(1) + line.format(4))
    assert one.t_start_ms == int(START * 1000) + 1_000
    assert one.subject["component"] == "gauge-feed"


def test_an_output_is_named_by_its_label(tmp_path: Path) -> None:
    line = (
        'level=error msg="Failed to send message to redpanda: UNKNOWN_TOPIC_OR_PARTITION: This server does not host '
        'this topic-partition." @service=redpanda-connect label=gauge_out time="2026-03-02T07:10:{:02d}Z"\n'
    )
    (one,) = found(tmp_path, "".join(map(line.format, range(1, 50, 6))))
    assert (one.kind, one.subject["component"]) == ("topic_not_found", "gauge_out")


def test_a_record_given_up_names_its_place(tmp_path: Path) -> None:
    line = "2026-03-02T07:1{}:00Z {} {} Kafka message: gauges.in/4/1207 [key=]. Error: {}\n"
    text = line.format(0, "ERROR", "Error processing", "retriable error. Retrying...")
    ended = line.format(3, "ERROR", "Too many failed attempts at processing", "context canceled.")
    (one,) = found(tmp_path, f"{text}{ended}2026-03-02T07:14:00Z INFO next\n")
    assert (one.kind, one.subject["topic-partition"]) == ("records_given_up", "gauges.in-4")


ELSEWHERE = "[6] Not Leader For Partition: the client attempted to send messages to a replica that is not the leader"
NO_LEADER = "[5] Leader Not Available: the cluster is in the middle of a leadership election"


@pytest.mark.parametrize(
    ("answer", "cause"),
    [(ELSEWHERE, "former-leader-asked-again-and-again"), (NO_LEADER, "leader-away-for-longer-than-an-election")],
)
def test_a_partition_with_a_leader_elsewhere_has_one(answer: str, cause: str, tmp_path: Path) -> None:
    lines = (GO.format(at, "error", f"write to gauges failed: {answer}") for at in range(1, 5))
    (one,) = found(tmp_path, "".join(lines))
    assert (one.kind, one.root_cause) == ("partition_without_leader", cause)


def test_a_batch_damaged_on_its_way_is_not_a_damaged_disk(tmp_path: Path) -> None:
    lines = (GO.format(at, "error", "produce to gauges failed: CORRUPT_MESSAGE: failed its CRC") for at in (1, 2))
    (one,) = found(tmp_path / "write", "".join(lines))
    assert (one.kind, one.root_cause) == ("records_refused", "checksum-wrong-on-arrival")
    lines = (GO.format(at, "error", "fetch from gauges failed: CORRUPT_MESSAGE: failed its CRC") for at in (1, 2))
    (one,) = found(tmp_path / "read", "".join(lines))
    assert one.kind == "corrupt_records"


def test_names_that_are_not_resolved_are_the_cause(tmp_path: Path) -> None:
    resolved = "[thrd:kb.int:9092/bootstrap]: kb.int:9092/bootstrap: Failed to resolve 'kb.int:9092': {} (after 2ms)"
    down = FLUENT.format(1, 0, "error", resolved.format("Name or service not known"))
    down += FLUENT.format(1, 0, "error", "[thrd:kb.int:9092/bootstrap]: 1/1 brokers are down")
    down += FLUENT.format(2, 0, "error", resolved.format("Name or service not known"))
    (one,) = found(tmp_path, down + FLUENT.format(4, 1, " warn", "message delivery failed: Local: Message timed out"))
    assert (one.kind, one.root_cause) == ("send_timeout", "name-without-an-address")


BEATS = "2026-03-02T07:{}Z\tDEBUG\t[kafka]\tkafka/client.go:291\tKafka publish failed with: {}\n"
BREAKER = "circuit breaker is open"


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("kafka server: Request was for a topic or partition that does not exist on this broker.", "topic_not_found"),
        (
            "kafka: client has run out of available brokers to talk to: dial tcp kb:9: connection refused",
            "brokers_not_reached",
        ),
    ],
)
def test_a_breaker_has_the_reason_of_what_opened_it(reason: str, kind: str, tmp_path: Path) -> None:
    opened = BEATS.format("10:00.100", reason) + BEATS.format("10:01.100", reason)
    refused = "".join(BEATS.format(f"1{at}:02.100", BREAKER) for at in (0, 1, 2))
    (one,) = found(tmp_path, opened + refused, "filebeat.log")
    assert one.kind == kind


VECTOR = (
    '2026-03-02T07:10:{}Z ERROR sink{{component_kind="sink" component_id=vault component_type=kafka}}: '
    "vector_common::internal_event::{}\n"
)
PURGED = "service: Service call failed. error=Some(KafkaError (Message production error: PurgeQueue ({})))"


def test_a_message_that_a_pipeline_drops_had_no_transaction(tmp_path: Path) -> None:
    dropped = "component_events_dropped: Events dropped intentional=false count=1"
    text = VECTOR.format("46.766155", PURGED.format("Local: Purged in queue")) + VECTOR.format("46.766202", dropped)
    (one,) = found(tmp_path, text, "vector.log")
    assert one.kind == "records_dropped" and "transaction" not in one.explanation


@pytest.mark.parametrize("end", ["", "sent 4 replies to desk"])
def test_writes_on_an_ended_connection_are_lost(end: str, tmp_path: Path) -> None:
    lost = "kafka: Failed to produce message to topic desk: write tcp 10.1.0.1:4->10.1.0.2:9092: write: broken pipe"
    text = GO.format(1, "info", "sent 9 replies to desk") + GO.format(20, "error", lost)
    (one,) = found(tmp_path, text + (GO.format(21, "info", end) if end else GO.format(21, "error", lost)))
    assert (one.root_cause, one.subject["topic"]) == ("writes-on-an-ended-connection", "desk")
    assert ("continued" in one.explanation) is bool(end)


def test_the_month_and_the_level_begin_records_of_an_old_vector(tmp_path: Path) -> None:
    line = "Feb 18 14:2{}:02.538 ERROR sink{{name=edge_logs type=kafka}}: vector::sinks::kafka: kafka error: {}\n"
    timed_out = "Message production error: MessageTimedOut (Local: Message timed out)"
    (one,) = found(tmp_path, line.format(1, timed_out) + line.format(6, timed_out), "vector.log")
    assert (one.kind, one.subject["component"], one.t_start_ms % 3_600_000) == ("send_timeout", "edge_logs", 1_262_538)
