"""The destination of a node's log lines: none, or files."""

from __future__ import annotations

from typing import Final, Protocol

INFO: Final = "INFO"
WARN: Final = "WARN"
ERROR: Final = "ERROR"


class EventLog(Protocol):
    """Receives the log events of a node."""

    def write(self, logger: str, message: str, *, level: str = INFO, throwable: str = "") -> None:
        """Write an event.

        Args:
            logger: Kafka's name of the logging class.
            message: The message.
            level: INFO, WARN, or ERROR.
            throwable: The exception as Java prints it, without a stack: `class: message`.
        """

    def close(self) -> None:
        """Write buffered lines and close the files."""


class NoLog:
    """The log of a node without log files (simulation, tests)."""

    def write(self, logger: str, message: str, *, level: str = INFO, throwable: str = "") -> None:
        """Drop the event."""

    def close(self) -> None:
        """Do nothing."""


NO_LOG: Final[EventLog] = NoLog()
