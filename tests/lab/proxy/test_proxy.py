"""The proxy on loopback: clients see only its addresses, and its faults are those of the sandbox's streams."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from eosctl.client import Client, Role, connect
from eosctl.client.consumer import IsolationLevel, Reader, list_offset
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, TransactionDialect, wait_until_ended
from eosctl.errors import UsageError
from eosctl.lab.proxy.proxy import FaultProxy, require_loopback
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.cluster import EmbeddedCluster
from eosctl.sandbox.faults.order import parse_order
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.describe_cluster import DescribeClusterRequest

CLOCK = itertools.count(1_790_000_000_000)


def config_of(bootstrap: str, **changes: int) -> ClientConfig:
    return replace(ClientConfig(parse_endpoints(bootstrap, "test")), **changes)  # type: ignore[arg-type]


def producer_of(client: Client, dialect: TransactionDialect | None = None) -> TransactionalProducer:
    return TransactionalProducer(client, "app", now_ms=lambda: next(CLOCK), dialect=dialect)


def play(
    scenario: Callable[[EmbeddedCluster, FaultProxy], Awaitable[None]], brokers: int = 1, emulate: str = "4.3"
) -> None:
    async def run() -> None:
        async with (
            EmbeddedCluster(brokers=brokers, emulate=emulate) as cluster,
            FaultProxy(config_of(cluster.bootstrap)) as proxy,
        ):
            await scenario(cluster, proxy)

    asyncio.run(run())


@asynccontextmanager
async def topic_through(proxy: FaultProxy, **changes: int) -> AsyncIterator[tuple[Client, TopicPartition]]:
    async with connect(config_of(proxy.bootstrap, **changes)) as client:
        found = await ensure_topic(client, "orders", partition_count=3)
        yield client, found.partitions[0].partition


async def visible(client: Client, partition: TopicPartition) -> list[bytes | None]:
    reader = await Reader.open(client, [partition], isolation=IsolationLevel.READ_COMMITTED)
    return [record.value for record in (await reader.drain(30_000)).get(partition, [])]


@pytest.mark.parametrize("emulate", ["3.9", "4.3"])
def test_clients_never_see_the_brokers_own_addresses(emulate: str) -> None:
    async def scenario(cluster: EmbeddedCluster, proxy: FaultProxy) -> None:
        own = set(cluster.bootstrap.split(","))
        async with topic_through(proxy) as (client, partition):
            producer = producer_of(client)
            await producer.init_transactions()
            for index in range(3):
                await producer.send(TopicPartition(partition.topic, index), [OutgoingRecord(None, b"x")])
            await producer.commit()
            await wait_until_ended(client, "app")
            assert await visible(client, partition) == [b"x"]
            described = await client.request(Role.ANY, ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
            seen = {str(each.endpoint) for each in client.cluster.brokers}
            seen |= {f"{broker.host}:{broker.port}" for broker in described.brokers}
        assert seen == set(proxy.bootstrap.split(","))
        assert not seen & own

    play(scenario, brokers=3, emulate=emulate)


def test_a_held_end_txn_does_not_hold_up_its_client() -> None:
    async def scenario(cluster: EmbeddedCluster, proxy: FaultProxy) -> None:
        async with topic_through(proxy, request_timeout_ms=1_000) as (client, partition):
            producer = producer_of(client, TV1)
            await producer.init_transactions()
            await producer.send(partition, [OutgoingRecord(None, b"first")])
            active = await proxy.faults.inject(parse_order("late-end-txn ms=10m count=1"))
            await producer.commit()
            await wait_until_ended(client, "app")
            await producer.send(partition, [OutgoingRecord(None, b"half")])
            assert active.hit_count == 1
            assert await visible(client, partition) == [b"first"]
            await proxy.faults.heal()
            assert [event.what for event in proxy.faults.events] == ["begins", "ends"]
            await producer.abort()

    play(scenario)


def test_a_disconnect_after_the_commit_leaves_it_committed() -> None:
    async def scenario(cluster: EmbeddedCluster, proxy: FaultProxy) -> None:
        async with topic_through(proxy) as (client, partition):
            producer = producer_of(client)
            await producer.init_transactions()
            await producer.send(partition, [OutgoingRecord(None, b"once")])
            order = parse_order("disconnect api=END_TXN side=answers count=1")
            active = await proxy.faults.inject(order)
            await producer.commit()
            await wait_until_ended(client, "app")
            assert active.hit_count == 1
            await proxy.faults.inject(parse_order("disconnect"))
            assert await list_offset(client, partition) == 2
            assert await visible(client, partition) == [b"once"]

    play(scenario)


@pytest.mark.parametrize("words", ["kill node=1", "late-markers ms=5", "skew ms=5 node=1", "delay from=1 to=2 ms=5"])
def test_what_only_a_node_can_suffer_is_refused(words: str) -> None:
    async def scenario(cluster: EmbeddedCluster, proxy: FaultProxy) -> None:
        with pytest.raises(UsageError, match="A proxy cannot do"):
            await proxy.faults.inject(parse_order(words))

    play(scenario)


@pytest.mark.parametrize("address", ["192.0.2.1:9092", "kafka.example:9092"])
def test_a_cluster_elsewhere_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="not on this machine"):
        require_loopback(parse_endpoints(address, "test"))
