"""The metrics that Prometheus would scrape from a simulated cluster and its exporter."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec.structs import replace

from eosctl.client import Client, connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.collect.reader import ReadOnly
from eosctl.collect.transaction_ends import EndCounter
from eosctl.errors import EosctlError
from eosctl.lab.simulation import Simulation, simulate
from eosctl.model.transaction import TransactionLook
from eosctl.monitoring.cluster_gauges import measure_cluster, measure_ends, unreachable
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.metrics.node_samples import node_samples
from eosctl.services.export_cluster import READ_FROM_CLUSTER
from tests.monitoring.promtool import ASKED, Moment
from tests.monitoring.series import SCRAPE_S, Series, series_name

#: Makes a fault; one that takes work returns it, to be ended with the case.
Fault = Callable[[Simulation, Client], Awaitable[asyncio.Task[None] | None]]


class Exporter:
    """`eosctl exporter --transaction-log`, which polls when it is scraped."""

    def __init__(self) -> None:
        self._earlier: list[TransactionLook] = []
        self._ends = EndCounter()

    async def scrape(self, simulation: Simulation) -> dict[str, str]:
        observer = Observer(simulation.now_ms, second_look_after_ms=500)
        try:
            async with connect(
                simulation.config, connector=simulation.network, chance=simulation.chance, allowed_apis=READ_ONLY_APIS
            ) as client:
                snapshot = await collect_snapshot(client, observer, READ_FROM_CLUSTER)
                gaps = await self._ends.follow(ReadOnly(client), snapshot)
            snapshot = replace(snapshot, gaps=(*snapshot.gaps, *gaps))
            gauges = (*measure_cluster(snapshot, *self._earlier), measure_ends(self._ends.counts))
            self._earlier[:] = snapshot.looks[-1:]
        except EosctlError:
            gauges = unreachable()
        return {series_name("e", one.name, each.labels): str(each.value) for one in gauges for each in one.samples}


def scrape_nodes(simulation: Simulation) -> dict[str, str]:
    """Return the pages of all nodes; one that is paused does not answer."""
    return {
        series_name(f"node-{node_id}", sample.name, sample.labels): f"{float(sample.value):g}"
        for node_id, node in simulation.core.nodes.items()
        if node.broker is None or node.broker.paused is None
        for sample in node_samples(node)
        if sample.name in ASKED
    }


def moment_of(series: Series, firing: frozenset[str]) -> Moment:
    """Return the last scrape of a recording, at which these alerts must be firing."""
    return Moment(series.texts(), (series.count - 1) * SCRAPE_S / 60, firing)


async def load(client: Client, simulation: Simulation) -> None:
    """Commit and now and then abort a transaction, every two seconds."""
    place = (await ensure_topic(client, "orders")).partitions[0].partition
    producer = TransactionalProducer(client, "orders-app", now_ms=simulation.now_ms)
    await producer.init_transactions()
    for number in range(1_000_000):
        await producer.send(place, [OutgoingRecord(b"k", b"v")] * 10)
        await (producer.abort() if number % 20 == 0 else producer.commit())
        await asyncio.sleep(2)


async def record(folder: Path, shape: ClusterShape, minutes: float, fault: Fault | None) -> Series:
    """Play half a minute of healthy load, then the fault, or more load without one."""
    series, exporter = Series(), Exporter()
    async with (
        simulate(shape, folder, seed=11) as simulation,
        connect(simulation.config, connector=simulation.network, chance=simulation.chance) as client,
    ):
        simulation.core.count_errors()
        working = asyncio.create_task(load(client, simulation))
        await asyncio.sleep(30)
        assert not working.done(), working
        if fault is not None:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            working = await fault(simulation, client) or working
        began = asyncio.get_running_loop().time()
        for number in range(round(minutes * 60 / SCRAPE_S) + 1):
            series.add(scrape_nodes(simulation) | await exporter.scrape(simulation))
            await asyncio.sleep(max(0, began + (number + 1) * SCRAPE_S - asyncio.get_running_loop().time()))
        assert working.cancelled() or not working.done(), working
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    return series
