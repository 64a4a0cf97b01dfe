"""The clock of a live cluster can be set forward; due timers fire in order."""

from __future__ import annotations

import asyncio
import itertools
import time

import pytest

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, wait_until_ended
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TransactionState
from eosctl.sandbox.clock import AdjustableClock, advance
from eosctl.sandbox.cluster import EmbeddedCluster
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.ticks import Ticks
from eosctl.settings.endpoints import parse_endpoints
from tests.sandbox.harness import VirtualLoop


def test_timers_fire_in_order_and_at_their_time() -> None:
    happened: list[tuple[float, str]] = []
    clock = AdjustableClock(VirtualLoop())
    ticks = Ticks(clock)
    first, second = NodeRuntime(clock, ticks, 0.0), NodeRuntime(clock, ticks, 0.0)

    def note(name: str) -> None:
        happened.append((round(clock.time(), 3), name))

    def again() -> None:
        note("again")
        if clock.time() < 4.5:
            second.call_later(1_000, again)

    first.call_later(2_500, lambda: note("once"))
    second.call_later(1_000, again)
    clock.call_later(3.2, note, "frame")
    clock.call_later(3.3, note, "cancelled").cancel()
    first.call_later(60_000, lambda: note("too late"))
    steps = asyncio.run(advance(clock, ticks, lambda: [first.timers, second.timers], 10_000))
    assert happened == [
        (1, "again"),
        (2, "again"),
        (2.5, "once"),
        (3, "again"),
        (3.2, "frame"),
        (4, "again"),
        (5, "again"),
    ]
    assert clock.time() == pytest.approx(10)
    assert steps < 60
    assert (first.now_ms(), second.now_ms()) == (10_000, 10_000)


def test_a_transaction_times_out_in_a_moment() -> None:
    async def scenario() -> None:
        async with EmbeddedCluster(fast=False) as cluster:
            dated = itertools.count(int(time.time() * 1000))
            async with connect(ClientConfig(parse_endpoints(cluster.bootstrap, "test"))) as client:
                topic = await ensure_topic(client, "orders")
                producer = TransactionalProducer(
                    client, "app", now_ms=lambda: next(dated), transaction_timeout_ms=900_000, dialect=TV1
                )
                await producer.init_transactions()
                await producer.send(topic.partitions[0].partition, [OutgoingRecord(None, b"x")])
                await cluster.cluster.advance(899_000)
                (before,) = cluster.cluster.status()["transactions"]
                await cluster.cluster.advance(3_000)
                assert await wait_until_ended(client, "app") is TransactionState.COMPLETE_ABORT
                assert before["state"] == "Ongoing"

    asyncio.run(scenario())
