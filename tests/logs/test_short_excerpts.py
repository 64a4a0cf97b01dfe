"""Excerpts of logs as people post them: cut traces, lines without a time, and faults with which the text ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.severity import Severity
from tests.logs.judging import judge

UNREACHABLE = (
    "[2026-02-03 09:00:0{},100] WARN [{} Connection to node {} (kb-7/192.0.2.7:9092) could not be established. "
    "Node may not be available. (org.apache.kafka.clients.NetworkClient)\n"
)
METADATA = (
    "[2026-02-03 09:00:0{},200] WARN [Consumer clientId=tiles-1, groupId=tiles] Error while fetching metadata with "
    "correlation id 7 : {{tiles.cut={}}} (org.apache.kafka.clients.NetworkClient)\n"
)
JOINED = (
    "[2026-02-03 09:00:09,000] INFO [Consumer clientId=tiles-1, groupId=tiles] Successfully joined group with "
    "generation Generation{generationId=2, memberId='tiles-1-x', protocol='range'} "
    "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)\n"
)
CUT_TRACE = (
    "Caused by: org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same "
    "transactionalId which fences the current one.\n"
    "\tSuppressed: java.lang.IllegalStateException: pending\n"
    "\t\tat com.example.Sink.close(Sink.java:7)\n"
)
FENCED_NEXT_TO_A_SERVER = (
    "[2026-02-03 09:00:01,000] ERROR Aborting producer batches due to fatal error "
    "(org.apache.kafka.clients.producer.internals.Sender)\n"
    "org.apache.kafka.common.errors.ProducerFencedException: Producer attempted an operation with an old epoch.\n"
    "[2026-02-03 09:00:02,000] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Partition tiles-1 has an "
    "older epoch (4) than the current leader. (kafka.server.ReplicaFetcherThread)\n"
)
MAP_FAILED = (
    "ERROR Error while appending records to tiles-3 in dir /srv/kafka "
    "(org.apache.kafka.storage.internals.log.LogDirFailureChannel)\n"
    "java.io.IOException: Map failed\n"
    "at java.base/sun.nio.ch.FileChannelImpl.map(FileChannelImpl.java:1)\n"
)
REFUSED = (
    "2026-02-03 09:00:0{} WARN [Producer clientId=tiles-1] Got error produce response with correlation id 4 on "
    "topic-partition tiles-3, retrying (21 attempts left). Error: NOT_ENOUGH_REPLICAS "
    "(org.apache.kafka.clients.producer.internals.Sender)\n"
)
TAKEN = (
    "[2026-02-03 09:00:00,100] ERROR Error while creating ephemeral at /brokers/ids/17, node already exists and owner "
    "'72' does not match current session '73' (kafka.zk.KafkaZkClient$CheckedEphemeral)\n"
    "[2026-02-03 09:00:00,200] ERROR [KafkaServer id=17] Fatal error during KafkaServer startup. Prepare to shutdown "
    "(kafka.server.KafkaServer)\n"
    "org.apache.zookeeper.KeeperException$NodeExistsException: KeeperErrorCode = NodeExists\n"
)
ONE_RECORD = {
    "stale epoch": (
        "".join(
            f"[2026-02-03 09:00:0{second},000] INFO [QuorumController id=9] processBrokerHeartbeat: event failed with "
            "StaleBrokerEpochException in 25 microseconds. Exception message: Expected broker epoch 40, but got broker "
            "epoch 7 (org.apache.kafka.controller.QuorumController)\n"
            for second in (1, 3)
        ),
        ("broker_registration_replaced", "heartbeats-of-an-older-registration"),
    ),
    "node id": (
        (
            "[2026-02-03 09:00:00,000] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)\n"
            "kafka.common.InconsistentNodeIdException: Configured node.id `11` doesn't match stored node.id `12' in "
            "meta.properties.\n"
        ),
        ("server_ended_by_a_fault", "data-of-another-node"),
    ),
    "memory": (
        (
            "OpenJDK 64-Bit Server VM warning: INFO: os::commit_memory(0x00000000c0000000, 1073741824, 0) failed; "
            "error='Out of memory' (errno=12)\n"
        ),
        ("out_of_memory", "memory-not-granted-by-the-system"),
    ),
    "topic name": (METADATA.format(1, "INVALID_TOPIC_EXCEPTION"), ("invalid_topic", "topic-name-not-valid")),
    "state directory": (
        (
            "org.apache.kafka.streams.errors.ProcessorStateException: task directory [/srv/state/tiles/0_1] doesn't "
            "exist "
            "and couldn't be created\n"
        ),
        ("state_directory_error", "state-directory-not-created"),
    ),
    "overdue": (
        (
            "2026-02-03 09:00:00,000 WARN  org.apache.flink.streaming.api.functions.sink.TwoPhaseCommitSinkFunction "
            "[] - "
            "Transaction KafkaTransactionState [transactionalId=Sink: tiles-4, producerId=71, epoch=3] has been open "
            "for "
            "900000 ms. This is close to or even exceeding the transaction timeout of 60000 ms.\n"
        ),
        ("transaction_timeout", "transaction-longer-than-its-timeout"),
    ),
    "follower": (
        (
            "[2026-02-03 09:00:00,000] ERROR [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Unexpected error "
            "occurred while processing data for partition tiles-5 at offset 317 (kafka.server.ReplicaFetcherThread)\n"
        ),
        ("replica_not_fetched", "unexplained"),
    ),
    "foreign bytes": (
        (
            "[2026-02-03 09:00:00,000] WARN [SocketServer listenerType=BROKER, nodeId=1] Unexpected error from "
            "/192.0.2.9 "
            "(channelId=1); closing (org.apache.kafka.common.network.Selector)\n"
            "org.apache.kafka.common.network.InvalidReceiveException: Invalid receive (size = 369295617 larger than "
            "524)\n"
        ),
        ("foreign_bytes_received", "protocol-of-client-and-listener-differs"),
    ),
    "topics of a listener": (
        (
            "Failed to start bean 'registry'; nested exception is java.lang.IllegalStateException: Topic(s) "
            "[tiles.cut] "
            "is/are not present and missingTopicsFatal is true\n"
        ),
        ("source_topics_missing", "topic-deleted-or-never-created"),
    ),
    "begin twice": (
        (
            "2026-02-03 09:00:00,000 ERROR [main] com.example.Tiles - Could not create Kafka transaction; nested "
            "exception "
            "is org.apache.kafka.common.KafkaException: TransactionalId tiles-0: Invalid transition attempted from "
            "state "
            "IN_TRANSACTION to state IN_TRANSACTION\n"
        ),
        ("producer_misused", "call-not-allowed-at-this-point"),
    ),
    "commit not answered": (
        (
            "[2026-02-03 09:00:00,000] WARN [Consumer clientId=tiles-1, groupId=tiles] Offset commit failed on "
            "partition "
            "tiles-6 at offset 40: The request timed out. "
            "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)\n"
        ),
        ("consumer_offsets_timeout", "offsets-not-stored-in-time"),
    ),
}


@pytest.mark.parametrize("name", ONE_RECORD)
def test_one_record_shows_its_fault(name: str, tmp_path: Path) -> None:
    text, expected = ONE_RECORD[name]
    (found,) = judge(tmp_path, {"app.log": text})
    assert (found.kind, found.root_cause) == expected


@pytest.mark.parametrize("error", ["UNKNOWN_TOPIC_OR_PARTITION", "LEADER_NOT_AVAILABLE"])
def test_an_excerpt_that_ends_with_a_retried_error(error: str, tmp_path: Path) -> None:
    text = METADATA.format(1, error) + METADATA.format(2, error)
    (found,) = judge(tmp_path / "cut", {"tiles.log": text})
    assert (found.severity, found.subject["topic"]) == (Severity.WARNING, "tiles.cut")
    assert found.confidence < 0.5 and "its log ends" in found.explanation
    assert judge(tmp_path / "recovered", {"tiles.log": text + JOINED}) == []


def test_an_excerpt_without_a_working_connection(tmp_path: Path) -> None:
    client = UNREACHABLE.format(1, "Producer clientId=tiles-1]", -1)
    (found,) = judge(tmp_path / "client", {"tiles.log": client + client})
    assert (found.kind, found.subject["server"]) == ("brokers_not_reached", "kb-7/192.0.2.7:9092")
    (found,) = judge(tmp_path / "server", {"server.log": 2 * UNREACHABLE.format(2, "RaftManager id=3]", 7)})
    assert (found.kind, found.severity) == ("brokers_not_reached", Severity.WARNING)
    assert judge(tmp_path / "back", {"tiles.log": client + JOINED}) == []


def test_a_long_log_without_a_connection_is_an_error(tmp_path: Path) -> None:
    text = "".join(
        UNREACHABLE.format(0, "Producer clientId=tiles-1]", -1).replace(":00:00", f":{n:02}:00") for n in range(5)
    )
    (found,) = judge(tmp_path, {"tiles.log": text})
    assert (found.kind, found.severity) == ("brokers_not_reached", Severity.ERROR)


def test_a_trace_is_read_from_one_of_its_causes_on(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"app.log": CUT_TRACE})
    assert found.kind == "producer_fenced"


def test_a_client_in_the_log_of_a_server_is_judged(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"mixed.log": FENCED_NEXT_TO_A_SERVER})
    assert found.kind == "producer_fenced"


def test_lines_without_a_time_are_one_with_their_exception(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"server.log": MAP_FAILED})
    assert (found.root_cause, found.subject["log.dir"]) == ("memory-maps-exhausted", "/srv/kafka")


def test_writes_that_are_refused_to_the_end(tmp_path: Path) -> None:
    text = REFUSED.format(1) + REFUSED.format(2)
    (found,) = judge(tmp_path / "cut", {"tiles.log": text})
    assert (found.kind, found.subject["topic-partition"]) == ("not_enough_replicas", "tiles-3")
    later = "2026-02-03 09:02:00 INFO [Producer clientId=tiles-1] Closing the Kafka producer\n"
    assert judge(tmp_path / "on", {"tiles.log": text + later}) == []


def test_a_broker_whose_id_is_taken_does_not_start(tmp_path: Path) -> None:
    (found,) = judge(tmp_path, {"server.log": TAKEN})
    assert (found.root_cause, found.subject["broker"]) == ("broker-id-registered-already", "17")
    assert len(found.evidence) == 2


def test_a_store_without_its_cause_is_in_doubt(tmp_path: Path) -> None:
    head = "org.apache.kafka.streams.errors.ProcessorStateException: Error opening store tiles at location /srv/s\n"
    cause = "Caused by: org.rocksdb.RocksDBException: Corruption: CURRENT file does not end with newline\n"
    (cut,) = judge(tmp_path / "cut", {"app.log": head})
    (whole,) = judge(tmp_path / "whole", {"app.log": head + cause})
    assert cut.kind == whole.kind == "state_store_corrupt"
    assert cut.confidence < 0.7 < whole.confidence
