"""A cluster without sockets: nodes on a network, driven by a real or virtual event loop."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.model.emulation import NEWEST
from eosctl.model.secret import Secret
from eosctl.sandbox.broker.broker import Broker
from eosctl.sandbox.broker.error_counts import ErrorCounts
from eosctl.sandbox.log.directories import directory_paths
from eosctl.sandbox.logging.log_files import LogFiles
from eosctl.sandbox.logging.logger_levels import LoggerLevels, packaged_loggers
from eosctl.sandbox.metadata.image import ListenerEndpoint
from eosctl.sandbox.network import Network
from eosctl.sandbox.node import ClusterPlan, Node, NodePlan
from eosctl.sandbox.ports import FIRST_CONTROLLER_ID, Emulation
from eosctl.sandbox.profile import BoundListener, node_settings, place_settings
from eosctl.sandbox.runtime import NodeRuntime
from eosctl.sandbox.security.protocol import ListenerSecurity
from eosctl.sandbox.ticks import Loop, Ticks
from eosctl.sandbox.user_settings import check_user_settings
from eosctl.storage.errors import DamagedFile
from eosctl.storage.meta_properties import read_meta_properties
from eosctl.wire.uuid import render_uuid

BUSY: Final = 0.0
"""The time until which a cluster is calm that is not."""


class ClusterShape(NamedTuple):
    """The size and the settings of a cluster."""

    broker_count: int = 1
    emulation: Emulation = Emulation(NEWEST)
    transaction_version: int | None = None
    settings: Mapping[str, str] = {}
    fast: bool = False
    logs_dir: Path | None = None  # Each node has a log folder of its own in it; None disables logs.
    security: ListenerSecurity = ListenerSecurity()
    controller_count: int = 1
    log_dir_count: int = 1  # Per broker.
    racks: Sequence[str] = ()  # Assigned to brokers in turn.
    inter_broker_listener: str | None = None  # The first one by default.
    cluster_id: str | None = None  # Of new files; a random one by default.
    hosted: frozenset[int] | None = None  # The nodes of this process; None for all.

    @property
    def broker_ids(self) -> range:
        """Return the ids of all brokers."""
        return range(1, self.broker_count + 1)

    @property
    def controller_ids(self) -> Sequence[int]:
        """Return the ids of all controllers; a single broker with a single controller has both roles."""
        if self.broker_count == 1 and self.controller_count == 1:
            return (1,)
        return tuple(range(FIRST_CONTROLLER_ID, FIRST_CONTROLLER_ID + self.controller_count))


class ClusterCore:
    """Brokers and a quorum of controllers in one thread, or those of them that one of several processes hosts.

    A cluster of one is a node with both roles, as in Kafka's quick start. With more brokers or controllers, controllers
    are separate nodes (ids from 100), so that every broker can be killed. `wall_base_ms` is the wall clock (ms since
    the epoch) at the loop's time 0.
    """

    def __init__(
        self, shape: ClusterShape, data_dir: Path, loop: Loop, wall_base_ms: float, seed: int | None = None
    ) -> None:
        check_user_settings(shape.settings, shape.emulation.release)
        self.shape = shape
        self.data_dir = data_dir
        self.loop = loop
        self.ticks = Ticks(loop)
        self.network = Network(loop, self.ticks)
        self.random = random.Random(seed)
        self._wall_base_ms = wall_base_ms
        self._counts_errors = False
        self.nodes: dict[int, Node] = {}
        self.on_halt: Callable[[int], None] = lambda _: None  # Closes the connections of a halting node.
        # Closes the connections of a node that keeps running.
        self.on_disconnect: Callable[[int], None] = lambda _: None
        self.on_start: Callable[[Node], None] = lambda _: None  # Called for every node that is about to start.
        # Of every broker; the first one is that of the bootstrap servers.
        self.listeners: dict[int, Sequence[BoundListener]] = {
            broker_id: [self._listener_at("127.0.0.1", 9091 + broker_id)] for broker_id in self.broker_ids
        }
        self.passwords: Mapping[str, Secret] = {}
        known = find_cluster_id(map(self.directory_of, self.broker_ids)) or shape.cluster_id
        self.cluster_id = known or render_uuid(self.random.randbytes(16))
        self.controller_ids = shape.controller_ids
        self._emulations: dict[int, Emulation] = {}
        self._plan = ClusterPlan(self.cluster_id, shape.emulation, shape.transaction_version, self.controller_ids)

    @property
    def broker_ids(self) -> range:
        """Return the ids of all brokers, running or not."""
        return self.shape.broker_ids

    @property
    def node_ids(self) -> list[int]:
        """Return the ids of all nodes, controllers first, since brokers need one."""
        return [*self.controller_ids, *(broker for broker in self.broker_ids if broker not in self.controller_ids)]

    @property
    def hosted_ids(self) -> list[int]:
        """Return the ids of the nodes that this process hosts, controllers first."""
        hosted = self.shape.hosted
        return [node_id for node_id in self.node_ids if hosted is None or node_id in hosted]

    def now_ms(self) -> int:
        """Return the wall clock of nodes without skew, in ms since the epoch."""
        wall: Callable[[], float] = getattr(self.loop, "wall", self.loop.time)
        return int(self._wall_base_ms + wall() * 1000)

    def start(self) -> None:
        """Start every hosted node; brokers are ready once the controller has unfenced them."""
        for node_id in self.hosted_ids:
            self.start_node(node_id)

    def start_node(self, node_id: int) -> Node:
        """Start a node on its existing files.

        Raises:
            OSError: Its directory cannot be used.
        """
        if node_id in self.nodes:
            raise ValueError(f"node {node_id} is running")
        is_broker, is_controller = node_id in self.broker_ids, node_id in self.controller_ids
        directory = self.directory_of(node_id)
        log_dirs = directory_paths(directory, self.shape.log_dir_count) if is_broker else [directory]
        bound = self.listeners[node_id] if is_broker else ()
        listeners = {one.endpoint.name: one.endpoint for one in bound}
        settings = {
            **self.shape.security.settings(),
            **place_settings(
                log_dirs, bound, self.shape.inter_broker_listener, is_controller=is_controller, is_broker=is_broker
            ),
            **node_settings(node_id, self.shape.broker_count, fast=self.shape.fast, overrides=self.shape.settings),
        }
        if "inter.broker.listener.name" in settings:  # Kafka allows one of the two.
            settings.pop("security.inter.broker.protocol", None)
        if is_broker and self.shape.racks:
            settings.setdefault("broker.rack", self.shape.racks[(node_id - 1) % len(self.shape.racks)])
        plan = NodePlan(node_id, is_broker, is_controller, log_dirs, settings)
        runtime = NodeRuntime(self.loop, self.ticks, self._wall_base_ms, self.random.getrandbits(64))
        emulation = self._emulations.get(node_id, self.shape.emulation)
        runtime.loggers = LoggerLevels(packaged_loggers(emulation.release))
        if self.shape.logs_dir is not None:
            logs_dir = self.shape.logs_dir / directory.name
            runtime.log = LogFiles(logs_dir, runtime.now_ms, self.ticks, loggers=runtime.loggers)
        node = Node(plan, self._plan._replace(emulation=emulation), runtime, self.network, listeners)
        if node.broker is not None:
            node.broker.passwords = self.passwords
            node.broker.error_counts = ErrorCounts() if self._counts_errors else None
            node.broker.local_broker = self._local_broker
            node.broker.on_disconnect = lambda: self.on_disconnect(node_id)
        node.logs.on_halt = lambda: self._halt(node_id)
        self.nodes[node_id] = node
        self.on_start(node)
        node.start()
        return node

    def count_errors(self) -> None:
        """Count the error codes of responses from now on; counting slows down every response."""
        self._counts_errors = True
        for broker in self.brokers():
            broker.error_counts = ErrorCounts()

    def _listener_at(self, host: str, port: int) -> BoundListener:
        """Describe a broker's only listener, named after its protocol."""
        protocol = self.shape.security.protocol
        return BoundListener(ListenerEndpoint(protocol.name, host, port, protocol), host, port)

    def _local_broker(self, broker_id: int) -> Broker | None:
        """Return a running broker, or None if it is paused or a fault is active on the network."""
        if self.network.has_faults:
            return None
        node = self.nodes.get(broker_id)
        broker = None if node is None else node.broker
        return None if broker is None or broker.stopped or broker.paused is not None else broker

    def _halt(self, node_id: int) -> None:
        """Stop a node whose disk failed. A broker without any log directory halts before it responds."""
        if node_id in self.nodes:
            self.on_halt(node_id)
            self.stop_node(node_id, clean=False)

    def pause_node(self, node_id: int) -> None:
        """Pause a node like SIGSTOP: connections stay open, requests get no response, and timers do not fire."""
        node = self.nodes[node_id]
        self.network.pause(node_id)
        node.runtime.timers.pause()
        if node.broker is not None and node.broker.paused is None:
            node.broker.paused = []

    def resume_node(self, node_id: int) -> None:
        """Resume a paused node, which handles everything received in the meantime."""
        node = self.nodes[node_id]
        broker = node.broker
        if broker is not None:
            waiting, broker.paused = broker.paused or [], None
            for pump in waiting:
                self.ticks.post(pump)
        self.network.resume(node_id)
        node.runtime.timers.resume()

    def install(self, node_id: int, release: str) -> None:
        """Set the Kafka release that a node emulates from its next start, on its existing files."""
        self._emulations[node_id] = self.shape.emulation._replace(release=release)

    def stop_node(self, node_id: int, *, clean: bool) -> None:
        """Stop a node: cleanly, or like `kill -9`."""
        node = self.nodes.pop(node_id)
        node.stop(clean=clean)

    def stop(self, *, clean: bool = True) -> None:
        """Stop every node, brokers first."""
        for node_id in reversed(self.node_ids):
            if node_id in self.nodes:
                self.stop_node(node_id, clean=clean)

    def directory_of(self, node_id: int) -> Path:
        """Return a node's data directory; the first one if a broker has several."""
        return self.data_dir / (f"broker-{node_id}" if node_id in self.broker_ids else f"controller-{node_id}")

    def broker(self, broker_id: int) -> Broker:
        """Return a running broker.

        Raises:
            KeyError: The broker is not running.
        """
        broker = self.nodes[broker_id].broker
        if broker is None:
            raise KeyError(broker_id)
        return broker

    def brokers(self) -> list[Broker]:
        """Return the running brokers."""
        return [node.broker for _, node in sorted(self.nodes.items()) if node.broker is not None]

    @property
    def is_ready(self) -> bool:
        """Return whether every hosted broker serves."""
        brokers = self.brokers()
        expected = sum(node_id in self.broker_ids for node_id in self.hosted_ids)
        return len(brokers) == expected and all(broker.is_ready for broker in brokers)


def find_cluster_id(directories: Iterable[Path]) -> str | None:
    """Return the id of the cluster that wrote files in any of the brokers' directories; None if none did."""
    for directory in directories:
        try:
            return read_meta_properties(directory).cluster_id
        except (OSError, DamagedFile):
            continue
    return None


def calm_until(nodes: Collection[Node]) -> float:
    """Return the loop time until which the running nodes only exchange messages that show that they live.

    A cluster is calm if its only voter is the active controller, and exactly the running brokers are unfenced. It then
    stays calm until a transaction times out.
    """
    controllers = [node.controller for node in nodes if node.controller is not None]
    if len(controllers) != 1 or not controllers[0].is_active or controllers[0].quorum.others:
        return BUSY
    brokers = {node.broker.node_id: node.broker for node in nodes if node.broker is not None}
    if {broker.broker_id for broker in controllers[0].image.active_brokers()} != set(brokers):
        return BUSY
    return min(
        (
            (broker.transactions.calm_until_ms() - broker.runtime.wall_base_ms - broker.runtime.skew_ms) / 1000
            for broker in brokers.values()
        ),
        default=BUSY,
    )
