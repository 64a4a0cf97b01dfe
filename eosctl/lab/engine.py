"""The interface of all clusters of the lab, embedded or real."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol

from eosctl.errors import EosctlError


class EngineError(EosctlError):
    """An engine could not execute an operation."""


class MissingTool(EngineError):  # noqa: N818
    """A program that the engine needs is not installed.

    Attributes:
        tool: Its name, e.g. `java`.
    """

    def __init__(self, tool: str, what: str, why: str = "", next_step: str = "") -> None:
        super().__init__(what, why, next_step)
        self.tool = tool


class UnsupportedFault(EngineError):  # noqa: N818
    """The engine cannot cause this fault."""


class Capability(StrEnum):
    """A capability of an engine; a scenario that needs a missing one is skipped with the reason."""

    STOP = "stop"
    KILL = "kill"
    PAUSE = "pause"
    RESTART = "restart"
    LINK_FAULTS = "link-faults"
    CLOCK_SKEW = "clock-skew"


class BrokerState(StrEnum):
    """The engine's state of a broker."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


class BrokerHandle(NamedTuple):
    """A broker of a running cluster; its address stays the same across restarts."""

    broker_id: int
    host: str
    port: int
    state: BrokerState


class Engine(Protocol):
    """A cluster that scenarios can start, disturb, and inspect.

    Methods are coroutines because one engine waits for processes while the other runs on virtual time in the caller's
    loop. Each raises `EngineError` when it fails, and `UnsupportedFault` without the capability.
    """

    @property
    def name(self) -> str:
        """Return the engine's name, e.g. `apache 4.3.1`."""

    @property
    def bootstrap(self) -> str:
        """Return `host:port` of every broker, comma-separated."""

    def capabilities(self) -> frozenset[Capability]:
        """Return the engine's capabilities."""

    def brokers(self) -> tuple[BrokerHandle, ...]:
        """Return the brokers in id order."""

    def data_dirs(self) -> Mapping[int, Path]:
        """Return the directory with the partitions of each broker by id."""

    def logs(self) -> Mapping[int, tuple[Path, ...]]:
        """Return the existing log files of each broker by id."""

    async def up(self) -> None:
        """Start every broker; return once all are in the metadata."""

    async def down(self) -> None:
        """Stop every broker; no effect on stopped ones. The files stay."""

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
