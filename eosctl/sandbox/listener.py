"""A broker's listener: sockets in front of sans-I/O connections."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

from eosctl.sandbox.broker.broker import Broker
from eosctl.sandbox.broker.connection import Connection
from eosctl.sandbox.ticks import Ticks

# Plain asyncio protocols read into a new block of 256 KiB each time; malloc maps and unmaps it, for 12 us of 15 a read.
READ_BYTES: Final = 64 << 10
BACKLOG_BYTES: Final = 1 << 20  # with so much unhandled, a client is not read from until its turn has come


class ClientProtocol(asyncio.BufferedProtocol):
    """One accepted socket; answers of a turn leave in one write.

    A client costs bounded memory, as with Kafka's muted channels: one that does not read its answers is not served, and
    one that sends faster than it is served is not read from.
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

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin a conversation."""
        self._transport = cast("asyncio.Transport", transport)
        if self._running() is not self._broker:
            # The broker went down between the accept and this call, so nobody else would close the socket.
            self._transport.abort()
            return
        peer = transport.get_extra_info("peername") or ("",)
        self._open_sockets.add(self)
        self._connection = Connection(self._broker, self._listener, peer[0], self._output_ready, self._hang_up)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where to put the next bytes: all connections of a loop read one after another."""
        return _BUFFER

    def buffer_updated(self, nbytes: int) -> None:
        """Have every frame of this read handled in the turn that follows the reads of all clients.

        Reading first and handling then keeps the code of either in the processor's caches.
        """
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
        """Serve the client no more until it has read what is there for it."""
        if self._connection is not None:
            self._connection.hold()

    def resume_writing(self) -> None:
        """Serve the client again."""
        if self._connection is not None:
            self._connection.release()
            self._ticks.schedule()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the client is gone."""
        self._open_sockets.discard(self)
        if self._connection is not None:
            self._connection.lost()
        self._transport = None

    def abort(self) -> None:
        """Break the connection without a word, as a killed broker does."""
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


class ListenerServer:
    """A listening socket that outlives the incarnations of its broker: the port stays the same."""

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
        self.port = server.sockets[0].getsockname()[1]  # uvloop has them in a list, which compiled code would refuse

    async def serve(self) -> None:
        """Accept clients."""
        if self._server is not None:
            await self._server.start_serving()

    async def reopen(self) -> None:
        """Bind the same port again after `close`."""
        await self.open(self.port)
        await self.serve()

    def close(self) -> None:
        """Stop listening and break every connection."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self.drop_connections()

    def drop_connections(self) -> None:
        """Break every connection; what was not sent is lost."""
        for protocol in tuple(self._open_sockets):
            protocol.abort()
        self._open_sockets.clear()

    def _accept(self) -> asyncio.BaseProtocol:
        broker = self._broker()
        if broker is None:
            return _Refused()
        return ClientProtocol(broker, self._broker, self._listener, self._ticks, self._open_sockets)


class _Refused(asyncio.Protocol):
    """Closes a connection that came while the broker was going down."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Hang up."""
        transport.close()
