"""Read the log files of a sandbox's nodes back: the last records in order of time, and what is added to them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path

from eosctl.model.sandbox import NodeRecord

_STAMP_CHARS = len("[2026-11-21 14:03:11,123]")


class _File:
    """One log file and how far it has been read; survives its rotation."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._position = 0
        self._inode = 0

    def read(self) -> list[NodeRecord]:
        """Return the whole records that were added since the last call."""
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != self._inode or status.st_size < self._position:
                    self._inode, self._position = status.st_ino, 0
                file.seek(self._position)
                data = file.read()
        except FileNotFoundError:  # between two steps of a rotation
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._position += len(whole)
        return list(_records(self.path.parent.name, whole.decode(errors="replace").splitlines()))


def _records(node: str, lines: Iterable[str]) -> Iterable[NodeRecord]:
    stamp = ""
    collected: list[str] = []
    for line in lines:
        if line.startswith("[") and collected:
            yield NodeRecord(stamp, node, "\n".join(collected))
            collected = []
        if line.startswith("["):
            stamp = line[:_STAMP_CHARS]
        collected.append(line)
    if collected:
        yield NodeRecord(stamp, node, "\n".join(collected))


class LogReader:
    """Reads the current files of some nodes; rotated ones are older than anybody asks for here."""

    def __init__(self, logs_dir: Path, nodes: Sequence[str] | None = None) -> None:
        self._logs_dir = logs_dir
        self._nodes = nodes
        self._files: dict[Path, _File] = {}

    def nodes(self) -> list[str]:
        """Return the names of all nodes that have logs, such as ``broker-1``."""
        return sorted(path.name for path in self._logs_dir.iterdir()) if self._logs_dir.is_dir() else []

    def read(self, last_count: int | None = None) -> list[NodeRecord]:
        """Return what was added since the last call, in order of time; at first, everything.

        Args:
            last_count: How many records at most, the last ones.
        """
        for node in self.nodes() if self._nodes is None else self._nodes:
            for path in sorted((self._logs_dir / node).glob("*.log")):
                self._files.setdefault(path, _File(path))
        found = [record for file in self._files.values() for record in file.read()]
        found.sort(key=lambda record: record.stamp)
        return found if last_count is None else list(deque(found, maxlen=last_count))
