"""The interface of every cluster that scenarios run on: simulated, a running sandbox, real Kafka, or behind a proxy."""

from __future__ import annotations

from typing import Protocol

from eosctl.client.ports import Connector
from eosctl.errors import EosctlError
from eosctl.model.client_config import ClientConfig
from eosctl.sandbox.faults.order import FaultOrder


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


class Engine(Protocol):
    """A running cluster, into which faults can be injected."""

    @property
    def name(self) -> str:
        """Return the display name."""

    @property
    def config(self) -> ClientConfig:
        """Return the client configuration with every broker."""

    @property
    def connector(self) -> Connector | None:
        """Return the connector; None for sockets."""

    def now_ms(self) -> int:
        """Return the clients' wall clock."""

    async def inject(self, order: FaultOrder) -> None:
        """Inject a fault; raise UnsupportedFault if it cannot be caused here."""

    async def heal(self) -> None:
        """End every fault."""

    async def advance(self, duration_ms: float) -> None:
        """Advance the time."""
