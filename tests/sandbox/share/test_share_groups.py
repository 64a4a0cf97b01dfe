"""Share groups on three brokers: members, sessions, and groups that outlive their coordinator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.group.shard import Shard
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import CONSUMER_OFFSETS_TOPIC, Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.delete_groups import DeleteGroupsRequest
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.messages.share_fetch import AcquiredRecords, FetchPartition, FetchTopic, ShareFetchRequest
from eosctl.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.harness import Harness, HarnessClient

SETTINGS = {"share.coordinator.state.topic.num.partitions": "2", "offsets.topic.num.partitions": "2"}
SESSION_MS = 45_000


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    cluster = Harness(tmp_path, ClusterShape(3, Emulation("4.3"), 2, SETTINGS, fast=True))
    topic = CreatableTopic("orders", 2, 3)
    cluster.request(1, ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest([topic], 10_000, False))
    cluster.request(1, ApiKey.FIND_COORDINATOR, 1, FindCoordinatorRequest("g", 0))
    cluster.run_until(lambda: shard_of(cluster) is not None)
    yield cluster
    cluster.close()


def shard_of(harness: Harness) -> Shard | None:
    found = [broker.groups.find_shard("g") for broker in harness.core.brokers()]
    return next((shard for shard in found if isinstance(shard, Shard)), None)


def coordinator(harness: Harness) -> int:
    harness.run_until(lambda: shard_of(harness) is not None)
    shard = shard_of(harness)
    assert shard is not None
    leadership = harness.core.brokers()[0].metadata.leadership(
        TopicPartition(CONSUMER_OFFSETS_TOPIC, shard.partition.partition)
    )
    assert leadership is not None
    return leadership.leader_id


def beat(harness: Harness, member: str, epoch: int) -> Any:
    names = ["orders"] if epoch == 0 else None
    request = ShareGroupHeartbeatRequest("g", member, epoch, None, names)
    return harness.request(coordinator(harness), ApiKey.SHARE_GROUP_HEARTBEAT, 1, request)


def join(harness: Harness, member: str) -> int:
    """Join and send heartbeats until partitions are assigned; return the member epoch."""
    answer = beat(harness, member, 0)
    while not (answer.assignment and answer.assignment.topic_partitions):
        assert answer.error_code == ErrorCode.NONE
        harness.advance(5000)
        answer = beat(harness, member, answer.member_epoch)
    return answer.member_epoch


def test_a_group_outlives_its_coordinator(harness: Harness) -> None:
    epoch = join(harness, "m1")
    shard = shard_of(harness)
    assert shard is not None
    before = shard.share_groups["g"]
    assert {len(topic.partitions) for topic in before.initialized.values()} == {2}
    harness.kill(coordinator(harness))
    assert beat(harness, "m1", epoch).error_code == ErrorCode.NONE
    loaded = shard_of(harness)
    assert loaded is not None
    assert loaded.share_groups["g"].members == before.members
    assert loaded.share_groups["g"].targets == before.targets
    assert loaded.share_groups["g"].initialized.keys() == before.initialized.keys()


def test_a_silent_member_is_removed(harness: Harness) -> None:
    join(harness, "m1")
    join(harness, "m2")
    for _ in range(SESSION_MS // 5000 + 1):
        shard = shard_of(harness)
        assert shard is not None
        beat(harness, "m1", shard.share_groups["g"].members["m1"].member_epoch)
        harness.advance(5000)
    assert list(shard.share_groups["g"].members) == ["m1"]
    (assigned,) = shard.share_groups["g"].members.values()
    beat(harness, "m1", assigned.member_epoch)
    assert len(shard.share_groups["g"].members["m1"].assigned) == 2


def test_deletion_removes_group_and_state(harness: Harness) -> None:
    join(harness, "m1")
    request = DeleteGroupsRequest(["g"])
    refused = harness.request(coordinator(harness), ApiKey.DELETE_GROUPS, 2, request)
    assert refused.results[0].error_code == ErrorCode.NON_EMPTY_GROUP
    assert beat(harness, "m1", -1).error_code == ErrorCode.NONE
    done = harness.request(coordinator(harness), ApiKey.DELETE_GROUPS, 2, request)
    assert done.results[0].error_code == ErrorCode.NONE
    shard = shard_of(harness)
    assert shard is not None
    assert not shard.share_groups
    assert not any(shares.states for broker in harness.core.brokers() for shares in broker.shares.shards)
    harness.kill(coordinator(harness))
    coordinator(harness)
    reloaded = shard_of(harness)
    assert reloaded is not None
    assert not reloaded.share_groups


def test_a_lost_client_returns_its_records(harness: Harness) -> None:
    join(harness, "m1")
    leaders = [
        broker.node_id
        for broker in harness.core.brokers()
        if not isinstance(broker.replicas.leader(TopicPartition("orders", 0)), ErrorCode)
    ]
    topic_id = harness.core.brokers()[0].metadata.topic_id("orders")
    assert topic_id is not None
    wanted = [FetchTopic(topic_id, [FetchPartition(0)])]

    def fetch(client: HarnessClient, member: str, epoch: int) -> list[AcquiredRecords]:
        request = ShareFetchRequest("g", member, epoch, 100, 1, max_records=9, batch_size=9, topics=wanted)
        response = client.request(ApiKey.SHARE_FETCH, 1, request)
        return [held for topic in response.responses for part in topic.partitions for held in part.acquired_records]

    first, second = harness.client(leaders[0]), harness.client(leaders[0])
    assert fetch(first, "m1", 0) == []
    harness.advance(3000)  # The group begins at the end of the partition.
    assert fetch(first, "m1", 1) == []
    data = PartitionProduceData(0, encode_batch([Record(0, 0, None, b"order")]))
    produce = ProduceRequest(None, -1, 5000, [TopicProduceData("orders", partition_data=[data])])
    assert second.request(ApiKey.PRODUCE, 9, produce).responses[0].partition_responses[0].error_code == 0
    assert fetch(first, "m1", 2) == [AcquiredRecords(0, 0, 1)]
    assert fetch(second, "m2", 0) == []
    first.disconnect()
    harness.advance(10)
    assert fetch(second, "m2", 1) == [AcquiredRecords(0, 0, 2)]
