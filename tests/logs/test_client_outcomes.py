"""Outcomes that records state themselves: where a consumer continued, which broker it waited for, who ran again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.logs.judging import judge

RESET = (
    "%4|{}.733|OFFSET|rdkafka#consumer-1| [thrd:main]: cut.raw [{}]: offset reset (at offset 77 (leader epoch 4), "
    "broker 2) to offset {} (leader epoch -1): fetch failed due to requested offset not available on the broker: "
    "Broker: Offset out of range\n"
)
COMMIT = (
    "[2026-03-01 10:00:{},000] {} [Consumer clientId=c-1, groupId=bill] {} "
    "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)\n"
)
AWAY = (
    "Group coordinator kb-6.x:9092 (id: 2147483641 rack: null) is unavailable or invalid due to cause: error response"
)
REFUSED = (
    "[2026-03-01 10:00:00,903] ERROR [ReplicaManager broker=7] Error processing append operation on partition {} "
    "(kafka.server.ReplicaManager)\n"
    "org.apache.kafka.common.errors.InvalidTxnStateException: Record was not part of an ongoing transaction\n"
)
CLIENT = "[2026-03-01 10:00:{}] {} [Producer clientId=p, transactionalId=pay-1] {} (org.apache.kafka.clients.X)\n"
RETRY = (
    "Got error produce response with correlation id 9 on topic-partition pays-11, retrying (5 attempts left). Error: "
    "NOT_ENOUGH_REPLICAS"
)
FATAL = (
    "Transiting to fatal error state due to org.apache.kafka.common.errors.InvalidTxnStateException: The producer "
    "attempted a transactional operation in an invalid state."
)
FENCED = (
    "[2026-03-01 10:00:27,640] INFO [BrokerLifecycleManager id=2] Unable to send a heartbeat because the RPC got timed "
    "out before it could be sent. (kafka.server.BrokerLifecycleManager)\n"
    "[2026-03-01 10:01:27,640] INFO [ReplicaFetcherManager on broker 2] Removed fetcher for partitions x "
    "(kafka.server.ReplicaFetcherManager)\n"
)
OVERLOADED = (
    "[2026-03-01 10:00:31,144] ERROR [QuorumController id=9] processExpiredBrokerHeartbeat: controller event queue "
    "overloaded. Timed out heartbeat from broker 2. (org.apache.kafka.controller.QuorumController)\n"
)
FENCING = (
    "[2026-03-01 10:00:40,151] INFO [ReplicationControlManager id=9] Fencing broker 2 at epoch 118 because its session "
    "has timed out. (org.apache.kafka.controller.ReplicationControlManager)\n"
)


@pytest.mark.parametrize(("target", "words"), [("END", "passed over"), ("BEGINNING", "first record that the log has")])
def test_a_reset_says_where_the_consumer_continued(target: str, words: str, tmp_path: Path) -> None:
    text = "".join(RESET.format(1772359200, number, target) for number in (3, 5))
    (found,) = judge(tmp_path, {"shipper.log": text})
    assert found.subject["topic-partitions"] == ("cut.raw-3", "cut.raw-5")
    assert words in found.explanation
    assert "skipped or read again" not in found.explanation


def test_a_coordinator_of_a_group_is_a_broker(tmp_path: Path) -> None:
    failed = "Offset commit failed on partition a-4 at offset 5: The request timed out."
    text = COMMIT.format(10, "INFO", AWAY) + COMMIT.format(20, "WARN", failed)
    (found,) = judge(tmp_path, {"app.log": text})
    assert (found.kind, found.subject["coordinator"]) == ("consumer_offsets_timeout", "6")


def test_a_refused_write_is_not_a_timeout(tmp_path: Path) -> None:
    client = CLIENT.format("00,796", "WARN", RETRY) + CLIENT.format("01,014", "ERROR", FATAL)
    (found,) = judge(tmp_path, {"broker-7.log": REFUSED.format("pays-11"), "pay.log": client})
    assert (found.root_cause, found.subject["topic-partition"]) == ("append-not-verified", "pays-11")
    assert "NOT_ENOUGH_REPLICAS" in found.explanation


def test_a_refused_write_of_another_topic_stays_apart(tmp_path: Path) -> None:
    client = CLIENT.format("00,796", "WARN", RETRY) + CLIENT.format("01,014", "ERROR", FATAL)
    found = judge(tmp_path, {"broker-7.log": REFUSED.format("other-1"), "pay.log": client})
    assert "append-not-verified" not in {one.root_cause for one in found}


@pytest.mark.parametrize(
    ("stall", "cause"), [(OVERLOADED, "controller-overloaded"), ("", "running-broker-missed-heartbeats")]
)
def test_an_overloaded_controller_is_not_the_broker(stall: str, cause: str, tmp_path: Path) -> None:
    found = judge(tmp_path, {"broker-2.log": FENCED, "controller.log": stall + FENCING})
    assert [one.root_cause for one in found if one.kind == "broker_fenced"] == [cause]


def test_a_program_has_its_name_from_syslog(tmp_path: Path) -> None:
    line = "Mar  1 10:00:0{} host-1 storage[811]: ERROR kafka.tx: Local: Erroneous state\n"
    (found,) = judge(
        tmp_path, {"journal.txt": line.format(1).replace("Local: Erroneous state", "ProducerFencedException: x")}
    )
    assert found.subject["application"] == "storage"


def test_a_pipeline_of_logstash_is_in_the_subject(tmp_path: Path) -> None:
    line = (
        "[2026-03-01T10:00:01,995][WARN ][logstash.outputs.kafka   ][beats][7d1f7c0b] KafkaProducer.send() failed: "
        "org.apache.kafka.common.errors.RecordTooLargeException: The message is 9 bytes when serialized which is "
        "larger than 8, which is the value of the max.request.size configuration.\n"
    )
    (found,) = judge(tmp_path, {"logstash-plain.log": line})
    assert found.subject["component"] == "beats"


def test_a_thread_that_runs_again_is_reported(tmp_path: Path) -> None:
    late = "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer"
    line = "2026-03-01 10:0{} {} [a-StreamThread-1] X - {}\n"
    text = line.format("0:01,000", "WARN", f"[Consumer clientId=a-StreamThread-1-consumer, groupId=a] {late}")
    state = "stream-thread [a-StreamThread-1] State transition from PARTITIONS_ASSIGNED to RUNNING"
    again = text + line.format("1:01,000", "INFO", state)
    (first,) = judge(tmp_path, {"app.log": text})
    (second,) = judge(tmp_path, {"app.log": again})
    assert ["running again" in one.explanation for one in (first, second)] == [False, True]
