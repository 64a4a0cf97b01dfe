"""The share coordinator on three brokers: state that outlives its coordinator, and snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.share.coordinator import StateResult
from eosctl.sandbox.coordinator.share.records import StateRecord
from eosctl.sandbox.coordinator.share.shard import StateShard, StateWrite
from eosctl.sandbox.coordinator.share.state import SharePartitionKey, StateBatch
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import SHARE_GROUP_STATE_TOPIC, Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal.versioned import share_group_state
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest
from eosctl.wire.messages.internal.share_group_state.share_snapshot import ShareSnapshotKey
from eosctl.wire.records.batch import decode_records
from tests.sandbox.harness import Harness

UPDATES_PER_SNAPSHOT = 3
SETTINGS = {
    "share.coordinator.state.topic.num.partitions": "2",
    "share.coordinator.snapshot.update.records.per.snapshot": str(UPDATES_PER_SNAPSHOT),
}


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    cluster = Harness(tmp_path, ClusterShape(3, Emulation("4.3"), 2, SETTINGS, fast=True))
    topic = CreatableTopic("orders", 1, 3)
    cluster.request(1, ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest([topic], 10_000, False))
    cluster.run_until(lambda: all(broker.metadata.topic_id("orders") for broker in cluster.core.brokers()))
    yield cluster
    cluster.close()


def key_of(harness: Harness) -> SharePartitionKey:
    topic_id = harness.core.brokers()[0].metadata.topic_id("orders")
    assert topic_id is not None
    return SharePartitionKey("g", topic_id, 0)


def done(harness: Harness, results: list[StateResult]) -> StateResult:
    harness.run_until(lambda: bool(results))
    return results.pop()


def leader_of(harness: Harness, key: SharePartitionKey) -> int:
    broker = harness.core.brokers()[0]
    index = broker.shares.partition_for(key)
    leadership = broker.metadata.leadership(TopicPartition(SHARE_GROUP_STATE_TOPIC, index))
    assert leadership is not None
    return leadership.leader_id


def write(harness: Harness, key: SharePartitionKey, offset: int) -> StateResult:
    results: list[StateResult] = []
    change = StateWrite(1, 0, offset, 0, (StateBatch(offset, offset + 4, 2, 1),))
    harness.core.brokers()[0].share_states.write(key, change, results.append)
    return done(harness, results)


def test_state_outlives_its_coordinator(harness: Harness) -> None:
    key, results = key_of(harness), list[StateResult]()
    asking = harness.core.brokers()[0].share_states
    asking.initialize(key, 1, -1, results.append)  # The topic is created meanwhile.
    assert done(harness, results).error is ErrorCode.NONE
    assert write(harness, key, 10).error is ErrorCode.NONE
    harness.kill(leader_of(harness, key))
    harness.core.brokers()[0].share_states.read(key, 0, results.append)
    found = done(harness, results)
    assert (found.error, found.state.start_offset) == (ErrorCode.NONE, 10)
    assert found.state.state_batches == (StateBatch(10, 14, 2, 1),)


def test_a_snapshot_replaces_updates(harness: Harness) -> None:
    key, results = key_of(harness), list[StateResult]()
    harness.core.brokers()[0].share_states.initialize(key, 1, 0, results.append)
    assert done(harness, results).error is ErrorCode.NONE
    for offset in range(UPDATES_PER_SNAPSHOT + 2):
        assert write(harness, key, offset).error is ErrorCode.NONE
    broker = harness.core.broker(leader_of(harness, key))
    index = broker.shares.partition_for(key)
    records = [
        StateRecord(record.key, record.value)
        for header, batch in broker.replicas.read_all(TopicPartition(SHARE_GROUP_STATE_TOPIC, index))
        for record in decode_records(batch, header)
        if record.key is not None
    ]
    kinds = [isinstance(share_group_state.decode_key(record.key), ShareSnapshotKey) for record in records]
    assert kinds == [True] + [False] * UPDATES_PER_SNAPSHOT + [True, False]
    live = next(shard for shard in broker.shares.shards if shard.index == index)
    loaded = StateShard(index, 0)
    for record in records:
        loaded.replay(record, UPDATES_PER_SNAPSHOT)
    assert loaded.states == live.states
    assert loaded.states[key].offset.start_offset == UPDATES_PER_SNAPSHOT + 1


@pytest.mark.parametrize(
    ("release", "start", "batches"),
    [("4.3", 2, (StateBatch(2, 5, 0, 1), StateBatch(6, 7, 2, 1))), ("4.4", 6, (StateBatch(6, 7, 2, 1),))],
)
def test_a_write_that_comes_late_keeps_the_start(
    tmp_path: Path, release: str, start: int, batches: tuple[StateBatch, ...]
) -> None:
    cluster = Harness(tmp_path, ClusterShape(1, Emulation(release), 2, SETTINGS, fast=True))
    cluster.request(1, ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest([CreatableTopic("orders", 1, 1)], 10_000, False))
    key, results = key_of(cluster), list[StateResult]()
    asking = cluster.core.broker(1).share_states
    asking.initialize(key, 1, 0, results.append)
    assert done(cluster, results).error is ErrorCode.NONE
    for change in (
        StateWrite(1, 0, 6, 2, (StateBatch(6, 7, 2, 1),)),
        StateWrite(1, 0, 2, 0, (StateBatch(2, 5, 0, 1),)),
    ):
        asking.write(key, change, results.append)
        assert done(cluster, results).error is ErrorCode.NONE
    shards = cluster.core.broker(1).shares.shards
    state = next(shard.states[key].offset for shard in shards if key in shard.states)
    assert (state.start_offset, state.state_batches) == (start, batches)
    assert state.delivery_complete_count == (0 if release == "4.3" else 2)
    cluster.close()


def test_a_record_that_is_not_replicated_is_reverted(harness: Harness) -> None:
    key, results = key_of(harness), list[StateResult]()
    harness.core.brokers()[0].share_states.initialize(key, 1, 0, results.append)
    assert done(harness, results).error is ErrorCode.NONE
    leader_id = leader_of(harness, key)
    for broker_id in {1, 2, 3} - {leader_id}:
        harness.core.pause_node(broker_id)
    shares = harness.core.broker(leader_id).shares
    shares.write(key, StateWrite(1, 0, 7, 0), results.append)
    assert next(shard for shard in shares.shards if key in shard.states).states[key].offset.start_offset == 7
    assert done(harness, results).error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert next(shard for shard in shares.shards if key in shard.states).states[key].offset.start_offset == 0
    for broker_id in {1, 2, 3} - {leader_id}:
        harness.core.resume_node(broker_id)


def test_state_of_a_deleted_topic_is_removed(harness: Harness) -> None:
    key, results = key_of(harness), list[StateResult]()
    harness.core.brokers()[0].share_states.initialize(key, 1, 0, results.append)
    assert done(harness, results).error is ErrorCode.NONE
    leader_id = leader_of(harness, key)
    harness.request(1, ApiKey.DELETE_TOPICS, 5, DeleteTopicsRequest(topic_names=["orders"], timeout_ms=10_000))
    shares = harness.core.broker(leader_id).shares
    harness.run_until(lambda: not any(shard.states for shard in shares.shards))
