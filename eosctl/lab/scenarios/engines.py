"""The engines of scenarios that are started for them: a simulated cluster, and real Kafka."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from eosctl.client.ports import Connector, WallClock
from eosctl.errors import UsageError
from eosctl.lab.apache.faults import ProcessFaults
from eosctl.lab.apache.nodes import ApacheConfig, ApacheNodes
from eosctl.lab.apache.releases import RELEASES
from eosctl.lab.engine import Engine
from eosctl.lab.scenarios.releases import newest_covered
from eosctl.lab.scenarios.script import ClusterWords
from eosctl.lab.simulation import Simulation, simulate
from eosctl.model.client_config import ClientConfig
from eosctl.model.emulation import FULL_RELEASE
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.faults.bugs import parse_switch
from eosctl.sandbox.faults.engine import FaultEngine
from eosctl.sandbox.faults.order import FaultOrder
from eosctl.sandbox.ports import Emulation
from eosctl.settings.clusters.endpoints import parse_endpoints

_FEW_PARTITIONS = {"transaction.state.log.num.partitions": "2", "offsets.topic.num.partitions": "2"}


class SimulatedEngine:
    """A simulated cluster on virtual time; the caller's loop must be virtual."""

    def __init__(self, simulation: Simulation, release: str, seed: int) -> None:
        self._simulation = simulation
        self._release = release
        self.faults = FaultEngine(simulation, seed=seed)

    @property
    def name(self) -> str:
        """Return the name of the emulated release."""
        return f"sandbox as {self._release}"

    @property
    def config(self) -> ClientConfig:
        """Return the client configuration with every broker."""
        return self._simulation.config

    @property
    def connector(self) -> Connector | None:
        """Return the in-memory network."""
        return self._simulation.network

    def now_ms(self) -> int:
        """Return the time of the simulation."""
        return self._simulation.now_ms()

    async def inject(self, order: FaultOrder) -> None:
        """Inject a fault."""
        await self.faults.inject(order)

    async def heal(self) -> None:
        """End every fault."""
        await self.faults.heal()

    async def advance(self, duration_ms: float) -> None:
        """Advance the virtual time."""
        await asyncio.sleep(duration_ms / 1000)


class ApacheEngine:
    """Real Kafka: faults are signals to processes, and time is real."""

    connector: Connector | None = None

    def __init__(self, nodes: ApacheNodes, now_ms: WallClock) -> None:
        self._nodes = nodes
        self.now_ms = now_ms
        self._faults: ProcessFaults | None = None

    @property
    def name(self) -> str:
        """Return the engine's name."""
        return self._nodes.name

    @property
    def config(self) -> ClientConfig:
        """Return the client configuration with every broker."""
        return ClientConfig(parse_endpoints(self._nodes.bootstrap, "real Kafka"))

    async def inject(self, order: FaultOrder) -> None:
        """Stop, kill, pause, or start a broker; other faults raise UnsupportedFault."""
        if self._faults is None:
            self._faults = ProcessFaults(self._nodes)
        await self._faults.inject(order)

    async def heal(self) -> None:
        """Start stopped brokers and resume paused ones."""
        if self._faults is not None:
            await self._faults.heal()

    async def advance(self, duration_ms: float) -> None:
        """Wait for a duration."""
        await asyncio.sleep(duration_ms / 1000)


@asynccontextmanager
async def simulated(cluster: ClusterWords, directory: Path, seed: int) -> AsyncIterator[Engine]:
    """Start the cluster of a scenario in the running virtual loop, and stop it at the end.

    It emulates the newest release of the scenario's range.

    Raises:
        UsageError: No release of the range can be emulated.
    """
    release = newest_covered(cluster.release, FULL_RELEASE)
    shape = ClusterShape(
        cluster.brokers,
        Emulation(release),
        cluster.transaction_version,
        {**_FEW_PARTITIONS, **cluster.settings},
        fast=True,
    )
    async with simulate(shape, directory, seed=seed) as simulation:
        engine = SimulatedEngine(simulation, release, seed)
        for text in cluster.bugs:
            engine.faults.switch_bug(*parse_switch(text))
        yield engine


@asynccontextmanager
async def real_kafka(
    cluster: ClusterWords, directory: Path, ports: random.Random, now_ms: WallClock
) -> AsyncIterator[Engine]:
    """Start real Kafka of the newest release in the scenario's range, with its settings, and stop it at the end.

    Concurrent calls need different random sources in `ports`.

    Raises:
        UsageError: The engine does not support the scenario's number of brokers or any of its releases.
        MissingTool: Java or Maven is not installed.
    """
    if cluster.brokers not in (1, 3):
        raise UsageError(f"Real Kafka is run with 1 or 3 nodes, not {cluster.brokers}.", "", "Play it on the sandbox.")
    version = newest_covered(cluster.release, {version: version for version in RELEASES})
    settings = {
        **_FEW_PARTITIONS,
        "group.initial.rebalance.delay.ms": "0",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "200",
        **cluster.settings,
    }
    config = ApacheConfig(version, cluster.brokers, cluster.transaction_version, settings)
    nodes = ApacheNodes(config, directory, ports)
    try:
        await nodes.up()
        yield ApacheEngine(nodes, now_ms)
    finally:
        await nodes.down()
