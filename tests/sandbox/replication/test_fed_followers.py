"""Followers that receive pushed records behave exactly like those that fetch."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.api import fetch
from eosctl.sandbox.broker.broker import Broker
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.network import FaultAction, LinkFault, Port
from eosctl.sandbox.replication import record_push
from eosctl.sandbox.replication.fetch_sessions import FetchSession
from eosctl.sandbox.replication.partition import MOST_RECENT, Partition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.records.batch import encode_batch, iter_headers
from eosctl.wire.records.record import Record
from tests.sandbox.eos_client import ACKS_ALL, EosClient
from tests.sandbox.harness import Harness

ORDERS = [TopicPartition("orders", index) for index in range(3)]
SETTINGS = {
    "transaction.state.log.num.partitions": "3",
    "offsets.topic.num.partitions": "2",
    "replica.lag.time.max.ms": "5000",
}
WAIT_MS = 600  # a waiting fetch is answered after 500 ms


def start(folder: Path) -> Harness:
    return Harness(folder, ClusterShape(3, settings=SETTINGS, fast=True), seed=3)


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    harness = start(tmp_path)
    yield harness
    harness.close()


@pytest.fixture
def client(harness: Harness) -> EosClient:
    client = EosClient(harness)
    client.create_topic("orders", 3, 3, min_insync_replicas="2")
    assert client.produce(None, ORDERS[0], ["first"]) is ErrorCode.NONE  # a leader's first batch starts an epoch
    harness.advance(WAIT_MS)
    return client


def replica(harness: Harness, broker_id: int, partition: TopicPartition = ORDERS[0]) -> Partition:
    return harness.core.broker(broker_id).replicas.partitions[partition]


def fetch_count(harness: Harness, broker_id: int) -> int:
    """Return how many fetches of followers a broker counts for its metrics."""
    counts = harness.core.broker(broker_id).requests.counts()
    return sum(count for (key, _, from_broker), count in counts.items() if key == ApiKey.FETCH and from_broker)


def broker_count() -> int:
    """Return how many brokers are in memory; those of compiled classes have no weak references."""
    gc.collect()
    return sum(type(one) is Broker for one in gc.get_objects())


def transact(harness: Harness) -> dict[str, object]:
    """Write transactions while a broker comes and goes; returns what every replica of every partition has then."""
    client = EosClient(harness)
    client.create_topic("orders", partitions=3, replicas=3)
    for number in range(6):
        producer = client.init(f"app-{number % 2}")
        for partition in ORDERS:
            assert client.produce(producer, partition, [f"{number}"]) is ErrorCode.NONE
        assert client.end(producer, commit=number % 2 == 0) is ErrorCode.NONE
        if number == 2:
            harness.kill(client.leader(ORDERS[0]))
            harness.advance(3000)
    for broker in set(harness.core.broker_ids) - set(harness.core.nodes):
        harness.core.start_node(broker)
    harness.advance(5000)
    found: dict[str, object] = {}
    for broker_id in harness.core.broker_ids:
        for name, partition in harness.core.broker(broker_id).replicas.partitions.items():
            log = partition.log
            found[f"{name} on {broker_id}"] = (
                b"".join(batch for _, batch in log.batches()),
                (log.start_offset, log.last_stable_offset(), log.high_watermark, log.end_offset),
                tuple(log.epochs.entries),
                sorted((entry.producer_id, entry.producer_epoch, entry.batches) for entry in log.producers.in_order()),
                sorted(partition.isr),
                {other: follower.end_offset for other, follower in partition.followers.items()},
            )
    return found


def test_what_is_fed_is_what_would_have_been_answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[bool] = []

    def counted(*given: Any) -> bool:
        rounds.append(record_push.push_records(*given))
        return rounds[-1]

    monkeypatch.setattr(fetch, "push_records", counted)
    fed = start(tmp_path / "fed")
    state = transact(fed)
    fed.close()
    assert rounds.count(True) > 50
    rounds.clear()
    monkeypatch.setattr(Broker, "local_fetcher", lambda *_: None)
    answered = start(tmp_path / "answered")
    assert transact(answered) == state
    assert not rounds
    answered.close()


def test_a_round_counts_as_the_fetch_that_it_stands_for(harness: Harness, client: EosClient) -> None:
    leader = client.leader(ORDERS[0])
    before = fetch_count(harness, leader)
    for number in range(10):
        assert client.produce(None, ORDERS[0], [f"{number}"]) is ErrorCode.NONE
    assert fetch_count(harness, leader) - before >= 20  # of two followers


def test_the_high_watermark_comes_with_records_or_the_wait(harness: Harness, client: EosClient) -> None:
    leader = client.leader(ORDERS[0])
    (other, *_) = {1, 2, 3} - {leader}
    known = []
    for number in range(3):
        assert client.produce(None, ORDERS[0], [f"{number}"]) is ErrorCode.NONE
        assert replica(harness, leader).log.high_watermark == number + 2
        known.append(replica(harness, other).log.high_watermark)
    assert known == [1, 2, 3]
    harness.advance(WAIT_MS)
    assert replica(harness, other).log.high_watermark == 4


def test_an_earlier_high_watermark_comes_with_other_records(harness: Harness, client: EosClient) -> None:
    leader = client.leader(ORDERS[0])
    client.create_topic("many", 9, 3)
    sibling = next(one for index in range(9) if client.leader(one := TopicPartition("many", index)) == leader)
    (other, *_) = {1, 2, 3} - {leader}
    harness.advance(WAIT_MS)
    assert client.produce(None, ORDERS[0], ["a"]) is ErrorCode.NONE
    assert replica(harness, other).log.high_watermark == 1
    assert client.produce(None, sibling, ["b"]) is ErrorCode.NONE  # a leader's first batch goes by messages
    assert client.produce(None, sibling, ["c"]) is ErrorCode.NONE
    assert replica(harness, other).log.high_watermark == 2


def test_an_answer_to_a_follower_repeats_nothing_that_it_was_fed(harness: Harness, client: EosClient) -> None:
    (other, *_) = {1, 2, 3} - {client.leader(ORDERS[0])}
    network, orders_id = harness.core.network, replica(harness, other).topic_id
    port, answer_count, repeated = network._ports[other], 0, list[tuple[int, int]]()

    def overhear(frame: Any) -> None:
        nonlocal answer_count
        if frame.api_key == ApiKey.FETCH and not frame.is_request:
            answer_count += 1
            asked = [topic.partitions for topic in frame.message.responses if topic.topic_id == orders_id]
            for data in (data for partitions in asked for data in partitions if data.records):
                end_offset = replica(harness, other, ORDERS[data.partition_index]).log.end_offset
                if next(iter_headers(data.records))[1].base_offset < end_offset:
                    repeated.append((data.partition_index, end_offset))
        port.receive(frame)

    network.attach(other, Port(overhear, port.disconnected))
    for number in range(20):
        for partition in ORDERS:
            assert client.produce(None, partition, [f"{number}"]) is ErrorCode.NONE
        harness.advance(WAIT_MS / 4)
    harness.advance(WAIT_MS)
    assert answer_count > 10
    assert not repeated
    for partition in ORDERS:
        leader, follower = (replica(harness, broker, partition) for broker in (client.leader(partition), other))
        assert follower.log.high_watermark == leader.log.end_offset >= 20


@pytest.mark.parametrize("count", [2, MOST_RECENT, MOST_RECENT + 1, 3 * MOST_RECENT - 1])
def test_followers_receive_all_batches_of_a_turn(harness: Harness, client: EosClient, count: int) -> None:
    leader = client.leader(ORDERS[0])
    appended = []
    for number in range(count):
        batch = encode_batch([Record(0, harness.now_ms(), None, f"{number}".encode())])
        request = ProduceRequest(
            None, ACKS_ALL, 1000, [TopicProduceData("orders", partition_data=[PartitionProduceData(0, batch)])]
        )
        appended.append(harness.client(leader).send(ApiKey.PRODUCE, 9, request))
    harness.run_until(lambda: all(one.is_over for one in appended))
    assert not any(one.response.responses[0].partition_responses[0].error_code for one in appended)
    contents = {b"".join(data for _, data in replica(harness, broker).log.batches()) for broker in (1, 2, 3)}
    assert len(contents) == 1
    assert {replica(harness, broker).log.end_offset for broker in (1, 2, 3)} == {count + 1}
    assert not replica(harness, leader).recent, "nobody lacks anything"


def test_a_follower_that_stands_still_is_not_fed(harness: Harness, client: EosClient) -> None:
    leader = client.leader(ORDERS[0])
    still, awake = {1, 2, 3} - {leader}
    harness.core.pause_node(still)
    assert client.append(ORDERS[0], encode_batch([Record(0, harness.now_ms(), None, b"v")]), acks=1).error_code == 0
    harness.advance(100)  # it is not fenced yet
    assert [replica(harness, broker).log.end_offset for broker in (leader, awake, still)] == [2, 2, 1]
    assert replica(harness, leader).log.high_watermark == 1
    harness.core.resume_node(still)
    harness.advance(WAIT_MS)
    assert [replica(harness, broker).log.high_watermark for broker in (leader, awake, still)] == [2, 2, 2]


def test_a_stopped_leader_feeds_no_follower(harness: Harness, client: EosClient) -> None:
    leader = client.leader(ORDERS[0])
    broker = harness.core.broker(leader)
    (other, *_) = {1, 2, 3} - {leader}
    assert broker.local_fetcher(other) is not None
    harness.kill(leader)
    assert broker.local_fetcher(other) is None


def test_a_killed_follower_stays_in_no_session_of_its_leader(harness: Harness, client: EosClient) -> None:
    """Its leader keeps the session until the slot is wanted, and a broker's logs hold all that its process had."""
    leader = client.leader(ORDERS[0])
    (other, *_) = {1, 2, 3} - {leader}
    before = broker_count()
    for number in range(3):
        harness.kill(other)
        harness.advance(1000)
        harness.restart(other)
        harness.run_until(lambda: other in replica(harness, leader).isr)
        assert client.produce(None, ORDERS[0], [f"{number}"]) is ErrorCode.NONE
    harness.advance(120_000)
    assert broker_count() == before


def test_with_a_network_fault_followers_fetch_pushed_records(harness: Harness, client: EosClient) -> None:
    for number in range(5):
        assert client.produce(None, ORDERS[0], [f"fed {number}"]) is ErrorCode.NONE
    fault = LinkFault(FaultAction.DELAY, source=1, destination=2, delay_ms=1, count=0)  # one that hits nothing
    harness.core.network.add_fault(fault)
    for number in range(5):
        assert client.produce(None, ORDERS[0], [f"answered {number}"]) is ErrorCode.NONE
    harness.core.network.remove_fault(fault)
    for number in range(5):
        assert client.produce(None, ORDERS[0], [f"fed again {number}"]) is ErrorCode.NONE
    harness.advance(WAIT_MS)
    contents = {b"".join(data for _, data in replica(harness, broker).log.batches()) for broker in (1, 2, 3)}
    assert len(contents) == 1
    assert {replica(harness, broker).log.high_watermark for broker in (1, 2, 3)} == {16}


def test_who_lacks_much_asks_for_it(harness: Harness, client: EosClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_push, "MAX_BYTES", 100)
    leader = client.leader(ORDERS[0])
    link = LinkFault(FaultAction.DROP, source=leader)
    harness.core.network.add_fault(link)
    for _ in range(50):
        client.append(ORDERS[0], encode_batch([Record(0, harness.now_ms(), None, bytes(100))]), acks=1)
    harness.core.network.remove_fault(link)
    harness.run_until(lambda: {replica(harness, broker).log.high_watermark for broker in (1, 2, 3)} == {51})


def test_a_recreated_topic_is_not_the_earlier_one(harness: Harness, client: EosClient) -> None:
    for name in ("again", "again"):
        client.create_topic(name, 1, 3)
        for number in range(3):
            assert client.produce(None, TopicPartition(name, 0), [f"{number}"]) is ErrorCode.NONE
        assert client.read(TopicPartition(name, 0)) == ["0", "1", "2"]
        request = DeleteTopicsRequest(topic_names=[name], timeout_ms=1000)
        assert not harness.request(1, ApiKey.DELETE_TOPICS, 5, request).responses[0].error_code
        harness.advance(1000)


def session_of(harness: Harness, leader: int, follower: int, partition: TopicPartition) -> FetchSession:
    """Return the session in which a follower fetches a partition."""
    found = {watcher.session for watcher in replica(harness, leader, partition).watchers}  # type: ignore[attr-defined]
    number = harness.core.broker(follower).followers.fetcher_of(leader)._session_id
    return next(session for session in found if session.session_id == number)


@pytest.fixture
def sibling(harness: Harness, client: EosClient) -> TopicPartition:
    """A partition with the leader of the first one: its followers have something to fetch in any case."""
    client.create_topic("many", 9, 3)
    harness.advance(WAIT_MS)
    leader = client.leader(ORDERS[0])
    return next(one for index in range(9) if client.leader(one := TopicPartition("many", index)) == leader)


def test_a_pending_partition_is_dropped_when_it_is_removed(
    harness: Harness, client: EosClient, sibling: TopicPartition
) -> None:
    """A follower receives two leader epochs together: the first restarts its fetch, the second moves it elsewhere."""
    leader = client.leader(ORDERS[0])
    (other, *_) = {1, 2, 3} - {leader}
    session, mine = session_of(harness, leader, other, sibling), replica(harness, other)
    key = ("", mine.topic_id, 0)
    assert key in session.partitions
    fetcher = harness.core.broker(other).followers.fetcher_of(leader)
    fetcher.add(mine)
    fetcher.remove(mine)
    harness.advance(WAIT_MS)
    assert key not in session.partitions
    fetcher.add(mine)
    harness.advance(WAIT_MS)
    assert key in session.partitions
    assert client.produce(None, ORDERS[0], ["v"]) is ErrorCode.NONE


def test_a_turn_ends_if_the_session_has_unfetched_partitions(
    harness: Harness, client: EosClient, sibling: TopicPartition
) -> None:
    leader = client.leader(ORDERS[0])
    (other, *_) = {1, 2, 3} - {leader}
    session, stranger = session_of(harness, leader, other, sibling), b"s" * 16
    fetched = FetchPartition(0, -1, 0, partition_max_bytes=1 << 20)
    session.update(FetchRequest(session_id=session.session_id, topics=[FetchTopic("", stranger, [fetched])]))
    assert client.produce(None, sibling, ["v"]) is ErrorCode.NONE
    harness.advance(WAIT_MS)
    assert ("", stranger, 0) not in session.partitions
    assert replica(harness, other, sibling).log.end_offset == 1
