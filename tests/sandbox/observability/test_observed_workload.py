"""The sandbox's metrics give the workload that ran on it, as those of a real broker do."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from eosctl.capacity.metrics_observation import Known, explain_unread, write_measured
from eosctl.capacity.plan import plan_capacity
from eosctl.capacity.workload_file import parse_workload
from eosctl.client import connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.collect.metrics.broker_counters import _counters, resolve_counters
from eosctl.collect.metrics.prometheus_text import parse_samples
from eosctl.lab.simulation import simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.broker_counters import BrokerCounters
from eosctl.sandbox.core import ClusterCore, ClusterShape
from eosctl.sandbox.metrics.node_samples import node_samples
from eosctl.sandbox.metrics.samples import render_samples

TRANSACTIONS, RECORDS, PARTITIONS = 20, 4, 3


def pages(core: ClusterCore, now_ms: int) -> tuple[BrokerCounters, ...]:
    """Return what the endpoints of all brokers show."""
    texts = [render_samples(list(node_samples(core.nodes[number]))) for number in core.broker_ids]
    return tuple(resolve_counters("sandbox", now_ms, _counters(parse_samples(text))) for text in texts)


async def observed(folder: Path) -> tuple[tuple[BrokerCounters, ...], tuple[BrokerCounters, ...]]:
    async with (
        simulate(ClusterShape(3, fast=True), folder, seed=5) as simulation,
        connect(simulation.config, connector=simulation.network, chance=simulation.chance) as client,
    ):
        simulation.core.count_errors()
        described = await ensure_topic(client, "orders", partition_count=PARTITIONS)
        producer = TransactionalProducer(client, "app", now_ms=simulation.now_ms)
        await producer.init_transactions()
        before = pages(simulation.core, simulation.now_ms())
        for _ in range(TRANSACTIONS):
            for one in described.partitions:
                await producer.send(one.partition, [OutgoingRecord(b"k", b"v" * 100)] * RECORDS)
            await producer.commit()
        await asyncio.sleep(5)
        return before, pages(simulation.core, simulation.now_ms())


def test_the_plan_of_the_sandboxs_metrics_is_what_ran_on_it(tmp_path: Path) -> None:
    before, after = run_virtual(observed(tmp_path))
    assert explain_unread(after) == ()
    workload = parse_workload(write_measured("seen", before, after, Known(1)), "seen.yaml")
    plan = plan_capacity(workload)
    seconds = (after[0].read_at_ms - before[0].read_at_ms) / 1000
    assert plan.transactions_per_s * seconds == pytest.approx(TRANSACTIONS)
    assert plan.markers_per_s * seconds == pytest.approx(TRANSACTIONS * PARTITIONS)
    assert workload.topic("orders").rate_per_s * seconds == pytest.approx(TRANSACTIONS * PARTITIONS * RECORDS, rel=1e-4)
    assert workload.topic("orders").partition_count == PARTITIONS
    assert workload.topic("orders").batch_records == RECORDS
    assert abs(workload.topic("orders").value_bytes - 101) <= 2, "a key of one byte is part of it"
    assert (workload.cluster.transaction_version, workload.cluster.replication_factor) == (2, 3)
