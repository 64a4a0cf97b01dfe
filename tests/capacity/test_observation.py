"""What is observed of a running load is a workload whose plan does the same."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from eosctl.capacity.observation import Observed, write_observed
from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.workload_file import parse_workload
from eosctl.client import Client, connect
from eosctl.client.topics import ensure_topic
from eosctl.collect.observation import observe_cluster
from eosctl.collect.reader import Probed
from eosctl.lab.simulation import Simulation, simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.lab.workloads.generator import run_load
from eosctl.lab.workloads.load import Load, Profile
from eosctl.model.setting import Setting, SettingSource
from eosctl.model.traffic import Traffic
from eosctl.model.workload import ApplicationKind
from eosctl.sandbox.core import ClusterShape
from tests.capacity.workloads import schema_errors

LOAD = Load(Profile.CTP2, "orders", 2, 3, partition_count=2, record_bytes=300, rate_per_s=40, warm_up_ms=0,
            duration_ms=10_000, prefix="pipeline")  # fmt: skip
SECOND = Load(Profile.TV1, "payments", 1, 2, partition_count=1, record_bytes=80, rate_per_s=15, warm_up_ms=0,
              duration_ms=10_000, prefix="till")  # fmt: skip


FIELDS = ("data_batch_count", "marker_count", "data_bytes", "marker_bytes")


def total(traffic: Traffic, field: str, topic: str) -> float:
    return float(sum(getattr(found, field) for found in traffic.of_topic(topic)))


def watch(directory: Path) -> Probed[Observed]:
    async def load(simulation: Simulation, client: Client, what: Load) -> None:
        await run_load(client, what, now_ms=simulation.now_ms, connector=simulation.network, cpu_s=lambda: 0.0)

    async def run() -> Probed[Observed]:
        async with (
            simulate(ClusterShape(broker_count=1, fast=True), directory, seed=1, max_latency_ms=20) as simulation,
            connect(simulation.config, connector=simulation.network, chance=random.Random(1)) as client,
            connect(simulation.config, connector=simulation.network, chance=random.Random(2)) as observer,
        ):
            await ensure_topic(client, "orders", partition_count=6)
            await ensure_topic(client, "payments", partition_count=2)
            loads = [asyncio.create_task(load(simulation, client, what)) for what in (LOAD, SECOND)]
            await asyncio.sleep(1)
            observed = await observe_cluster(observer, 8_000, simulation.now_ms)
            await asyncio.gather(*loads)
            return observed

    found: Probed[Observed] = run_virtual(run())
    return found


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Probed[Observed]:
    return watch(tmp_path_factory.mktemp("observed"))


def test_the_plan_of_what_was_observed_reproduces_it(probed: Probed[Observed]) -> None:
    assert probed.gaps == ()
    traffic = probed.value.traffic
    seconds = traffic.interval_ms / 1000
    text = write_observed("seen", probed.value)
    assert schema_errors(text) == []
    workload = parse_workload(text, "seen.yaml")
    plan = plan_capacity(workload)
    by_name = {topic.name: topic for topic in plan.topics}
    assert {a.name: (a.kind, a.producer_count) for a in workload.applications} == {
        "pipeline-*": (ApplicationKind.CONSUME_PROCESS_PRODUCE, 6),
        "till-*": (ApplicationKind.PRODUCER, 2),
    }
    assert plan.transactions_per_s == pytest.approx(55, rel=0.05)
    for topic in ("orders", "payments", "__transaction_state", "__consumer_offsets"):
        measured = {field: total(traffic, field, topic) / seconds for field in FIELDS}
        planned = by_name[topic]
        assert planned.data_batches_per_s == pytest.approx(measured["data_batch_count"], rel=0.1)
        assert planned.markers_per_s == pytest.approx(measured["marker_count"], rel=0.1)
        assert planned.written == pytest.approx(measured["data_bytes"] + measured["marker_bytes"], rel=0.1)


def test_limits_are_left_for_the_reader_to_state(probed: Probed[Observed]) -> None:
    workload = parse_workload(write_observed("seen", probed.value), "seen.yaml")
    assert workload.cluster.disk_bytes is None
    assert plan_capacity(workload).fits is None


def test_a_topic_that_keeps_everything_is_named(probed: Probed[Observed]) -> None:
    snapshot = probed.value.snapshot
    settings = (Setting(name="retention.ms", value="-1", source=SettingSource.DYNAMIC_TOPIC),)
    topics = tuple(replace(t, settings=settings) if t.name == "orders" else t for t in snapshot.topics)
    text = write_observed("seen", probed.value._replace(snapshot=replace(snapshot, topics=topics)))
    assert "# orders keeps its records forever (retention.ms=-1)" in text
    assert "forever" not in write_observed("seen", probed.value)
