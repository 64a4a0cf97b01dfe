"""Consumers read from followers, and the leader sends them to one in their rack (KIP-392)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.sandbox.replication.replica_selector import RACK_AWARE_SELECTOR
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness, Pending

ORDERS = TopicPartition("orders", 0)
RACKS = ("a", "b", "c")


def start(folder: Path, **settings: str) -> EosClient:
    shape = ClusterShape(3, Emulation("4.3"), None, settings, fast=True, racks=RACKS)
    client = EosClient(Harness(folder, shape), implicit=True)
    client.create_topic("orders", 1, 3)
    return client


@pytest.fixture
def client(tmp_path: Path) -> Iterator[EosClient]:
    client = start(tmp_path, **{"replica.selector.class": RACK_AWARE_SELECTOR})
    yield client
    client.harness.close()


def ask(
    client: EosClient, node: int, rack: str = "", *, offset: int = 0, max_wait_ms: int = 0, version: int = 12
) -> Pending:
    request = FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        isolation_level=1,
        session_epoch=-1,
        topics=[FetchTopic("orders", b"", [FetchPartition(0, -1, offset, partition_max_bytes=1 << 20)])],
        rack_id=rack,
    )
    return client.harness.client(node).send(ApiKey.FETCH, version, request)


def answer(client: EosClient, pending: Pending) -> PartitionData:
    client.harness.run_until(lambda: pending.is_over)
    data = pending.response.responses[0].partitions[0]  # type: ignore[union-attr]
    assert isinstance(data, PartitionData)
    return data


def in_step(client: EosClient) -> None:
    """Wait until every replica knows the same high watermark."""
    brokers = client.harness.core.brokers()
    client.harness.run_until(
        lambda: len({broker.replicas.partitions[ORDERS].log.high_watermark for broker in brokers}) == 1
    )


def test_the_leader_sends_a_consumer_to_the_follower_in_its_rack(client: EosClient) -> None:
    client.produce(None, ORDERS, ["value"])
    in_step(client)
    leader = client.leader(ORDERS)
    for node, rack in enumerate(RACKS, 1):
        data = answer(client, ask(client, leader, rack))
        if node == leader:
            assert (data.preferred_read_replica, bool(data.records)) == (-1, True)
        else:
            assert (data.preferred_read_replica, data.records, data.high_watermark) == (node, b"", 1)
            assert answer(client, ask(client, node, rack)).records
    for rack in ("", "elsewhere"):
        assert answer(client, ask(client, leader, rack)).preferred_read_replica == -1


def test_the_leader_redirects_a_consumer_without_waiting(client: EosClient) -> None:
    leader = client.leader(ORDERS)
    node = 1 + leader % 3
    client.produce(None, ORDERS, ["value"])
    in_step(client)
    begun = client.harness.loop.time()
    data = answer(client, ask(client, leader, RACKS[node - 1], offset=1, max_wait_ms=20_000))
    assert data.preferred_read_replica == node
    assert client.harness.loop.time() - begun < 1


def test_a_follower_serves_records_below_its_high_watermark(client: EosClient) -> None:
    follower = 1 + client.leader(ORDERS) % 3
    handle = client.init("app")
    client.produce(handle, ORDERS, ["aborted"])
    client.end(handle, commit=False)
    client.produce(None, ORDERS, ["kept"])
    in_step(client)
    leader_data, data = (answer(client, ask(client, node)) for node in (client.leader(ORDERS), follower))
    assert data == leader_data
    assert data.aborted_transactions
    end = data.high_watermark
    assert answer(client, ask(client, follower, offset=end)).records == b""
    assert answer(client, ask(client, follower, offset=end + 1)).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_consumer_that_waits_at_a_follower_gets_what_comes(client: EosClient) -> None:
    follower = 1 + client.leader(ORDERS) % 3
    client.produce(None, ORDERS, ["first"])
    in_step(client)
    begun = client.harness.loop.time()
    pending = ask(client, follower, offset=1, max_wait_ms=20_000)
    client.harness.advance(300)
    assert not pending.is_over
    client.produce(None, ORDERS, ["second"])
    assert answer(client, pending).records
    assert client.harness.loop.time() - begun < 5


def test_a_follower_that_is_not_in_sync_is_not_chosen(client: EosClient) -> None:
    leader = client.leader(ORDERS)
    node = 1 + leader % 3
    client.produce(None, ORDERS, ["value"])
    in_step(client)
    client.harness.kill(node)
    client.harness.advance(2000)
    assert answer(client, ask(client, leader, RACKS[node - 1])).preferred_read_replica == -1


def test_old_clients_read_from_the_leader_alone(client: EosClient) -> None:
    follower = 1 + client.leader(ORDERS) % 3
    client.produce(None, ORDERS, ["value"])
    in_step(client)
    assert answer(client, ask(client, follower, version=10)).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_without_a_selector_no_consumer_is_redirected(tmp_path: Path) -> None:
    client = start(tmp_path)
    leader = client.leader(ORDERS)
    client.produce(None, ORDERS, ["value"])
    in_step(client)
    data = answer(client, ask(client, leader, RACKS[leader % 3]))
    assert (data.preferred_read_replica, bool(data.records)) == (-1, True)
    client.harness.close()
