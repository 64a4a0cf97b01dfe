"""Read the log files of a sandbox's nodes: the last records in time order, then new ones."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Sequence
from pathlib import Path

from eosctl.model.sandbox import NodeRecord

_STAMP_CHARS = len("[2026-11-21 14:03:11,123]")


class _File:
    """A log file and its read position, which survives rotation."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._position = 0
        self._inode = 0

    def read(self) -> list[NodeRecord]:
        """Return the complete records added since the last call."""
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != self._inode or status.st_size < self._position:
                    self._inode, self._position = status.st_ino, 0
                file.seek(self._position)
                data = file.read()
        except FileNotFoundError:  # The file is absent between two steps of a rotation.
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
    """Reads the current log files of nodes, without rotated ones."""

    def __init__(self, logs_dir: Path, nodes: Sequence[str] | None = None) -> None:
        self._logs_dir = logs_dir
        self._nodes = nodes
        self._files: dict[Path, _File] = {}

    def nodes(self) -> list[str]:
        """Return the names of all nodes with logs, such as `broker-1`."""
        return sorted(path.name for path in self._logs_dir.iterdir()) if self._logs_dir.is_dir() else []

    def read(self, last_count: int | None = None) -> list[NodeRecord]:
        """Return the records added since the last call in time order; the first call returns everything.

        Args:
            last_count: Maximum number of records; the last ones are returned.
        """
        for node in self.nodes() if self._nodes is None else self._nodes:
            for path in sorted((self._logs_dir / node).glob("*.log")):
                self._files.setdefault(path, _File(path))
        found = [record for file in self._files.values() for record in file.read()]
        found.sort(key=lambda record: record.stamp)
        return found if last_count is None else list(deque(found, maxlen=last_count))
