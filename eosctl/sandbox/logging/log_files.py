"""Log files in Kafka's layout: `[date] LEVEL message (logger)`, one file per group of loggers, rotated by size.

The mapping of loggers to files is that of Kafka's `log4j` configuration. Times are UTC. The lines of a turn of the
event loop are written together at its end; a file is created with its first line.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from eosctl.sandbox.logging.event_log import INFO
from eosctl.sandbox.logging.logger_levels import LoggerLevels
from eosctl.sandbox.ticks import Ticks

SERVER_LOG: Final = "server.log"
_FILE_BY_LOGGER: Final = (
    ("org.apache.kafka.controller.", "controller.log"),
    ("state.change.logger", "state-change.log"),
    ("kafka.authorizer.logger", "kafka-authorizer.log"),
    ("kafka.log.LogCleaner", "log-cleaner.log"),
    ("org.apache.kafka.storage.internals.log.LogCleaner", "log-cleaner.log"),
)
MAX_FILE_BYTES: Final = 10 * 1024 * 1024
KEPT_FILE_COUNT: Final = 5
"""Rotated files; `server.log.1` is the newest of them."""


class LogFiles:
    """The log files of one node."""

    def __init__(
        self,
        directory: Path,
        now_ms: Callable[[], int],
        ticks: Ticks,
        *,
        loggers: LoggerLevels | None = None,
        max_file_bytes: int = MAX_FILE_BYTES,
    ) -> None:
        self._directory = directory
        self._now_ms = now_ms
        self._ticks = ticks
        self._loggers = loggers or LoggerLevels()
        self._max_file_bytes = max_file_bytes
        self._waiting: dict[str, list[str]] = {}
        self._descriptors: dict[str, int] = {}
        self._sizes: dict[str, int] = {}

    def write(self, logger: str, message: str, *, level: str = INFO, throwable: str = "") -> None:
        """Buffer an event, which is written at the end of this turn; drop it below the logger's level."""
        if not self._loggers.permits(logger, level):
            return
        if not self._waiting:
            self._ticks.at_flush(self.flush)
        lines = self._waiting.setdefault(_file_of(logger), [])
        lines.append(f"[{_stamp(self._now_ms())}] {level} {message} ({logger})\n")
        if throwable:
            lines.append(f"{throwable}\n")

    def flush(self) -> None:
        """Write the buffered lines; lines that cannot be written are lost, as with Kafka's appenders."""
        waiting, self._waiting = self._waiting, {}
        for name, lines in waiting.items():
            try:
                self._append(name, "".join(lines).encode(errors="backslashreplace"))
            except OSError:
                self._forget(name)

    def close(self) -> None:
        """Write the buffered lines and close the files."""
        self.flush()
        for name in tuple(self._descriptors):
            self._forget(name)

    def _append(self, name: str, data: bytes) -> None:
        if self._sizes.get(name, 0) + len(data) > self._max_file_bytes:
            self._rotate(name)
        descriptor = self._descriptors.get(name)
        if descriptor is None:
            descriptor = self._open(name)
        os.write(descriptor, data)
        self._sizes[name] += len(data)

    def _open(self, name: str) -> int:
        self._directory.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._directory / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self._descriptors[name] = descriptor
        self._sizes[name] = os.fstat(descriptor).st_size
        return descriptor

    def _rotate(self, name: str) -> None:
        self._forget(name)
        path = self._directory / name
        for number in range(KEPT_FILE_COUNT - 1, 0, -1):
            older = path.with_name(f"{name}.{number}")
            if older.exists():
                older.replace(path.with_name(f"{name}.{number + 1}"))
        if path.exists():
            path.replace(path.with_name(f"{name}.1"))

    def _forget(self, name: str) -> None:
        descriptor = self._descriptors.pop(name, None)
        self._sizes.pop(name, None)
        if descriptor is not None:
            os.close(descriptor)


def _file_of(logger: str) -> str:
    return next((name for prefix, name in _FILE_BY_LOGGER if logger.startswith(prefix)), SERVER_LOG)


def _stamp(time_ms: int) -> str:
    seconds, millis = divmod(time_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S},{millis:03d}"
