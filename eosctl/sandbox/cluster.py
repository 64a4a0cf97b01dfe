"""A cluster on loopback sockets, embedded in an asyncio program or run by the sandbox process."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from eosctl.errors import EosctlError
from eosctl.model.emulation import NEWEST
from eosctl.sandbox.broker.broker import Broker
from eosctl.sandbox.clock import AdjustableClock, advance, bounded_advance_ms
from eosctl.sandbox.core import ClusterCore, calm_until
from eosctl.sandbox.faults.control import fault_commands
from eosctl.sandbox.faults.engine import FaultEngine
from eosctl.sandbox.listener import ListenerServer
from eosctl.sandbox.metadata.image import ListenerEndpoint
from eosctl.sandbox.metrics.endpoint import MetricsEndpoints
from eosctl.sandbox.process.security_files import SecurityMaterial, prepare_material, write_client_files
from eosctl.sandbox.process.shape import Share, shape_of
from eosctl.sandbox.process.spec import SandboxSpec
from eosctl.sandbox.process.users import register_users
from eosctl.sandbox.profile import BoundListener
from eosctl.sandbox.security.protocol import ADMIN_USER, ListenerSecurity
from eosctl.sandbox.starting import explain_start, not_ready, not_startable
from eosctl.sandbox.status import describe_cluster

#: The first start takes half a second on an idle machine; the limit must also hold on a busy one.
FIRST_START_TIMEOUT_S = 300.0
START_TIMEOUT_S = 20.0
SHUTDOWN_TIMEOUT_S = 5.0

Command = Callable[[dict[str, Any]], Awaitable[Any]]


class Cluster:
    """Brokers with listeners in the running event loop."""

    def __init__(self, spec: SandboxSpec, logs_dir: Path | None = None, share: Share | None = None) -> None:
        """Prepare a cluster; `start` starts it.

        Args:
            spec: The cluster's specification.
            logs_dir: Directory of the nodes' logs; None for no logs.
            share: The nodes that this process hosts; None for all.
        """
        self._spec = spec
        self._shape = shape_of(spec, logs_dir, share)
        self._share = share
        self._metrics: MetricsEndpoints | None = None
        self._core: ClusterCore | None = None
        self._material = SecurityMaterial({}, None)
        self._servers: dict[int, Sequence[ListenerServer]] = {}  # In the order of the listeners.
        self._starting: dict[int, asyncio.Future[None]] = {}  # Restarted brokers, until they stop.
        self._faults: FaultEngine | None = None
        self._clock: AdjustableClock | None = None

    # --- start and stop -----------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Bind the listeners, start every node, and wait until all brokers serve.

        Raises:
            EosctlError: A port is in use, the data cannot be read or written, or a setting is not allowed.
        """
        spec = self._spec
        try:
            await self.prepare()
            await self.start_nodes(self.core.hosted_ids)
            await self.register_users()
            await self.open()
            if spec.security != ListenerSecurity():
                write_client_files(Path(spec.data_dir), spec.security, spec.users, self.bootstrap)
        except BaseException as error:
            self.abort()
            raise explain_start(error, spec, FIRST_START_TIMEOUT_S) from error

    async def prepare(self) -> None:
        """Create the nodes' network and bind the listeners."""
        loop, spec = asyncio.get_running_loop(), self._spec
        self._clock = clock = AdjustableClock(loop, in_thread=loop.run_in_executor)
        self._core = core = ClusterCore(
            self._shape, Path(spec.data_dir), clock, time.time() * 1000 - loop.time() * 1000
        )
        self._faults = FaultEngine(self)
        for name, on in spec.bugs:
            self._faults.switch_bug(name, on)
        core.on_halt = self._disconnect
        core.on_disconnect = self.drop_clients
        if spec.security != ListenerSecurity():
            hosts = [one.advertised_host for one in spec.listeners]
            self._material = prepare_material(Path(spec.data_dir), spec.security, spec.users, hosts)
        await self._bind(core)
        core.passwords = self._material.passwords

    async def start_nodes(self, node_ids: Sequence[int]) -> None:
        """Start nodes, and wait until every broker is ready."""
        core, ready = self.core, asyncio.Event()

        def note_ready() -> None:
            if all(broker.is_ready for broker in core.brokers()):
                ready.set()

        for node_id in node_ids:
            core.start_node(node_id)
        for broker in core.brokers():
            broker.on_ready = note_ready
        core.ticks.run()
        note_ready()
        await asyncio.wait_for(ready.wait(), FIRST_START_TIMEOUT_S)

    async def register_users(self) -> None:
        """Add the missing credentials of the users."""
        registering = register_users(self.core, self._spec.sasl, self._material.passwords)
        await asyncio.wait_for(registering, FIRST_START_TIMEOUT_S)

    async def open(self) -> None:
        """Accept clients, and serve metrics."""
        for server in self._all_servers():
            await server.serve()
        if self._spec.metrics_port is not None:
            self._metrics = MetricsEndpoints(self.core, self._spec.metrics_port)
            await self._metrics.open()

    async def _bind(self, core: ClusterCore) -> None:
        protocol, share = self._spec.security.protocol, self._share
        for broker_id in (node_id for node_id in core.hosted_ids if node_id in core.broker_ids):
            servers: list[ListenerServer] = []
            bound: list[BoundListener] = []
            self._servers[broker_id] = servers
            known = share.ports.get(broker_id) if share is not None else None
            for at, planned in enumerate(self._spec.listeners):
                getter = self._broker_getter(broker_id)
                server = ListenerServer(planned.address, core.ticks, getter, planned.name, tls=self._material.tls)
                port = planned.port_of(broker_id) if known is None else known[at]
                if share is not None and broker_id not in share.started:
                    server.port = port
                else:
                    await _open(server, port)
                servers.append(server)
                advertised = planned.advertised_port_of(broker_id, server.port)
                endpoint = ListenerEndpoint(planned.name, planned.advertised_host, advertised, protocol)
                bound.append(BoundListener(endpoint, planned.address, server.port))
            core.listeners[broker_id] = bound

    def _all_servers(self) -> list[ListenerServer]:
        return [server for servers in self._servers.values() for server in servers]

    def _broker_getter(self, broker_id: int) -> Callable[[], Broker | None]:
        def running() -> Broker | None:
            node = self.core.nodes.get(broker_id)
            return node.broker if node is not None else None

        return running

    async def stop(self) -> None:
        """Shut down every node cleanly; the data on disk is complete."""
        self._close_metrics()
        for broker_id in self._servers:
            self._disconnect(broker_id)
        if self._core is not None:
            self._core.ticks.run()
            self._core.stop(clean=True)
        self._servers.clear()

    def _close_metrics(self) -> None:
        if self._metrics is not None:
            self._metrics.close()
            self._metrics = None

    def abort(self) -> None:
        """Kill every node like `kill -9`."""
        self._close_metrics()
        for broker_id in self._servers:
            self._disconnect(broker_id)
        if self._core is not None:
            self._core.stop(clean=False)

    def _disconnect(self, node_id: int) -> None:
        starting = self._starting.pop(node_id, None)
        if starting is not None:
            starting.cancel()
        for server in self._servers.get(node_id, ()):
            server.close()

    def drop_clients(self, node_id: int) -> None:
        """Disconnect a broker's clients."""
        for server in self._servers.get(node_id, ()):
            server.drop_connections()

    # --- looking in ---------------------------------------------------------------------------------------------

    @property
    def core(self) -> ClusterCore:
        """Return the cluster's nodes."""
        if self._core is None:
            raise RuntimeError("the cluster is not started")
        return self._core

    @property
    def bootstrap(self) -> str:
        """Return the bootstrap servers: every broker's address, including stopped brokers."""
        return ",".join(address for _, address in sorted(self._addresses().items()))

    def _addresses(self) -> dict[int, str]:
        endpoints = {broker_id: listeners[0].endpoint for broker_id, listeners in self.core.listeners.items()}
        return {broker_id: f"{end.host}:{end.port}" for broker_id, end in endpoints.items()}

    @property
    def faults(self) -> FaultEngine:
        """Return the faults that can be injected."""
        if self._faults is None:
            raise RuntimeError("the cluster is not started")
        return self._faults

    def status(self) -> dict[str, Any]:
        """Describe controllers, brokers, partitions, and open transactions, as the control socket does."""
        return describe_cluster(self.core, self._addresses())

    # --- faults -------------------------------------------------------------------------------------------------

    async def kill_broker(self, broker_id: int) -> None:
        """Kill a broker (or a controller, from id 100) like `kill -9`: connections break, nothing is flushed."""
        self._require_running(broker_id)
        self._disconnect(broker_id)
        self.core.stop_node(broker_id, clean=False)

    async def stop_broker(self, broker_id: int) -> None:
        """Shut down a broker (controlled shutdown: leaderships move first) or a controller."""
        self._require_running(broker_id)
        if broker_id not in self.core.broker_ids:
            self.core.stop_node(broker_id, clean=True)
            return
        handed_over = asyncio.Event()
        self.core.broker(broker_id).lifecycle.shut_down(handed_over.set)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(handed_over.wait(), SHUTDOWN_TIMEOUT_S)
        self._disconnect(broker_id)
        self.core.stop_node(broker_id, clean=True)

    async def start_broker(self, broker_id: int) -> None:
        """Start a broker on its existing files and port, and wait until it serves; or start a controller.

        Raises:
            EosctlError: It runs, has no such number, or does not serve yet.
        """
        if broker_id in self.core.nodes or broker_id not in self.core.hosted_ids:
            raise not_startable(broker_id)
        node = self.core.start_node(broker_id)
        if node.broker is None:
            return
        ready = asyncio.Event()
        node.broker.on_ready = ready.set
        self.core.ticks.run()
        if node.broker.is_ready:
            ready.set()
        starting = asyncio.ensure_future(self._serve_once(ready, broker_id))
        self._starting[broker_id] = starting
        # A broker that takes longer still serves as soon as it is ready.
        try:
            await asyncio.wait_for(asyncio.shield(starting), START_TIMEOUT_S)
        except TimeoutError:
            raise not_ready(broker_id, START_TIMEOUT_S) from None

    async def _serve_once(self, ready: asyncio.Event, broker_id: int) -> None:
        await ready.wait()
        for server in self._servers[broker_id]:
            await server.reopen()

    async def advance(self, duration_ms: float) -> int:
        """Advance the cluster's time and run all timers due on the way; return the number of steps.

        Clients and the machine keep their own time, so sessions of groups expire if their members do not heartbeat.
        """
        if self._clock is None:
            raise RuntimeError("the cluster is not started")
        return await advance(
            self._clock,
            self.core.ticks,
            lambda: [node.runtime.timers for node in tuple(self.core.nodes.values())],
            duration_ms,
            lambda: 0.0 if self.faults.active else calm_until(self.core.nodes.values()),
        )

    def _require_running(self, broker_id: int) -> None:
        if broker_id not in self.core.nodes:
            known = ", ".join(map(str, self.core.node_ids))
            raise EosctlError(
                f"Broker {broker_id} is not running.",
                f"The nodes of this sandbox are {known}.",
                "Start it, or name another.",
            )

    def commands(self) -> Mapping[str, Command]:
        """Return the commands of the control socket other than `stop`."""

        async def status(arguments: dict[str, Any]) -> dict[str, Any]:
            return self.status()

        async def kill(arguments: dict[str, Any]) -> str:
            await self.kill_broker(int(arguments["broker"]))
            return "killed"

        async def stop(arguments: dict[str, Any]) -> str:
            await self.stop_broker(int(arguments["broker"]))
            return "stopped"

        async def start(arguments: dict[str, Any]) -> str:
            await self.start_broker(int(arguments["broker"]))
            return "started"

        async def advance_clock(arguments: dict[str, Any]) -> int:
            return await self.advance(bounded_advance_ms(arguments["ms"]))

        async def now(arguments: dict[str, Any]) -> int:
            return self.core.now_ms()

        return {
            "status": status,
            "kill-broker": kill,
            "stop-broker": stop,
            "start-broker": start,
            "advance": advance_clock,
            "now": now,
            **fault_commands(self.faults),
        }


async def _open(server: ListenerServer, port: int) -> None:
    try:
        await server.open(port)
    except OSError as error:
        raise EosctlError(
            f"Port {port} of {server.host} cannot be used.",
            error.strerror or str(error),
            "Stop the program that listens there, or choose another --port-base or --listen.",
        ) from error


class EmbeddedCluster:
    """A cluster on loopback for tests, deleted afterwards: `async with EmbeddedCluster(brokers=3) as cluster`."""

    def __init__(
        self,
        *,
        brokers: int = 1,
        controllers: int = 1,
        config: Mapping[str, str] | None = None,
        emulate: str = NEWEST,
        transaction_version: int | None = None,
        fast: bool = True,
        data_dir: Path | None = None,
        sasl: Sequence[str] = (),
        tls: bool = False,
        users: Sequence[str] = (ADMIN_USER,),
        log_dirs: int = 1,
        racks: Sequence[str] = (),
    ) -> None:
        self._temporary = None if data_dir is not None else Path(tempfile.mkdtemp(prefix="eosctl-"))
        spec = SandboxSpec(
            name="embedded",
            data_dir=str(data_dir or self._temporary),
            brokers=brokers,
            controllers=controllers,
            emulate=emulate,
            transaction_version=transaction_version,
            settings=tuple((config or {}).items()),
            fast=fast,
            sasl=tuple(sasl),
            tls=tls,
            users=tuple(users),
            log_dirs=log_dirs,
            racks=tuple(racks),
        )
        self.cluster = Cluster(spec)

    async def __aenter__(self) -> Self:
        await self.cluster.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cluster.stop()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    @property
    def bootstrap(self) -> str:
        """Return the bootstrap servers of the cluster."""
        return self.cluster.bootstrap

    @property
    def core(self) -> ClusterCore:
        """Return the cluster's nodes, for faults and inspection."""
        return self.cluster.core
