"""Share consumers on three brokers while brokers are killed: what is acknowledged stays, and nothing is lost."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import share_fetch
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from eosctl.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.harness import Harness

SETTINGS = {
    "share.coordinator.state.topic.num.partitions": "2",
    "offsets.topic.num.partitions": "2",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.record.lock.duration.ms": "2000",
}
LEADER = TopicPartition("orders", 0)
ACCEPT = 1


class Consumer:
    """A member that fetches and acknowledges where the partition's leader is, and begins again after errors."""

    def __init__(self, harness: Harness, member_id: str, topic_id: bytes) -> None:
        self._harness = harness
        self._member_id = member_id
        self._topic_id = topic_id
        self._epoch = 0

    def fetch(self) -> list[int]:
        """Return the acquired offsets."""
        topics = []
        if self._epoch == 0:
            topics = [share_fetch.FetchTopic(self._topic_id, [share_fetch.FetchPartition(0)])]
        request = share_fetch.ShareFetchRequest(
            group_id="g",
            member_id=self._member_id,
            share_session_epoch=self._epoch,
            max_wait_ms=200,
            min_bytes=1,
            max_records=5,
            batch_size=5,
            topics=topics,
        )
        response = self._send(ApiKey.SHARE_FETCH, request)
        if response is None or response.error_code:
            self._epoch = 0
            return []
        self._epoch += 1
        return [
            offset
            for topic in response.responses
            for part in topic.partitions
            for held in part.acquired_records
            for offset in range(held.first_offset, held.last_offset + 1)
        ]

    def acknowledge(self, offsets: list[int]) -> bool:
        """Accept offsets; return whether the broker confirmed that."""
        batches = [AcknowledgementBatch(offset, offset, [ACCEPT]) for offset in sorted(offsets)]
        topics = [AcknowledgeTopic(self._topic_id, [AcknowledgePartition(0, batches)])]
        request = ShareAcknowledgeRequest("g", self._member_id, self._epoch, topics=topics)
        response = self._send(ApiKey.SHARE_ACKNOWLEDGE, request)
        if response is None or response.error_code:
            self._epoch = 0
            return False
        self._epoch += 1
        return not response.responses[0].partitions[0].error_code

    def _send(self, api_key: int, request: Any) -> Any:
        leader = leader_of(self._harness)
        return None if leader is None else self._harness.request(leader, api_key, 1, request)


def leader_of(harness: Harness) -> int | None:
    found = [
        broker.node_id for broker in harness.core.brokers() if not isinstance(broker.replicas.leader(LEADER), ErrorCode)
    ]
    return found[0] if found else None


def begin(harness: Harness) -> bytes:
    """Create topic and group, and wait until the group may fetch."""
    topic = CreatableTopic("orders", 1, 3)
    harness.request(1, ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest([topic], 10_000, False))
    harness.request(1, ApiKey.FIND_COORDINATOR, 1, FindCoordinatorRequest("g", 0))
    harness.run_until(lambda: leader_of(harness) is not None and bool(coordinators(harness)))
    topic_id = harness.core.brokers()[0].metadata.topic_id("orders")
    assert topic_id is not None
    epoch, names = 0, ["orders"]
    while epoch < 3:
        beat = ShareGroupHeartbeatRequest("g", "m0", epoch, None, names if epoch == 0 else None)
        answer = harness.request(coordinators(harness)[0], ApiKey.SHARE_GROUP_HEARTBEAT, 1, beat)
        epoch = answer.member_epoch
        harness.advance(5000)
    return topic_id


def coordinators(harness: Harness) -> list[int]:
    return [
        broker.node_id for broker in harness.core.brokers() if not isinstance(broker.groups.find_shard("g"), ErrorCode)
    ]


def produce(harness: Harness, count: int) -> int:
    """Return how many records were acknowledged to the producer."""
    records = [Record(index, 0, None, b"order") for index in range(count)]
    data = PartitionProduceData(0, encode_batch(records))
    request = ProduceRequest(None, -1, 5000, [TopicProduceData("orders", partition_data=[data])])
    leader = leader_of(harness)
    response = None if leader is None else harness.request(leader, ApiKey.PRODUCE, 9, request)
    return 0 if response is None or response.responses[0].partition_responses[0].error_code else count


class Group:
    """Two consumers, and what they know to be acknowledged."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        topic_id = begin(harness)
        self._consumers = [Consumer(harness, f"m{index}", topic_id) for index in range(2)]
        self.done: set[int] = set()
        self.written = 0
        # The group begins at the end of the topic with its first fetch; this is durable with its first change.
        self._consumers[0].fetch()
        harness.advance(500)
        self._consumers[0].fetch()
        self.produce(1)
        while not self.done:
            self.consume(0, 1)

    def produce(self, count: int) -> None:
        self.written += produce(self._harness, count)

    def consume(self, index: int, share: float) -> None:
        """Fetch, and acknowledge with a probability of `share`."""
        consumer = self._consumers[index]
        acquired = consumer.fetch()
        assert not self.done & set(acquired), "an acknowledged record was delivered again"
        if acquired and self._harness.core.random.random() < share and consumer.acknowledge(acquired):
            self.done |= set(acquired)

    def drain(self) -> None:
        """Consume the rest, once all locks have expired."""
        self._harness.advance(3000)
        for attempt in range(400):
            self.consume(attempt % 2, 1)
            if self.done >= set(range(self.written)):
                return
            self._harness.advance(250)


@pytest.mark.parametrize("seed", range(12))
def test_acknowledged_records_stay_acknowledged(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    harness = Harness(tmp_path, ClusterShape(3, Emulation("4.3"), 2, SETTINGS, fast=True), seed)
    group = Group(harness)
    down: int | None = None
    for _ in range(40):
        action = rng.random()
        if action < 0.3:
            group.produce(rng.randrange(1, 5))
        elif action < 0.85:
            group.consume(rng.randrange(2), 0.7)
        elif action < 0.93 and down is None:
            down = rng.choice([1, 2, 3])
            harness.kill(down)
            harness.advance(1000)
        elif down is not None:
            harness.restart(down)
            down = None
    if down is not None:
        harness.restart(down)
    group.drain()
    assert group.done >= set(range(group.written)), "a record was lost"
    harness.close()
