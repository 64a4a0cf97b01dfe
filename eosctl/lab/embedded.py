"""The embedded engine: the sandbox's cluster in the loop of its caller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from eosctl.lab.engine import BrokerHandle, BrokerState, Capability, EngineError, UnsupportedFault
from eosctl.model.client_config import Endpoint
from eosctl.sandbox.cluster import Cluster
from eosctl.sandbox.process.spec import SandboxSpec

CAPABILITIES: Final = frozenset(
    {Capability.STOP, Capability.KILL, Capability.RESTART, Capability.LINK_FAULTS, Capability.CLOCK_SKEW}
)


@dataclass(frozen=True, slots=True)
class EmbeddedConfig:
    """What an embedded cluster should be like.

    Attributes:
        emulate: The release that it answers as, `3.9` or `4.3`.
        broker_count: Brokers; the controller is a node of its own.
        transaction_version: Level of the feature `transaction.version`; None for the release's default.
        settings: Broker settings under Kafka's names.
    """

    emulate: str = "4.3"
    broker_count: int = 1
    transaction_version: int | None = None
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


class EmbeddedEngine:
    """A cluster of the sandbox below one directory; the first `up` fixes ids and ports, later ones reuse the files."""

    def __init__(self, config: EmbeddedConfig, directory: Path) -> None:
        """Describe a cluster; nothing happens before `up`.

        Args:
            config: What the cluster should be like.
            directory: Where the brokers keep their files; the caller removes it.
        """
        self._config = config
        self._directory = directory
        self._cluster: Cluster | None = None
        self._addresses: dict[int, Endpoint] = {}

    @property
    def name(self) -> str:
        """Name the engine with the release that it answers as."""
        return f"embedded {self._config.emulate}"

    @property
    def bootstrap(self) -> str:
        """Return `host:port` of every broker, comma separated; empty before the first `up`."""
        return ",".join(str(endpoint) for endpoint in self._addresses.values())

    @property
    def cluster(self) -> Cluster:
        """Return the running cluster, for faults on its links and clocks.

        Raises:
            EngineError: It is not up.
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
        """List the brokers in the order of their ids."""
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
        """Map each broker id to the directory with its partitions."""
        return {broker_id: self.cluster.core.directory_of(broker_id) for broker_id in self._addresses}

    def logs(self) -> Mapping[int, tuple[Path, ...]]:
        """Map each broker id to its log files: none, the brokers share the program of their caller."""
        return dict.fromkeys(self._addresses, ())

    async def up(self) -> None:
        """Start every broker and return when all of them serve."""
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
        """Stop every broker; harmless when none runs. Files stay where they are."""
        if self._cluster is not None:
            cluster, self._cluster = self._cluster, None
            await cluster.stop()

    async def stop(self, broker_id: int) -> None:
        """Shut one broker down in order."""
        await self.cluster.stop_broker(broker_id)

    async def kill(self, broker_id: int) -> None:
        """End one broker without a chance to tidy up."""
        await self.cluster.kill_broker(broker_id)

    async def pause(self, broker_id: int) -> None:
        """Refuse: a broker that shares its process cannot be frozen alone.

        Raises:
            UnsupportedFault: Always; a delay on its links comes closest.
        """
        raise UnsupportedFault(
            "The embedded engine cannot pause a broker.", "All brokers share one process.", "Delay its links instead."
        )

    async def resume(self, broker_id: int) -> None:
        """Refuse, as `pause` does."""
        await self.pause(broker_id)

    async def restart(self, broker_id: int) -> None:
        """Start a stopped or killed broker on the same data and address; return when it serves."""
        await self.cluster.start_broker(broker_id)


def _endpoint(address: str) -> Endpoint:
    host, _, port = address.rpartition(":")
    return Endpoint(host, int(port))
