"""The clock of a live cluster can be set forward; due timers fire in order."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, wait_until_ended
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TransactionState
from eosctl.sandbox.clock import AdjustableClock, advance
from eosctl.sandbox.cluster import EmbeddedCluster
from eosctl.sandbox.core import ClusterCore
from eosctl.sandbox.runtime import NodeRuntime, Timers
from eosctl.sandbox.ticks import Ticks
from eosctl.settings.endpoints import parse_endpoints
from tests.sandbox.harness import VirtualLoop


class Busy:
    """Two nodes that are never idle."""

    def __init__(self, *nodes: NodeRuntime) -> None:
        self._nodes = nodes

    def timers(self) -> list[Timers]:
        return [node.timers for node in self._nodes]

    def liveness_timers(self) -> list[Timers]:
        return [node.liveness_timers for node in self._nodes]

    def idle_until(self) -> float:
        return 0

    def leapt(self, duration_s: float) -> None:
        raise AssertionError


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
    steps = asyncio.run(advance(clock, ticks, Busy(first, second), 10_000))
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


class Outcome(NamedTuple):
    """What can be observed after some time, and how long after its start the open transaction was aborted."""

    status: dict[str, Any]
    offsets: dict[str, tuple[int, int, int]]
    quorum_epochs: set[int]
    aborted_after_ms: float


PLACED = ("replicas", "isr")  # Where a partition is placed differs from cluster to cluster.
LIFE_S = 840
TIMEOUT_MS = 300_000
RETENTION = {
    "log.retention.ms": "600000",
    "log.retention.check.interval.ms": "60000",
    "log.segment.delete.delay.ms": "1000",
}


async def live(durations_s: Sequence[float]) -> Outcome:
    """Advance a cluster with an open transaction and a record that expires by some durations, one after the other."""
    async with EmbeddedCluster(brokers=3, fast=False, config=RETENTION) as cluster:
        core = cluster.core
        now_ms = core.broker(1).runtime.now_ms
        async with connect(ClientConfig(parse_endpoints(cluster.bootstrap, "test"))) as client:
            places = [
                (await ensure_topic(client, name, partition_count=1, replica_count=3)).partitions[0].partition
                for name in ("expiring", "orders")
            ]
            producer = TransactionalProducer(
                client, "app", now_ms=now_ms, transaction_timeout_ms=TIMEOUT_MS, dialect=TV1
            )
            await producer.init_transactions()
            await producer.send(places[0], [OutgoingRecord(None, b"x")])
            await producer.commit()
            began_ms = now_ms()
            await producer.send(places[1], [OutgoingRecord(None, b"x")])
            for duration_s in durations_s:
                await cluster.cluster.advance(duration_s * 1000)
            logs = {
                f"{place.topic} on {broker.node_id}": broker.replicas.partitions[place].log
                for broker in core.brokers()
                for place in places
            }
            (marker,) = [header for header, _ in logs["orders on 1"].batches() if header.is_control]
            status = cluster.cluster.status()
            partitions = sorted(status["partitions"], key=lambda one: (one["topic"], one["partition"]))
            return Outcome(
                {key: status[key] for key in ("controllers", "transactions")}
                | {"partitions": [one | {key: len(one[key]) for key in PLACED} | {"leader": 0} for one in partitions]},
                {name: (log.start_offset, log.high_watermark, log.end_offset) for name, log in logs.items()},
                {node.controller.quorum.epoch for node in core.nodes.values() if node.controller is not None},
                marker.max_timestamp - began_ms,
            )


@pytest.mark.parametrize("leaps", [True, False])
def test_one_jump_ends_as_many_small_steps_do(leaps: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without leaps, every heartbeat, fetch, and NoOpRecord in between takes place."""
    many = asyncio.run(live([LIFE_S / 40] * 40))
    if not leaps:
        monkeypatch.setattr(ClusterCore, "idle_until", lambda core: 0.0)
    once = asyncio.run(live([LIFE_S]))
    assert once._replace(aborted_after_ms=0) == many._replace(aborted_after_ms=0)
    assert [offsets[0] for name, offsets in once.offsets.items() if name.startswith("expiring")] == [2, 2, 2]
    for outcome in (once, many):
        assert TIMEOUT_MS <= outcome.aborted_after_ms < TIMEOUT_MS + 1_000


def test_hours_of_an_idle_cluster_take_few_steps() -> None:
    async def scenario() -> tuple[int, int]:
        async with EmbeddedCluster(brokers=3, controllers=3) as cluster:
            await cluster.cluster.advance(1_000)
            before_ms, controllers = cluster.core.broker(1).runtime.now_ms(), cluster.cluster.status()["controllers"]
            steps = await cluster.cluster.advance(2 * 3_600_000)
            await cluster.cluster.advance(1_000)
            assert cluster.core.is_ready
            assert cluster.cluster.status()["controllers"] == controllers, "no election"
            return steps, cluster.core.broker(1).runtime.now_ms() - before_ms

    steps, passed_ms = asyncio.run(scenario())
    assert steps < 7_200
    assert passed_ms >= 7_200_000


def test_a_killed_broker_is_fenced_while_the_clock_advances() -> None:
    async def scenario() -> None:
        async with EmbeddedCluster(brokers=3, fast=False) as cluster:
            await cluster.cluster.advance(60_000)
            await cluster.cluster.kill_broker(2)
            core = cluster.core
            (controller,) = [node.controller for node in core.nodes.values() if node.controller is not None]
            await cluster.cluster.advance(1_000)
            assert not controller.image.brokers[2].fenced
            await cluster.cluster.advance(2_000)
            assert controller.image.brokers[2].fenced
            await cluster.cluster.advance(600_000)
            await cluster.cluster.start_broker(2)
            await cluster.cluster.advance(5_000)
            assert core.is_ready
            assert [state.fenced for state in controller.image.brokers.values()] == [False] * 3

    asyncio.run(scenario())
