"""The environment of a rehearsal: clusters on virtual time, and their clients."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from eosctl.client.client import Client, connect
from eosctl.client.group_member import GroupMember
from eosctl.client.ports import Connector, WallClock
from eosctl.client.producer import TransactionalProducer
from eosctl.errors import ConfigFileError
from eosctl.lab.rehearsals.rehearsal import RehearsalScenario, Shape
from eosctl.lab.simulation import Simulation, simulate
from eosctl.model.client_config import ClientConfig
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.faults.order import FaultOrder
from eosctl.sandbox.ports import Emulation

if TYPE_CHECKING:
    from eosctl.lab.apache.nodes import ApacheNodes

HERE: Final = "here"
OTHER: Final = "other"
SEED: Final = 20_251_121
# Fewer partitions than Kafka's 50 are sufficient and faster to inspect. Runbooks wait for minutes, in which the
# sandbox's own frequent heartbeats and NoOpRecords would be most of the work: heartbeats and sessions are Kafka's.
SETTINGS: Final = {
    "transaction.state.log.num.partitions": "9",
    "offsets.topic.num.partitions": "9",
    "broker.heartbeat.interval.ms": "2000",
    "broker.session.timeout.ms": "9000",
    "metadata.max.idle.interval.ms": "5000",
}


@dataclass(slots=True)
class RehearsalCluster:
    """A cluster of a rehearsal, with its open clients.

    Attributes:
        config: How to connect.
        now_ms: The cluster's wall clock.
        connector: Opens the streams; sockets if None.
        client: The client of the steps.
        chance: Random source, from the seed.
        simulation: The cluster, for steps that need internal access; None on a real one.
        engine: The processes of a real cluster, to kill, stop, and start; None if not allowed.
        producers: Producers with a started transaction, by transactional id.
        members: Group members, by their name in the rehearsal.
        tasks: Background tasks, until the rehearsal ends.
    """

    config: ClientConfig
    now_ms: WallClock
    connector: Connector | None
    client: Client
    chance: random.Random
    simulation: Simulation | None = None
    engine: ApacheNodes | None = None
    producers: dict[str, TransactionalProducer] = field(default_factory=dict)
    members: dict[str, GroupMember] = field(default_factory=dict)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def name(self) -> str:
        """Return the display name."""
        return "the cluster of the rehearsal"

    async def inject(self, order: FaultOrder) -> None:
        """Raise ConfigFileError: rehearsals make faults with steps.

        Raises:
            ConfigFileError: Always.
        """
        raise ConfigFileError(f"A rehearsal cannot play a scenario with the fault {order}.", "", "Use a step instead.")

    async def heal(self) -> None:
        """Do nothing: no fault of a scenario is active."""

    async def advance(self, duration_ms: float) -> None:
        """Advance the time."""
        await asyncio.sleep(duration_ms / 1000)

    @property
    def inside(self) -> Simulation:
        """Return the cluster's internals.

        Raises:
            ConfigFileError: It is a real cluster.
        """
        if self.simulation is None:
            raise ConfigFileError(
                "This can only be done to a sandbox.",
                "No client can request it.",
                "Run the rehearsal on a sandbox, or remove this step.",
            )
        return self.simulation

    def in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in the background."""
        self.tasks.add(asyncio.get_running_loop().create_task(work))


@dataclass(slots=True)
class RehearsalClusters:
    """The clusters of a rehearsal by name."""

    by_name: dict[str, RehearsalCluster]

    def named(self, name: str) -> RehearsalCluster:
        """Return a cluster of the rehearsal.

        Raises:
            ConfigFileError: The name is unknown.
        """
        if name not in self.by_name:
            raise ConfigFileError(
                f"The rehearsal has no cluster {name}.", f"It has: {', '.join(self.by_name)}.", "Add it as other:."
            )
        return self.by_name[name]


@asynccontextmanager
async def open_clusters(scenario: RehearsalScenario, directory: Path) -> AsyncIterator[RehearsalClusters]:
    """Start the clusters of a rehearsal in the running (virtual) loop, and stop them at the end.

    Args:
        scenario: The scenario of the rehearsal.
        directory: The brokers' files; empty.
    """
    shapes = {HERE: scenario.cluster} | ({OTHER: scenario.other} if scenario.other else {})
    async with AsyncExitStack() as stack:
        clusters = {
            name: await stack.enter_async_context(_open(shape, directory / name)) for name, shape in shapes.items()
        }
        try:
            yield RehearsalClusters(clusters)
        finally:
            tasks = [task for cluster in clusters.values() for task in cluster.tasks]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def _open(shape: Shape, directory: Path) -> AsyncIterator[RehearsalCluster]:
    directory.mkdir(parents=True)
    cluster = ClusterShape(
        broker_count=shape.brokers,
        emulation=Emulation(shape.release),
        transaction_version=shape.transaction_version,
        settings=SETTINGS | shape.settings,
        log_dir_count=shape.log_dirs,
    )
    async with (
        simulate(cluster, directory, seed=SEED) as simulation,
        connect(simulation.config, connector=simulation.network, chance=simulation.chance) as client,
    ):
        yield RehearsalCluster(
            config=simulation.config,
            now_ms=simulation.now_ms,
            connector=simulation.network,
            client=client,
            chance=random.Random(SEED),
            simulation=simulation,
        )
