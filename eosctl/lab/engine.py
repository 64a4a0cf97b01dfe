"""The interface behind which every cluster of the lab stands, embedded or real."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol

from eosctl.errors import EosctlError


class EngineError(EosctlError):
    """An engine could not do what was asked of it."""


class MissingTool(EngineError):  # noqa: N818
    """A program that the engine runs is not on this machine.

    Attributes:
        tool: Its name, e.g. `java`.
    """

    def __init__(self, tool: str, what: str, why: str = "", next_step: str = "") -> None:
        super().__init__(what, why, next_step)
        self.tool = tool


class UnsupportedFault(EngineError):  # noqa: N818
    """The engine has no means to cause this fault."""


class Capability(StrEnum):
    """What an engine can do to its cluster; a scenario that needs more is skipped with the reason."""

    STOP = "stop"
    KILL = "kill"
    PAUSE = "pause"
    RESTART = "restart"
    LINK_FAULTS = "link-faults"
    CLOCK_SKEW = "clock-skew"


class BrokerState(StrEnum):
    """The state of one broker as its engine knows it."""

    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"


class BrokerHandle(NamedTuple):
    """One broker of a running cluster; the address stays the same across restarts."""

    broker_id: int
    host: str
    port: int
    state: BrokerState


class Engine(Protocol):
    """A cluster that scenarios can start, disturb and look at.

    Methods are coroutines because one engine waits for processes while the other runs on virtual time in the loop of
    its caller. Each raises `EngineError` when it fails and `UnsupportedFault` when the capability is not there.
    """

    @property
    def name(self) -> str:
        """Name the engine, e.g. `apache 4.3.1`."""

    @property
    def bootstrap(self) -> str:
        """Return `host:port` of every broker, comma separated, as clients take it."""

    def capabilities(self) -> frozenset[Capability]:
        """Return the engine's capabilities."""

    def brokers(self) -> tuple[BrokerHandle, ...]:
        """List the brokers in the order of their ids."""

    def data_dirs(self) -> Mapping[int, Path]:
        """Map each broker id to the directory with its partitions."""

    def logs(self) -> Mapping[int, tuple[Path, ...]]:
        """Map each broker id to the log files that it has written so far."""

    async def up(self) -> None:
        """Start every broker and return when all of them are in the metadata."""

    async def down(self) -> None:
        """Stop every broker; harmless when none runs. Files stay where they are."""

    async def stop(self, broker_id: int) -> None:
        """Shut one broker down as an operator would (controlled shutdown)."""

    async def kill(self, broker_id: int) -> None:
        """End one broker without a chance to tidy up."""

    async def pause(self, broker_id: int) -> None:
        """Freeze one broker: connections stay open and nothing is answered."""

    async def resume(self, broker_id: int) -> None:
        """Let a paused broker go on."""

    async def restart(self, broker_id: int) -> None:
        """Start a stopped or killed broker on the same data and address; return when it serves."""
