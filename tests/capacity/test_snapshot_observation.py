"""Two saved snapshots show the workload between them; a single one shows at least its transactions."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from eosctl.capacity.observation import write_observed
from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.snapshot_observation import observe_snapshots
from eosctl.capacity.workload_file import parse_workload
from eosctl.client import Client, connect
from eosctl.client.topics import ensure_topic
from eosctl.collect.bundles.snapshot_file import save_snapshot
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.errors import EosctlError
from eosctl.lab.simulation import Simulation, simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.lab.workloads.generator import run_load
from eosctl.lab.workloads.load import Load, Profile
from eosctl.model.capacity_plan import CapacityPlan
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.sandbox.core import ClusterShape
from tests.commands.conftest import eosctl

APART_MS = 4_000
CONSUMING = Load(Profile.CTP2, "orders", 2, 3, partition_count=2, record_bytes=300, rate_per_s=40, warm_up_ms=0,
                 duration_ms=6_500, prefix="pipeline")  # fmt: skip
SECOND = Load(Profile.TV1, "payments", 1, 2, partition_count=1, record_bytes=300, rate_per_s=15, warm_up_ms=0,
              duration_ms=6_500, prefix="till")  # fmt: skip


def capture(directory: Path) -> tuple[ClusterSnapshot, ClusterSnapshot]:
    async def load(simulation: Simulation, client: Client, what: Load) -> None:
        await run_load(client, what, now_ms=simulation.now_ms, connector=simulation.network, cpu_s=lambda: 0.0)

    async def run() -> tuple[ClusterSnapshot, ClusterSnapshot]:
        async with (
            simulate(ClusterShape(broker_count=1, fast=True), directory, seed=1, max_latency_ms=2) as simulation,
            connect(simulation.config, connector=simulation.network, chance=random.Random(1)) as client,
            connect(simulation.config, connector=simulation.network, chance=random.Random(2)) as observer,
        ):
            await ensure_topic(client, "orders", partition_count=6)
            await ensure_topic(client, "payments", partition_count=2)
            loads = [asyncio.create_task(load(simulation, client, what)) for what in (CONSUMING, SECOND)]
            await asyncio.sleep(1)
            first = await collect_snapshot(observer, Observer(simulation.now_ms))
            await asyncio.sleep(APART_MS / 1000)
            second = await collect_snapshot(observer, Observer(simulation.now_ms))
            await asyncio.gather(*loads)
            return first, second

    found: tuple[ClusterSnapshot, ClusterSnapshot] = run_virtual(run())
    return found


@pytest.fixture(scope="module")
def snapshots(tmp_path_factory: pytest.TempPathFactory) -> tuple[ClusterSnapshot, ClusterSnapshot]:
    return capture(tmp_path_factory.mktemp("snapshots"))


def planned(earlier: ClusterSnapshot | None, later: ClusterSnapshot) -> CapacityPlan:
    return plan_capacity(parse_workload(write_observed("seen", observe_snapshots(earlier, later, 300)), "seen.yaml"))


def test_two_snapshots_give_the_rates_between_them(snapshots: tuple[ClusterSnapshot, ClusterSnapshot]) -> None:
    plan = planned(*snapshots)
    topics = {topic.name: topic for topic in plan.topics}
    assert plan.transactions_per_s == pytest.approx(55, rel=0.1)
    assert topics["orders"].markers_per_s == pytest.approx(80, rel=0.1)
    assert topics["payments"].markers_per_s == pytest.approx(15, rel=0.1)
    assert topics["orders"].data_batches_per_s * topics["orders"].batch_records == pytest.approx(80, rel=0.1)
    assert topics["__transaction_state"].data_batches_per_s == pytest.approx(40 * 4 + 15 * 3, rel=0.1)
    assert topics["__consumer_offsets"].markers_per_s == pytest.approx(40, rel=0.1)
    assert planned(snapshots[1], snapshots[0]) == plan


def test_a_snapshot_gives_transactions_and_a_record_bound(
    snapshots: tuple[ClusterSnapshot, ClusterSnapshot],
) -> None:
    observed = observe_snapshots(None, snapshots[1], 300)
    assert "lower bounds" in write_observed("seen", observed)
    plan = planned(None, snapshots[1])
    assert plan.transactions_per_s == pytest.approx(55, rel=0.1)
    assert {t.name: t.markers_per_s for t in plan.topics}["orders"] == pytest.approx(80, rel=0.1)


def test_a_log_that_was_read_in_part_is_scaled(snapshots: tuple[ClusterSnapshot, ClusterSnapshot]) -> None:
    first, second = snapshots
    # A busy log partition is kept for a shorter time than a calm one.
    newest = second.captured_at_ms - 2_000
    cut = replace(
        second,
        transaction_history=tuple(
            e for e in second.transaction_history if e.log_partition % 2 or e.written_at_ms > newest
        ),
    )
    assert planned(first, cut).transactions_per_s == pytest.approx(55, rel=0.1)


def test_unusable_snapshots_are_refused(snapshots: tuple[ClusterSnapshot, ClusterSnapshot]) -> None:
    first, second = snapshots
    with pytest.raises(EosctlError, match="different clusters"):
        observe_snapshots(replace(first, cluster_id="other"), second, 300)
    with pytest.raises(EosctlError, match="no transaction that ended"):
        observe_snapshots(first, replace(second, transaction_history=()), 300)
    with pytest.raises(EosctlError, match="no transaction that ended"):
        observe_snapshots(None, replace(second, transaction_history=()), 300)


def test_the_command_reads_snapshot_files(snapshots: tuple[ClusterSnapshot, ClusterSnapshot], tmp_path: Path) -> None:
    for name, snapshot in zip(("a.json", "b.json"), snapshots, strict=True):
        save_snapshot(snapshot, tmp_path / name)
    both = ("--snapshot", tmp_path / "a.json", "--snapshot", tmp_path / "b.json")
    done = eosctl("capacity", "observe", tmp_path / "w.yaml", *both, "--value", "300 B")
    assert (done.code, done.err) == (0, "")
    assert eosctl("capacity", "plan", tmp_path / "w.yaml").code == 0
    for wrong, complaint in (
        (both, "--value is missing"),
        ((*both, "--value", "300"), "has no unit"),
        ((*both, "--value", "1 B", "-b", "127.0.0.1:1"), "cannot be combined with -b"),
        ((*both, *both, "--value", "1 B"), "4 snapshots"),
        (("--snapshot", tmp_path / "w.yaml", "--value", "1 B"), "not an eosctl snapshot"),
    ):
        done = eosctl("capacity", "observe", tmp_path / "x.yaml", *wrong)
        assert (done.code, complaint in done.err) == (2, True), done.err
