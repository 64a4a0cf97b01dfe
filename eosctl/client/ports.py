"""Interfaces of the client to its environment: connections to brokers, and the wall clock.

Elapsed time comes from the running event loop, so deadlines are virtual on a virtual-time loop.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Protocol

from eosctl.model.client_config import Endpoint
from eosctl.model.snapshot import Certificate

WallClock = Callable[[], int]
"""Returns the time in milliseconds since the epoch, for the timestamps of produced records."""


class Receiver(Protocol):
    """The receiver of a stream's bytes."""

    def data_received(self, data: bytes) -> None:
        """Receive the next bytes from the peer."""

    def connection_lost(self, error: Exception | None) -> None:
        """Handle the end of the stream; `error` is None if the peer closed it cleanly."""


class Transport(Protocol):
    """An open byte stream to a broker."""

    def write(self, data: bytes) -> None:
        """Send bytes without waiting; no effect on a closed stream."""

    def close(self) -> None:
        """Close the stream immediately; no effect on a closed stream."""

    def certificate(self) -> Certificate | None:
        """Return the validity of the peer's certificate; None without TLS."""


class Connector(Protocol):
    """Opens byte streams: TCP or TLS, or in-memory queues in a simulation."""

    async def open(self, endpoint: Endpoint, receiver: Receiver, tls: ssl.SSLContext | None) -> Transport:
        """Open a stream to `endpoint` that delivers to `receiver`, encrypted if `tls` is given.

        Raises:
            OSError: The endpoint cannot be reached (including `ssl.SSLError`).
        """
