"""The rules on the metrics of simulated clusters: silent under load, loud when a fault was injected."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from eosctl.client import Client, connect
from eosctl.client.destinations import CoordinatorKind
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.client.transactions import TV1, GroupIdentity, OffsetToCommit
from eosctl.collect.allowed import READ_ONLY_APIS
from eosctl.collect.collector import Observer, collect_snapshot
from eosctl.commands.exporter import LOOKED_AT
from eosctl.errors import EosctlError
from eosctl.lab.scenarios.hanging import run_hanging
from eosctl.lab.scenarios.scenario import Stage
from eosctl.lab.simulation import Simulation, simulate
from eosctl.lab.virtual_loop import run_virtual
from eosctl.model.transaction import TransactionLook
from eosctl.monitoring.cluster_gauges import measure_cluster, unreachable
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.metrics.node_samples import node_samples
from eosctl.sandbox.network import FaultAction, LinkFault
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from tests.monitoring.promtool import ASKED, Moment, prove_moments, requires_promtool

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

#: For the long cases: brokers that hear of each other for a quarter of an hour take longer than all other cases.
ONE_BROKER = SHAPE._replace(broker_count=1, settings={**SHAPE.settings, "transaction.state.log.min.isr": "1"})

#: Makes a fault; one that takes work returns it, to be ended with the case.
Fault = Callable[[Simulation, Client], Awaitable[asyncio.Task[None] | None]]


def series_name(instance: str, name: str, labels: tuple[tuple[str, str], ...]) -> str:
    found = (("job", "kafka"), ("instance", instance), *labels)
    return name + "{" + ",".join(f'{key}="{value}"' for key, value in found) + "}"


async def told_by_exporter(simulation: Simulation, earlier: list[TransactionLook]) -> dict[str, str]:
    """Return the series of `eosctl exporter`, at the moment of the look; notes its transactions for the next."""
    observer = Observer(simulation.now_ms, second_look_after_ms=500)
    try:
        async with connect(
            simulation.config, connector=simulation.network, chance=simulation.chance, allowed_apis=READ_ONLY_APIS
        ) as client:
            snapshot = await collect_snapshot(client, observer, LOOKED_AT)
        gauges = measure_cluster(snapshot, *earlier)
        earlier[:] = snapshot.looks[-1:]
    except EosctlError:
        gauges = unreachable()
    return {series_name("e", one.name, each.labels): str(each.value) for one in gauges for each in one.samples}


class Recording:
    """What Prometheus would have scraped of every node and of the exporter: a value or a blank each quarter minute."""

    def __init__(self) -> None:
        self.series: dict[str, list[str]] = {}
        self.count = 0
        self._earlier: list[TransactionLook] = []

    async def scrape(self, simulation: Simulation) -> None:
        found = {
            series_name(f"node-{node_id}", sample.name, sample.labels): f"{float(sample.value):g}"
            for node_id, node in simulation.core.nodes.items()
            for sample in node_samples(node)
            if sample.name in ASKED
        }
        found |= await told_by_exporter(simulation, self._earlier)
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


async def recorded(folder: Path, shape: ClusterShape, minutes: float, fault: Fault | None) -> Recording:
    recording = Recording()
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
            await recording.scrape(simulation)
            await asyncio.sleep(max(0, began + (number + 1) * SCRAPE_S - asyncio.get_running_loop().time()))
        assert working.cancelled() or not working.done(), working
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
    return recording


async def hang(simulation: Simulation, client: Client) -> None:
    await run_hanging(Stage(simulation.config, simulation.now_ms, random.Random(7), simulation.network))


async def hold_offsets(simulation: Simulation, client: Client) -> None:
    """Leave a transaction open that holds a group's offsets, within its timeout of a quarter of an hour."""
    place = (await ensure_topic(client, "orders")).partitions[0].partition
    producer = TransactionalProducer(client, "stream-app", now_ms=simulation.now_ms, transaction_timeout_ms=15 * 60_000)
    await producer.init_transactions()
    await producer.send_offsets(GroupIdentity("stream-app"), {place: OffsetToCommit(1)})
    await producer.commit()
    await producer.send_offsets(GroupIdentity("stream-app"), {place: OffsetToCommit(2)})


async def lose_the_partition_of_a_decided_transaction(simulation: Simulation, client: Client) -> None:
    """End a transaction whose only replica is gone: its marker waits for the leader that never comes."""
    places = (await ensure_topic(client, "single", replica_count=1)).partitions
    coordinators = await client.find_coordinators(CoordinatorKind.TRANSACTION, ["a", "b", "c", "d", "e", "f"])
    name, info = next(
        (name, info) for name, node_id in coordinators.items() for info in places if info.leader_id != node_id
    )
    producer = TransactionalProducer(client, name, now_ms=simulation.now_ms)
    await producer.init_transactions()
    await producer.send(info.partition, [OutgoingRecord(b"k", b"v")])
    assert info.leader_id is not None
    simulation.kill(info.leader_id)
    await producer.end(committed=True)


async def lose_markers(simulation: Simulation, client: Client) -> None:
    """Lose every marker on its way: a transaction that is decided does not end."""
    producer = TransactionalProducer(client, "decided", now_ms=simulation.now_ms)
    await producer.init_transactions()
    for info in (await ensure_topic(client, "orders")).partitions:
        await producer.send(info.partition, [OutgoingRecord(b"k", b"v")])
    simulation.core.network.add_fault(LinkFault(FaultAction.DROP, api_key=ApiKey.WRITE_TXN_MARKERS))
    await producer.end(committed=True)


async def begin_too_early(simulation: Simulation, client: Client) -> asyncio.Task[None]:
    """Begin transactions right behind each other while markers take long."""
    delay = LinkFault(FaultAction.DELAY, api_key=ApiKey.WRITE_TXN_MARKERS, requests=True, delay_ms=400)
    simulation.core.network.add_fault(delay)
    places = (await ensure_topic(client, "orders")).partitions
    producer = TransactionalProducer(client, "back-to-back", now_ms=simulation.now_ms, dialect=TV1)
    await producer.init_transactions()

    async def work() -> None:
        while True:
            for _ in range(3):
                await producer.send(places[0].partition, [OutgoingRecord(b"k", b"v")])
                await producer.send(places[1].partition, [OutgoingRecord(b"k", b"v")])
                await producer.commit()
            await asyncio.sleep(5)

    return asyncio.create_task(work())


async def lose_a_broker(simulation: Simulation, client: Client) -> None:
    simulation.kill(simulation.core.broker_ids[1])


async def lose_two_brokers(simulation: Simulation, client: Client) -> None:
    for broker in simulation.core.broker_ids[1:]:
        simulation.kill(broker)


async def lose_every_broker(simulation: Simulation, client: Client) -> None:
    for broker in simulation.core.broker_ids:
        simulation.kill(broker)


async def lose_the_quorum(simulation: Simulation, client: Client) -> None:
    for controller in simulation.core.controller_ids[1:]:
        simulation.core.stop_node(controller, clean=False)


class Case(NamedTuple):
    """A fault, how long it is watched, and which alerts must fire then: these and no other."""

    fault: Fault | None
    minutes: float
    firing: frozenset[str]
    shape: ClusterShape = SHAPE


FAULTS = {
    "healthy": Case(None, 10, frozenset()),
    "hanging": Case(hang, 5, frozenset({"EosLastStableOffsetStalled", "EosHangingTransaction"})),
    "hanging for long": Case(
        hang,
        13,
        frozenset({"EosLastStableOffsetStalled", "EosHangingTransaction", "EosLateTransactions"}),
        ONE_BROKER._replace(settings={**ONE_BROKER.settings, "transaction.max.timeout.ms": "60000"}),
    ),
    "held offsets": Case(hold_offsets, 12, frozenset({"EosUnstableOffsets", "EosLastStableOffsetStalled"}), ONE_BROKER),
    "marker without a leader": Case(
        lose_the_partition_of_a_decided_transaction, 7,
        frozenset({"EosMarkersStuck", "EosPartitionsOffline"}),
        # 4.x skips the marker instead (KAFKA-20734).
        SHAPE._replace(emulation=Emulation("3.9")),
    ),
    "markers are lost": Case(
        lose_markers, 7, frozenset({"EosTransactionLate", "EosLastStableOffsetStalled"}),
    ),
    "too early": Case(begin_too_early, 18, frozenset({"EosConcurrentTransactionsHigh"})),
    "a broker lost": Case(lose_a_broker, 17, frozenset({"EosUnderReplicated"})),
    "two brokers lost": Case(lose_two_brokers, 3, frozenset({"EosInternalTopicUnderMinIsr"})),
    "every broker lost": Case(lose_every_broker, 7, frozenset({"EosPartitionsOffline", "EosExporterBlind"})),
    "two of three controllers lost": Case(
        lose_the_quorum, 4, frozenset({"EosNoController"}), SHAPE._replace(controller_count=3)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_the_right_alerts_fire(name: str, tmp_path: Path) -> None:
    fault, minutes, firing, shape = FAULTS[name]
    recording = run_virtual(recorded(tmp_path / "cluster", shape, minutes, fault))
    assert recording.count > 10
    done = prove_moments([recording.moment(firing)], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
