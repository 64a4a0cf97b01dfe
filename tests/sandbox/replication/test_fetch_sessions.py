"""Followers' fetch sessions: idle partitions cost nothing, and changed ones are sent."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.replication.fetch_sessions import FetchSession
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.ticks import Ticks
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness, VirtualLoop

ORDERS = TopicPartition("orders", 0)
LAG_MS = 5_000


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    shape = ClusterShape(3, settings={"replica.lag.time.max.ms": str(LAG_MS)}, fast=True)
    harness = Harness(tmp_path, shape, seed=5)
    yield harness
    harness.close()


@pytest.fixture
def client(harness: Harness) -> EosClient:
    client = EosClient(harness)
    client.create_topic("orders", 12, 3)
    harness.advance(1000)
    return client


def sessions(partition: Partition) -> list[FetchSession]:
    found = [watcher.session for watcher in partition.watchers]  # type: ignore[attr-defined]
    assert found
    return found


def replica(harness: Harness, broker_id: int) -> Partition:
    return harness.core.broker(broker_id).replicas.partitions[ORDERS]


def test_an_idle_session_checks_no_partition(harness: Harness, client: EosClient) -> None:
    leader = replica(harness, client.leader(ORDERS))
    assert [list(session.unsettled) for session in sessions(leader)] == [[], []]
    assert all(len(session.partitions) > 1 for session in sessions(leader))


def test_only_a_partition_with_changes_is_checked(harness: Harness, client: EosClient) -> None:
    leader = replica(harness, client.leader(ORDERS))
    assert client.produce(None, ORDERS, ["v"]) is ErrorCode.NONE
    for session in sessions(leader):
        assert {(cached.key.topic_id, cached.key.partition) for cached in session.unsettled} <= {(leader.topic_id, 0)}
    harness.advance(100)
    assert [list(session.unsettled) for session in sessions(leader)] == [[], []]


def test_followers_get_the_high_watermark_with_later_records(harness: Harness, client: EosClient) -> None:
    """As Kafka's do since KAFKA-9731; ``replica.fetch.wait.max.ms`` is 100 here."""
    followers = [broker for broker in (1, 2, 3) if broker != client.leader(ORDERS)]

    def known() -> list[int]:
        return [replica(harness, broker).log.high_watermark for broker in followers]

    assert client.produce(None, ORDERS, ["a"]) is ErrorCode.NONE
    harness.advance(50)
    assert known() == [0, 0]
    assert client.produce(None, ORDERS, ["b"]) is ErrorCode.NONE
    harness.advance(1)
    assert known() == [1, 1]
    harness.advance(100)
    assert known() == [2, 2]


def test_a_follower_of_an_idle_partition_has_the_full_lag(harness: Harness, client: EosClient) -> None:
    leader_id = client.leader(ORDERS)
    leader, isr = replica(harness, leader_id), harness.core.broker(leader_id).isr
    harness.advance(10 * LAG_MS)
    harness.core.network.cut(leader_id)
    batch = encode_batch([Record(0, 1_790_000_000_000, None, b"v")])
    request = ProduceRequest(
        None, 1, 1000, [TopicProduceData("orders", partition_data=[PartitionProduceData(0, batch)])]
    )
    assert harness.request(leader_id, ApiKey.PRODUCE, 9, request).responses[0].partition_responses[0].error_code == 0
    isr.shrink_lagging()
    assert leader.pending_isr is None
    harness.advance(LAG_MS + 600)
    isr.shrink_lagging()
    assert leader.pending_isr == (leader_id,)


def test_an_unused_session_does_not_keep_a_deleted_log(harness: Harness, client: EosClient) -> None:
    """Sessions of consumers that left stay until their slots are wanted; what they watched must not stay with them."""
    client.create_topic("brief")
    brief = TopicPartition("brief", 0)
    leader_id = client.leader(brief)
    assert client.produce(None, brief, ["v"]) is ErrorCode.NONE
    topics = [FetchTopic("brief", partitions=[FetchPartition(0, -1, 0, partition_max_bytes=1 << 20)])]
    opened = harness.request(
        leader_id, ApiKey.FETCH, 11, FetchRequest(max_wait_ms=0, min_bytes=0, session_epoch=0, topics=topics)
    )
    assert opened.session_id
    deletion = DeleteTopicsRequest(topic_names=["brief"], timeout_ms=1_000)
    assert not harness.request(1, ApiKey.DELETE_TOPICS, 4, deletion).responses[0].error_code
    client.create_topic("next")  # so that the followers' sessions are asked for something else
    assert client.produce(None, TopicPartition("next", 0), ["v"]) is ErrorCode.NONE
    harness.advance(120_000)
    gc.collect()
    assert not [one for one in gc.get_objects() if isinstance(one, Partition) and one.partition == brief]
    again = harness.request(
        leader_id, ApiKey.FETCH, 11, FetchRequest(session_id=opened.session_id, session_epoch=1, max_wait_ms=0)
    )
    (topic,) = again.responses
    assert topic.partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_calls_at_a_lull_run_after_work_and_before_flushes() -> None:
    loop = VirtualLoop()
    ticks, ran = Ticks(loop), list[str]()
    ticks.at_flush(lambda: ran.append("flush"))

    def look() -> None:
        ran.append("lull")
        ticks.post(lambda: ran.append("caused"))

    ticks.at_lull(look)
    ticks.post(lambda: ticks.post(lambda: ran.append("work")))
    loop.run(1)
    assert ran == ["work", "lull", "caused", "flush"]
