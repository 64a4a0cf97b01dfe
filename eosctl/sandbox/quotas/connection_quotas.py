"""The quota `connection_creation_rate` of client addresses (`ConnectionQuotas`, KIP-612)."""

from __future__ import annotations

from typing import Final

from eosctl.sandbox.metadata.image import ClusterImage
from eosctl.sandbox.quotas.rate import WindowedRate

CONNECTION_CREATION_RATE: Final = "connection_creation_rate"
_IP: Final = "ip"


class ConnectionQuotas:
    """The rates at which addresses connect to one broker."""

    def __init__(self, image: ClusterImage, window_count: int, window_seconds: int) -> None:
        self._image = image
        self._windows = window_count, window_seconds * 1000
        self._rates: dict[str, WindowedRate] = {}

    def record(self, address: str, now_ms: int) -> int:
        """Count a new connection. One that is not served does not count.

        Args:
            address: The client's IP address.
            now_ms: The time at which the connection was accepted.

        Returns:
            The milliseconds after which the broker closes the connection, at most one window; 0 to serve it.
        """
        limit = self._limit_of(address) if self._image.quotas else None
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

    def _limit_of(self, address: str) -> float | None:
        for name in (address, None):
            found = self._image.quotas.get(frozenset({(_IP, name)}), {}).get(CONNECTION_CREATION_RATE)
            if found is not None:
                return found
        return None
