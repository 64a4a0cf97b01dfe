"""Three brokers on virtual time: the high watermark, in-sync replicas, failover, divergence."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.network import FaultAction, LinkFault
from eosctl.sandbox.replication.partition import Partition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData, ReplicaState
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

ORDERS = TopicPartition("orders", 0)
SETTINGS = {
    "transaction.state.log.num.partitions": "2",
    "offsets.topic.num.partitions": "2",
    "replica.lag.time.max.ms": "5000",
}


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    harness = Harness(tmp_path, ClusterShape(3, settings=SETTINGS, fast=True), seed=3)
    yield harness
    harness.close()


@pytest.fixture
def client(harness: Harness) -> EosClient:
    client = EosClient(harness)
    client.create_topic("orders", 1, 3, min_insync_replicas="2")
    harness.advance(100)
    return client


def replica(harness: Harness, broker_id: int, partition: TopicPartition = ORDERS) -> Partition:
    return harness.core.broker(broker_id).replicas.partitions[partition]


def eligible(harness: Harness, broker_id: int) -> tuple[int, ...]:
    """Return the eligible leader replicas that a broker knows of."""
    return harness.core.broker(broker_id).metadata.topics["orders"].partitions[0].eligible_leader_replicas


def followers_of(harness: Harness, leader: int) -> list[int]:
    return [broker for broker in harness.core.broker_ids if broker != leader]


def batch(value: str) -> bytes:
    return encode_batch([Record(0, 1_790_000_000_000, None, value.encode())])


def test_followers_hold_the_same_bytes(harness: Harness, client: EosClient) -> None:
    for number in range(5):
        assert client.produce(None, ORDERS, [f"v{number}"]) is ErrorCode.NONE
    harness.advance(200)  # a follower learns the last high watermark when its waiting fetch is answered
    contents = {b"".join(data for _, data in replica(harness, broker).log.batches()) for broker in (1, 2, 3)}
    assert len(contents) == 1
    assert {replica(harness, broker).log.high_watermark for broker in (1, 2, 3)} == {5}


def test_acks_all_is_answered_in_the_turn_of_the_request(harness: Harness, client: EosClient) -> None:
    before = harness.loop.time()
    assert client.produce(None, ORDERS, ["v"]) is ErrorCode.NONE
    assert harness.loop.time() == before


def test_a_cut_link_stops_the_high_watermark_until_isr_shrinks(harness: Harness, client: EosClient) -> None:
    leader = client.leader(ORDERS)
    cut_off = followers_of(harness, leader)[0]
    harness.core.network.cut(leader, cut_off)
    harness.advance(1000)  # what was under way when the link broke
    pending = harness.client(leader).send(
        ApiKey.PRODUCE,
        9,
        ProduceRequest(
            None, -1, 20_000, [TopicProduceData("orders", partition_data=[PartitionProduceData(0, batch("v"))])]
        ),
    )
    harness.advance(2000)
    log = replica(harness, leader).log
    assert pending.response is None
    assert (log.high_watermark, log.end_offset) == (0, 1)
    assert client.read(ORDERS) == []
    harness.run_until(lambda: pending.is_over)
    assert pending.response.responses[0].partition_responses[0].error_code == 0
    assert sorted(replica(harness, leader).isr) == sorted({1, 2, 3} - {cut_off})
    assert client.read(ORDERS) == ["v"]


def test_a_healed_follower_catches_up_and_joins_again(harness: Harness, client: EosClient) -> None:
    leader = client.leader(ORDERS)
    cut_off = followers_of(harness, leader)[0]
    harness.core.network.cut(leader, cut_off)
    harness.advance(1000)
    for _ in range(3):
        client.append(ORDERS, batch("v"), acks=1)
    harness.run_until(lambda: len(replica(harness, leader).isr) == 2)
    assert replica(harness, cut_off).log.end_offset == 0
    harness.core.network.heal()
    harness.run_until(lambda: len(replica(harness, leader).isr) == 3)
    assert replica(harness, cut_off).log.end_offset == 3


def test_a_follower_rejoins_after_a_fetch_before_its_removal(tmp_path: Path) -> None:
    patient = {**SETTINGS, "controller.quorum.request.timeout.ms": "2000"}  # with a controller that does not answer
    harness = Harness(tmp_path, ClusterShape(3, settings=patient, fast=True), seed=3)
    client = EosClient(harness)
    client.create_topic("orders", 1, 3)
    leader = client.leader(ORDERS)
    restarted = followers_of(harness, leader)[0]
    harness.advance(1000)
    (controller_id,) = harness.core.controller_ids
    no_news = LinkFault(FaultAction.DROP, source=controller_id, destination=leader, api_key=ApiKey.FETCH)
    harness.core.network.add_fault(no_news)
    harness.kill(restarted)
    harness.restart(restarted)
    harness.advance(200)  # its fetches are at rest with the leader, which counts it as in sync still
    assert restarted in replica(harness, leader).isr
    assert restarted not in replica(harness, restarted).isr
    harness.core.network.heal()
    harness.run_until(lambda: restarted in replica(harness, restarted).isr)
    assert client.leader(ORDERS) == leader
    harness.close()


def test_below_min_isr_nothing_is_taken(harness: Harness, client: EosClient) -> None:
    leader = client.leader(ORDERS)
    for broker in followers_of(harness, leader):
        harness.kill(broker)
    harness.run_until(lambda: len(replica(harness, leader).isr) == 1)
    answer = client.append(ORDERS, batch("v"))
    assert answer is not None
    assert answer.error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert replica(harness, leader).log.end_offset == 0
    acknowledged = client.append(ORDERS, batch("v"), acks=1)
    assert acknowledged is not None
    assert acknowledged.error_code == 0


def test_an_append_beyond_its_isr_is_not_acknowledged_or_read(harness: Harness, client: EosClient) -> None:
    leader = client.leader(ORDERS)
    for broker in followers_of(harness, leader):
        harness.core.network.cut(leader, broker)
    harness.advance(1000)
    request = ProduceRequest(
        None, -1, 30_000, [TopicProduceData("orders", partition_data=[PartitionProduceData(0, batch("v"))])]
    )
    pending = harness.client(leader).send(ApiKey.PRODUCE, 9, request)
    harness.run_until(lambda: pending.is_over)
    assert replica(harness, leader).isr == (leader,)
    answer = pending.response.responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT
    # Below min.insync.replicas nothing new is shown, as in Kafka (KAFKA-15583): another replica may lead next.
    log = replica(harness, leader).log
    assert (log.end_offset, log.high_watermark) == (1, 0)


def test_an_earlier_eligible_replica_does_not_lead_after_growth(harness: Harness, client: EosClient) -> None:
    first = client.leader(ORDERS)
    second, third = followers_of(harness, first)
    harness.kill(second)
    harness.run_until(lambda: set(replica(harness, first).isr) == {first, third})
    harness.kill(third)  # below the minimum of two: eligible, as it holds all that was acknowledged
    harness.run_until(lambda: replica(harness, first).isr == (first,))
    assert eligible(harness, first) == (third,)
    harness.core.start_node(second)
    harness.run_until(lambda: set(replica(harness, first).isr) == {first, second})
    assert eligible(harness, first) == ()
    assert client.produce(None, ORDERS, ["after it left"]) is ErrorCode.NONE
    harness.kill(first)
    harness.kill(second)
    harness.advance(5_000)
    harness.core.start_node(third)
    harness.advance(5_000)
    assert harness.core.broker(third).metadata.leadership(ORDERS).leader_id == -1
    harness.core.start_node(second)
    harness.advance(5_000)  # it led last, and was killed: the other one may still hold what it lost
    assert harness.core.broker(third).metadata.leadership(ORDERS).leader_id == -1
    assert eligible(harness, third) == (first,)
    harness.core.start_node(first)
    harness.run_until(lambda: client.leader(ORDERS) == second)
    assert client.read(ORDERS) == ["after it left"]


def test_a_produce_that_is_not_replicated_in_time_times_out(harness: Harness, client: EosClient) -> None:
    leader = client.leader(ORDERS)
    harness.core.network.cut(leader, followers_of(harness, leader)[0])
    harness.advance(1000)
    answer = client.append(ORDERS, batch("v"))  # its timeout is one second
    assert answer is not None
    assert answer.error_code == ErrorCode.REQUEST_TIMED_OUT


def test_a_killed_leader_loses_nothing_that_was_acknowledged(harness: Harness, client: EosClient) -> None:
    leader = client.leader(ORDERS)
    handle = client.init("app")
    assert client.produce(handle, ORDERS, ["a", "b"]) is ErrorCode.NONE
    assert client.end(handle, commit=True) is ErrorCode.NONE
    assert client.produce(handle, ORDERS, ["c"]) is ErrorCode.NONE
    harness.kill(leader)
    shutil.rmtree(harness.core.directory_of(leader))
    harness.run_until(lambda: client.leader(ORDERS) != leader)
    assert client.read(ORDERS) == ["a", "b"]
    assert client.end(handle, commit=True) is ErrorCode.NONE
    harness.advance(100)
    assert client.read(ORDERS) == ["a", "b", "c"]
    harness.restart(leader)  # with an empty directory: everything comes back from the others
    harness.run_until(lambda: len(replica(harness, client.leader(ORDERS)).isr) == 3)
    assert replica(harness, leader).log.end_offset == replica(harness, client.leader(ORDERS)).log.end_offset


def test_what_only_the_old_leader_has_is_cut_off(harness: Harness, client: EosClient) -> None:
    leader = client.leader(ORDERS)
    assert client.produce(None, ORDERS, ["kept"]) is ErrorCode.NONE
    harness.advance(10)
    # The leader continues alone for a moment: its record reaches no other broker.
    for broker in followers_of(harness, leader):
        harness.core.network.cut(leader, broker)
    harness.advance(1000)
    answer = client.append(ORDERS, batch("lost"), acks=1)
    assert answer is not None
    assert answer.error_code == 0
    assert replica(harness, leader).log.end_offset == 2
    harness.kill(leader)
    harness.core.network.heal()
    harness.run_until(lambda: client.leader(ORDERS) != leader)
    assert client.produce(None, ORDERS, ["new"]) is ErrorCode.NONE
    harness.restart(leader)
    harness.run_until(lambda: len(replica(harness, client.leader(ORDERS)).isr) == 3)
    logs = {b"".join(data for _, data in replica(harness, broker).log.batches()) for broker in (1, 2, 3)}
    assert len(logs) == 1
    assert client.read(ORDERS) == ["kept", "new"]


def test_a_diverging_follower_has_not_replicated_the_log(harness: Harness, client: EosClient) -> None:
    old = client.leader(ORDERS)
    assert client.produce(None, ORDERS, ["kept"]) is ErrorCode.NONE
    harness.kill(old)
    harness.run_until(lambda: client.leader(ORDERS) != old)
    leader = client.leader(ORDERS)
    for other in followers_of(harness, leader):
        harness.core.network.cut(leader, other)
    client.append(ORDERS, batch("new"), acks=1)
    partition = replica(harness, leader)

    def fetch_as_the_old_leader(last_fetched_epoch: int) -> PartitionData:
        asked = FetchPartition(0, partition.leader_epoch, 2, last_fetched_epoch, 0, 1 << 20)
        topics = [FetchTopic("", partition.topic_id, [asked])]
        request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=topics, replica_state=ReplicaState(old, -1))
        data: PartitionData = harness.request(leader, ApiKey.FETCH, 17, request).responses[0].partitions[0]
        return data

    # It wrote a record at offset 1, in its own epoch, before it learned about the election.
    assert fetch_as_the_old_leader(partition.leader_epoch - 1).diverging_epoch.end_offset == 1
    assert partition.followers[old].end_offset < 2
    assert fetch_as_the_old_leader(partition.leader_epoch).diverging_epoch.epoch == -1
    assert partition.followers[old].end_offset == 2


def test_leader_epochs_grow_with_every_election(harness: Harness, client: EosClient) -> None:
    epochs = []
    for _ in range(3):
        leader = client.leader(ORDERS)
        epochs.append(replica(harness, leader).leader_epoch)
        assert client.produce(None, ORDERS, ["v"]) is ErrorCode.NONE
        harness.kill(leader)
        harness.run_until(lambda old=leader: client.leader(ORDERS) != old)  # type: ignore[misc]
        harness.restart(leader)
        harness.run_until(lambda: len(replica(harness, client.leader(ORDERS)).isr) == 3)
    assert epochs == sorted(set(epochs))


@pytest.mark.parametrize("action", [FaultAction.DUPLICATE, FaultAction.REORDER])
def test_strange_links_do_not_change_what_followers_hold(
    harness: Harness, client: EosClient, action: FaultAction
) -> None:
    fault = LinkFault(action, api_key=ApiKey.FETCH, count=50)
    harness.core.network.add_fault(fault)
    for number in range(20):
        assert client.produce(None, ORDERS, [f"v{number}"]) is ErrorCode.NONE
    harness.core.network.remove_fault(fault)
    assert fault.hit_count > 0
    harness.advance(1000)
    assert client.read(ORDERS) == [f"v{number}" for number in range(20)]
    logs = {b"".join(data for _, data in replica(harness, broker).log.batches()) for broker in (1, 2, 3)}
    assert len(logs) == 1


def test_a_lost_answer_of_the_controller_is_asked_for_again(harness: Harness, client: EosClient) -> None:
    fault = LinkFault(FaultAction.DROP, api_key=ApiKey.ALTER_PARTITION, requests=False, count=1)
    harness.core.network.add_fault(fault)
    leader = client.leader(ORDERS)
    harness.core.network.cut(leader, followers_of(harness, leader)[0])
    client.append(ORDERS, batch("v"), acks=1)
    harness.advance(50_000)
    assert fault.hit_count == 1
    assert len(replica(harness, leader).isr) == 2


def reassign(harness: Harness, replicas: list[int] | None) -> int:
    request = AlterPartitionReassignmentsRequest(
        1000, True, [ReassignableTopic("orders", [ReassignablePartition(0, replicas)])]
    )
    response = harness.request(harness.core.brokers()[0].node_id, ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, request)
    return int(response.responses[0].partitions[0].error_code)


def test_a_partition_moves_to_other_brokers_with_its_records(harness: Harness) -> None:
    client = EosClient(harness)
    client.create_topic("orders", 1, 1)
    (old,) = harness.core.broker(1).metadata.topics["orders"].partitions[0].replicas
    assert client.produce(None, ORDERS, ["a", "b"]) is ErrorCode.NONE
    target = followers_of(harness, old)
    assert reassign(harness, target) == 0
    harness.run_until(lambda: harness.core.broker(1).metadata.topics["orders"].partitions[0].replicas == tuple(target))
    state = harness.core.broker(1).metadata.topics["orders"].partitions[0]
    assert sorted(state.isr) == target
    assert (state.adding_replicas, state.removing_replicas) == ((), ())
    assert state.leader in target
    assert client.read(ORDERS) == ["a", "b"]
    harness.advance(10)
    assert ORDERS not in harness.core.broker(old).replicas.partitions
    assert not (harness.core.directory_of(old) / "orders-0").exists()


def test_a_reassignment_that_cannot_complete_is_cancelled(harness: Harness) -> None:
    client = EosClient(harness)
    client.create_topic("orders", 1, 1)
    (old,) = harness.core.broker(1).metadata.topics["orders"].partitions[0].replicas
    new = followers_of(harness, old)[0]
    harness.core.network.cut(old, new)
    assert reassign(harness, [new]) == 0
    harness.advance(500)
    moving = harness.core.broker(old).metadata.topics["orders"].partitions[0]
    assert (moving.adding_replicas, moving.removing_replicas) == ((new,), (old,))
    assert client.produce(None, ORDERS, ["still works"]) is ErrorCode.NONE
    assert reassign(harness, None) == 0
    harness.advance(100)
    state = harness.core.broker(old).metadata.topics["orders"].partitions[0]
    assert (state.replicas, state.isr, state.adding_replicas) == ((old,), (old,), ())
    assert reassign(harness, None) == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


@pytest.mark.parametrize("replicas", [[], [1, 1], [77]])
def test_impossible_targets_are_refused(harness: Harness, replicas: list[int]) -> None:
    EosClient(harness).create_topic("orders", 1, 1)
    assert reassign(harness, replicas) == ErrorCode.INVALID_REPLICA_ASSIGNMENT
