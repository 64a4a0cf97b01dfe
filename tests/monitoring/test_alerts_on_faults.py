"""The rules on the metrics of simulated clusters: silent under load, loud when a fault was injected."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from eosctl.client import Client, connect
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.lab.scenarios.hanging import run_hanging
from eosctl.lab.scenarios.scenario import Stage
from eosctl.lab.simulation import Simulation, simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.metrics.node_samples import node_samples
from eosctl.sandbox.metrics.samples import Sample
from tests.monitoring.promtool import Moment, prove_moments, requires_promtool

pytestmark = requires_promtool

SCRAPE_S = 15
SHAPE = ClusterShape(
    3,
    settings={
        "transaction.state.log.num.partitions": "3",
        "offsets.topic.num.partitions": "3",
        "transaction.state.log.min.isr": "2",
        "transaction.partition.verification.enable": "false",
    },
)

Fault = Callable[[Simulation], Awaitable[None]]


def series_name(node_id: int, sample: Sample) -> str:
    labels = (("job", "kafka"), ("instance", f"node-{node_id}"), *sample.labels)
    return sample.name + "{" + ",".join(f'{key}="{value}"' for key, value in labels) + "}"


class Recording:
    """What Prometheus would have scraped: a value or a blank each quarter of a minute."""

    def __init__(self) -> None:
        self.series: dict[str, list[str]] = {}
        self.count = 0

    def scrape(self, simulation: Simulation) -> None:
        found = {
            series_name(node_id, sample): f"{float(sample.value):g}"
            for node_id, node in simulation.core.nodes.items()
            for sample in node_samples(node)
        }
        for name in found.keys() | self.series.keys():
            values = self.series.setdefault(name, ["_"] * self.count)
            # A series that the last scrape had and this one lacks is stale at once, as Prometheus notes it.
            values.append(found.get(name) or ("stale" if values and values[-1] not in ("_", "stale") else "_"))
        self.count += 1

    def moment(self, firing: frozenset[str]) -> Moment:
        return Moment({k: " ".join(v) for k, v in self.series.items()}, (self.count - 1) * SCRAPE_S / 60, firing)


async def load(client: Client, simulation: Simulation) -> None:
    """Commit and now and then abort a transaction, twice a second."""
    place = (await ensure_topic(client, "orders")).partitions[0].partition
    producer = TransactionalProducer(client, "orders-app", now_ms=simulation.now_ms)
    await producer.init_transactions()
    for number in range(1_000_000):
        await producer.send(place, [OutgoingRecord(b"k", b"v")] * 10)
        await (producer.abort() if number % 20 == 0 else producer.commit())
        await asyncio.sleep(0.5)


async def recorded(folder: Path, minutes: float, fault: Fault | None) -> Recording:
    recording = Recording()
    async with (
        simulate(SHAPE, folder, seed=11) as simulation,
        connect(simulation.config, connector=simulation.network, chance=simulation.chance) as client,
    ):
        working = asyncio.create_task(load(client, simulation))
        await asyncio.sleep(30)
        assert not working.done(), working
        if fault is not None:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            await fault(simulation)
        for _ in range(round(minutes * 60 / SCRAPE_S) + 1):
            recording.scrape(simulation)
            await asyncio.sleep(SCRAPE_S)
        assert fault is not None or not working.done(), working
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    return recording


async def hang(simulation: Simulation) -> None:
    await run_hanging(Stage(simulation.config, simulation.now_ms, random.Random(7), simulation.network))


async def lose_two_brokers(simulation: Simulation) -> None:
    for broker in simulation.core.broker_ids[1:]:
        simulation.kill(broker)


async def lose_every_broker(simulation: Simulation) -> None:
    for broker in simulation.core.broker_ids:
        simulation.kill(broker)


FAULTS: dict[str, tuple[Fault | None, float, frozenset[str]]] = {
    "healthy": (None, 10, frozenset()),
    "hanging": (hang, 5, frozenset({"EosLastStableOffsetStalled"})),
    "two brokers lost": (lose_two_brokers, 3, frozenset({"EosInternalTopicUnderMinIsr"})),
    "every broker lost": (lose_every_broker, 3, frozenset({"EosPartitionsOffline"})),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_right_alerts_fire(name: str, tmp_path: Path) -> None:
    fault, minutes, firing = FAULTS[name]
    recording = run_virtual(recorded(tmp_path / "cluster", minutes, fault))
    assert recording.count > 10
    done = prove_moments([recording.moment(firing)], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
