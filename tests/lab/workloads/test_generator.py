"""The load generator on virtual time against the sandbox's own core: counts, schedules, failures."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from eosctl.client import Client, connect, transaction_coordinator
from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.topics import ensure_topic
from eosctl.errors import ClusterUnreachable, UsageError
from eosctl.lab.simulation import Simulation, simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.lab.workloads.generator import run_load
from eosctl.lab.workloads.load import Load, LoadReport, Profile
from eosctl.sandbox.core import ClusterShape
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.describe_transactions import DescribeTransactionsRequest

Scenario = Callable[[Simulation, Client], Awaitable[None]]


def play(directory: Path, scenario: Scenario, brokers: int = 1) -> None:
    async def run() -> None:
        shape = ClusterShape(broker_count=brokers, fast=True)
        async with (
            simulate(shape, directory, seed=1, max_latency_ms=1) as simulation,
            connect(simulation.config, connector=simulation.network, chance=random.Random(1)) as client,
        ):
            await ensure_topic(client, "bench", partition_count=6)
            await scenario(simulation, client)

    run_virtual(run())


async def put(simulation: Simulation, client: Client, load: Load) -> LoadReport:
    return await run_load(client, load, now_ms=simulation.now_ms, connector=simulation.network, cpu_s=lambda: 0.0)


async def committed_count(client: Client) -> int:
    topic = (await client.refresh_metadata(["bench"])).topic("bench")
    assert topic is not None
    partitions = [partition.partition for partition in topic.partitions]
    reader = await Reader.open(client, partitions, isolation=IsolationLevel.READ_COMMITTED)
    return sum(map(len, (await reader.drain(20_000)).values()))


@pytest.mark.parametrize("profile", [Profile.TV1, Profile.TV2, Profile.CTP1, Profile.CTP2])
def test_every_counted_transaction_is_committed_once(tmp_path: Path, profile: Profile) -> None:
    async def scenario(simulation: Simulation, client: Client) -> None:
        load = Load(profile, "bench", 2, 3, partition_count=2, transactions_per_id=5, warm_up_ms=0, duration_ms=60_000)
        report = await put(simulation, client, load)
        assert report.errors == {}
        assert report.completed_count == report.whole.recorded_count == 2 * 3 * 5
        assert await committed_count(client) == 2 * 3 * 5 * 2

    play(tmp_path, scenario)


def test_requests_reach_leaders_and_coordinators_of_a_cluster(tmp_path: Path) -> None:
    async def scenario(simulation: Simulation, client: Client) -> None:
        load = Load(Profile.CTP1, "bench", 1, 6, transactions_per_id=3, warm_up_ms=0, duration_ms=60_000)
        report = await put(simulation, client, load)
        assert (report.errors, report.completed_count) == ({}, 18)
        assert await committed_count(client) == 18

    play(tmp_path, scenario, brokers=3)


def test_an_open_loop_keeps_its_schedule_and_counts_from_it(tmp_path: Path) -> None:
    async def scenario(simulation: Simulation, client: Client) -> None:
        load = Load(Profile.TV1, "bench", 2, 8, rate_per_s=200, warm_up_ms=500, duration_ms=2_000)
        report = await put(simulation, client, load)
        assert report.rate_per_s == pytest.approx(200, rel=0.03)
        assert report.backlog_count <= 1

    play(tmp_path, scenario)


def test_a_backlog_counts_as_latency(tmp_path: Path) -> None:
    async def scenario(simulation: Simulation, client: Client) -> None:
        load = Load(Profile.TV1, "bench", 1, 1, rate_per_s=2_000, warm_up_ms=0, duration_ms=1_000)
        report = await put(simulation, client, load)
        assert report.rate_per_s < 1_000
        assert report.backlog_count == pytest.approx(2_000 - report.completed_count, rel=0.05)
        assert report.whole.max_ms > 10 * report.commit.max_ms  # from the scheduled start, not from the first request

    play(tmp_path, scenario)


def test_transactions_can_be_left_open(tmp_path: Path) -> None:
    async def scenario(simulation: Simulation, client: Client) -> None:
        load = Load(
            Profile.OPEN1, "bench", 1, 20, partition_count=3, transactions_per_id=1, warm_up_ms=0, duration_ms=60_000
        )
        assert (await put(simulation, client, load)).completed_count == 20
        question = DescribeTransactionsRequest(["load-19"])
        described = await client.request(transaction_coordinator("load-19"), ApiKey.DESCRIBE_TRANSACTIONS, question)
        state = described.transaction_states[0]
        assert (state.transaction_state, len(state.topics[0].partitions)) == ("Ongoing", 3)

    play(tmp_path, scenario)


def test_producers_that_are_fenced_are_counted_out_by_error(tmp_path: Path) -> None:
    async def scenario(simulation: Simulation, client: Client) -> None:
        first = Load(Profile.TV1, "bench", 1, 4, warm_up_ms=0, duration_ms=2_000, prefix="same")
        running = asyncio.ensure_future(put(simulation, client, first))
        await asyncio.sleep(0.5)
        second = Load(Profile.TV1, "bench", 1, 2, warm_up_ms=0, duration_ms=500, prefix="same")
        assert (await put(simulation, client, second)).errors == {}
        report = await running
        assert sum(report.errors.values()) == 2
        assert all("PRODUCER" in name for name in report.errors)
        assert report.completed_count > 0

    play(tmp_path, scenario)


def test_a_broken_connection_ends_the_load_with_an_error(tmp_path: Path) -> None:
    async def scenario(simulation: Simulation, client: Client) -> None:
        load = Load(Profile.TV1, "bench", 1, 2, warm_up_ms=0, duration_ms=60_000)
        running = asyncio.ensure_future(put(simulation, client, load))
        await asyncio.sleep(0.5)
        simulation.listeners[1].break_off()
        with pytest.raises(ClusterUnreachable, match="A connection of the load broke"):
            await running

    play(tmp_path, scenario)


def test_a_topic_that_is_too_small_is_refused(tmp_path: Path) -> None:
    async def scenario(simulation: Simulation, client: Client) -> None:
        with pytest.raises(UsageError, match="bench has no broker that leads 7 partitions"):
            await put(simulation, client, Load(Profile.TV1, "bench", partition_count=7))

    play(tmp_path, scenario)
