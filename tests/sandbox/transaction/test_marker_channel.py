"""Markers: one request per broker and round, retries by code, dead ends that stay prepared."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.sandbox.coordinator.transaction.rules.decision import Answer
from eosctl.sandbox.ports import PartitionLeadership
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode

ZERO, ONE, TWO = (TopicPartition("orders", index) for index in range(3))


def prepared(world: Any, *indexes: int) -> int:
    producer_id: int = world.init().producer_id
    world.add(producer_id, 0, *indexes)
    assert world.end(producer_id, 0, True).error is ErrorCode.NONE
    return producer_id


def marker_requests(world: Any, node_id: int) -> list[Any]:
    return [request for node, api, request in world.channel.sent if (node, api) == (node_id, ApiKey.WRITE_TXN_MARKERS)]


@pytest.fixture
def two(make_world: Any) -> Any:
    """Two brokers; the second leads orders-1."""
    world = make_world("4.3-tv1", brokers=2)
    world.metadata.leaders[ONE] = PartitionLeadership(2, 0)
    return world


def test_a_blocked_broker_keeps_the_transaction_prepared(two: Any) -> None:
    two.channel.blocked.add(2)
    prepared(two, 0, 1)
    assert two.state().state is TransactionState.PREPARE_COMMIT
    assert two.state().partitions == {ONE}
    assert two.coordinator.markers.pending_count == 1
    assert two.init().error is ErrorCode.CONCURRENT_TRANSACTIONS
    two.runtime.advance(1_000_000)
    assert two.state().state is TransactionState.PREPARE_COMMIT
    two.channel.unblock(2)
    assert two.state().state is TransactionState.COMPLETE_COMMIT
    assert two.coordinator.markers.pending_count == 0


def test_one_request_per_broker_in_flight_takes_all_that_wait(make_world: Any) -> None:
    world = make_world("4.3-tv1")
    answers: list[Answer] = []
    producers: dict[str, int] = {}
    for number in range(10):
        name = f"id-{number}"
        world.coordinator.init_producer_id(
            name, 60_000, None, lambda answer, name=name: producers.__setitem__(name, answer.producer_id)
        )
    world.runtime.run()
    for name, producer_id in producers.items():
        world.coordinator.add_partitions(name, producer_id, 0, frozenset({ZERO}), 0, answers.append)
    world.runtime.run()
    world.channel.blocked.add(1)
    names = list(producers.items())
    for turn in (names[:3], names[3:6], names[6:]):
        for name, producer_id in turn:
            world.coordinator.end_transaction(name, producer_id, 0, True, 0, answers.append)
        world.runtime.run()
    assert all(answer.error is ErrorCode.NONE for answer in answers)
    first_round = len(marker_requests(world, 1)[0].markers)
    assert len(marker_requests(world, 1)) == 1
    assert world.coordinator.markers.queue_size(1) == 10 - first_round
    world.channel.unblock(1)
    assert [len(request.markers) for request in marker_requests(world, 1)] == [first_round, 10 - first_round]
    assert {world.state(name).state for name in producers} == {TransactionState.COMPLETE_COMMIT}


@pytest.mark.parametrize("code", [3, 6, 7, 19, 20, 56])
def test_retried_codes_are_sent_again(world: Any, code: int) -> None:
    world.broker.replicas.marker_errors[ZERO] = deque([ErrorCode(code)] * 3)
    prepared(world, 0, 1)
    assert world.state().partitions == {ZERO}
    world.runtime.advance(150)
    assert world.state().state is TransactionState.COMPLETE_COMMIT
    assert len(marker_requests(world, 1)) == 4


@pytest.mark.parametrize("code", [47, 52])
def test_rejected_markers_leave_it_prepared_until_a_reload(world: Any, code: int) -> None:
    world.broker.replicas.marker_errors[ZERO] = deque([ErrorCode(code)])
    producer_id = prepared(world, 0, 1)
    world.runtime.advance(1_000_000)
    assert world.state().state is TransactionState.PREPARE_COMMIT
    assert world.state().partitions == {ZERO}
    assert world.end(producer_id, 0, True).error is ErrorCode.CONCURRENT_TRANSACTIONS
    assert world.restart().describe("app").state is TransactionState.COMPLETE_COMMIT


@pytest.mark.parametrize("code", [35, 43])
def test_partitions_that_cannot_hold_markers_count_as_done(world: Any, code: int) -> None:
    world.broker.replicas.marker_errors[ZERO] = deque([ErrorCode(code)])
    prepared(world, 0)
    assert world.state().state is TransactionState.COMPLETE_COMMIT


def test_a_broken_link_is_retried_with_the_current_leader(two: Any) -> None:
    two.channel.cut.add(2)
    prepared(two, 1)
    two.runtime.advance(200)
    assert two.state().state is TransactionState.PREPARE_COMMIT
    two.metadata.leaders[ONE] = PartitionLeadership(1, 1)
    two.runtime.advance(100)
    assert two.state().state is TransactionState.COMPLETE_COMMIT
    assert [marker[0] for marker in two.broker.replicas.markers] == [ONE]


def test_a_deleted_topic_is_dropped(world: Any) -> None:
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0)
    world.metadata.lead("gone", 1, 1)
    world.add(producer_id, 0, 0, topic="gone")
    del world.metadata.leaders[TopicPartition("gone", 0)]
    world.end(producer_id, 0, True)
    assert world.state().state is TransactionState.COMPLETE_COMMIT
    assert [marker[0] for marker in world.broker.replicas.markers] == [ZERO]


def test_a_transaction_of_deleted_topics_alone_completes(world: Any) -> None:
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0)
    del world.metadata.leaders[ZERO]
    world.end(producer_id, 0, False)
    assert world.state().state is TransactionState.COMPLETE_ABORT
    assert world.broker.replicas.markers == []


def test_3_9_waits_for_a_leader(make_world: Any) -> None:
    world = make_world("3.9-tv0")
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0)
    world.metadata.leaders[ZERO] = PartitionLeadership(-1, 1)
    world.end(producer_id, 0, True)
    world.runtime.advance(10_000)
    assert world.state().state is TransactionState.PREPARE_COMMIT
    assert world.coordinator.markers.unknown_destination_queue_size == 1
    world.metadata.leaders[ZERO] = PartitionLeadership(1, 2)
    world.runtime.advance(100)
    assert world.state().state is TransactionState.COMPLETE_COMMIT
    assert world.coordinator.markers.unknown_destination_queue_size == 0


@pytest.mark.parametrize(("skips", "state"), [(True, "CompleteCommit"), (False, "PrepareCommit")])
def test_4_3_skips_the_marker_of_a_leaderless_partition(make_world: Any, skips: bool, state: str) -> None:
    world = make_world("4.3-tv1")
    assert world.coordinator.markers.skips_leaderless_partitions  # KAFKA-20734
    world.coordinator.markers.skips_leaderless_partitions = skips
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0, 1)
    world.metadata.leaders[ZERO] = PartitionLeadership(-1, 1)
    world.end(producer_id, 0, True)
    assert world.state().state == state
    assert [marker[0] for marker in world.broker.replicas.markers] == [ONE]


def test_a_completion_that_could_not_be_written_is_repeated(world: Any) -> None:
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0)
    world.channel.blocked.add(1)
    world.end(producer_id, 0, True)
    world.broker.replicas.append_errors.append(ErrorCode.NOT_ENOUGH_REPLICAS)
    world.channel.unblock(1)
    assert world.state().state is TransactionState.PREPARE_COMMIT
    assert world.coordinator.markers.log_append_retry_queue_size == 1
    assert world.init().error is ErrorCode.CONCURRENT_TRANSACTIONS
    world.runtime.advance(50)
    assert world.state().state is TransactionState.COMPLETE_COMMIT
    assert world.coordinator.markers.log_append_retry_queue_size == 0


def test_markers_of_a_partition_that_moved_away_are_dropped(two: Any) -> None:
    two.channel.blocked.add(2)
    prepared(two, 1)
    two.coordinator.resign(two.coordinator.states.partition_index("app"), 0)
    assert two.coordinator.markers.pending_count == 0
    two.channel.unblock(2)
    two.runtime.advance(1_000)
    assert len(two.records()) == 3  # Empty, Ongoing, PrepareCommit: the new coordinator completes it
