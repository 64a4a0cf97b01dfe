"""The proxy: a loopback listener for every broker of a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Self

from eosctl.client import connect
from eosctl.errors import UsageError
from eosctl.lab.proxy.faults import ProxyFaults
from eosctl.lab.proxy.stream import ProxiedStream
from eosctl.model.client_config import ClientConfig, Endpoint
from eosctl.model.loopback import is_loopback
from eosctl.sandbox.broker.client_stream import ClientFaults

HOST = "127.0.0.1"
Accept = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class FaultProxy:
    """A proxy with faults: `async with FaultProxy(config) as proxy`; clients connect to `proxy.bootstrap`.

    Args:
        config: The cluster, which must be on loopback and use plaintext.
        seed: Seed of the faults' random choices.
        anywhere: Allow other clusters, with their owner's consent.
    """

    def __init__(self, config: ClientConfig, *, seed: int = 0, anywhere: bool = False) -> None:
        self._config = config
        self._anywhere = anywhere
        self._seed = seed
        self._servers: dict[int, asyncio.Server] = {}
        self._addresses: dict[int, Endpoint] = {}
        self._streams: dict[int, ClientFaults] = {}
        self._open: dict[int, dict[ProxiedStream, asyncio.Task[None]]] = {}
        self._faults: ProxyFaults | None = None

    @property
    def bootstrap(self) -> str:
        """Return `host:port` of every broker through the proxy, comma-separated."""
        return ",".join(map(str, self._addresses.values()))

    @property
    def faults(self) -> ProxyFaults:
        """Return the faults that can be injected."""
        if self._faults is None:
            raise RuntimeError("the proxy is not open")
        return self._faults

    async def __aenter__(self) -> Self:
        """Query the cluster's brokers, and start to listen.

        Raises:
            UsageError: The cluster is not on loopback.
            EosctlError: It cannot be queried.
        """
        if not self._anywhere:
            require_loopback(self._config.bootstrap)
        async with connect(self._config) as client:
            brokers = {each.node_id: each.endpoint for each in client.cluster.brokers}
        if not self._anywhere:
            require_loopback(tuple(brokers.values()))
        for node_id, upstream in sorted(brokers.items()):
            self._streams[node_id] = ClientFaults()
            self._open[node_id] = {}
            server = await asyncio.start_server(self._acceptor(node_id, upstream), HOST, 0)
            self._servers[node_id] = server
            self._addresses[node_id] = Endpoint(HOST, server.sockets[0].getsockname()[1])
        self._faults = ProxyFaults(self._streams, self.disconnect, self._seed)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close everything."""
        for server in self._servers.values():
            server.close()
        tasks = [task for streams in self._open.values() for task in streams.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def disconnect(self, node_id: int) -> None:
        """Close all connections to a broker."""
        for stream in tuple(self._open.get(node_id, ())):
            stream.abort()

    def _acceptor(self, node_id: int, upstream: Endpoint) -> Accept:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            stream = ProxiedStream(node_id, upstream, self._addresses, self._streams[node_id])
            task = asyncio.current_task()
            assert task is not None
            self._open[node_id][stream] = task
            try:
                await stream.carry(reader, writer)
            except asyncio.CancelledError:
                return  # The proxy is closing; asyncio would report the error otherwise.
            finally:
                self._open[node_id].pop(stream, None)

        return accept


def require_loopback(endpoints: Sequence[Endpoint]) -> None:
    """Reject a cluster that is not on this machine.

    Raises:
        UsageError: An endpoint is not on loopback.
    """
    for endpoint in endpoints:
        if not is_loopback(endpoint.host):
            raise UsageError(
                f"{endpoint} is not on this machine.",
                "A proxy that injects faults stands only in front of clusters on loopback, which eosctl started.",
                "Start one: eosctl sandbox up",
            )
