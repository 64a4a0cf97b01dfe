"""The limits of a broker's connections (Kafka's `ConnectionQuotas`): how many there are, and how fast they come.

`max.connections` is the limit of the broker: a client above it is accepted, and served as soon as another one leaves.
The listener between brokers, if it is one of several, is not subject to it; its clients displace those of the others
that have been idle for longest. `max.connections.per.ip` and its overrides are limits of an address: a client above
them is disconnected. The quota `connection_creation_rate` of an address (KIP-612) delays the disconnection.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection
from typing import Final, Protocol

from eosctl.sandbox.metadata.image import ClusterImage
from eosctl.sandbox.ports import BrokerConfig
from eosctl.sandbox.quotas.rate import WindowedRate

CONNECTION_CREATION_RATE: Final = "connection_creation_rate"
MAX_CONNECTIONS: Final = "max.connections"
MAX_PER_ADDRESS: Final = "max.connections.per.ip"
OVERRIDES: Final = "max.connections.per.ip.overrides"
_IP: Final = "ip"


class Client(Protocol):
    """An accepted connection.

    Attributes:
        last_read: A number that grows with each read of any client.
    """

    last_read: int

    def serve(self) -> None:
        """Serve the client: its broker has a connection left."""

    def displace(self) -> None:
        """Disconnect the client in favor of another one."""


class ConnectionQuotas:
    """The connections of one broker, and the rates at which addresses connect."""

    def __init__(self, config: BrokerConfig, image: ClusterImage, listeners: Collection[str]) -> None:
        self._config = config
        self._image = image
        self._windows = config.get_int("quota.window.num"), config.get_int("quota.window.size.seconds") * 1000
        self._rates: dict[str, WindowedRate] = {}
        between_brokers = config.get_str("inter.broker.listener.name")
        self._protected = between_brokers if len(listeners) > 1 else None
        self._open: dict[Client, tuple[str, str]] = {}  # With listener and address.
        self._by_address: Counter[str] = Counter()
        self._waiting: dict[str, deque[Client]] = {}

    def enter(self, listener: str, client: Client) -> bool:
        """Serve a new client, now or once the broker has a connection left; return whether it is served now."""
        waiting = self._waiting.get(listener)
        if not waiting and self._has_free(listener):
            client.serve()
            return True
        self._waiting.setdefault(listener, deque()).append(client)
        return False

    def count(self, listener: str, address: str, client: Client) -> int | None:
        """Count a client that is served, which may displace others.

        Returns:
            The limit of its address, if that is reached: the client is not counted. Otherwise None.
        """
        limit = self._address_limit(address)
        if self._by_address[address] >= limit:
            return limit
        self._by_address[address] += 1
        self._open[client] = listener, address
        self._displace_excess()
        return None

    def leave(self, client: Client) -> None:
        """Forget a client that has disconnected, and serve those that wait."""
        place = self._open.pop(client, None)
        if place is None:
            for waiting in self._waiting.values():
                if client in waiting:
                    waiting.remove(client)
            return
        self._by_address[place[1]] -= 1
        if not self._by_address[place[1]]:
            del self._by_address[place[1]]
        self._serve_waiting()

    def apply_settings(self) -> None:
        """Apply changed limits: serve the clients that wait, or disconnect those above the broker's limit."""
        self._serve_waiting()
        self._displace_excess()

    def record(self, address: str, now_ms: int) -> int:
        """Count a new connection in the rate of its address. One that is not served does not count.

        Args:
            address: The client's IP address.
            now_ms: The time at which the connection was accepted.

        Returns:
            The milliseconds after which the broker closes the connection, at most one window; 0 to serve it.
        """
        limit = self._rate_of(address) if self._image.quotas else None
        if limit is None:
            return 0
        rate = self._rates.get(address)
        if rate is None:
            rate = self._rates[address] = WindowedRate(*self._windows)
        rate.record(1, now_ms)
        throttle_ms = min(rate.throttle_ms(limit, now_ms), self._windows[1])
        if throttle_ms:
            rate.record(-1, now_ms)
        return throttle_ms

    def _has_free(self, listener: str) -> bool:
        return listener == self._protected or len(self._open) < self._config.get_int(MAX_CONNECTIONS)

    def _serve_waiting(self) -> None:
        for listener, waiting in self._waiting.items():
            while waiting and self._has_free(listener):
                waiting.popleft().serve()

    def _displace_excess(self) -> None:
        """Disconnect clients of other listeners than the protected one until the broker's limit is kept."""
        excess = len(self._open) - self._config.get_int(MAX_CONNECTIONS)
        if excess <= 0:
            return
        others = [client for client, (listener, _) in self._open.items() if listener != self._protected]
        for client in sorted(others, key=_last_read)[:excess]:
            _, address = self._open.pop(client)
            self._by_address[address] -= 1
            client.displace()

    def _address_limit(self, address: str) -> int:
        for entry in self._config.get_str(OVERRIDES).split(","):
            name, _, limit = entry.strip().rpartition(":")
            if name == address:
                return int(limit)
        return self._config.get_int(MAX_PER_ADDRESS)

    def _rate_of(self, address: str) -> float | None:
        for name in (address, None):
            found = self._image.quotas.get(frozenset({(_IP, name)}), {}).get(CONNECTION_CREATION_RATE)
            if found is not None:
                return found
        return None


def _last_read(client: Client) -> int:
    return client.last_read
