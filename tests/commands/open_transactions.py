"""Open transactions, and transactions without a marker, which need the bytes of clients and the loss of brokers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from eosctl.client import Client, connect
from eosctl.client.destinations import transaction_coordinator
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TransactionDialect, wait_until_ended
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints
from eosctl.testing import SandboxThread


def on(bootstrap: str | ClientConfig, work: Callable[[Client], Awaitable[Any]]) -> Any:
    """Run a coroutine with a client of its own."""

    async def run() -> Any:
        config = bootstrap
        if isinstance(config, str):
            config = ClientConfig(parse_endpoints(config, "test"), client_id="forensics")
        async with connect(config, chance=random.Random(5)) as client:
            return await work(client)

    return asyncio.run(run())


def record(name: str) -> OutgoingRecord:
    return OutgoingRecord(name.encode(), b"{}")


class Opened(NamedTuple):
    """An open transaction."""

    partition: TopicPartition
    transactional_id: str
    producer_id: int
    producer_epoch: int
    first_offset: int


async def leave_open(
    client: Client,
    transactional_id: str,
    *,
    topic: str = "orders",
    timeout_ms: int = 60_000,
    dialect: TransactionDialect | None = None,
) -> Opened:
    """Write two records in a transaction that stays open."""
    found = await ensure_topic(client, topic, partition_count=1, replica_count=1)
    partition = found.partitions[0].partition
    producer = TransactionalProducer(
        client, transactional_id, now_ms=system_now_ms, transaction_timeout_ms=timeout_ms, dialect=dialect
    )
    identity = await producer.init_transactions()
    first = await producer.send(partition, [record("a"), record("b")])
    return Opened(partition, transactional_id, identity.producer_id, identity.producer_epoch, first)


def skip_marker(
    bootstrap: str | ClientConfig,
    stop: Callable[[int], None],
    start: Callable[[int], None],
    *,
    committed: bool,
    dialect: TransactionDialect | None,
    transactional_id: str = "shop-0",
    topic: str = "orders",
) -> Opened:
    """End a transaction while its partition has no leader, and bring the leader back (KAFKA-20734)."""

    async def write(client: Client) -> tuple[Opened, int]:
        found = await ensure_topic(client, topic, partition_count=6, replica_count=1)
        producer = TransactionalProducer(client, transactional_id, now_ms=system_now_ms, dialect=dialect)
        identity = await producer.init_transactions()
        coordinator = await client.node_id(transaction_coordinator(transactional_id))
        leader, partition = next(
            (p.leader_id, p.partition) for p in found.partitions if p.leader_id not in (None, coordinator)
        )
        first = await producer.send(partition, [record("a"), record("b")])
        opened = Opened(partition, transactional_id, identity.producer_id, identity.producer_epoch, first)
        assert leader is not None
        await asyncio.to_thread(stop, leader)
        await producer.end(committed=committed)
        await wait_until_ended(client, transactional_id)
        return opened, leader

    opened, leader = on(bootstrap, write)
    start(leader)
    on(bootstrap, lambda client: ensure_topic(client, topic))
    return opened


def unhurried(**settings: str) -> SandboxThread:
    """A broker with long timeouts that scans for timed-out transactions frequently."""
    return SandboxThread(
        fast=False, config={"transaction.abort.timed.out.transaction.cleanup.interval.ms": "200"} | settings
    )
