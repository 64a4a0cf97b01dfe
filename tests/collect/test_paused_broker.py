"""A broker that accepts connections and answers nothing: what a collection waits for, and what it reports."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from eosctl.client.client import connect
from eosctl.client.deadline import Deadline
from eosctl.client.opening import HEAD_START_S
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.reader import ReadOnly
from eosctl.lab.simulation import simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.sandbox.core import ClusterShape

PAUSED = 2
# Longer than any test: the broker stays a registered, unfenced member of the cluster.
SETTINGS = {"broker.session.timeout.ms": "3600000", "transaction.state.log.replication.factor": "3"}


def collect_from_two_of_three(folder: Path, seed: int, timeout_ms: int | None) -> tuple[ClusterSnapshot, float]:
    """Return the evidence of a cluster with a paused broker, and the seconds that collecting took."""

    async def scenario() -> tuple[ClusterSnapshot, float]:
        async with simulate(ClusterShape(broker_count=3, settings=SETTINGS), folder, seed=1) as simulation:
            await asyncio.sleep(5)
            simulation.core.pause_node(PAUSED)
            loop = asyncio.get_running_loop()
            began_s = loop.time()
            deadline = None if timeout_ms is None else Deadline.after(timeout_ms)
            options = {"connector": simulation.network, "chance": random.Random(seed), "allowed_apis": READ_ONLY_APIS}
            async with connect(simulation.config, **options) as client:
                reader = ReadOnly(client, deadline)
                snapshot = await collect_snapshot(reader, Observer(simulation.now_ms))
            return snapshot, loop.time() - began_s

    return run_virtual(scenario())


@pytest.mark.parametrize("seed", range(3))
def test_a_paused_broker_costs_one_timeout_in_total(tmp_path: Path, seed: int) -> None:
    snapshot, lasted_s = collect_from_two_of_three(tmp_path, seed, None)
    one_timeout_s, looks_s = 5, 2
    assert one_timeout_s <= lasted_s < one_timeout_s + HEAD_START_S + looks_s
    assert [broker.reachable for broker in snapshot.brokers] == [True, False, True]


@pytest.mark.parametrize("timeout_ms", [1_000, 3_000])
def test_a_collection_ends_in_time_and_reports_what_it_missed(tmp_path: Path, timeout_ms: int) -> None:
    snapshot, lasted_s = collect_from_two_of_three(tmp_path, 1, timeout_ms)
    assert lasted_s <= timeout_ms / 1000 + 0.001
    missed = {gap.kind for gap in snapshot.gaps}
    assert {EvidenceKind.TRANSACTIONS, EvidenceKind.GROUPS, EvidenceKind.QUORUM} <= missed
