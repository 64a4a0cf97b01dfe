"""The processes of real brokers: their addresses and states, and what signals can do to them."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, Protocol


class BrokerState(StrEnum):
    """The state of a broker's process."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


class BrokerHandle(NamedTuple):
    """A broker of a running cluster; its address stays the same across restarts."""

    broker_id: int
    host: str
    port: int
    state: BrokerState


class BrokerProcesses(Protocol):
    """The processes of a cluster's brokers. Each method raises EngineError when it fails."""

    def brokers(self) -> tuple[BrokerHandle, ...]:
        """Return the brokers in id order."""

    async def stop(self, broker_id: int) -> None:
        """Shut a broker down as an operator would (controlled shutdown)."""

    async def kill(self, broker_id: int) -> None:
        """Kill a broker without a clean shutdown."""

    async def pause(self, broker_id: int) -> None:
        """Pause a broker: connections stay open without responses."""

    async def resume(self, broker_id: int) -> None:
        """Resume a paused broker."""

    async def restart(self, broker_id: int) -> None:
        """Start a stopped or killed broker on the same data and address; return once it serves."""
