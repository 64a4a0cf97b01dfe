"""A cluster on virtual time: the sandbox and unchanged clients in one loop, determined by a seed."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from eosctl.client.memory import MemoryNetwork
from eosctl.client.ports import Receiver, Transport
from eosctl.model.client_config import ClientConfig, Endpoint
from eosctl.sandbox.broker.broker import CLIENT_LISTENER, Broker
from eosctl.sandbox.broker.connection import Connection
from eosctl.sandbox.core import ClusterCore, ClusterShape

# 2026-01-01 00:00 UTC, the start of a simulation's wall clocks.
EPOCH_MS: Final = 1_767_225_600_000
_READY_POLL_S: Final = 0.01
_READY_TIMEOUT_S: Final = 60.0
_SHUTDOWN_TIMEOUT_S: Final = 5.0


@dataclass(slots=True)
class Pace:
    """Latency of clients' bytes: 0 to `max_latency_ms`, plus up to `extra_ms` while clients are slow."""

    max_latency_ms: float
    chance: random.Random
    extra_ms: float = 0.0

    def latency(self) -> float:
        """Draw a latency in seconds."""
        return self.chance.uniform(0, self.max_latency_ms + self.extra_ms) / 1000


@dataclass(frozen=True, slots=True)
class Simulation:
    """A running cluster and its clients' network.

    Attributes:
        core: The nodes, for faults and inspection.
        network: The connector of clients.
        chance: Random source, from the seed.
        listeners: The client listener of each broker.
        pace: The latency of clients' bytes.
    """

    core: ClusterCore
    network: MemoryNetwork
    chance: random.Random
    listeners: Mapping[int, _Listener]
    pace: Pace

    @property
    def config(self) -> ClientConfig:
        """Return the client configuration with every broker."""
        return ClientConfig(tuple(self.endpoint(broker_id) for broker_id in self.core.broker_ids))

    def now_ms(self) -> int:
        """Return the clients' wall clock."""
        return EPOCH_MS + int(self.core.loop.time() * 1000)

    def endpoint(self, broker_id: int) -> Endpoint:
        """Return the address of a broker."""
        address = self.core.listeners[broker_id][0].endpoint
        return Endpoint(address.host, address.port)

    def kill(self, broker_id: int) -> None:
        """Kill a broker like kill -9; its clients lose their connections."""
        self.core.stop_node(broker_id, clean=False)
        self.disconnect_clients(broker_id)

    def disconnect_clients(self, broker_id: int) -> None:
        """Close every client connection of a broker; bytes in transit still arrive."""
        self.listeners[broker_id].break_off()

    def stall_clients(self, broker_id: int, duration_ms: float) -> None:
        """Hold back requests to a broker on the open connections; new connections are unaffected.

        A client that reconnects may then be overtaken by its own earlier requests.
        """
        self.listeners[broker_id].stall(duration_ms)

    def restart(self, broker_id: int) -> None:
        """Start a broker on its files."""
        self.core.start_node(broker_id)

    # --- as the host of a FaultEngine -----------------------------------------------------------------------------

    async def kill_broker(self, broker_id: int) -> None:
        """Kill a node like kill -9."""
        self.core.stop_node(broker_id, clean=False)
        self.drop_clients(broker_id)

    async def stop_broker(self, broker_id: int) -> None:
        """Shut a node down cleanly: leaderships move first, a controller resigns."""
        if broker_id in self.core.broker_ids:
            handed_over = asyncio.Event()
            self.core.broker(broker_id).lifecycle.shut_down(handed_over.set)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(handed_over.wait(), _SHUTDOWN_TIMEOUT_S)
        self.core.stop_node(broker_id, clean=True)
        self.drop_clients(broker_id)

    async def start_broker(self, broker_id: int) -> None:
        """Start a node on its files, and wait until it serves."""
        broker = self.core.start_node(broker_id).broker
        async with asyncio.timeout(_READY_TIMEOUT_S):
            while broker is not None and not broker.is_ready:
                await asyncio.sleep(_READY_POLL_S)

    def drop_clients(self, node_id: int) -> None:
        """Disconnect a broker's clients."""
        if node_id in self.listeners:
            self.disconnect_clients(node_id)


@asynccontextmanager
async def simulate(
    shape: ClusterShape, data_dir: Path, *, seed: int, max_latency_ms: float = 2.0
) -> AsyncIterator[Simulation]:
    """Start a cluster in the running (virtual) loop, and stop it at the end.

    Args:
        shape: The cluster.
        data_dir: The nodes' files; empty, or from an earlier run.
        seed: Seed of all random choices.
        max_latency_ms: Maximum latency of clients' bytes.
    """
    chance = random.Random(seed)
    loop = asyncio.get_running_loop()
    core = ClusterCore(shape, data_dir, loop, EPOCH_MS - loop.time() * 1000, chance.getrandbits(64))
    pace = Pace(max_latency_ms, random.Random(chance.getrandbits(64)))
    network = MemoryNetwork(pace.latency)
    listeners = {broker_id: _Listener(core, broker_id) for broker_id in core.broker_ids}
    simulation = Simulation(core, network, random.Random(chance.getrandbits(64)), listeners, pace)
    core.on_halt = core.on_disconnect = simulation.drop_clients
    for broker_id, listener in listeners.items():
        network.listen(simulation.endpoint(broker_id), listener.accept)
    core.start()
    try:
        async with asyncio.timeout(_READY_TIMEOUT_S):
            while not core.is_ready:
                await asyncio.sleep(_READY_POLL_S)
        yield simulation
    finally:
        core.stop(clean=True)


class _Listener:
    """A broker's listener, across restarts of the broker."""

    def __init__(self, core: ClusterCore, broker_id: int) -> None:
        self._core = core
        self._broker_id = broker_id
        self._conversations: dict[_Conversation, None] = {}  # A dict is ordered, unlike a set.

    def break_off(self) -> None:
        """Abort every connection."""
        for conversation in tuple(self._conversations):
            conversation.break_off()
        self._conversations.clear()

    def stall(self, duration_ms: float) -> None:
        """Hold back received bytes on every open connection."""
        for conversation in tuple(self._conversations):
            conversation.stall(duration_ms)

    def accept(self, transport: Transport) -> Receiver:
        """Accept a connection to the running broker.

        Raises:
            ConnectionRefusedError: The broker is not running, or does not serve yet.
        """
        node = self._core.nodes.get(self._broker_id)
        if node is None or node.broker is None or not node.broker.is_ready:
            raise ConnectionRefusedError(f"broker {self._broker_id} is down")
        conversation = _Conversation(self._core, node.broker, transport, self._conversations)
        self._conversations[conversation] = None
        return conversation


class _Conversation:
    """A client's stream to a broker's sans-I/O connection."""

    def __init__(
        self, core: ClusterCore, broker: Broker, transport: Transport, open_conversations: dict[_Conversation, None]
    ) -> None:
        self._ticks = core.ticks
        self._transport = transport
        self._open_conversations = open_conversations
        self._connection = Connection(broker, CLIENT_LISTENER, "127.0.0.1", self._output_ready, self._hang_up)
        self._loop = core.loop
        # Bytes received during a stall; None at the end: the client disconnected.
        self._held: list[bytes | None] | None = None

    def data_received(self, data: bytes) -> None:
        """Handle bytes of a client."""
        if self._held is not None:
            self._held.append(data)
            return
        self._connection.feed(data)
        self._ticks.schedule()

    def stall(self, duration_ms: float) -> None:
        """Hold back received bytes, including the end of the stream, as a network does."""
        if self._held is None:
            self._held = []
            self._loop.call_later(duration_ms / 1000, self._release)

    def _release(self) -> None:
        held, self._held = self._held or [], None
        for data in held:
            if data is None:
                self.connection_lost(None)
            else:
                self.data_received(data)

    def connection_lost(self, error: Exception | None) -> None:
        """Record that the client disconnected."""
        if self._held is not None:
            self._held.append(None)
            return
        self._open_conversations.pop(self, None)
        self._connection.lost()

    def break_off(self) -> None:
        """Abort the stream; unsent bytes are lost."""
        self._held = []  # Held-back bytes never arrive.
        self._connection.lost()
        self._transport.close()

    def _output_ready(self) -> None:
        self._ticks.at_write(self._write)

    def _write(self) -> None:
        data = self._connection.take_output()
        if data:
            self._transport.write(data)

    def _hang_up(self) -> None:
        self._ticks.at_write(self._close)

    def _close(self) -> None:
        self._write()
        self._transport.close()
        self._open_conversations.pop(self, None)
