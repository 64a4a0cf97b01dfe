"""What the client asks of the world: a way to reach a broker, and the time of day.

Elapsed time comes from the running event loop, so that a loop on virtual time makes every deadline virtual too.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Protocol

from eosctl.model.client_config import Endpoint

WallClock = Callable[[], int]
"""Returns the time of day in ms since the epoch; it dates the records that a producer writes."""


class Receiver(Protocol):
    """The side that is told what arrives."""

    def data_received(self, data: bytes) -> None:
        """Take the next bytes from the peer."""

    def connection_lost(self, error: Exception | None) -> None:
        """Learn that nothing more will arrive; `error` is None when the peer closed in good order."""


class Transport(Protocol):
    """An open byte stream to one broker."""

    def write(self, data: bytes) -> None:
        """Send bytes without waiting; harmless after the stream has closed."""

    def close(self) -> None:
        """Close the stream at once; harmless when it has closed."""


class Connector(Protocol):
    """Opens byte streams: TCP or TLS in the real world, queues in a simulation."""

    async def open(self, endpoint: Endpoint, receiver: Receiver, tls: ssl.SSLContext | None) -> Transport:
        """Open a stream to `endpoint` whose bytes go to `receiver`, encrypted when `tls` is given.

        Raises:
            OSError: The endpoint cannot be reached (`ssl.SSLError` is one).
        """
