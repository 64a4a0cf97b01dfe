"""A fetch that a client repeats has the response, and the time of it, of a fetch on a connection of its own."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.broker.broker import CLIENT_LISTENER
from eosctl.sandbox.broker.connection import Connection
from eosctl.sandbox.broker.fetch_exchange import equal_part
from eosctl.sandbox.core import ClusterShape
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.frames import decode_response, encode_request
from eosctl.wire.messages import alter_client_quotas as quotas
from eosctl.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from eosctl.wire.messages.create_acls import AclCreation, CreateAclsRequest
from eosctl.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from eosctl.wire.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from eosctl.wire.records.batch import decode_header
from eosctl.wire.uuid import ZERO_UUID
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

TOPIC = "a"
PARTITIONS = [TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)]
WAIT_MS = 100
ROUNDS = 120
TOPIC_RESOURCE, LITERAL, READ, DENY, ANY = 2, 3, 3, 2, 1


class RawClient:
    """A connection to broker 1 that keeps the bytes of its responses and when they arrived."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness
        self.answers: list[tuple[float, bytes]] = []
        broker = harness.core.broker(1)
        self.connection = Connection(broker, CLIENT_LISTENER, "127.0.0.1", self._ready, lambda: None)

    def feed(self, frame: bytes) -> None:
        self.connection.feed(frame)
        self._harness.core.ticks.schedule()

    def _ready(self) -> None:
        self._harness.core.ticks.at_write(self._take)

    def _take(self) -> None:
        self.answers.append((self._harness.loop.time(), self.connection.take_output()))


class Cluster:
    """Two brokers with a topic on the first, and what may happen to it."""

    def __init__(self, directory: Path, seed: int, *, authorizer: bool) -> None:
        settings = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
        settings |= {"allow.everyone.if.no.acl.found": "true"}
        self.harness = Harness(directory, ClusterShape(2, settings=settings if authorizer else {}), seed)
        self.client = EosClient(self.harness)
        self.chance = random.Random(seed)
        self.producer = self.client.init("t", 600_000)
        self.create()
        self.happenings: tuple[Callable[[], Any], ...] = (
            self.write,
            self.write,
            self.begin,
            self.end,
            self.end,
            self.delete_records,
            self.move,
            *[self.move_back] * 4,
            self.create_again,
            self.limit,
            *((self.deny, self.allow) if authorizer else ()),
        )

    def happen(self) -> None:
        """Do something, or let nothing happen."""
        if self.chance.random() < 0.25:
            self.chance.choice(self.happenings)()

    def request(self, key: ApiKey, version: int, message: Any) -> Any:
        return self.harness.request(2, key, version, message)

    def create(self) -> None:
        self.client.create_topic(TOPIC, len(PARTITIONS))
        for partition in PARTITIONS:
            self.lead(partition, 1)
            self.harness.run_until(lambda partition=partition: self.client.leader(partition) == 1)  # type: ignore[misc]
        self.harness.advance(50)

    def lead(self, partition: TopicPartition, broker_id: int) -> None:
        moved = ReassignableTopic(TOPIC, [ReassignablePartition(partition.partition, [broker_id])])
        self.request(ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, AlterPartitionReassignmentsRequest(1000, True, [moved]))

    def write(self) -> None:
        self.client.produce(None, self.chance.choice(PARTITIONS), ["x"])

    def begin(self) -> None:
        self.client.produce(self.producer, self.chance.choice(PARTITIONS), ["x", "y"])

    def end(self) -> None:
        if self.producer.added:
            self.client.end(self.producer, commit=self.chance.random() < 0.5)
            self.harness.advance(5)

    def delete_records(self) -> None:
        parts = [DeleteRecordsPartition(partition.partition, -1) for partition in PARTITIONS]
        self.harness.request(1, ApiKey.DELETE_RECORDS, 2, DeleteRecordsRequest([DeleteRecordsTopic(TOPIC, parts)], 100))

    def move(self) -> None:
        self.lead(self.chance.choice(PARTITIONS), 2)

    def move_back(self) -> None:
        for partition in PARTITIONS:
            self.lead(partition, 1)

    def create_again(self) -> None:
        self.end()
        deleted = self.request(ApiKey.DELETE_TOPICS, 4, DeleteTopicsRequest(topic_names=[TOPIC], timeout_ms=1000))
        if deleted.responses[0].error_code == 0:
            self.harness.advance(20)
            self.create()
            self.producer.sequences.clear()
            self.producer = self.client.init("t", 600_000)

    def limit(self) -> None:
        """Set a quota that no client reaches, or remove it."""
        remove = self.chance.random() < 0.8
        value = 0.0 if remove else 1e12
        change = quotas.RequestEntryData(
            [quotas.EntityData("client-id", "c")], [quotas.OpData("consumer_byte_rate", value, remove)]
        )
        self.request(ApiKey.ALTER_CLIENT_QUOTAS, 1, quotas.AlterClientQuotasRequest([change]))

    def deny(self) -> None:
        acl = AclCreation(TOPIC_RESOURCE, TOPIC, LITERAL, "User:ANONYMOUS", "*", READ, DENY)
        self.request(ApiKey.CREATE_ACLS, 3, CreateAclsRequest([acl]))

    def allow(self) -> None:
        every = DeleteAclsFilter(TOPIC_RESOURCE, TOPIC, LITERAL, None, None, ANY, ANY)
        self.request(ApiKey.DELETE_ACLS, 3, DeleteAclsRequest([every]))


def fetch_of(cluster: Cluster, version: int, isolation_level: int, offsets: dict[int, int]) -> FetchRequest:
    topic_id = cluster.harness.core.broker(2).metadata.topic_id(TOPIC) or ZERO_UUID
    parts = [FetchPartition(index, -1, offset, partition_max_bytes=1 << 20) for index, offset in offsets.items()]
    topic = FetchTopic(TOPIC, partitions=parts) if version < 13 else FetchTopic("", topic_id, parts)
    return FetchRequest(
        max_wait_ms=WAIT_MS,
        min_bytes=1,
        max_bytes=1 << 20,
        isolation_level=isolation_level,
        session_epoch=-1,
        topics=[topic],
    )


def follow(response: Any, offsets: dict[int, int]) -> None:
    """Move the offsets behind the records, or to the start of the log."""
    for topic in response.responses:
        for data in topic.partitions:
            records, position = data.records or b"", 0
            while position < len(records):
                header = decode_header(records, position)
                offsets[data.partition_index] = header.next_offset
                position += header.size_bytes
            if data.error_code == 1:
                offsets[data.partition_index] = 0


@pytest.mark.parametrize("version", [11, 16])
@pytest.mark.parametrize("isolation_level", [0, 1])
@pytest.mark.parametrize("authorizer", [False, True])
def test_a_repeated_fetch_equals_a_new_one(
    tmp_path: Path, version: int, isolation_level: int, authorizer: bool
) -> None:
    cluster = Cluster(tmp_path, version * 10 + isolation_level, authorizer=authorizer)
    chance, harness = cluster.chance, cluster.harness
    same, offsets, repeated = RawClient(harness), dict.fromkeys(range(len(PARTITIONS)), 0), 0
    for number in range(ROUNDS):
        cluster.happen()
        order = [number % 2, 1 - number % 2]
        request = fetch_of(cluster, version, isolation_level, {index: offsets[index] for index in order})
        frame = encode_request(ApiKey.FETCH, version, number, "c", request)
        other = RawClient(harness)
        count, kept = len(same.answers), same.connection.kept.get(equal_part(frame[4:]))
        same.feed(frame)
        other.feed(frame)
        harness.advance(chance.choice((0, 1, WAIT_MS / 2, WAIT_MS - 1, WAIT_MS)))
        cluster.happen()
        harness.run_until(lambda count=count, other=other: len(same.answers) > count and bool(other.answers))  # type: ignore[misc]
        assert same.answers[count:] == other.answers, number
        other.connection.lost()
        repeated += kept is not None and kept is same.connection.kept.get(equal_part(frame[4:]))
        follow(decode_response(ApiKey.FETCH, version, other.answers[0][1][4:])[1], offsets)
    assert (repeated > 2) == (not authorizer)
    same.connection.lost()
    harness.advance(2 * WAIT_MS)
    partitions = harness.core.broker(1).replicas.partitions
    assert not any(partitions[name].watchers for name in PARTITIONS if name in partitions)
    harness.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path, 1, authorizer=False)
    yield cluster
    cluster.harness.close()


def test_an_equal_fetch_is_not_decoded(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = cluster.harness.core.broker(1).fetch_sessions
    opened: list[Any] = []
    monkeypatch.setattr(cluster.harness.core.broker(1), "fetch_sessions", Counted(sessions, opened), raising=True)
    client = RawClient(cluster.harness)
    request = fetch_of(cluster, 11, 1, {0: 0, 1: 0})
    for number in range(4):
        client.feed(encode_request(ApiKey.FETCH, 11, number, "c", request))
        cluster.harness.advance(WAIT_MS + 1)
    assert [int.from_bytes(answer[4:8], "big") for _, answer in client.answers] == [0, 1, 2, 3]
    assert len({answer[8:] for _, answer in client.answers}) == 1
    assert len(opened) == 1
    client.connection.lost()


class Counted:
    """Fetch sessions that note what they open."""

    def __init__(self, sessions: Any, opened: list[Any]) -> None:
        self._sessions = sessions
        self._opened = opened

    def open(self, *given: Any) -> Any:
        self._opened.append(given)
        return self._sessions.open(*given)
