"""Broker, client, and workload in one loop on virtual time: exactly-once for every seed, with reproducible runs."""

from __future__ import annotations

import asyncio
import random
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import NamedTuple

import pytest

from eosctl.client import Client, connect
from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.topics import ensure_topic
from eosctl.lab.simulation import Simulation, simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.lab.workloads.transactional import Fate
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from tests.lab.workloads.applications import PipelinePlan, WriterPlan, WriterResult, run_pipeline, run_writer


class Seen(NamedTuple):
    """A record that a reader of committed data sees."""

    partition: TopicPartition
    offset: int
    value: bytes | None


class Ending(NamedTuple):
    """What a run came to."""

    written: tuple[WriterResult, ...]
    output: tuple[Seen, ...]
    ended_at: float


async def read_all(client: Client, partitions: tuple[TopicPartition, ...]) -> list[Seen]:
    reader = await Reader.open(client, partitions, isolation=IsolationLevel.READ_COMMITTED)
    found = await reader.drain(10_000)
    return [Seen(partition, r.offset, r.value) for partition in sorted(found) for r in found[partition]]


async def play(directory: Path, seed: int, killed: int | None) -> Ending:
    """Let three writers fill the input while a broker dies and returns; copy the input to the output exactly once."""
    async with (
        simulate(ClusterShape(broker_count=3, fast=True), directory, seed=seed) as simulation,
        client_of(simulation) as client,
    ):
        inputs = await topic(client, "inputs")
        outputs = await topic(client, "outputs")

        async def write(number: int) -> WriterResult:
            chance = random.Random(f"{seed}/{number}")
            async with client_of(simulation) as own:
                plan = WriterPlan(f"writer-{number}", inputs, transaction_count=8)
                return await run_writer(own, plan, chance=chance, now_ms=simulation.now_ms)

        async def disturb() -> None:
            if killed is not None:
                await asyncio.sleep(simulation.chance.uniform(0, 0.1))
                simulation.kill(killed)
                await asyncio.sleep(2)
                simulation.restart(killed)

        *written, _ = await asyncio.gather(write(1), write(2), write(3), disturb())
        plan = PipelinePlan("copy", "copiers", inputs, outputs, batch_size=3)
        await run_pipeline(client, plan, now_ms=simulation.now_ms)
        assert await run_pipeline(client, plan, now_ms=simulation.now_ms) == 0  # nothing is done a second time
        output = await read_all(client, outputs)
        return Ending(tuple(written), tuple(output), asyncio.get_running_loop().time())


def client_of(simulation: Simulation) -> AbstractAsyncContextManager[Client]:
    return connect(simulation.config, connector=simulation.network, chance=random.Random(simulation.chance.random()))


async def topic(client: Client, name: str) -> tuple[TopicPartition, ...]:
    found = await ensure_topic(client, name, partition_count=2)
    return tuple(partition.partition for partition in found.partitions)


def check_exactly_once(ending: Ending) -> None:
    copied = [seen.value for seen in ending.output]
    certain = [v for r in ending.written for t in r.transactions if t.fate is Fate.COMMITTED for _, v in t.values]
    possible = [v for r in ending.written for t in r.transactions if t.fate is not Fate.ABORTED for _, v in t.values]
    assert len(copied) == len(set(copied))
    assert set(certain) <= set(copied) <= set(possible)
    assert certain


@pytest.mark.parametrize(("seed", "killed"), [(1, None), (2, 1), (3, 2), (4, 3)])
def test_every_committed_record_is_copied_exactly_once(tmp_path: Path, seed: int, killed: int | None) -> None:
    ending = run_virtual(play(tmp_path, seed, killed), seed)
    check_exactly_once(ending)


def test_stalled_connections_are_overtaken_by_new_ones(tmp_path: Path) -> None:
    async def stall() -> tuple[float, float]:
        now = asyncio.get_running_loop().time
        async with (
            simulate(ClusterShape(fast=True), tmp_path, seed=1) as simulation,
            client_of(simulation) as old,
        ):
            simulation.stall_clients(1, 2_000)
            began = now()
            asking = asyncio.ensure_future(old.refresh_metadata([]))
            async with client_of(simulation):
                connected = now()
            await asking
            return connected - began, now() - began

    new, old = run_virtual(stall())
    assert new < 0.1
    assert 2 <= old < 2.1


def test_runs_depend_on_the_seed_alone(tmp_path: Path) -> None:
    first, again, other = (
        run_virtual(play(tmp_path / name, seed, 2), seed) for name, seed in (("a", 5), ("b", 5), ("c", 6))
    )
    assert first == again
    assert first != other
