"""The clock of a live cluster can be set forward; due timers fire in order."""

from __future__ import annotations

import asyncio
import itertools
import time
from functools import partial
from itertools import pairwise

import pytest

from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, wait_until_ended
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TransactionState
from eosctl.sandbox.clock import LONGEST_SKIP_S, AdjustableClock, advance
from eosctl.sandbox.cluster import EmbeddedCluster
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.ticks import Ticks
from eosctl.sandbox.timing_wheel import Pace
from eosctl.settings.clusters.endpoints import parse_endpoints
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


def run_skipping(*paces: Pace, calm_s: float = float("inf")) -> tuple[list[tuple[int, str]], int]:
    """Advance by an hour with a timer of each pace every second; return what ran, by wall clock, and the steps."""
    happened: list[tuple[int, str]] = []
    clock = AdjustableClock(VirtualLoop())
    ticks = Ticks(clock)
    node = NodeRuntime(clock, ticks, 0.0)

    def every(pace: Pace) -> None:
        happened.append((node.now_ms(), pace.name))
        node.call_later(1_000, partial(every, pace), pace)

    for pace in paces:
        node.call_later(1_000, partial(every, pace), pace)
    node.call_later(1_800_000, lambda: happened.append((node.now_ms(), "act")))
    steps = asyncio.run(advance(clock, ticks, lambda: [node.timers], 3_600_000, lambda: calm_s))
    assert node.now_ms() == 3_600_000
    return happened, steps


def test_time_in_which_nodes_only_wait_is_skipped() -> None:
    happened, steps = run_skipping(Pace.SCAN, Pace.KEEP_ALIVE)
    assert [at_ms for at_ms, name in happened if name == "act"] == [1_800_000]
    checks = [at_ms for at_ms, name in happened if name == "SCAN"]
    assert steps < 100
    assert len(checks) < 50
    assert max(after - before for before, after in pairwise([0, *checks, 3_600_000])) <= LONGEST_SKIP_S * 1000 + 1_000
    # Messages that keep nodes alive wait as long as before, by the clock of the timers.
    assert len([name for _, name in happened if name == "KEEP_ALIVE"]) < 20


@pytest.mark.parametrize(("pace", "calm_s"), [(Pace.HOLD, float("inf")), (Pace.ACT, float("inf")), (Pace.SCAN, 0.0)])
def test_no_time_is_skipped_while_something_is_in_flight(pace: Pace, calm_s: float) -> None:
    happened, _ = run_skipping(pace, calm_s=calm_s)
    assert [at_ms for at_ms, name in happened if name == pace.name] == list(range(1_000, 3_600_001, 1_000))


def test_nothing_is_skipped_beyond_the_calm_time() -> None:
    happened, _ = run_skipping(Pace.SCAN, calm_s=1_000)
    checks = [at_ms for at_ms, name in happened if name == "SCAN"]
    assert len([at_ms for at_ms in checks if at_ms < 1_000_000]) < 20
    assert len([at_ms for at_ms in checks if at_ms > 1_000_000]) > 2_500


def test_a_week_passes_with_a_transaction_and_a_dead_broker() -> None:
    async def scenario() -> int:
        async with EmbeddedCluster(brokers=3, fast=False) as cluster:
            dated = itertools.count(int(time.time() * 1000))
            async with connect(ClientConfig(parse_endpoints(cluster.bootstrap, "test"))) as client:
                topic = await ensure_topic(client, "orders")
                producer = TransactionalProducer(
                    client, "app", now_ms=lambda: next(dated), transaction_timeout_ms=900_000, dialect=TV1
                )
                await producer.init_transactions()
                await producer.send(topic.partitions[0].partition, [OutgoingRecord(None, b"x")])
                await cluster.cluster.kill_broker(3)
                await cluster.cluster.advance(890_000)
                (before,) = cluster.cluster.status()["transactions"]
                await cluster.cluster.advance(40_000)
                assert before["state"] == "Ongoing"
                assert cluster.cluster.status()["transactions"] == []
                steps = await cluster.cluster.advance(7 * 86_400_000 + 7_200_000)
                coordinators = [node.broker.transactions for node in cluster.cluster.core.nodes.values() if node.broker]
                states = [state for one in coordinators for state in one.states.loaded_partitions()]
                assert states and not any(state.transactions for state in states)  # An id expires after a week.
                controller = cluster.cluster.core.nodes[100].controller
                assert controller is not None
                assert [broker.broker_id for broker in controller.image.active_brokers()] == [1, 2]
                return steps

    assert asyncio.run(scenario()) < 100_000  # Without skipping, heartbeats alone are a million.


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
