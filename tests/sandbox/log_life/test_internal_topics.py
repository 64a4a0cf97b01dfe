"""The coordinators' own logs are compacted too, and what they know is the same afterwards."""

from __future__ import annotations

from pathlib import Path

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC, Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from eosctl.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

ORDERS = TopicPartition("orders", 0)
SETTINGS = {
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.segment.bytes": "2000",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.segment.bytes": "2000",
    "log.cleaner.backoff.ms": "500",
    "transactional.id.expiration.ms": "5000",
    "transaction.remove.expired.transaction.cleanup.interval.ms": "1000",
}
ROUNDS = 40


def test_offsets_and_transactional_ids_outlive_compaction(tmp_path: Path) -> None:
    harness = Harness(tmp_path, ClusterShape(1, Emulation("3.9"), None, SETTINGS, fast=True))
    client = EosClient(harness)
    client.create_topic("orders")
    old = client.init("gone")
    assert client.produce(old, ORDERS, ["x"]) is ErrorCode.NONE
    assert client.end(old, commit=True) is ErrorCode.NONE
    producer = client.init("app")
    client.coordinator_of_group("billing")
    for number in range(ROUNDS):
        assert client.produce(producer, ORDERS, [f"{number}"]) is ErrorCode.NONE
        assert client.end(producer, commit=True) is ErrorCode.NONE
        committed = OffsetCommitRequestPartition(0, number)
        commit = OffsetCommitRequest("billing", topics=[OffsetCommitRequestTopic("orders", partitions=[committed])])
        answer = harness.request(1, ApiKey.OFFSET_COMMIT, 7, commit)
        assert not answer.topics[0].partitions[0].error_code
        harness.advance(200)
    harness.advance(2000)
    logs = harness.core.broker(1).replicas.partitions
    for topic in (TRANSACTION_STATE_TOPIC, CONSUMER_OFFSETS_TOPIC):
        log = logs[TopicPartition(topic, 0)].log
        assert log.cleaned_until > 0
        assert sum(header.records_count for header, _ in log.batches()) < log.end_offset / 2
    harness.kill(1)
    harness.restart(1)
    client.coordinator_of_group("billing")
    fetch = OffsetFetchRequest("billing", [OffsetFetchRequestTopic("orders", [0])])
    found = harness.request(1, ApiKey.OFFSET_FETCH, 5, fetch)
    assert found.topics[0].partitions[0].committed_offset == ROUNDS - 1
    successor = client.init("app")
    assert (successor.producer_id, successor.producer_epoch) == (producer.producer_id, producer.producer_epoch + 1)
    assert client.init("gone").producer_id != old.producer_id, "its tombstone and the record before it are gone"
