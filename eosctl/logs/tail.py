"""How far logs that are being written can be read: offsets that stop where the last event may still grow.

A position belongs to a file, not to its name: a renamed file is the same, a truncated or replaced one is new.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Any, Final, NamedTuple

from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.files.content import codec_of, count_newlines, read_head, read_window
from eosctl.logs.files.sources import SourceFile, find_files, inspect_file
from eosctl.logs.records.scanner import HeaderReader
from eosctl.logs.scan import SPLIT_BYTES, Split, cut_split, number_lines, scan_split
from eosctl.model.log_event import LogEvent

IDLE_MS: Final = 5_000
"""A file that nobody has written to for this long has no event that grows."""
UNENDED_WAIT: Final = 4
"""How many times as long the end of a line is waited for: a writer's buffer may cut a line anywhere."""
HEAD_BYTES: Final = 64
LOOK_BACK_BYTES: Final = 1024 * 1024


class Position(NamedTuple):
    """How far a file has been read.

    Attributes:
        path: Where the file was found.
        offset: The first byte that has not been read.
        line: The number of its line, from 0.
        head: A hash of the file's first bytes, once there are enough of them; empty before.
    """

    path: str
    offset: int
    line: int
    head: str


class TailSplit(NamedTuple):
    """Events to read.

    Attributes:
        split: A part of a file; the whole of it where parts cannot be read on their own.
        identity: The file's device and inode.
        first_offset: Events before this byte have been read.
        line: The number of the part's first line, from 0.
    """

    split: Split
    identity: str
    first_offset: int
    line: int


Positions = Mapping[str, Position]
"""Positions by a file's identity: its device and inode."""


def find_ends(
    paths: Iterable[Path],
    known: Positions,
    *,
    idle_ms: int = IDLE_MS,
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
) -> dict[str, Position]:
    """Return how far each file can be read now.

    Args:
        paths: Files and directories.
        known: Positions found before; they save counting the same lines again.
        idle_ms: From when on a file that is not written to is read to its end; four times as long when that is no end
            of a line.
        now_ms: The clock.
    """
    ends = {}
    for path in find_files(paths):
        try:
            status = path.stat()
            identity = f"{status.st_dev}:{status.st_ino}"
            quiet_ms = now_ms() - status.st_mtime_ns // 1_000_000
            idle = quiet_ms >= idle_ms and (
                quiet_ms >= idle_ms * UNENDED_WAIT or _ends_with_newline(path, status.st_size)
            )
            position = _end_of(path, status.st_size, known.get(identity), idle=idle)
        except OSError:
            # It went between the listing and the look: another round will tell.
            continue
        if position is not None:
            ends[identity] = position
    return ends


def plan_tail(start: Positions, end: Positions, zone: tzinfo | None = None) -> list[TailSplit]:
    """Return what lies between two sets of positions."""
    parts = []
    for identity, stop in end.items():
        begin = start.get(identity)
        if begin is not None and begin == stop:
            continue
        path = locate(identity, Path(stop.path))
        if path is None:
            continue
        first = begin.offset if begin is not None and _continues(begin, stop) else 0
        line = begin.line if begin is not None and first else 0
        source = inspect_file(path, zone)
        if not isinstance(source, SourceFile) or first >= stop.offset:
            continue
        if source.splittable:
            parts.append(TailSplit(Split(source, first, stop.offset), identity, first, line))
        else:
            parts.append(TailSplit(Split(source, 0, None), identity, first, 0))
    return parts


def read_tail(part: TailSplit, classifier: Classifier) -> tuple[LogEvent, ...]:
    """Return the events of a part, their lines counted from the start of the file; none when the file is gone."""
    source = part.split.source
    path = locate(part.identity, Path(source.name))
    if path is None:
        return ()
    split = part.split._replace(source=source._replace(name=str(path)))
    scans = [scan_split(piece, classifier) for piece in cut_split(split, SPLIT_BYTES)]
    events = number_lines(scans)
    return tuple(event._replace(line=event.line + part.line) for event in events if event.offset >= part.first_offset)


def locate(identity: str, path: Path) -> Path | None:
    """Return where a file is now: at its path, or under another name beside it; None when it is gone."""
    if _identity(path) == identity:
        return path
    beside = sorted(path.parent.iterdir()) if path.parent.is_dir() else ()
    return next((one for one in beside if _identity(one) == identity), None)


def to_json(positions: Positions) -> dict[str, Any]:
    """Spell positions for Spark's checkpoint."""
    return {identity: list(position) for identity, position in sorted(positions.items())}


def from_json(value: Mapping[str, Any]) -> dict[str, Position]:
    """Read positions back."""
    return {identity: Position(*fields) for identity, fields in value.items()}


def _end_of(path: Path, size: int, known: Position | None, *, idle: bool) -> Position | None:
    head = _head_hash(path, size)
    if known is not None and known.offset == size and known.head in ("", head):
        # Nothing has come: most looks at most files end here.
        return known._replace(path=str(path), head=head)
    if codec_of(read_head(path, 16)):
        # An archive is read once, when it is complete.
        return (known or Position(str(path), size, 0, head)) if idle else known
    source = inspect_file(path)
    if not isinstance(source, SourceFile):
        return None
    if not source.splittable:
        return Position(str(path), size, 0, head) if idle else known
    offset = line = 0
    if known is not None and known.offset <= size and known.head in ("", head):
        offset, line = known.offset, known.line
    stop = size if idle else max(offset, _start_of_last(path, size, source))
    return Position(str(path), stop, line + count_newlines(path, offset, stop), head)


def _start_of_last(path: Path, size: int, source: SourceFile) -> int:
    """Return where the last event starts; it may still grow."""
    floor = max(0, size - LOOK_BACK_BYTES)
    data, base, _ = read_window(path, floor, size, 0, 0)
    reader = HeaderReader(source.verdict)
    position = len(data)
    while position > 0:
        position = data.rfind(b"\n", 0, position - 1) + 1 if position > 1 else 0
        if not source.verdict.has_headers or reader.pattern.match(data, position):
            return base + position
    return base


def _head_hash(path: Path, size: int) -> str:
    if size < HEAD_BYTES:
        return ""
    return hashlib.sha1(read_head(path, HEAD_BYTES), usedforsecurity=False).hexdigest()[:12]


def _ends_with_newline(path: Path, size: int) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, size - 1))
        return file.read(1) in (b"\n", b"")


def _continues(begin: Position, stop: Position) -> bool:
    """Whether a later position is one of the same content, not of what replaced it."""
    return begin.offset <= stop.offset and begin.head in ("", stop.head)


def _identity(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"
