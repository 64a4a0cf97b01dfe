"""The coordinator of 10,000 open transactions is killed: its successor knows them all, within 5 s of virtual time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from eosctl.wire.messages.list_transactions import ListTransactionsRequest
from tests.sandbox.eos_client import EosClient, Handle
from tests.sandbox.harness import Harness

OPEN_COUNT = 10_000
CONNECTIONS = 200
TIMEOUT_MS = 900_000
SETTINGS = {"transaction.state.log.num.partitions": "1", "offsets.topic.num.partitions": "1"}
ORDERS = TopicPartition("orders", 0)


@pytest.fixture(params=[(False, 5_000), (True, 1_000)], ids=["default timings", "fast"])
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Harness, int]]:
    """A cluster and the virtual ms that a failover may take."""
    fast, limit_ms = request.param
    harness = Harness(tmp_path, ClusterShape(3, Emulation("4.3"), 1, SETTINGS, fast=fast))
    yield harness, limit_ms
    harness.close()


def begin_many(harness: Harness, coordinator: int) -> dict[str, int]:
    """Open a transaction for each id; returns their producer ids."""
    connections = [harness.client(coordinator) for _ in range(CONNECTIONS)]
    producer_ids: dict[str, int] = {}
    names_left = iter([f"app-{number}" for number in range(OPEN_COUNT)])
    while names := list(islice(names_left, CONNECTIONS)):
        pending = {
            name: connection.send(ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest(name, TIMEOUT_MS))
            for name, connection in zip(names, connections, strict=False)
        }
        for name, answer in answers(harness, pending.items()):
            assert answer.error_code == 0
            producer_ids[name] = answer.producer_id
    topics = [AddPartitionsToTxnTopic("orders", [0])]
    transactions = [
        AddPartitionsToTxnTransaction(name, producer_id, 0, False, topics) for name, producer_id in producer_ids.items()
    ]
    added = harness.request(
        coordinator, ApiKey.ADD_PARTITIONS_TO_TXN, 4, AddPartitionsToTxnRequest(transactions=transactions)
    )
    assert {
        partition.partition_error_code
        for transaction in added.results_by_transaction
        for topic in transaction.topic_results
        for partition in topic.results_by_partition
    } == {0}
    return producer_ids


def answers(harness: Harness, pending: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    for name, asked in pending:
        harness.run_until(lambda asked=asked: asked.is_over)  # type: ignore[misc]
        yield name, asked.response


def test_ten_thousand_open_transactions_survive_a_failover(cluster: tuple[Harness, int]) -> None:
    harness, limit_ms = cluster
    client = EosClient(harness)
    client.create_topic("orders", 1, 3)
    coordinator = client.coordinator("app-0")
    producer_ids = begin_many(harness, coordinator)
    killed_at = harness.loop.time()
    harness.kill(coordinator)
    survivor = Handle("app-7", producer_ids["app-7"], 0, added={ORDERS})
    assert client.produce(survivor, ORDERS, ["v"]) is ErrorCode.NONE
    assert client.end(survivor, commit=True) is ErrorCode.NONE
    assert (harness.loop.time() - killed_at) * 1000 < limit_ms
    successor = client.coordinator("app-0")
    assert successor != coordinator
    listed = harness.request(successor, ApiKey.LIST_TRANSACTIONS, 1, ListTransactionsRequest(["Ongoing"]))
    still_open = {state.transactional_id: state.producer_id for state in listed.transaction_states}
    assert still_open == {name: number for name, number in producer_ids.items() if name != "app-7"}
    harness.advance(1000)
    assert client.read(ORDERS) == ["v"]
