"""Repeated readings of a busy cluster on virtual time: no active transaction counts as hanging."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from eosctl.analysis.hanging import classify_open_transactions
from eosctl.client import Client, connect
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, TV2
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.errors import EosctlError
from eosctl.lab.simulation import Simulation, simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import HangStatus, HangVerdict
from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from tests.lab.workloads.applications import WriterPlan, run_writer

KINDS = frozenset(
    {
        EvidenceKind.TRANSACTIONS,
        EvidenceKind.PRODUCERS,
        EvidenceKind.BROKER_CONFIGS,
        EvidenceKind.TRANSACTION_HISTORY,
    }
)
WRONG = frozenset({HangStatus.HANGING, HangStatus.STALLED, HangStatus.LATE})
LOOKS = 20


def client_of(simulation: Simulation) -> AbstractAsyncContextManager[Client]:
    chance = random.Random(simulation.chance.getrandbits(64))
    return connect(simulation.config, connector=simulation.network, chance=chance)


async def watch(directory: Path, seed: int, *, killed: int | None) -> list[HangVerdict]:
    """Look while six writers work, two of them with one id, and one broker may die and return."""
    verdicts: list[HangVerdict] = []
    async with (
        simulate(ClusterShape(broker_count=3, fast=True), directory, seed=seed) as simulation,
        client_of(simulation) as client,
    ):
        found = await ensure_topic(client, "busy")
        partitions = tuple(info.partition for info in found.partitions)
        stop = asyncio.Event()
        writers = [
            asyncio.create_task(write(simulation, partitions, f"writer-{number % 5}", seed * 100 + number, stop))
            for number in range(6)
        ]
        for number in range(LOOKS):
            if number == LOOKS // 3 and killed is not None:
                simulation.kill(killed)
            if number == 2 * LOOKS // 3 and killed is not None:
                simulation.restart(killed)
            verdicts += await look(simulation)
        stop.set()
        await asyncio.gather(*writers)
    return verdicts


async def write(
    simulation: Simulation, partitions: tuple[TopicPartition, ...], name: str, seed: int, stop: asyncio.Event
) -> None:
    chance = random.Random(seed)
    while not stop.is_set():
        dialect = TV1 if seed % 2 else TV2
        plan = WriterPlan(name, partitions, transaction_count=5, abort_share=0.3, dialect=dialect)
        try:
            async with client_of(simulation) as client:
                await run_writer(client, plan, chance=chance, now_ms=simulation.now_ms)
        except EosctlError:
            await asyncio.sleep(0.05)


async def look(simulation: Simulation) -> tuple[HangVerdict, ...]:
    observer = Observer(simulation.now_ms, second_look_after_ms=simulation.chance.choice((1, 5, 20, 100)))
    try:
        async with connect(simulation.config, connector=simulation.network, allowed_apis=READ_ONLY_APIS) as client:
            return classify_open_transactions(await collect_snapshot(client, observer, KINDS))
    except EosctlError:
        return ()


@pytest.mark.parametrize(("seed", "killed"), [(1, None), (2, 1), (3, 3)])
def test_no_false_alarm_under_load(seed: int, killed: int | None, tmp_path: Path) -> None:
    verdicts = run_virtual(watch(tmp_path, seed, killed=killed))
    seen = Counter(verdict.status for verdict in verdicts)
    assert not WRONG & set(seen), [v for v in verdicts if v.status in WRONG]
    assert seen[HangStatus.OPEN] > 0
    assert not any(verdict.can_abort for verdict in verdicts)
