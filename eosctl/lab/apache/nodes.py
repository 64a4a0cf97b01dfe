"""The processes of a real cluster: one or more combined nodes of a release, each in its own JVM."""

from __future__ import annotations

import asyncio
import base64
import random
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from eosctl.lab.apache.brokers import BrokerHandle, BrokerState
from eosctl.lab.apache.java import MIB, prepare_runtime
from eosctl.lab.apache.node import KafkaNode, format_without_tool, is_formatted
from eosctl.lab.apache.ports import free_ports, required_ports
from eosctl.lab.apache.process import end_recorded
from eosctl.lab.apache.properties import HOST, NodeAddress, node_settings, render_properties
from eosctl.lab.apache.releases import resolve_release
from eosctl.lab.engine import EngineError
from eosctl.storage.errors import DamagedFile
from eosctl.storage.meta_properties import MetaProperties, read_meta_properties
from eosctl.storage.names import BOOTSTRAP_SNAPSHOT, META_PROPERTIES

#: With one of these, StorageTool writes to other directories than a node's own one, or other records.
STORAGE_SETTINGS: Final = frozenset(
    {
        *("log.dir", "log.dirs", "metadata.log.dir"),
        *("inter.broker.protocol.version", "unstable.feature.versions.enable", "unstable.metadata.versions.enable"),
    }
)


@dataclass(frozen=True, slots=True)
class ApacheConfig:
    """The configuration of a real cluster.

    Attributes:
        version: A release of `eosctl.lab.apache.releases`.
        node_count: Combined broker and controller nodes: 1 or 3.
        transaction_version: Level of the feature `transaction.version`, or None for the release's default.
        settings: Broker settings in addition to those of a loopback cluster.
        heap_bytes: The heap of each node.
        jvm_options: Options that replace the quick-start ones, e.g. for measurements.
        start_timeout_ms: Maximum start-up time of all nodes together.
        cache_dir: Where the jars are kept; by default the user's cache directory.
        port_base: Port of the first broker, with the others on the next ports; by default free ports.
        racks: Racks, which the brokers take in turn.
    """

    version: str = "4.3.1"
    node_count: int = 1
    transaction_version: int | None = None
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    heap_bytes: int = 512 * MIB
    jvm_options: tuple[str, ...] = ()
    start_timeout_ms: int = 90_000
    cache_dir: Path | None = None
    port_base: int | None = None
    racks: tuple[str, ...] = ()

    def settings_of(self, node_id: int) -> Mapping[str, str]:
        """Return the settings of a node in addition to those of a loopback cluster."""
        if not self.racks:
            return self.settings
        return {"broker.rack": self.racks[(node_id - 1) % len(self.racks)], **self.settings}


class ApacheNodes:
    """A cluster of real Kafka nodes in a directory.

    The first `up` fetches jars, formats the storage, and assigns the ports; later ones start the same nodes again.
    """

    def __init__(self, config: ApacheConfig, directory: Path, rng: random.Random) -> None:
        """Prepare a cluster; `up` starts it.

        Args:
            config: The configuration.
            directory: The nodes' settings, data, and logs; the caller deletes it.
            rng: Chooses cluster id and ports.
        """
        self._config = config
        self._directory = directory
        self._rng = rng
        self._nodes: dict[int, KafkaNode] = {}
        self._given_up = threading.Event()

    @property
    def name(self) -> str:
        """Return the release, e.g. `apache 4.3.1`."""
        return f"apache {self._config.version}"

    @property
    def bootstrap(self) -> str:
        """Return `host:port` of every broker, comma-separated; empty before the first `up`."""
        return ",".join(f"{HOST}:{node.address.port}" for node in self._nodes.values())

    def brokers(self) -> tuple[BrokerHandle, ...]:
        """Return the brokers in id order."""
        return tuple(
            BrokerHandle(node_id, HOST, node.address.port, node.state) for node_id, node in self._nodes.items()
        )

    def data_dirs(self) -> Mapping[int, Path]:
        """Return the directory with the partitions of each broker by id."""
        return {node_id: node.files.data_dir for node_id, node in self._nodes.items()}

    def logs(self) -> Mapping[int, tuple[Path, ...]]:
        """Return the existing log files of each broker by id."""
        return {node_id: tuple(sorted(node.files.log_dir.glob("*.log"))) for node_id, node in self._nodes.items()}

    def records(self) -> Mapping[int, Path]:
        """Return the process record of each broker by id, for `benchmarks.calibrating.jvm`."""
        return {node_id: node.files.record for node_id, node in self._nodes.items()}

    async def up(self) -> None:
        """Start every stopped node; return once each lists all brokers in its metadata."""
        await self._abandonable(self._up)

    async def down(self) -> None:
        """Stop every node; no effect on stopped ones."""
        await asyncio.to_thread(self._down)

    async def stop(self, broker_id: int) -> None:
        """Shut a broker down cleanly (SIGTERM)."""
        await asyncio.to_thread(self._node(broker_id).end, signal.SIGTERM)

    async def kill(self, broker_id: int) -> None:
        """Kill a broker (SIGKILL)."""
        await asyncio.to_thread(self._node(broker_id).end, signal.SIGKILL)

    async def pause(self, broker_id: int) -> None:
        """Pause a broker (SIGSTOP)."""
        self._node(broker_id).pause()

    async def resume(self, broker_id: int) -> None:
        """Resume a paused broker (SIGCONT)."""
        self._node(broker_id).resume()

    async def restart(self, broker_id: int) -> None:
        """Start a stopped or killed broker on its data and address; return once it serves with all running brokers."""
        node = self._node(broker_id)
        if node.state is not BrokerState.STOPPED:
            raise EngineError(
                f"Broker {broker_id} is {node.state} and cannot be restarted.",
                "Only a stopped one can.",
                "Stop or kill it first; resume continues a paused one.",
            )
        await self._abandonable(lambda: self._start([node]))

    async def install(self, broker_id: int, version: str) -> None:
        """Set the release of a stopped broker; after a restart it uses the existing files."""
        node = self._node(broker_id)
        if node.state is not BrokerState.STOPPED:
            raise EngineError(
                f"Broker {broker_id} is {node.state} and cannot change its release.",
                "Only a stopped one can: a running one has the jars of its release open.",
                "Stop it first.",
            )
        node.runtime = await asyncio.to_thread(prepare_runtime, resolve_release(version), self._config.cache_dir)

    async def _abandonable(self, start: Callable[[], None]) -> None:
        """Start nodes in a thread; if the caller is cancelled (Ctrl-C), stop them and wait for the thread."""
        self._given_up.clear()
        try:
            await asyncio.to_thread(start)
        except asyncio.CancelledError:
            self._given_up.set()
            raise

    def _up(self) -> None:
        if not self._nodes:
            self._nodes = self._create_nodes()
        self._start([node for node in self._nodes.values() if node.state is BrokerState.STOPPED])

    def _down(self) -> None:
        # Stop all concurrently with one deadline: a quorum without a majority cannot finish a controlled shutdown.
        nodes = [node for node in self._nodes.values() if node.state is not BrokerState.STOPPED]
        for node in nodes:
            node.request_stop()
        for node in nodes:
            node.end(signal.SIGTERM, patience_ms=10_000)

    def _start(self, nodes: list[KafkaNode]) -> None:
        deadline = time.monotonic() + self._config.start_timeout_ms / 1000
        try:
            for node in nodes:
                node.start()
            running = sum(node.state is BrokerState.RUNNING for node in self._nodes.values())
            for node in nodes:
                node.wait_ready(running, deadline, self._given_up)
        except BaseException:
            for node in nodes:
                node.end(signal.SIGKILL)
            raise

    def _create_nodes(self) -> dict[int, KafkaNode]:
        config = self._config
        runtime = prepare_runtime(resolve_release(config.version), config.cache_dir)
        ports = free_ports(2 * config.node_count, self._rng)
        brokers, controllers = ports[::2], ports[1::2]
        if config.port_base is not None:
            brokers = required_ports(config.port_base, config.node_count)
        cluster = [NodeAddress(index + 1, *pair) for index, pair in enumerate(zip(brokers, controllers, strict=True))]
        cluster_id = formatted_cluster_id(self._directory) or random_cluster_id(self._rng)
        nodes: dict[int, KafkaNode] = {}
        for address in cluster:
            home = self._directory / f"node-{address.node_id}"
            node = KafkaNode(runtime, address, home, heap_bytes=config.heap_bytes, jvm_options=config.jvm_options)
            end_recorded(node.files.record, patience_ms=10_000)
            own = config.settings_of(address.node_id)
            properties = render_properties(node_settings(address, cluster, node.files.data_dir, own))
            self._format_like_the_first(node, cluster_id)
            node.prepare(properties, cluster_id, config.transaction_version)
            nodes[address.node_id] = node
        return nodes

    def _format_like_the_first(self, node: KafkaNode, cluster_id: str) -> None:
        """Format a later node without StorageTool, unless the settings choose the directories."""
        first, own = self._directory / "node-1" / "data", node.files.data_dir
        if own.exists() or not is_formatted(first) or STORAGE_SETTINGS & self._config.settings.keys():
            return
        ids = MetaProperties(node.address.node_id, cluster_id, random_cluster_id(self._rng))
        format_without_tool(own, (first / BOOTSTRAP_SNAPSHOT).read_bytes(), ids)

    def _node(self, broker_id: int) -> KafkaNode:
        try:
            return self._nodes[broker_id]
        except KeyError:
            known = ", ".join(map(str, self._nodes)) or "none"
            raise EngineError(
                f"There is no broker {broker_id} in this cluster.", f"There are: {known}.", "Name one of them."
            ) from None


def formatted_cluster_id(directory: Path) -> str:
    """Return the cluster id that the storage of earlier nodes was formatted with; empty without storage.

    Raises:
        EngineError: A file with the id cannot be read.
    """
    for path in sorted(directory.glob(f"node-*/data/{META_PROPERTIES}")):
        try:
            return read_meta_properties(path.parent).cluster_id
        except (DamagedFile, OSError) as error:
            raise EngineError(
                f"Cannot read {path}.", str(error), "Start the sandbox with a new or empty --data-dir."
            ) from error
    return ""


def random_cluster_id(rng: random.Random) -> str:
    """Return a new id as Kafka writes those of clusters and directories.

    It has 22 characters of URL-safe base64 and no leading dash.
    """
    low, rest = rng.randrange(0x80), rng.randbytes(15)
    return base64.urlsafe_b64encode(bytes([low]) + rest).decode().rstrip("=")
