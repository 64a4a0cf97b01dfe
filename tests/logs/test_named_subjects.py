"""Names that a log holds in its own words become the subject of an incident."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.logs.scan import scan_paths
from tests.logs.judging import judge

REFUSED = (
    "[2026-02-03 09:00:0{0},771] ERROR Exception while processing request from 192.0.2.20:9092-192.0.2.{1}:50114-12 "
    "(kafka.network.Processor)\n"
    "org.apache.kafka.common.errors.InvalidRequestException: Error getting request for apiKey: FETCH, apiVersion: {2}, "
    "connectionId: 192.0.2.20:9092-192.0.2.{1}:50114-12, principal: User:ANONYMOUS\n"
    "Caused by: org.apache.kafka.common.errors.UnsupportedVersionException: Received request for api with key 1 "
    "(Fetch) and unsupported version {2}\n"
)
RANGES = (
    "2026-02-03 09:00:01,000 ERROR [main] com.example.Cutter - org.apache.kafka.common.errors."
    "UnsupportedVersionException: The node does not support FETCH with version in range [{}]. The supported range is "
    "[{}].\n"
)


def test_a_client_before_kip_896_is_the_older_side(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"server.log": REFUSED.format(1, 7, 2) + REFUSED.format(2, 8, 2)})
    assert (one.root_cause, one.subject["clients"], one.subject["request"]) == (
        "client-older-than-brokers",
        ("192.0.2.7", "192.0.2.8"),
        "Fetch v2",
    )
    assert "The brokers need no change" in one.next_step


def test_a_version_that_brokers_may_get_later_stays_open(tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"server.log": REFUSED.format(1, 7, 19)})
    assert (one.root_cause, one.subject["request"]) == ("client-and-broker-share-no-version", "Fetch v19")


@pytest.mark.parametrize(
    ("own", "theirs", "cause"),
    [
        ("0,3", "4,17", "client-older-than-brokers"),
        ("13,17", "0,11", "brokers-older-than-client"),
    ],
)
def test_ranges_of_versions_name_the_older_side(own: str, theirs: str, cause: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"cutter.log": RANGES.format(own, theirs)})
    assert (one.kind, one.root_cause) == ("unsupported_version", cause)


@pytest.mark.parametrize(
    "words", ["start with KAFKA_GROUP_INSTANCE_ID=cut-7", "up: group=cutters instance=cut-7 (pod cut-7f)"]
)
def test_a_static_member_is_named_by_its_start(words: str, tmp_path: Path) -> None:
    text = (
        f"2026-02-03 08:00:01,000 INFO cutter: {words}\n"
        "2026-02-03 09:00:01,000 ERROR cutter: heartbeat refused: FENCED_INSTANCE_ID, group_id=cutters\n"
    )
    (one,) = judge(tmp_path, {"cutter.log": text})
    assert (one.kind, one.subject["group.instance.id"]) == ("member_fenced", "cut-7")


def test_a_record_without_a_time_has_that_of_the_nearest(tmp_path: Path) -> None:
    text = (
        "2026-02-03 08:00:01,000 INFO cutter: KAFKA_GROUP_INSTANCE_ID=cut-7\n"
        + "2026-02-03 08:30:01,000 INFO cutter: cut 7 tiles\n" * 9
        + "[WARNING] FENCED_INSTANCE_ID, group_id=cutters\n"
        "2026-02-03 09:00:01,000 ERROR cutter: heartbeat refused: FENCED_INSTANCE_ID, group_id=cutters\n"
    )
    (one,) = judge(tmp_path, {"cutter.log": text})
    assert (one.t_start_ms, one.t_end_ms) == (1_770_109_201_000, 1_770_109_201_000)


def test_a_described_pod_is_the_subject_of_its_kill(tmp_path: Path) -> None:
    text = (
        "Name:             cut-broker-7\nNamespace:        cuts\nContainers:\n  kafka:\n    State:          Running\n"
        "    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n"
        "      Finished:     Tue, 03 Feb 2026 09:00:01 +0000\n"
    )
    (one,) = judge(tmp_path, {"describe.txt": text})
    assert (one.kind, one.subject["pod"]) == ("out_of_memory", "cut-broker-7")


TLS = (
    "%3|177010920{0}.100|FAIL|cut#producer-1| [thrd:ssl://kb-{0}:9094/bootstrap]: ssl://kb-{0}:9094/bootstrap: SSL "
    "handshake failed: {1}\n"
)
NOT_TRUSTED = (
    "error:0A000086:SSL routines::certificate verify failed: broker certificate could not be verified, verify that "
    "ssl.ca.location is correctly configured"
)


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        (NOT_TRUSTED, "broker-certificate-not-trusted"),
        ("self-signed certificate in certificate chain", "broker-certificate-not-trusted"),
        ("Hostname mismatch", "broker-certificate-for-another-host"),
        ("connection reset", "tls-handshake-failed"),
    ],
)
def test_a_failed_handshake_has_its_reason_and_its_brokers(reason: str, cause: str, tmp_path: Path) -> None:
    (one,) = judge(tmp_path, {"cutter.log": TLS.format(1, reason) + TLS.format(2, reason)})
    assert (one.root_cause, one.subject["servers"]) == (cause, ("kb-1:9094", "kb-2:9094"))


@pytest.mark.parametrize(
    "obtained",
    [
        "obtained a ProducerId: 1674 and ProducerEpoch: 0",
        "successful init producer id &{ProducerID:1674 ProducerEpoch:0}",
    ],
)
def test_the_producer_id_of_sarama_leads_to_its_transactional_id(obtained: str, tmp_path: Path) -> None:
    text = (
        f"gw-1  | 2026/05/25 13:14:02 [sarama] txnmgr/init-producer-id [alerts-0] {obtained}\n"
        "kb-1  | [2026-05-25 13:14:17,891] ERROR [ReplicaManager broker=1] Error processing append operation on "
        "partition warnings-0 (kafka.server.ReplicaManager)\n"
        "kb-1  | org.apache.kafka.common.errors.OutOfOrderSequenceException: Out of order sequence number for producer "
        "1674 at offset 548171 in partition warnings-0: 51 (incoming seq. number), 49 (current end sequence number)\n"
    )
    (one,) = judge(tmp_path, {"compose.log": text})
    assert (one.kind, one.subject["transactional.id"]) == ("out_of_order_sequence", "alerts-0")


@pytest.mark.parametrize("separator", [", ", "; ", "\n"])
def test_settings_in_one_line_leave_separators_out(separator: str, tmp_path: Path) -> None:
    settings = separator.join(
        ["application.id = ledger, inc", "client.id = led", "group.id = g one", "transactional.id = t-1", "acks = all"]
    )
    path = tmp_path / "app.log"
    path.write_text(f"[2026-05-06 02:19:50,000] INFO StreamsConfig values: {settings} (org.apache.kafka.Config)\n")
    (event,) = scan_paths([path]).events
    names = ("application_id", "client_id", "group", "transactional_id")
    assert [event.fields.get(name) for name in names] == ["ledger, inc", "led", "g one", "t-1"]


def test_a_name_with_a_blank_is_not_cut_into_another_topic(tmp_path: Path) -> None:
    thrown = "org.apache.kafka.common.errors.InvalidTopicException: Invalid topics: [toll GATES]\n"
    text = (
        "[2026-05-04 10:00:00,100] WARN [tolls|task-0] [Producer clientId=connector-producer-tolls-0] Error while "
        "fetching metadata with correlation id 3 : {toll GATES=INVALID_TOPIC_EXCEPTION} "
        "(org.apache.kafka.clients.NetworkClient:1100)\n"
        "[2026-05-04 10:00:00,104] ERROR [tolls|task-0] WorkerSourceTask{id=tolls-0} failed to send record to toll "
        f"GATES:  (org.apache.kafka.connect.runtime.WorkerSourceTask:354)\n{thrown}"
    )
    (found,) = judge(tmp_path, {"connect.log": text})
    assert (found.kind, found.subject["topic"]) == ("invalid_topic", "toll GATES")
    assert "2 topics" not in found.explanation


def test_a_topic_at_the_end_of_a_sentence_has_no_point(tmp_path: Path) -> None:
    text = (
        "[2018-02-27 15:33:36,001] ERROR task [1_0] Error sending record to topic laps-store-changelog. No more "
        "offsets will be recorded for this task (org.apache.kafka.streams.processor.internals.RecordCollectorImpl)\n"
        "org.apache.kafka.common.errors.TimeoutException: Expiring 1 record(s) for laps-store-changelog-0: 30041 ms "
        "has passed since last append\n"
    )
    (found,) = judge(tmp_path, {"laps.log": text})
    assert found.subject["topic"] == "laps-store-changelog"
