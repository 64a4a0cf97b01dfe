"""Directories of healthy clusters raise no alarm: running, killed and closed, after retention and compaction."""

from __future__ import annotations

from pathlib import Path

import pytest

from eosctl.model.fsck import FsckFinding, FsckSeverity
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.analysis.fsck.test_recorded_cases import check
from tests.sandbox.eos_client import EosClient, Handle
from tests.sandbox.harness import Harness

ORDERS = TopicPartition("orders", 0)
TABLE = TopicPartition("table", 0)
SETTINGS = {
    "transaction.state.log.num.partitions": "3",
    "offsets.topic.num.partitions": "3",
    "log.cleaner.backoff.ms": "500",
    "log.retention.check.interval.ms": "1000",
}
#: What 4.x refuses: its segments have 1 MiB at least.
SMALL_SEGMENTS = {"transaction.state.log.segment.bytes": "2000", "offsets.topic.segment.bytes": "2000"}
ROUNDS = 30


def alarms(harness: Harness) -> list[FsckFinding]:
    found = check(*(harness.core.directory_of(node) for node in harness.core.node_ids))
    return [finding for finding in found if finding.severity is not FsckSeverity.INFO]


def commit_offset(client: EosClient, offset: int) -> None:
    committed = OffsetCommitRequestPartition(0, offset)
    request = OffsetCommitRequest("billing", topics=[OffsetCommitRequestTopic("orders", partitions=[committed])])
    coordinator = client.coordinator_of_group("billing")
    answer = client.harness.request(coordinator, ApiKey.OFFSET_COMMIT, 7, request)
    assert not answer.topics[0].partitions[0].error_code


def put(client: EosClient, producer: Handle, key: str) -> None:
    """Write a record with a key, as the compacted topic wants it."""
    if not client.implicit:
        assert client.add_partition(producer, TABLE) is ErrorCode.NONE
    batch = encode_batch(
        [Record(0, client.harness.core.brokers()[0].runtime.now_ms(), key.encode(), b"x" * 50)],
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        base_sequence=producer.sequences.get(TABLE, 0),
        transactional=True,
    )
    answer = client.append(TABLE, batch, producer.transactional_id)
    assert answer is not None
    assert answer.error_code == 0
    producer.sequences[TABLE] = producer.sequences.get(TABLE, 0) + 1
    producer.added.add(TABLE)


@pytest.mark.parametrize(
    ("brokers", "release", "transaction_version"), [(1, "3.9", 0), (3, "3.9", 1), (1, "4.3", 2), (3, "4.3", 2)]
)
def test_no_alarm(tmp_path: Path, brokers: int, release: str, transaction_version: int) -> None:
    settings = SETTINGS | (SMALL_SEGMENTS if release == "3.9" else {})
    shape = ClusterShape(brokers, Emulation(release), transaction_version, settings, fast=True)
    harness = Harness(tmp_path, shape)
    assert alarms(harness) == [], "fresh"
    client = EosClient(harness, implicit=transaction_version == 2)
    client.create_topic("orders", replicas=brokers, segment_ms="1000", retention_bytes="3000")
    client.create_topic("table", replicas=brokers, segment_ms="500", cleanup_policy="compact")
    for number in range(ROUNDS):
        producer = client.init(f"app-{number % 4}")
        assert client.produce(producer, ORDERS, [f"{number}"] * 3) is ErrorCode.NONE
        put(client, producer, f"{number % 3}")
        assert client.end(producer, commit=number % 3 > 0) is ErrorCode.NONE
        commit_offset(client, number)
        harness.advance(300)
    begun = client.init("app-late")
    assert client.produce(begun, ORDERS, ["open"]) is ErrorCode.NONE
    if not client.implicit:
        assert client.add_partition(begun, TABLE) is ErrorCode.NONE
    harness.advance(40_000)
    assert alarms(harness) == [], "running, with an open transaction"
    harness.kill(1)
    assert alarms(harness) == [], "one broker killed"
    harness.restart(1)
    assert client.end(begun, commit=False) in (ErrorCode.NONE, ErrorCode.INVALID_PRODUCER_EPOCH)
    harness.advance(3000)
    assert alarms(harness) == [], "restarted"
    harness.close()
    assert alarms(harness) == [], "closed"
    assert not (harness.core.directory_of(1) / "orders-0" / f"{0:020d}.log").exists(), "retention has been there"


def test_a_metadata_log_may_start_within_a_segment(tmp_path: Path) -> None:
    """It begins where its oldest snapshot ends, although no checkpoint has that offset."""
    minute = "60000"
    settings = {
        "metadata.log.max.snapshot.interval.ms": minute,
        "metadata.log.segment.ms": "50000",
        "metadata.max.retention.ms": minute,
    }
    harness = Harness(tmp_path, ClusterShape(settings=settings))
    harness.advance(300_000)
    log = harness.core.nodes[1].metadata_log.log
    assert log.store.segments[0].base_offset < log.start_offset
    assert alarms(harness) == []
    harness.close()
