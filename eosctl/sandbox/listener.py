"""A broker's listener: sockets in front of sans-I/O connections."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any, Final, cast

from eosctl.sandbox.broker.broker import Broker
from eosctl.sandbox.broker.connection import Connection
from eosctl.sandbox.descriptors import is_scarce
from eosctl.sandbox.logging.node_events import rejects_connection
from eosctl.sandbox.ticks import Ticks

# Plain asyncio protocols allocate a block of 256 KiB per read, and malloc maps and unmaps it each time.
READ_BYTES: Final = 64 << 10
BACKLOG_BYTES: Final = 1 << 20  # With more unhandled bytes than this, the client is not read from.


class ClientProtocol(asyncio.BufferedProtocol):
    """An accepted socket; the responses of a turn are sent in one write.

    Memory per client is bounded, as with Kafka's muted channels: a client that does not read its responses is not
    served, and one that sends faster than it is served is not read from.
    """

    def __init__(
        self,
        broker: Broker,
        running: Callable[[], Broker | None],
        listener: str,
        ticks: Ticks,
        open_sockets: set[ClientProtocol],
    ) -> None:
        self._broker = broker
        self._running = running
        self._listener = listener
        self._ticks = ticks
        self._open_sockets = open_sockets
        self._transport: asyncio.Transport | None = None
        self._connection: Connection | None = None
        self._behind_bytes = 0
        self._waits = False
        self.last_read = next(_READS)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register the connection."""
        self._transport = cast("asyncio.Transport", transport)
        if self._running() is not self._broker:
            # The broker stopped between the accept and this call, so nothing else closes the socket.
            self._transport.abort()
            return
        accepted = self._transport.get_extra_info("socket")
        if accepted is not None and is_scarce(accepted.fileno()):
            self._transport.abort()
            return
        self._open_sockets.add(self)
        if not self._broker.connection_quotas.enter(self._listener, self):
            self._wait()

    def serve(self) -> None:
        """Serve the client, unless its address has too many connections or connects too often."""
        transport, broker = self._transport, self._broker
        if transport is None or transport.is_closing() or self._running() is not broker:
            return
        peer = transport.get_extra_info("peername") or ("",)
        host, port = (*peer, 0)[:2]
        throttle_ms = broker.connection_quotas.record(host, broker.runtime.now_ms())
        if throttle_ms:  # Kafka accepts the connection, but serves no request until it closes it.
            self._wait()
            broker.runtime.call_later(throttle_ms, transport.close)
            return
        limit = broker.connection_quotas.count(self._listener, host, self)
        if limit is not None:
            rejects_connection(broker.runtime.log, host, limit)
            transport.close()
            return
        self._connection = Connection(broker, self._listener, host, self._output_ready, self._hang_up, port)
        if self._waits:
            self._waits = False
            transport.resume_reading()

    def _wait(self) -> None:
        """Leave the client's bytes unread; asyncio before 3.12 reads after `connection_made`, paused or not."""
        self._waits = True
        asyncio.get_running_loop().call_soon(self._pause)

    def _pause(self) -> None:
        if self._waits and self._transport is not None:
            self._transport.pause_reading()

    def displace(self) -> None:
        """Disconnect the client: the broker has too many connections, and this one has been idle for longest."""
        self._hang_up()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the shared read buffer: the connections of a loop read one after another."""
        return _BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        """Queue the received frames to be handled after the reads of all clients.

        Separating reads from handling keeps the code of each in the processor's caches.
        """
        self.last_read = next(_READS)
        self._ticks.post(partial(self._take, bytes(_BUFFER[:nbytes])))

    def _take(self, data: bytes) -> None:
        connection = self._connection
        if connection is None:
            return
        connection.feed(data)
        if not connection.has_backlog:
            self._behind_bytes = 0
            return
        self._behind_bytes += len(data)
        if self._behind_bytes > BACKLOG_BYTES and connection.on_drained is None:
            connection.on_drained = self._read_again
            if self._transport is not None:
                self._transport.pause_reading()

    def _read_again(self) -> None:
        self._behind_bytes = 0
        if self._connection is not None:
            self._connection.on_drained = None
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def pause_writing(self) -> None:
        """Stop serving the client until it has read its responses."""
        if self._connection is not None:
            self._connection.hold()

    def resume_writing(self) -> None:
        """Resume serving the client."""
        if self._connection is not None:
            self._connection.release()
            self._ticks.schedule()

    def connection_lost(self, exc: Exception | None) -> None:
        """Close the connection after the client has disconnected."""
        self._open_sockets.discard(self)
        self._broker.connection_quotas.leave(self)
        if self._connection is not None:
            self._connection.lost()
        self._transport = None

    def abort(self) -> None:
        """Abort the connection without a response, as a killed broker does."""
        if self._connection is not None:
            self._connection.lost()
        if self._transport is not None:
            self._transport.abort()

    def _output_ready(self) -> None:
        self._ticks.at_write(self._write)

    def _write(self) -> None:
        if self._connection is None:
            return
        data = self._connection.take_output()
        transport = self._transport
        if transport is not None and not transport.is_closing():
            transport.write(data)

    def _hang_up(self) -> None:
        self._ticks.at_write(self._close)

    def _close(self) -> None:
        if self._transport is not None:
            self._write()
            self._transport.close()


_BUFFER: Final = memoryview(bytearray(READ_BYTES))
_READS: Final = count()


class ListenerServer:
    """A listening socket that outlives restarts of its broker: the port stays the same."""

    def __init__(
        self,
        host: str,
        ticks: Ticks,
        broker: Callable[[], Broker | None],
        listener: str,
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.host = host
        self.port = 0
        self._ticks = ticks
        self._broker = broker
        self._listener = listener
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._open_sockets: set[ClientProtocol] = set()

    async def open(self, port: int) -> None:
        """Bind the port (0: an ephemeral one).

        Raises:
            OSError: The port is in use.
        """
        loop = asyncio.get_running_loop()
        server: Any = await loop.create_server(
            self._accept, self.host, port, ssl=self._tls, start_serving=False, reuse_address=True
        )
        self._server = server
        self.port = server.sockets[0].getsockname()[1]  # uvloop returns a list, which compiled code rejects.

    async def serve(self) -> None:
        """Accept clients."""
        if self._server is not None:
            await self._server.start_serving()

    async def reopen(self) -> None:
        """Bind the same port again after `close`."""
        await self.open(self.port)
        await self.serve()

    def close(self) -> None:
        """Stop listening and abort every connection."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self.drop_connections()

    def drop_connections(self) -> None:
        """Abort every connection; unsent responses are lost."""
        for protocol in tuple(self._open_sockets):
            protocol.abort()
        self._open_sockets.clear()

    def _accept(self) -> asyncio.BaseProtocol:
        broker = self._broker()
        if broker is None:
            return _Refused()
        return ClientProtocol(broker, self._broker, self._listener, self._ticks, self._open_sockets)


class _Refused(asyncio.Protocol):
    """Closes a connection that was accepted while the broker was stopping."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Close the connection."""
        transport.close()
