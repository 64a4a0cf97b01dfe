"""The handlers: versions, old codes, shapes of answers."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
from msgspec.structs import astuple

from eosctl.model.transaction import ProducerState, TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal.partitioner import partition_for
from eosctl.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from eosctl.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from eosctl.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from eosctl.wire.messages.describe_transactions import DescribeTransactionsRequest
from eosctl.wire.messages.end_txn import EndTxnRequest
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from eosctl.wire.messages.list_transactions import ListTransactionsRequest
from eosctl.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)


def add_request(producer_id: int, epoch: int, topics: dict[str, list[int]]) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id="app",
        v3_and_below_producer_id=producer_id,
        v3_and_below_producer_epoch=epoch,
        v3_and_below_topics=[AddPartitionsToTxnTopic(name, indexes) for name, indexes in topics.items()],
    )


def flat(topics: Any) -> dict[tuple[str, int], int]:
    return {
        (topic.name, result.partition_index): result.partition_error_code
        for topic in topics
        for result in topic.results_by_partition
    }


@pytest.mark.parametrize("version", range(6))
def test_init_producer_id(world: Any, version: int) -> None:
    first = world.call(ApiKey.INIT_PRODUCER_ID, version, InitProducerIdRequest("app", 60_000))
    assert (first.error_code, first.producer_epoch) == (0, 0)
    assert world.call(ApiKey.INIT_PRODUCER_ID, version, InitProducerIdRequest("", 60_000)).error_code == 42
    if version >= 3:
        world.init()
        stale = world.call(
            ApiKey.INIT_PRODUCER_ID, version, InitProducerIdRequest("app", 60_000, first.producer_id + 5, 0)
        )
        assert (stale.error_code, stale.producer_id, stale.producer_epoch) == (47 if version == 3 else 90, -1, -1)
        for half in (
            InitProducerIdRequest("app", 60_000, first.producer_id, -1),
            InitProducerIdRequest("app", 60_000, -1, 0),
            InitProducerIdRequest(None, 60_000, -1, 0),
        ):
            assert world.call(ApiKey.INIT_PRODUCER_ID, version, half).error_code == 42


@pytest.mark.parametrize("version", range(4))
def test_add_partitions(world: Any, version: int) -> None:
    producer_id = world.init().producer_id
    api = ApiKey.ADD_PARTITIONS_TO_TXN
    good = world.call(api, version, add_request(producer_id, 0, {"orders": [0, 2]}))
    assert flat(good.results_by_topic_v3_and_below) == {("orders", 0): 0, ("orders", 2): 0}
    stale = world.call(api, version, add_request(producer_id, 3, {"orders": [0]}))
    assert flat(stale.results_by_topic_v3_and_below) == {("orders", 0): 47 if version < 2 else 90}
    unknown = world.call(api, version, add_request(producer_id, 0, {"orders": [1, 9], "missing": [0]}))
    assert flat(unknown.results_by_topic_v3_and_below) == {("orders", 1): 55, ("orders", 9): 3, ("missing", 0): 3}
    internal = world.call(api, version, add_request(producer_id, 0, {"__transaction_state": [0], "orders": [1]}))
    assert flat(internal.results_by_topic_v3_and_below) == {("__transaction_state", 0): 29, ("orders", 1): 55}
    assert world.state().partitions == {TopicPartition("orders", 0), TopicPartition("orders", 2)}


@pytest.mark.parametrize("version", [4, 5])
def test_add_partitions_in_batches(world: Any, version: int) -> None:
    producer_id, other_id = world.init().producer_id, world.init("other").producer_id
    orders = [AddPartitionsToTxnTopic("orders", [0, 1])]
    answer = world.call(
        ApiKey.ADD_PARTITIONS_TO_TXN,
        version,
        AddPartitionsToTxnRequest(
            transactions=[
                AddPartitionsToTxnTransaction("app", producer_id, 0, False, orders),
                AddPartitionsToTxnTransaction("other", other_id, 0, True, orders),
                AddPartitionsToTxnTransaction("nobody", 5, 0, False, orders),
                AddPartitionsToTxnTransaction("", 5, 0, True, orders),
            ]
        ),
    )
    assert answer.error_code == 0
    assert {
        result.transactional_id: set(flat(result.topic_results).values()) for result in answer.results_by_transaction
    } == {"app": {0}, "other": {120}, "nobody": {49}, "": {42}}


def test_a_batch_without_transactions_is_never_answered(world: Any) -> None:
    assert world.call(ApiKey.ADD_PARTITIONS_TO_TXN, 4, AddPartitionsToTxnRequest()) is None


@pytest.mark.parametrize("version", range(5))
def test_add_offsets(world: Any, version: int) -> None:
    producer_id = world.init().producer_id
    api = ApiKey.ADD_OFFSETS_TO_TXN
    assert world.call(api, version, AddOffsetsToTxnRequest("app", producer_id, 0, "group")).error_code == 0
    stale = world.call(api, version, AddOffsetsToTxnRequest("app", producer_id, 3, "group"))
    assert stale.error_code == (47 if version < 2 else 90)
    assert world.call(api, version, AddOffsetsToTxnRequest("", producer_id, 0, "group")).error_code == 42
    assert world.state().partitions == {TopicPartition("__consumer_offsets", partition_for("group", 5))}


NEWER = ("4.3-tv0", "4.3-tv1", "4.3-tv2")


@pytest.mark.parametrize(
    ("target", "version"),
    [("3.9-tv0", version) for version in range(5)] + [(target, version) for target in NEWER for version in range(6)],
)
def test_end_txn(make_world: Any, target: str, version: int) -> None:
    world = make_world(target)
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 0)
    stale = world.call(ApiKey.END_TXN, version, EndTxnRequest("app", producer_id, 3, True))
    assert (stale.error_code, stale.producer_id, stale.producer_epoch) == (47 if version < 2 else 90, -1, -1)
    ended = world.call(ApiKey.END_TXN, version, EndTxnRequest("app", producer_id, 0, True))
    assert ended.error_code == 0
    assert (ended.producer_id, ended.producer_epoch) == ((producer_id, 1) if version == 5 else (-1, -1))


def marker(topics: dict[str, list[int]], producer_id: int = 5) -> WritableTxnMarker:
    return WritableTxnMarker(
        producer_id, 0, False, [WritableTxnMarkerTopic(name, indexes) for name, indexes in topics.items()], 4
    )


@pytest.mark.parametrize("version", [1, 2])
def test_write_txn_markers(world: Any, version: int) -> None:
    world.broker.replicas.marker_errors = {
        TopicPartition("orders", 1): deque([ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]),
        TopicPartition("__consumer_offsets", 0): deque([ErrorCode.COORDINATOR_LOAD_IN_PROGRESS]),
    }
    answer = world.call(
        ApiKey.WRITE_TXN_MARKERS,
        version,
        WriteTxnMarkersRequest([marker({"orders": [0, 1], "__consumer_offsets": [0]}), marker({}, 6)]),
    )
    (result,) = answer.markers
    assert result.producer_id == 5
    assert {
        (topic.name, partition.partition_index): partition.error_code
        for topic in result.topics
        for partition in topic.partitions
    } == {("orders", 0): 0, ("orders", 1): 3, ("__consumer_offsets", 0): 6}
    assert list(world.call(ApiKey.WRITE_TXN_MARKERS, version, WriteTxnMarkersRequest([])).markers) == []


def test_describe_transactions(world: Any) -> None:
    producer_id = world.init().producer_id
    world.add(producer_id, 0, 2, 0)
    answer = world.call(ApiKey.DESCRIBE_TRANSACTIONS, 0, DescribeTransactionsRequest(["app", "nobody", ""]))
    known, unknown, empty = answer.transaction_states
    assert (known.error_code, known.transaction_state, known.producer_id) == (0, "Ongoing", producer_id)
    assert [(topic.topic, list(topic.partitions)) for topic in known.topics] == [("orders", [0, 2])]
    assert unknown == type(unknown)(error_code=105, transactional_id="nobody", topics=unknown.topics)
    assert empty.error_code == 42


def listed(world: Any, version: int = 0, **filters: Any) -> Any:
    return world.call(ApiKey.LIST_TRANSACTIONS, version, ListTransactionsRequest(**filters))


def names(answer: Any) -> set[str]:
    assert answer.error_code == 0
    return {state.transactional_id for state in answer.transaction_states}


def test_list_transactions_by_state_and_producer(world: Any) -> None:
    producer_id, other_id = world.init().producer_id, world.init("other").producer_id
    world.add(producer_id, 0, 0)
    assert names(listed(world)) == {"app", "other"}
    assert names(listed(world, state_filters=["Ongoing"])) == {"app"}
    assert names(listed(world, producer_id_filters=[other_id, 77])) == {"other"}
    odd = listed(world, state_filters=["Empty", "Nonsense", "empty"])
    assert names(odd) == {"other"}
    assert list(odd.unknown_state_filters) == ["Nonsense", "empty"]
    assert names(listed(world, state_filters=["Nonsense"])) == set()


def test_list_transactions_by_duration_lets_idle_ids_pass(world: Any) -> None:
    producer_id = world.init().producer_id
    world.init("other")
    world.add(producer_id, 0, 0)
    world.runtime.advance(300)
    assert names(listed(world, 1, duration_filter=299)) == {"app", "other"}
    assert names(listed(world, 1, duration_filter=300)) == {"other"}
    assert names(listed(world, 1, duration_filter=-1)) == {"app", "other"}


@pytest.mark.parametrize("target", NEWER)
def test_list_transactions_by_pattern(make_world: Any, target: str) -> None:
    world = make_world(target)
    world.init()
    world.init("other")
    assert names(listed(world, 2, transactional_id_pattern="app")) == {"app"}
    assert names(listed(world, 2, transactional_id_pattern="ap")) == set()
    assert names(listed(world, 2, transactional_id_pattern=".*")) == {"app", "other"}
    assert names(listed(world, 2, transactional_id_pattern="")) == {"app", "other"}
    assert listed(world, 2, transactional_id_pattern="(").error_code == ErrorCode.INVALID_REGULAR_EXPRESSION


def test_describe_producers(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {
        0: (ProducerState(7, 1, 3, 99, -1, None), ProducerState(8, 0, -1, 98, 2, 12)),
        1: (),
        2: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    }
    monkeypatch.setattr(
        world.broker.replicas, "active_producers", lambda partition: answers[partition.partition], raising=False
    )
    answer = world.call(
        ApiKey.DESCRIBE_PRODUCERS,
        0,
        DescribeProducersRequest([TopicRequest("orders", [0, 1, 2]), TopicRequest("missing", [0])]),
    )
    orders, missing = answer.topics
    assert [partition.error_code for partition in orders.partitions] == [0, 0, 6]
    assert [astuple(producer) for producer in orders.partitions[0].active_producers] == [
        (7, 1, 3, 99, -1, -1),
        (8, 0, -1, 98, 2, 12),
    ]
    assert missing.partitions[0].error_code == 3
    assert missing.partitions[0].error_message
