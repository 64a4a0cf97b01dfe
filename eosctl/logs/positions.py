"""Keep the positions of a stream in its offset, or in a folder if they are many, so that offsets stay small.

Spark keeps each offset in the checkpoint as a whole. With a folder, the offset names a file of positions, and holds
those that have changed since it was written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from eosctl.whole_file import whole_file

SETTLED: Final = "settled"
"""The key of the name of the file; identities have colons."""
MOST_UNSETTLED: Final = 64
"""Number of changed positions above which all are written to a new file."""
KEPT_FILES: Final = 20
"""Number of files that are kept; a restart needs those of the last two offsets."""


class Position(NamedTuple):
    """How far a file has been read.

    Attributes:
        path: The path of the file.
        offset: The first byte of its content that has not been read.
        line: The line number at the offset, from 0.
        head: A hash of the content's first bytes; empty until it has enough of them.
        last: A hash of the bytes before the offset; empty at the start.
        generation: How often other content has replaced it.
        first: The offset from which this content is read; earlier bytes were read under another identity.
        first_line: The line number at ``first``.
        disk_bytes: The size of a compressed file; 0 for a plain one.
        gone_ms: When the file disappeared, ms since the epoch; 0 while it exists.
    """

    path: str
    offset: int
    line: int
    head: str
    last: str = ""
    generation: int = 0
    first: int = 0
    first_line: int = 0
    disk_bytes: int = 0
    gone_ms: int = 0


Positions = Mapping[str, Position]
"""Positions by the file's identity: device and inode, with a suffix for replaced content."""


class MissingPositionsError(Exception):
    """The folder of a stream does not have the positions that its checkpoint names."""


class PositionStore:
    """Encodes positions as offsets; with a folder, its files have all positions but a few."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._name = ""
        self._settled: Positions = {}
        self._read: dict[str, Positions] = {}

    def encode(self, positions: Positions) -> dict[str, Any]:
        """Return the offset of positions.

        Raises:
            OSError: The folder cannot be written.
        """
        if self._folder is None:
            return _plain(positions)
        left = {key: one for key, one in positions.items() if self._settled.get(key) != one}
        gone = self._settled.keys() - positions.keys()
        if len(left) + len(gone) > MOST_UNSETTLED:
            self._name, self._settled = _write(self._folder, positions), dict(positions)
            left, gone = {}, set()
        named = {SETTLED: [self._name, *sorted(gone)]} if self._name else {}
        return {**named, **_plain(left)}

    def decode(self, offset: Mapping[str, Any]) -> dict[str, Position]:
        """Return the positions of an offset.

        Raises:
            MissingPositionsError: The folder does not have them.
        """
        found = {key: Position(*fields) for key, fields in offset.items() if key != SETTLED}
        if SETTLED not in offset:
            return found
        name, *gone = offset[SETTLED]
        if name not in self._read:
            # A plan compares two offsets.
            self._read = {**dict(list(self._read.items())[-1:]), name: self._load(name)}
        left_out = frozenset(gone)
        return {key: one for key, one in self._read[name].items() if key not in left_out} | found

    def _load(self, name: str) -> Positions:
        if self._folder is None:
            raise MissingPositionsError(
                "The checkpoint of this stream names a file of positions. Set the option positions to its folder."
            )
        path = self._folder / name
        try:
            text = path.read_text("utf-8")
        except OSError as error:
            raise MissingPositionsError(
                f"{path}, which the checkpoint of this stream names, cannot be read: {error.strerror}. Restore it, "
                "or start the stream with a new checkpoint."
            ) from error
        return {key: Position(*fields) for key, fields in json.loads(text).items()}


def _plain(positions: Positions) -> dict[str, Any]:
    return {identity: list(position) for identity, position in sorted(positions.items())}


def _write(folder: Path, positions: Positions) -> str:
    """Write positions under a name that their content decides, and remove old files."""
    text = json.dumps(_plain(positions))
    name = f"positions-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(folder / name) as file:
        file.write(text.encode())
    known = sorted(folder.glob("positions-*.json"), key=lambda path: path.stat().st_mtime_ns)
    for path in known[:-KEPT_FILES]:
        path.unlink(missing_ok=True)
    return name
