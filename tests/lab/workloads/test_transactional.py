"""The applications under failure: what they report is what a reader finds."""

from __future__ import annotations

import asyncio
import dataclasses
import random
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from msgspec.structs import replace

from eosctl.client import Client, connect
from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.producer_errors import ProducerFenced
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, TV2, GroupIdentity, OffsetToCommit, TransactionDialect
from eosctl.lab.simulation import Simulation, simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.lab.workloads.transactional import Fate, attempt_transaction
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.wire.records.record import Record
from tests.lab.workloads.applications import PipelinePlan, WriterPlan, WriterResult, run_pipeline, run_writer

Scenario = Callable[[Simulation, Client, tuple[TopicPartition, ...]], Awaitable[None]]


def play(directory: Path, scenario: Scenario, seed: int = 1) -> None:
    async def run() -> None:
        async with (
            simulate(ClusterShape(fast=True), directory, seed=seed) as simulation,
            connect(simulation.config, connector=simulation.network, chance=random.Random(seed)) as client,
        ):
            topic = await ensure_topic(client, "events", partition_count=2)
            await scenario(simulation, client, tuple(partition.partition for partition in topic.partitions))

    run_virtual(run(), seed)


def impatient(simulation: Simulation) -> AbstractAsyncContextManager[Client]:
    """Open a client that gives up after a second."""
    config = replace(simulation.config, timeout_ms=1_000, request_timeout_ms=200)
    return connect(config, connector=simulation.network, chance=random.Random(2))


async def committed_values(client: Client, partitions: tuple[TopicPartition, ...]) -> list[bytes | None]:
    reader = await Reader.open(client, partitions, isolation=IsolationLevel.READ_COMMITTED)
    return [record.value for records in (await reader.drain(20_000)).values() for record in records]


def values_of(result: WriterResult, *fates: Fate) -> set[bytes]:
    return {value for t in result.transactions if t.fate in fates for _, value in t.values}


@pytest.mark.parametrize("seed", range(4))
def test_a_disconnected_writer_reports_unknown_outcomes(tmp_path: Path, seed: int) -> None:
    async def scenario(simulation: Simulation, client: Client, partitions: tuple[TopicPartition, ...]) -> None:
        done = asyncio.Event()

        async def disturb() -> None:
            while not done.is_set():
                await asyncio.sleep(simulation.chance.uniform(0.005, 0.05))
                simulation.listeners[1].break_off()

        async with impatient(simulation) as own:
            disturbing = asyncio.ensure_future(disturb())
            plan = WriterPlan("writer", partitions, transaction_count=60, max_records=2)
            result = await run_writer(own, plan, chance=random.Random(seed), now_ms=simulation.now_ms)
            done.set()
            await disturbing
        copied = await committed_values(client, partitions)
        assert not result.fenced
        assert len(copied) == len(set(copied))
        assert values_of(result, Fate.COMMITTED) <= set(copied)
        assert set(copied) <= values_of(result, Fate.COMMITTED, Fate.UNKNOWN)

    play(tmp_path, scenario, seed)


def test_a_fenced_writer_stops_and_says_so(tmp_path: Path) -> None:
    async def scenario(simulation: Simulation, client: Client, partitions: tuple[TopicPartition, ...]) -> None:
        plan = WriterPlan("same", partitions, transaction_count=1_000)
        first = asyncio.ensure_future(run_writer(client, plan, chance=random.Random(1), now_ms=simulation.now_ms))
        await asyncio.sleep(0.5)
        second = dataclasses.replace(plan, transaction_count=3, abort_share=0.0)
        done = await run_writer(client, second, chance=random.Random(2), now_ms=simulation.now_ms)
        fenced = await first
        assert fenced.fenced
        assert len(fenced.transactions) < 1_000
        assert fenced.transactions[-1].fate is Fate.UNKNOWN
        assert {t.fate for t in done.transactions} == {Fate.COMMITTED}

    play(tmp_path, scenario)


@pytest.mark.parametrize("dialect", [TV1, TV2])
def test_a_timed_out_transaction_stays_aborted(tmp_path: Path, dialect: TransactionDialect) -> None:
    async def scenario(simulation: Simulation, client: Client, partitions: tuple[TopicPartition, ...]) -> None:
        producer = TransactionalProducer(
            client, "slow", now_ms=simulation.now_ms, transaction_timeout_ms=500, dialect=dialect
        )
        await producer.init_transactions()

        async def write(value: bytes, pause_s: float) -> None:
            await producer.send(partitions[0], [OutgoingRecord(None, value)])
            await asyncio.sleep(pause_s)

        if dialect is TV1:
            with pytest.raises(ProducerFenced):
                await attempt_transaction(producer, lambda: write(b"late", 30))
            await producer.init_transactions()
        else:
            # EndTxn 5 with the epoch before the coordinator's own abort counts as the repetition of an old request,
            # with another outcome: INVALID_TXN_STATE, and the producer may continue with its identity (KIP-890).
            assert await attempt_transaction(producer, lambda: write(b"late", 30)) is Fate.UNKNOWN
        assert await attempt_transaction(producer, lambda: write(b"next", 0)) is Fate.COMMITTED
        assert await committed_values(client, partitions) == [b"next"]

    play(tmp_path, scenario)


def test_failed_work_is_aborted_and_the_producer_continues(tmp_path: Path) -> None:
    async def scenario(simulation: Simulation, client: Client, partitions: tuple[TopicPartition, ...]) -> None:
        producer = TransactionalProducer(client, "clumsy", now_ms=simulation.now_ms)
        await producer.init_transactions()

        async def clumsy() -> None:
            await producer.send(partitions[0], [OutgoingRecord(None, b"lost")])
            unknown_member = GroupIdentity("group", generation_id=7, member_id="nobody")
            await producer.send_offsets(unknown_member, {partitions[0]: OffsetToCommit(1)})

        async def careful() -> None:
            await producer.send(partitions[0], [OutgoingRecord(None, b"kept")])

        assert await attempt_transaction(producer, clumsy) is Fate.ABORTED
        assert await attempt_transaction(producer, careful, aborts=True) is Fate.ABORTED
        assert await attempt_transaction(producer, careful) is Fate.COMMITTED
        assert await committed_values(client, partitions) == [b"kept"]

    play(tmp_path, scenario)


def test_a_pipeline_transforms_only_committed_records(tmp_path: Path) -> None:
    async def scenario(simulation: Simulation, client: Client, partitions: tuple[TopicPartition, ...]) -> None:
        output = (await ensure_topic(client, "results", partition_count=1)).partitions[0].partition
        plan = WriterPlan("writer", partitions, transaction_count=12, abort_share=0.5)
        written = await run_writer(client, plan, chance=random.Random(3), now_ms=simulation.now_ms)

        def shout(record: Record) -> OutgoingRecord:
            return OutgoingRecord(record.key, (record.value or b"").upper())

        pipeline = PipelinePlan("shouter", "shouters", partitions, (output,), batch_size=4)
        count = await run_pipeline(client, pipeline, now_ms=simulation.now_ms, transform=shout)
        expected = {value.upper() for value in values_of(written, Fate.COMMITTED)}
        assert set(await committed_values(client, (output,))) == expected
        assert count == len(expected)

    play(tmp_path, scenario)
