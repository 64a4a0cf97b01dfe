"""The embedded engine: the sandbox's cluster in the caller's event loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from eosctl.lab.engine import BrokerHandle, BrokerState, Capability, EngineError, UnsupportedFault
from eosctl.model.client_config import Endpoint
from eosctl.model.emulation import NEWEST
from eosctl.sandbox.cluster import Cluster
from eosctl.sandbox.process.spec import SandboxSpec

CAPABILITIES: Final = frozenset(
    {Capability.STOP, Capability.KILL, Capability.RESTART, Capability.LINK_FAULTS, Capability.CLOCK_SKEW}
)


@dataclass(frozen=True, slots=True)
class EmbeddedConfig:
    """The configuration of an embedded cluster.

    Attributes:
        emulate: The emulated release, e.g. `3.9`.
        broker_count: Number of brokers; the controller is a separate node.
        transaction_version: Level of the feature `transaction.version`; None for the release's default.
        settings: Broker settings by Kafka's names.
    """

    emulate: str = NEWEST
    broker_count: int = 1
    transaction_version: int | None = None
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class EmbeddedEngine:
    """A cluster of the sandbox in a directory. The first `up` assigns ids and ports; later ones reuse the files."""

    def __init__(self, config: EmbeddedConfig, directory: Path) -> None:
        """Prepare a cluster; `up` starts it.

        Args:
            config: The configuration.
            directory: The brokers' files; the caller deletes it.
        """
        self._config = config
        self._directory = directory
        self._cluster: Cluster | None = None
        self._addresses: dict[int, Endpoint] = {}

    @property
    def name(self) -> str:
        """Return the engine's name with its emulated release."""
        return f"embedded {self._config.emulate}"

    @property
    def bootstrap(self) -> str:
        """Return `host:port` of every broker, comma-separated; empty before the first `up`."""
        return ",".join(str(endpoint) for endpoint in self._addresses.values())

    @property
    def cluster(self) -> Cluster:
        """Return the running cluster, for faults on its links and clocks.

        Raises:
            EngineError: It is not running.
        """
        if self._cluster is None:
            raise EngineError(
                "The embedded cluster is not up.", "It was never started, or it was stopped.", "Await up() first."
            )
        return self._cluster

    def capabilities(self) -> frozenset[Capability]:
        """Return the engine's capabilities."""
        return CAPABILITIES

    def brokers(self) -> tuple[BrokerHandle, ...]:
        """Return the brokers in id order."""
        running = set() if self._cluster is None else set(self._cluster.core.nodes)
        return tuple(
            BrokerHandle(
                broker_id,
                endpoint.host,
                endpoint.port,
                BrokerState.RUNNING if broker_id in running else BrokerState.STOPPED,
            )
            for broker_id, endpoint in self._addresses.items()
        )

    def data_dirs(self) -> Mapping[int, Path]:
        """Return the directory with the partitions of each broker by id."""
        return {broker_id: self.cluster.core.directory_of(broker_id) for broker_id in self._addresses}

    def logs(self) -> Mapping[int, tuple[Path, ...]]:
        """Return an empty mapping: the brokers share the process of their caller."""
        return dict.fromkeys(self._addresses, ())

    async def up(self) -> None:
        """Start every broker; return once all of them serve."""
        if self._cluster is not None:
            return
        config = self._config
        cluster = Cluster(
            SandboxSpec(
                name="embedded",
                data_dir=str(self._directory),
                brokers=config.broker_count,
                emulate=config.emulate,
                transaction_version=config.transaction_version,
                settings=tuple(config.settings.items()),
                fast=True,
            )
        )
        await cluster.start()
        self._cluster = cluster
        self._addresses = {broker["id"]: _endpoint(broker["address"]) for broker in cluster.status()["brokers"]}

    async def down(self) -> None:
        """Stop every broker; no effect on stopped ones. The files stay."""
        if self._cluster is not None:
            cluster, self._cluster = self._cluster, None
            await cluster.stop()

    async def stop(self, broker_id: int) -> None:
        """Shut a broker down cleanly."""
        await self.cluster.stop_broker(broker_id)

    async def kill(self, broker_id: int) -> None:
        """Kill a broker without a clean shutdown."""
        await self.cluster.kill_broker(broker_id)

    async def pause(self, broker_id: int) -> None:
        """Raise UnsupportedFault: a broker that shares its process cannot be paused.

        Raises:
            UnsupportedFault: Always; a delay on its links is the closest alternative.
        """
        raise UnsupportedFault(
            "The embedded engine cannot pause a broker.", "All brokers share one process.", "Delay its links instead."
        )

    async def resume(self, broker_id: int) -> None:
        """Raise UnsupportedFault, as `pause` does."""
        await self.pause(broker_id)

    async def restart(self, broker_id: int) -> None:
        """Start a stopped or killed broker on the same data and address; return once it serves."""
        await self.cluster.start_broker(broker_id)


def _endpoint(address: str) -> Endpoint:
    host, _, port = address.rpartition(":")
    return Endpoint(host, int(port))
