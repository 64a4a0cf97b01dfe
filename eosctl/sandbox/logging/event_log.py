"""Where a node's log lines go: nowhere, or to files."""

from __future__ import annotations

from typing import Final, Protocol

INFO: Final = "INFO"
WARN: Final = "WARN"
ERROR: Final = "ERROR"


class EventLog(Protocol):
    """Takes log events of one node."""

    def write(self, logger: str, message: str, *, level: str = INFO, throwable: str = "") -> None:
        """Note an event.

        Args:
            logger: The class that says it, under the name that it has in Kafka.
            message: What it says.
            level: INFO, WARN or ERROR.
            throwable: The exception as Java prints it, without a stack: `class: message`.
        """

    def close(self) -> None:
        """Write what waits, and let go of the files."""


class NoLog:
    """The log of a node that keeps none (simulation, tests)."""

    def write(self, logger: str, message: str, *, level: str = INFO, throwable: str = "") -> None:
        """Drop the event."""

    def close(self) -> None:
        """Do nothing."""


NO_LOG: Final[EventLog] = NoLog()
