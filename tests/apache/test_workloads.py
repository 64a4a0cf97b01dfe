"""Producers, applications, and the load generator on real Kafka: their reports match the records."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable

import pytest

from eosctl.client import Client, connect
from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, TV2, TransactionDialect, wait_until_ended
from eosctl.lab.apache.nodes import ApacheNodes
from eosctl.lab.workloads.generator import run_load
from eosctl.lab.workloads.load import Load, Profile
from eosctl.lab.workloads.transactional import Fate
from eosctl.model.client_config import ClientConfig
from eosctl.model.transaction import TopicPartition
from eosctl.services.callbacks import system_now_ms
from eosctl.settings.clusters.endpoints import parse_endpoints
from tests.lab.workloads.applications import PipelinePlan, WriterPlan, run_pipeline, run_writer

_names = itertools.count()


def play(engine: ApacheNodes, scenario: Callable[[Client, str], Awaitable[None]]) -> None:
    async def run() -> None:
        async with connect(ClientConfig(parse_endpoints(engine.bootstrap, "test"))) as client:
            await scenario(client, f"work-{next(_names)}")

    asyncio.run(run())


async def topic_of(client: Client, name: str) -> tuple[TopicPartition, ...]:
    topic = await ensure_topic(client, name, partition_count=4)
    return tuple(partition.partition for partition in topic.partitions)


async def committed_values(client: Client, partitions: tuple[TopicPartition, ...]) -> list[bytes | None]:
    reader = await Reader.open(client, partitions, isolation=IsolationLevel.READ_COMMITTED)
    return [record.value for records in (await reader.drain(20_000)).values() for record in records]


async def load_and_count(client: Client, name: str, profile: Profile) -> None:
    partitions = await topic_of(client, name)
    load = Load(
        profile, name, 2, 3, partition_count=2, transactions_per_id=4, warm_up_ms=0, duration_ms=60_000, prefix=name
    )
    report = await run_load(client, load, now_ms=system_now_ms)
    assert (report.errors, report.completed_count) == ({}, 2 * 3 * 4)
    for number in range(load.id_count):
        await wait_until_ended(client, f"{name}-{number}")
    assert len(await committed_values(client, partitions)) == 2 * 3 * 4 * 2


@pytest.mark.parametrize("profile", [Profile.TV1, Profile.CTP1])
def test_load_as_older_clients_send_it_is_committed(apache: ApacheNodes, profile: Profile) -> None:
    play(apache, lambda client, name: load_and_count(client, name, profile))


@pytest.mark.parametrize("profile", [Profile.TV2, Profile.CTP2])
def test_load_of_transaction_version_2_is_committed(apache_4_3: ApacheNodes, profile: Profile) -> None:
    play(apache_4_3, lambda client, name: load_and_count(client, name, profile))


async def copy_exactly_once(client: Client, name: str, dialect: TransactionDialect) -> None:
    inputs, outputs = await topic_of(client, f"{name}-in"), await topic_of(client, f"{name}-out")
    plan = WriterPlan(f"{name}-writer", inputs, transaction_count=15, abort_share=0.4, dialect=dialect)
    written = await run_writer(client, plan, chance=random.Random(1), now_ms=system_now_ms)
    await wait_until_ended(client, plan.transactional_id)
    assert not written.fenced
    committed = [value for t in written.transactions if t.fate is Fate.COMMITTED for _, value in t.values]

    pipeline = PipelinePlan(f"{name}-copy", f"{name}-group", inputs, outputs, batch_size=4, dialect=dialect)
    assert await run_pipeline(client, pipeline, now_ms=system_now_ms) == len(committed)
    assert await run_pipeline(client, pipeline, now_ms=system_now_ms) == 0
    await wait_until_ended(client, pipeline.transactional_id)
    assert sorted(value or b"" for value in await committed_values(client, outputs)) == sorted(committed)


def test_consume_transform_produce_is_exactly_once(apache: ApacheNodes) -> None:
    play(apache, lambda client, name: copy_exactly_once(client, name, TV1))


def test_consume_transform_produce_is_exactly_once_at_tv2(apache_4_3: ApacheNodes) -> None:
    play(apache_4_3, lambda client, name: copy_exactly_once(client, name, TV2))
