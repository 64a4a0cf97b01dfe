"""The loggers of a node and their levels, which BROKER_LOGGER resources list and change (KIP-412).

The names are those of a fresh broker of the release with the packaged log configuration; a logger that writes later is
added. A logger without a level of its own has that of its nearest configured ancestor. Levels last until the node
restarts.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

ROOT: Final = "root"
LEVELS: Final = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
"""From the most to the least verbose."""


class LoggerLevels:
    """The levels of one node's loggers."""

    def __init__(self, packaged: Mapping[str, str | None] | None = None) -> None:
        """Start with the loggers of a log configuration.

        Args:
            packaged: The level of each logger, or None for a logger that inherits its level.
        """
        self._own: dict[str, str] = {ROOT: "INFO"}
        self._names = set(packaged or ())
        self._own |= {name: level for name, level in (packaged or {}).items() if level is not None}
        self._effective: dict[str, str] = {}

    def __contains__(self, logger: str) -> bool:
        return logger == ROOT or logger in self._names

    def levels(self) -> dict[str, str]:
        """Return the effective level of every logger."""
        return {name: self.effective(name) for name in sorted({ROOT, *self._names})}

    def effective(self, logger: str) -> str:
        """Return a logger's level: its own, or that of its nearest configured ancestor."""
        level = self._effective.get(logger)
        if level is None:
            level = self._effective[logger] = self._find(logger)
        return level

    def permits(self, logger: str, level: str) -> bool:
        """Return whether an event of a logger is written, and add the logger."""
        self._names.add(logger)
        return LEVELS.index(level) >= LEVELS.index(self.effective(logger))

    def change(self, changes: Mapping[str, str | None]) -> None:
        """Set the levels of loggers; None removes a logger's own level."""
        for name, level in changes.items():
            if level is None:
                self._own.pop(name, None)
            else:
                self._own[name] = level
        self._effective.clear()

    def _find(self, logger: str) -> str:
        name = logger
        while name not in self._own:
            name = name.rpartition(".")[0] or ROOT
        return self._own[name]


@cache
def packaged_loggers(release: str) -> Mapping[str, str | None]:
    """Return the loggers of a fresh broker of a release, each with its configured level or None."""
    text = (resources.files("eosctl.sandbox") / "data" / f"loggers-{release}.tsv").read_text()
    rows = (line.split("\t") for line in text.splitlines()[1:])
    return {name: level or None for name, level in rows}
