"""Dead-letter topics of share groups (KIP-1191); 4.4.0 gave these answers to the same steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.sandbox.share.in_flight import RecordState
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import incremental_alter_configs as configs
from eosctl.wire.messages import share_fetch
from eosctl.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from eosctl.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from eosctl.wire.records.batch import decode_records, encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.harness import Harness

SETTINGS = {"share.coordinator.state.topic.num.partitions": "1", "offsets.topic.num.partitions": "1"}
TOPIC, LIMIT, AUTO = "errors.deadletterqueue.topic.name", "share.delivery.count.limit", "dlq.created"
COPY, ENABLE = "errors.deadletterqueue.copy.record.enable", "errors.deadletterqueue.group.enable"
RELEASE, REJECT = 2, 3
GROUP_RESOURCE, BROKER_RESOURCE, TOPIC_RESOURCE = 32, 4, 2
REJECTED, EXCEEDED = "Offset rejected by client.", "Offset delivery count exceeded the threshold."


class Letter(NamedTuple):
    """A record of a dead-letter topic."""

    offset: str
    deliveries: str
    message: str
    value: bytes | None


class Group:
    """A share group with one member on a topic with four records."""

    def __init__(self, harness: Harness, settings: Mapping[str, str]) -> None:
        self._harness = harness
        self._epoch = 0
        assert alter(harness, GROUP_RESOURCE, "g", {"share.auto.offset.reset": "earliest", **settings}) == ""
        create(harness, "orders", {})
        harness.request(1, ApiKey.FIND_COORDINATOR, 1, FindCoordinatorRequest("g", 0))
        batch = encode_batch([Record(index, 0, None, b"order-%d" % index) for index in range(4)])
        topic = TopicProduceData("orders", partition_data=[PartitionProduceData(0, batch)])
        harness.request(leader(harness), ApiKey.PRODUCE, 9, ProduceRequest(None, -1, 5000, [topic]))
        epoch, names = 0, ["orders"]
        while epoch < 3:
            beat = ShareGroupHeartbeatRequest("g", "m", epoch, None, names if epoch == 0 else None)
            epoch = harness.request(coordinator(harness), ApiKey.SHARE_GROUP_HEARTBEAT, 1, beat).member_epoch
            harness.advance(5000)
        self._topic_id = harness.core.brokers()[0].metadata.topic_id("orders") or b""

    def fetch(self) -> list[tuple[int, int, int]]:
        """Return first and last offsets of acquired records, and how often they were delivered."""
        for _ in range(20):
            topics = [share_fetch.FetchTopic(self._topic_id, [share_fetch.FetchPartition(0)])]
            request = share_fetch.ShareFetchRequest(
                "g", "m", self._epoch, 100, 1, max_records=9, batch_size=9, topics=topics
            )
            response = self._harness.request(leader(self._harness), ApiKey.SHARE_FETCH, 1, request)
            self._epoch = 0 if response.error_code else self._epoch + 1
            parts = [part for topic in response.responses for part in topic.partitions]
            held = [(*_bounds(one), one.delivery_count) for part in parts for one in part.acquired_records]
            if held:
                return held
            self._harness.advance(500)
        return []

    def acknowledge(self, first: int, last: int, kind: int) -> None:
        """Acknowledge records."""
        part = AcknowledgePartition(0, [AcknowledgementBatch(first, last, [kind])])
        request = ShareAcknowledgeRequest("g", "m", self._epoch, topics=[AcknowledgeTopic(self._topic_id, [part])])
        response = self._harness.request(leader(self._harness), ApiKey.SHARE_ACKNOWLEDGE, 1, request)
        assert response.responses[0].partitions[0].error_code == 0
        self._epoch += 1


def _bounds(held: share_fetch.AcquiredRecords) -> tuple[int, int]:
    return held.first_offset, held.last_offset


def coordinator(harness: Harness) -> int:
    def found() -> list[int]:
        return [one.node_id for one in harness.core.brokers() if not isinstance(one.groups.find_shard("g"), ErrorCode)]

    harness.run_until(lambda: bool(found()))
    return found()[0]


def leader(harness: Harness, topic: str = "orders") -> int:
    def found() -> list[int]:
        wanted = TopicPartition(topic, 0)
        return [one.node_id for one in harness.core.brokers() if not isinstance(one.replicas.leader(wanted), ErrorCode)]

    harness.run_until(lambda: bool(found()))
    return found()[0]


def alter(harness: Harness, kind: int, name: str, settings: Mapping[str, str]) -> str:
    """Change settings; return the error message."""
    changes = [configs.AlterableConfig(key, 0, value) for key, value in settings.items()]
    request = configs.IncrementalAlterConfigsRequest([configs.AlterConfigsResource(kind, name, changes)])
    response = harness.request(1, ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request)
    return response.responses[0].error_message or ""


def create(harness: Harness, name: str, settings: Mapping[str, str]) -> None:
    topic = CreatableTopic(name, 1, 3, (), [CreatableTopicConfig(*setting) for setting in settings.items()])
    harness.request(1, ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest([topic], 10_000, False))


def letters(harness: Harness, topic: str) -> list[Letter]:
    replicas = next(one for one in harness.core.brokers() if one.node_id == leader(harness, topic)).replicas
    found = [
        record
        for header, batch in replicas.read_all(TopicPartition(topic, 0))
        for record in decode_records(batch, header)
    ]
    headers = [{name: (value or b"").decode() for name, value in record.headers} for record in found]
    prefix = "__dlq.errors."
    assert all(one[f"{prefix}topic"] == "orders" and one[f"{prefix}group"] == "g" for one in headers)
    return [
        Letter(one[f"{prefix}offset"], one[f"{prefix}delivery.count"], one[f"{prefix}message"], record.value)
        for record, one in zip(found, headers, strict=True)
    ]


def states(harness: Harness) -> list[tuple[int, int, int]]:
    """Return the durable delivery states, from the start offset on."""
    shards = [shard for broker in harness.core.brokers() for shard in broker.shares.shards]
    return [batch[:3] for shard in shards for state in shard.states.values() for batch in state.offset.state_batches]


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    cluster = Harness(tmp_path, ClusterShape(3, Emulation("4.4"), 2, SETTINGS, fast=True))
    yield cluster
    cluster.close()


def test_rejected_and_exhausted_records_are_dead_letters(harness: Harness) -> None:
    create(harness, "dlq.orders", {ENABLE: "true"})
    group = Group(harness, {TOPIC: "dlq.orders", LIMIT: "2"})
    assert group.fetch() == [(0, 3, 1)]
    group.acknowledge(0, 0, REJECT)
    group.acknowledge(1, 3, RELEASE)
    assert group.fetch() == [(1, 3, 2)]
    group.acknowledge(1, 3, RELEASE)
    harness.run_until(lambda: len(letters(harness, "dlq.orders")) == 4)
    assert letters(harness, "dlq.orders") == [
        Letter("0", "1", REJECTED, None),
        *(Letter(str(offset), "2", EXCEEDED, None) for offset in (1, 2, 3)),
    ]
    assert group.fetch() == []


def test_topic_is_created_and_gets_whole_records(harness: Harness) -> None:
    alter(harness, BROKER_RESOURCE, "", {"errors.deadletterqueue.auto.create.topics.enable": "true"})
    group = Group(harness, {TOPIC: AUTO, COPY: "true"})
    group.fetch()
    group.acknowledge(0, 1, REJECT)
    harness.run_until(lambda: AUTO in harness.core.brokers()[0].metadata.topics and len(letters(harness, AUTO)) == 2)
    assert [one.value for one in letters(harness, AUTO)] == [b"order-0", b"order-1"]
    assert harness.core.brokers()[0].metadata.config(TOPIC_RESOURCE, AUTO) == {
        ENABLE: "true",
        "message.timestamp.type": "CreateTime",
    }


@pytest.mark.parametrize("topic", ["dlq.disabled", "dlq.missing", "orders.rejected"])
def test_unfit_topic_gets_nothing_but_records_end(harness: Harness, topic: str) -> None:
    create(harness, "dlq.disabled", {})
    create(harness, "orders.rejected", {ENABLE: "true"})
    group = Group(harness, {TOPIC: topic})
    group.fetch()
    group.acknowledge(0, 1, REJECT)
    harness.advance(1000)
    assert states(harness) == [(0, 1, RecordState.ARCHIVED)]
    assert topic == "dlq.missing" or letters(harness, topic) == []
    assert "dlq.missing" not in harness.core.brokers()[0].metadata.topics


def test_next_leader_writes_what_the_last_one_could_not(harness: Harness) -> None:
    create(harness, "dlq.orders", {ENABLE: "true", "min.insync.replicas": "3"})
    group = Group(harness, {TOPIC: "dlq.orders"})
    group.fetch()
    first = leader(harness)
    other = first % 3 + 1
    harness.kill(other)
    harness.advance(1000)
    group.acknowledge(0, 1, REJECT)
    harness.advance(100)
    assert (0, 1, RecordState.ARCHIVING) in states(harness)
    harness.kill(first)
    for node_id in (first, other):
        harness.core.start_node(node_id)
    harness.run_until(lambda: harness.core.is_ready)
    group.fetch()
    harness.run_until(lambda: len(letters(harness, "dlq.orders")) == 2)
    assert [(one.offset, one.message) for one in letters(harness, "dlq.orders")] == [("0", REJECTED), ("1", REJECTED)]
    harness.advance(1000)
    assert not [one for one in states(harness) if one[2] == RecordState.ARCHIVING]


def test_internal_names_and_older_releases_are_refused(tmp_path: Path, harness: Harness) -> None:
    refused = f"{TOPIC}: DLQ topic name must not start with '__'"
    assert alter(harness, GROUP_RESOURCE, "g", {TOPIC: "__dlq"}) == refused
    older = Harness(tmp_path / "older", ClusterShape(1, Emulation("4.3"), 2, SETTINGS, fast=True))
    assert alter(older, GROUP_RESOURCE, "g", {TOPIC: "dlq.orders"}) == f"Unknown group config name: {TOPIC}"
    older.close()
