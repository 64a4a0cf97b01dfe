"""Share consumers on three brokers under faults: what is acknowledged stays, nothing is lost, and locks expire.

The brokers are those of 4.4. In 4.3, a write of the state that is sent again late reverts acknowledgements.

`EOSCTL_SHARE_SEEDS` sets the number of seeds.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

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
    "group.share.delivery.count.limit": "10",
    "log.retention.ms": "-1",  # The records have no time.
    # Most of a schedule's time is idle: fewer heartbeats make it cheaper.
    "broker.heartbeat.interval.ms": "250",
    "broker.session.timeout.ms": "1000",
}
LEADER = TopicPartition("orders", 0)
ACCEPT = 1
LOCK_MS = 2000
DELIVERY_LIMIT = 10
REQUEST_TIMEOUT_MS = 30_000  # Of a request for a share group's state: a cut link may have lost it.
CLIENT_TIMEOUT_MS = 6000  # Longer than the broker's own timeouts; a paused broker does not respond in time.
SEEDS: Final = int(os.environ.get("EOSCTL_SHARE_SEEDS", "12"))
BROKERS = (1, 2, 3)


class Leader(NamedTuple):
    """The leader that clients know."""

    broker_id: int
    epoch: int


class Metadata:
    """What clients know of the partition's leader: never go back to an older epoch, as Kafka's clients (KIP-320).

    An isolated leader serves its old state until it learns that another one was elected.
    """

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        self._newest = -1

    def leader(self) -> Leader | None:
        """Return the leader of the newest epoch, while it is known and serves."""
        leaders = [
            Leader(broker.node_id, replica.leader_epoch)
            for broker in self._harness.core.brokers()
            if not isinstance(replica := broker.replicas.leader(LEADER), ErrorCode)
        ]
        found = max(leaders, key=lambda leader: leader.epoch, default=None)
        if found is None or found.epoch < self._newest:
            return None
        self._newest = found.epoch
        return found


class Consumer:
    """A member that fetches and acknowledges where the partition's leader is, and begins again after errors."""

    def __init__(self, harness: Harness, metadata: Metadata, member_id: str, topic_id: bytes) -> None:
        self._harness = harness
        self._metadata = metadata
        self._member_id = member_id
        self._topic_id = topic_id
        self._epoch = 0

    def fetch(self) -> dict[int, int] | None:
        """Return the delivery counts of the acquired offsets; None after an error."""
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
            return None
        self._epoch += 1
        parts = [part for topic in response.responses for part in topic.partitions]
        if any(part.error_code or part.acknowledge_error_code for part in parts):
            return None
        return {
            offset: held.delivery_count
            for part in parts
            for held in part.acquired_records
            for offset in range(held.first_offset, held.last_offset + 1)
        }

    def acknowledge(self, offsets: Iterable[int]) -> bool:
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
        leader = self._metadata.leader()
        return None if leader is None else ask(self._harness, self._member_id, leader.broker_id, api_key, 1, request)


def ask(harness: Harness, client_id: str, broker_id: int, api_key: int, version: int, request: Any) -> Any:
    """Return the response; None if the broker disconnects, or does not respond in time and is disconnected."""
    try:
        return harness.request(broker_id, api_key, version, request, CLIENT_TIMEOUT_MS, client_id)
    except TimeoutError:
        harness.hang_up(broker_id, client_id)
        return None


def begin(harness: Harness) -> bytes:
    """Create topic and group, and wait until the group may fetch."""
    topic = CreatableTopic("orders", 1, 3)
    harness.request(1, ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest([topic], 10_000, False))
    harness.request(1, ApiKey.FIND_COORDINATOR, 1, FindCoordinatorRequest("g", 0))
    metadata = Metadata(harness)
    harness.run_until(lambda: metadata.leader() is not None and bool(coordinators(harness)))
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


def produce(harness: Harness, metadata: Metadata, count: int) -> range:
    """Return the offsets that were acknowledged to the producer."""
    records = [Record(index, 0, None, b"order") for index in range(count)]
    data = PartitionProduceData(0, encode_batch(records))
    request = ProduceRequest(None, -1, 5000, [TopicProduceData("orders", partition_data=[data])])
    leader = metadata.leader()
    response = None if leader is None else ask(harness, "producer", leader.broker_id, ApiKey.PRODUCE, 9, request)
    if response is None or response.responses[0].partition_responses[0].error_code:
        return range(0)
    first = response.responses[0].partition_responses[0].base_offset
    return range(first, first + count)


class Lock(NamedTuple):
    """A record that a member has acquired, at the earliest at `since_ms`."""

    member: int
    since_ms: float
    leader: Leader | None


class Group:
    """Two consumers, and what they know of the records."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        topic_id = begin(harness)
        self._metadata = Metadata(harness)
        self._consumers = [Consumer(harness, self._metadata, f"m{index}", topic_id) for index in range(2)]
        self._locks: dict[int, Lock] = {}
        self.done: set[int] = set()
        self.delivered: dict[int, int] = {}
        self.unconfirmed: set[int] = set()
        self.written: set[int] = set()
        # The group begins at the end of the topic with its first fetch; this is durable with its first change.
        self._consumers[0].fetch()
        harness.advance(500)
        self._consumers[0].fetch()
        self.produce(1)
        while not self.done:
            self.consume(0, 1)

    @property
    def open(self) -> set[int]:
        """The written records that must be delivered.

        These are not acknowledged, not even without a response, and were not delivered as often as is allowed.
        """
        exhausted = {offset for offset, count in self.delivered.items() if count >= DELIVERY_LIMIT}
        return self.written - self.done - self.unconfirmed - exhausted

    def produce(self, count: int) -> None:
        self.written |= set(produce(self._harness, self._metadata, count))

    def acquire(self, index: int) -> set[int]:
        """Fetch, and compare what is acquired with the records that are acknowledged or locked."""
        leader, since_ms = self._metadata.leader(), self._now_ms()
        acquired = self._consumers[index].fetch()
        if acquired is None or self._metadata.leader() != leader:
            self._locks = {}  # The new leader does not know them; a new session gives its locks back.
        for offset, count in (acquired or {}).items():
            assert offset not in self.done, "an acknowledged record was delivered again"
            assert count <= DELIVERY_LIMIT
            lock = self._locks.get(offset)
            if lock is not None and lock.member != index and lock.leader == leader:
                assert self._now_ms() - lock.since_ms >= LOCK_MS, "a locked record was delivered to another member"
            self._locks[offset] = Lock(index, since_ms, leader)
            self.delivered[offset] = count
        return set(acquired or ())

    def consume(self, index: int, share: float) -> None:
        """Fetch, and acknowledge with a probability of `share`."""
        acquired = self.acquire(index)
        if acquired and self._harness.core.random.random() < share:
            if self._consumers[index].acknowledge(acquired):
                self.done |= acquired
            else:
                self._locks = {}
                self.unconfirmed |= acquired

    def acquire_all(self, index: int) -> set[int]:
        """Fetch until nothing is left."""
        found: set[int] = set()
        for _ in range(len(self.written) + 10):
            found |= self.acquire(index)
        return found

    def drain(self) -> None:
        """Consume the rest, once all locks have expired."""
        for attempt in range(400):
            self.consume(attempt % 2, 1)
            if not self.open:
                return
            self._harness.advance(250)

    def _now_ms(self) -> float:
        # The clock's sums of seconds differ from whole milliseconds by rounding.
        return round(self._harness.loop.time() * 1000, 3)


class Faults:
    """Faults of nodes and links; at most one broker does not serve."""

    def __init__(self, harness: Harness, rng: random.Random) -> None:
        self._harness = harness
        self._rng = rng
        self._heal: Callable[[], None] | None = None

    def step(self) -> None:
        """Begin a fault, or end the current one."""
        if self._heal is not None:
            self.end()
            return
        begin_fault = self._rng.choice([self._kill, self._stop, self._pause, self._cut, self._isolate])
        self._heal = begin_fault(self._rng.choice(BROKERS))
        self._harness.advance(self._rng.choice([50, 1000, 3000]))

    def end(self) -> None:
        """End the fault."""
        heal, self._heal = self._heal, None
        if heal is not None:
            heal()
            self._harness.run_until(lambda: self._harness.core.is_ready)

    def _kill(self, broker_id: int) -> Callable[[], None]:
        self._harness.kill(broker_id)
        return partial(self._harness.restart, broker_id)

    def _stop(self, broker_id: int) -> Callable[[], None]:
        self._harness.stop(broker_id)
        return partial(self._harness.restart, broker_id)

    def _pause(self, broker_id: int) -> Callable[[], None]:
        self._harness.core.pause_node(broker_id)
        return partial(self._harness.core.resume_node, broker_id)

    def _cut(self, broker_id: int) -> Callable[[], None]:
        self._harness.core.network.cut(broker_id, self._rng.choice([one for one in BROKERS if one != broker_id]))
        return self._harness.core.network.heal

    def _isolate(self, broker_id: int) -> Callable[[], None]:
        self._harness.core.network.cut(broker_id)
        return self._harness.core.network.heal


@pytest.mark.parametrize("seed", range(SEEDS))
def test_share_groups_keep_their_promises(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    harness = Harness(tmp_path, ClusterShape(3, Emulation("4.4"), 2, SETTINGS), seed)
    group, faults = Group(harness), Faults(harness, rng)
    for _ in range(40):
        action = rng.random()
        if action < 0.3:
            group.produce(rng.randrange(1, 5))
        elif action < 0.85:
            group.consume(rng.randrange(2), 0.7)
        else:
            faults.step()
    faults.end()
    harness.advance(REQUEST_TIMEOUT_MS + LOCK_MS + 500)
    group.acquire_all(0)  # This member does not acknowledge any more.
    left = group.open
    harness.advance(LOCK_MS + 500)
    assert group.acquire_all(1) >= left, "a lock did not expire"
    harness.advance(LOCK_MS + 500)
    group.drain()
    assert not group.open, "a record was lost"
    harness.close()
