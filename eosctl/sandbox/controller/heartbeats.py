"""When each broker was last heard of."""

from __future__ import annotations


class Heartbeats:
    """Last contact per broker, in ms in which the controller could run (Kafka measures monotonic time, too)."""

    def __init__(self) -> None:
        self._last_ms: dict[int, int] = {}

    def touch(self, broker_id: int, now_ms: int) -> None:
        """Note a heartbeat."""
        self._last_ms[broker_id] = now_ms

    def forget(self, broker_id: int) -> None:
        """Stop watching a broker."""
        self._last_ms.pop(broker_id, None)

    def stale(self, now_ms: int, session_timeout_ms: int) -> list[int]:
        """Return the brokers whose session is over."""
        return [broker for broker, last in self._last_ms.items() if now_ms - last > session_timeout_ms]
