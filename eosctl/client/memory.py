"""In-memory streams for simulation: the same client without sockets."""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

from eosctl.client.ports import Receiver, Transport
from eosctl.model.client_config import Endpoint

Accept: TypeAlias = Callable[[Transport], Receiver]
"""Receives the stream to a new client and returns the receiver of its bytes."""

Latency: TypeAlias = Callable[[], float]
"""Returns the latency of the next bytes, in seconds."""


def _no_latency() -> float:
    return 0.0


class MemoryNetwork:
    """A connector whose listeners are functions. Bytes arrive in order, after the call that sent them.

    Args:
        latency: Latency of each write; none by default.
    """

    def __init__(self, latency: Latency = _no_latency) -> None:
        self._latency = latency
        self._listeners: dict[Endpoint, Accept] = {}

    def listen(self, endpoint: Endpoint, accept: Accept) -> None:
        """Accept connections to `endpoint` from now on."""
        self._listeners[endpoint] = accept

    def stop_listening(self, endpoint: Endpoint) -> None:
        """Reject connections to `endpoint`; open ones stay."""
        self._listeners.pop(endpoint, None)

    async def open(self, endpoint: Endpoint, receiver: Receiver, tls: ssl.SSLContext | None) -> Transport:
        """Connect to a listener; see `eosctl.client.ports.Connector`. TLS is ignored."""
        await asyncio.sleep(self._latency())
        accept = self._listeners.get(endpoint)
        if accept is None:
            raise ConnectionRefusedError(f"no server listens on {endpoint}")
        here, there = MemoryStream(self._latency), MemoryStream(self._latency)
        here.join(there, receiver)
        there.join(here, accept(there))
        return here


class MemoryStream:
    """One end of a stream; writes arrive at the receiver of the other end."""

    def __init__(self, latency: Latency) -> None:
        self._latency = latency
        self._peer: MemoryStream | None = None
        self._receiver: Receiver | None = None
        self._travelling: deque[bytes | None] = deque()
        self._arrival_at = 0.0
        self._closed = False

    def join(self, peer: MemoryStream, receiver: Receiver) -> None:
        """Set the peer, and the receiver of this end."""
        self._peer = peer
        self._receiver = receiver

    def write(self, data: bytes) -> None:
        """Send bytes to the other end."""
        if not self._closed:
            self._send(data)

    def close(self) -> None:
        """Close this end; the peer is notified after all earlier writes."""
        if not self._closed:
            self._closed = True
            self._send(None)

    def certificate(self) -> None:
        """Return None: TLS is ignored."""

    def arrive(self) -> None:
        """Deliver the oldest write. Each write is delivered by one call, which preserves the order."""
        data = self._travelling.popleft()
        if self._closed or self._receiver is None:
            return
        if data is None:
            self._closed = True
            self._receiver.connection_lost(None)
        else:
            self._receiver.data_received(data)

    def _send(self, data: bytes | None) -> None:
        if self._peer is None:
            return
        loop = asyncio.get_running_loop()
        self._peer._travelling.append(data)
        latency = self._latency()
        if latency <= 0 and self._arrival_at <= loop.time():
            loop.call_soon(self._peer.arrive)
        else:
            self._arrival_at = max(self._arrival_at, loop.time() + latency)
            loop.call_at(self._arrival_at, self._peer.arrive)
