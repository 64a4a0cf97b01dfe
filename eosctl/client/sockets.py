"""TCP and TLS streams on asyncio protocols."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import ssl
from typing import Final

from eosctl.client.ports import Receiver
from eosctl.model.client_config import Endpoint
from eosctl.model.snapshot import Certificate

# RFC 8305: the delay before the next address of a host is tried in parallel.
_HAPPY_EYEBALLS_DELAY_S = 0.25


# Plain asyncio protocols allocate a block of 256 KiB per read, and malloc maps and unmaps it each time.
_READ_BYTES: Final = 64 * 1024


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class SocketConnector:
    """Opens sockets on the running event loop. Use one connector per loop, since reads share a buffer."""

    def __init__(self) -> None:
        self._buffer = memoryview(bytearray(_READ_BYTES))

    async def open(self, endpoint: Endpoint, receiver: Receiver, tls: ssl.SSLContext | None) -> SocketStream:
        """Connect to the first address of the host that accepts; see `eosctl.client.ports.Connector`.

        A broker may advertise any text as its host, and any number as its port.

        Raises:
            OSError: No address accepts, or the endpoint is none.
        """
        loop = asyncio.get_running_loop()
        try:
            _, stream = await loop.create_connection(
                lambda: SocketStream(receiver, self._buffer),
                endpoint.host,
                endpoint.port,
                ssl=tls,
                server_hostname=endpoint.host if tls is not None else None,
                # asyncio does not close the winner's socket when the wait for it is cancelled.
                happy_eyeballs_delay=None if _is_address(endpoint.host) else _HAPPY_EYEBALLS_DELAY_S,
            )
        except ssl.SSLError:
            raise  # a ValueError where a certificate is refused
        except (OverflowError, ValueError) as error:
            raise OSError(errno.EINVAL, "the host or the port is malformed") from error
        return stream


class SocketStream(asyncio.BufferedProtocol):
    """Passes received bytes to a receiver."""

    def __init__(self, receiver: Receiver, buffer: memoryview) -> None:
        self._receiver = receiver
        self._buffer = buffer
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport (called by asyncio)."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the read buffer (called by asyncio)."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Pass the bytes on (called by asyncio)."""
        self._receiver.data_received(bytes(self._buffer[:nbytes]))

    def connection_lost(self, exc: Exception | None) -> None:
        """Pass the end of the stream on (called by asyncio)."""
        self._receiver.connection_lost(exc)

    def write(self, data: bytes) -> None:
        """Send bytes without waiting."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def certificate(self) -> Certificate | None:
        """Return the validity of the peer's certificate; None without TLS, or if it was not verified."""
        peer = None if self._transport is None else self._transport.get_extra_info("peercert")
        if not peer:
            return None
        begin, end = (1000 * ssl.cert_time_to_seconds(peer[name]) for name in ("notBefore", "notAfter"))
        return Certificate(begin, end)

    def close(self) -> None:
        """Close immediately, without sending pending bytes."""
        if self._transport is not None:
            self._transport.abort()
