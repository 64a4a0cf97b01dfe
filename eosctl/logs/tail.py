"""Find how far growing logs can be read: up to the last event, which may still grow.

A position belongs to content, not to a name: content that was renamed, copied, compressed, or absent for some time is
not read again, and a truncated or replaced file is new.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.logs.carriers.peeled import first_open_record
from eosctl.logs.classifier.classify import Classifier
from eosctl.logs.files.content import Margins, codec_of, count_newlines, read_head, read_window
from eosctl.logs.files.sources import SourceFile, find_files, inspect_file
from eosctl.logs.fingerprints import head_of, mark_before, marks_of
from eosctl.logs.positions import Position, Positions
from eosctl.logs.scan import SPLIT_BYTES, cut_split, number_lines, scan_split
from eosctl.logs.tally import Split
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text

IDLE_MS: Final = 5_000
"""In a file without writes for this long, no event grows."""
UNENDED_WAIT: Final = 4
"""Factor for the wait for the end of a line, because a writer's buffer may split a line anywhere."""
LOOK_BACK_BYTES: Final = 1024 * 1024
RETAINED_MS: Final = 7 * 86_400_000
"""How long the position of an absent file is kept: archives and other disks return within this time."""


class TailSplit(NamedTuple):
    """Events to read.

    Attributes:
        split: A part of a file; the whole file if its parts cannot be read independently.
        identity: The file's device and inode.
        stop: The position up to which it is read.
        first_offset: Events before this byte have already been read.
        line: The number of the part's first line, from 0.
    """

    split: Split
    identity: str
    stop: Position
    first_offset: int
    line: int


class Loss(NamedTuple):
    """Bytes that were not read before they disappeared."""

    path: str
    first_offset: int
    end_offset: int

    def __str__(self) -> str:
        count = self.end_offset - self.first_offset
        lost = f"{count_text(count, 'byte')} of it (from offset {self.first_offset})"
        return f"{self.path} no longer exists, and {lost} were not read"


class TailPlan(NamedTuple):
    """The parts to read, and the losses that can no longer be read."""

    parts: tuple[TailSplit, ...]
    losses: tuple[Loss, ...]


class TailLossError(Exception):
    """A file disappeared after it was planned, and no file next to it has its content."""


class Admission(NamedTuple):
    """How much is read at a time; at least one event of one file, so that reading continues.

    Attributes:
        files: The maximum number of files with new events; None for all.
        bytes: The maximum number of new bytes; None for all. A compressed file is read as a whole.
    """

    files: int | None = None
    bytes: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether more may be taken."""
        return (self.files is None or self.files > 0) and (self.bytes is None or self.bytes > 0)

    def less(self, taken_bytes: int) -> Admission:
        """Return what is left after a file."""
        if taken_bytes <= 0:
            return self
        files = None if self.files is None else self.files - 1
        return Admission(files, None if self.bytes is None else max(0, self.bytes - taken_bytes))


EVERYTHING: Final = Admission()


def find_ends(
    paths: Iterable[Path],
    known: Positions,
    *,
    idle_ms: int = IDLE_MS,
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    admission: Admission = EVERYTHING,
    sizes: Mapping[str, int] | None = None,
    unchanged: UnchangedFiles | None = None,
) -> dict[str, Position]:
    """Return how far each file can be read now.

    Args:
        paths: Files and directories.
        known: Earlier positions, so that the same lines are not counted again.
        idle_ms: A file without writes for this long is read to its end; four times as long if the file does not end
            with a line break.
        now_ms: The current time.
        admission: How much is taken; the files that were written to least recently come first.
        sizes: Files to read by identity, with their sizes, as `find_sizes` returned them; None for all that exist.
        unchanged: Files that were read to their end earlier, so that they are not opened again; None for none.
    """
    now = now_ms()
    past = UnchangedFiles() if unchanged is None else unchanged
    given = tuple(paths)
    seen = {file.identity: file for path in find_files(given) if (file := _look(path, now, idle_ms))}
    if sizes is not None:
        seen = {key: _cut(file, sizes[key]) for key, file in seen.items() if key in sizes}
    else:
        rotated = (_look(path, now, idle_ms) for path in _rotated(given, known, seen))
        seen |= {file.identity: file for file in rotated if file is not None}
    live = {key: known[key] for key, file in seen.items() if key in known and past.continues(known[key], file)}
    ends: dict[str, Position] = {}
    moved, left = set[str](), admission
    for file in sorted(seen.values(), key=lambda one: one.modified_ns):
        position, origin = live.get(file.identity), ""
        try:
            if position is None:
                origin, position = _begun(file, known)
                # A copy of content that is read elsewhere waits until the original disappears.
                if origin != "" and (origin in live or origin in moved):
                    continue
            end = _advanced(position, file, left.bytes) if left.is_open else None
        except OSError:
            # It disappeared after the listing, or cannot be read now: the next round decides.
            live.pop(file.identity, None)
            continue
        if end is not None:
            left = left.less(end.offset - position.offset)
            ends[file.identity] = end
            moved |= {origin} - {""}
        elif file.identity in live:
            ends[file.identity] = position
    for identity, position in known.items():
        if identity not in live and identity not in moved:
            away = position._replace(gone_ms=position.gone_ms or now)
            # Other content may have its identity now.
            key = f"{identity}~{position.generation}" if identity in ends else identity
            if now - away.gone_ms < RETAINED_MS:
                ends[key] = away
    past.keep(ends, seen)
    return ends


def _rotated(paths: Iterable[Path], known: Positions, seen: Mapping[str, _File]) -> Iterator[Path]:
    """Yield the new places of files that were named and then rotated; a folder has them among its own files."""
    folders = {path.parent for path in paths if not path.is_dir()}
    for identity, position in known.items():
        if position.gone_ms or Path(position.path).parent not in folders:
            continue
        if identity not in seen or not _continues(position, seen[identity]):
            path = locate(identity, position)
            yield from () if path is None else (path,)


class UnchangedFiles:
    """Files that have neither size nor time changed since they were read to their end."""

    def __init__(self) -> None:
        self._states: dict[str, tuple[int, int]] = {}

    def continues(self, position: Position, file: _File) -> bool:
        """Return whether a file still begins with the content of a position; it is opened if it may have changed."""
        return self._states.get(file.identity) == (file.size, file.modified_ns) or _continues(position, file)

    def keep(self, ends: Positions, seen: Mapping[str, _File]) -> None:
        """Remember the files that are read to their end."""
        self._states = {
            key: (file.size, file.modified_ns)
            for key, file in seen.items()
            if (end := ends.get(key)) is not None and file.size in (end.disk_bytes or end.offset,)
        }


def find_sizes(paths: Iterable[Path]) -> dict[str, int]:
    """Return the present sizes of files by identity, bytes: the end of a stream that stops with what exists now."""
    found = (_look(path, 0, 0) for path in find_files(paths))
    return {file.identity: file.size for file in found if file is not None}


def plan_tail(start: Positions, end: Positions, zone: tzinfo | None = None) -> TailPlan:
    """Return the parts and the losses between two sets of positions."""
    parts: list[TailSplit] = []
    losses: list[Loss] = []
    for identity, stop in end.items():
        begin = start.get(identity)
        if stop.gone_ms or begin == stop:
            continue
        first, line = stop.first, stop.first_line
        if begin is not None and begin.generation == stop.generation and begin.offset <= stop.offset:
            first, line = begin.offset, begin.line
        if first >= stop.offset:
            continue
        path = locate(identity, stop)
        if path is None:
            losses.append(Loss(stop.path, first, stop.offset))
        elif part := _part_of(path, identity, stop, first, line, zone):
            parts.append(part)
    return TailPlan(tuple(parts), tuple(losses))


def read_tail(part: TailSplit, classifier: Classifier) -> tuple[LogEvent, ...]:
    """Return the events of a part, with line numbers from the start of the file.

    Raises:
        TailLossError: The file disappeared or was truncated after the part was planned.
    """
    stop, zone = part.stop, part.split.source.zone
    path = locate(part.identity, stop)
    now: TailSplit | None = part
    if str(path) != part.split.source.name:
        now = _part_of(path, part.identity, stop, part.first_offset, part.line, zone) if path else None
    if now is None:
        raise TailLossError(str(Loss(stop.path, part.first_offset, stop.offset)))
    scans = [scan_split(piece, classifier) for piece in cut_split(now.split, SPLIT_BYTES)]
    if now.split.source.splittable and (error := next((one.counts.error for one in scans if one.counts.error), "")):
        raise TailLossError(f"{now.split.source.name}: {error}")
    return tuple(
        event._replace(line=event.line + now.line)
        for event in number_lines(scans)
        if part.first_offset <= event.offset < stop.offset
    )


def locate(identity: str, stop: Position) -> Path | None:
    """Return the current path of content, which may have another name in the same folder; None if it disappeared."""
    path = Path(stop.path)
    if _identity(path) == identity and _holds(path, stop):
        return path
    siblings = [one for one in sorted(path.parent.iterdir()) if one.is_file()] if path.parent.is_dir() else []
    siblings.sort(key=lambda one: _identity(one) != identity)
    # Without a mark, only the identity decides.
    found = (one for one in siblings if stop.last or _identity(one) == identity)
    return next((one for one in found if _holds(one, stop)), None)


class _File(NamedTuple):
    path: Path
    identity: str
    size: int
    idle: bool
    modified_ns: int


def _look(path: Path, now_ms: int, idle_ms: int) -> _File | None:
    try:
        status = path.stat()
        quiet_ms = now_ms - status.st_mtime_ns // 1_000_000
        waited = quiet_ms >= idle_ms * UNENDED_WAIT
        idle = quiet_ms >= idle_ms and (waited or _ends_with_newline(path, status.st_size))
    except OSError:
        return None
    return _File(path, f"{status.st_dev}:{status.st_ino}", status.st_size, idle, status.st_mtime_ns)


def _cut(file: _File, size: int) -> _File:
    """Return a file as it was when it had a size; what was written after that belongs to the next stream."""
    return file if file.size <= size else file._replace(size=size, idle=False)


def _continues(position: Position, file: _File) -> bool:
    """Return whether a file still begins with the content that was read before; False if it cannot be read."""
    try:
        if position.disk_bytes or codec_of(read_head(file.path, 16)):
            return position.disk_bytes == file.size
        return (
            file.size >= position.offset
            and position.head in ("", head_of(file.path))
            and position.last in ("", mark_before(file.path, position.offset))
        )
    except OSError:
        return False


def _begun(file: _File, known: Positions) -> tuple[str, Position]:
    """Return the identity under which a file's content was read before, if any, and the position where it is new."""
    head = head_of(file.path)
    alike = {key: one for key, one in known.items() if one.last and one.head in ("", head)}
    marks = marks_of(file.path, {one.offset for one in alike.values()}).before if alike else {}
    same = [key for key, one in alike.items() if marks.get(one.offset) == one.last]
    # Absent files first: content that still exists elsewhere is the original of a copy.
    origin = max(same, key=lambda key: (alike[key].offset, alike[key].gone_ms), default="")
    begun = alike[origin] if origin else Position("", 0, 0, head)
    generation = known[file.identity].generation + 1 if file.identity in known else 0
    place = Position(
        path=str(file.path),
        offset=begun.offset,
        line=begun.line,
        head=head,
        last=begun.last,
        generation=generation,
        first=begun.offset,
        first_line=begun.line,
    )
    return origin, place


def _advanced(position: Position, file: _File, most_bytes: int | None) -> Position | None:
    """Return how far a file can be read; None if it is not a log, or not complete yet."""
    path, size = file.path, file.size
    known = position._replace(path=str(path), gone_ms=0)
    if position.disk_bytes == size or (position.offset == size and position.last and not position.disk_bytes):
        # Nothing is new: most checks of most files end here.
        return known._replace(head=position.head or head_of(path))
    if codec_of(read_head(path, 16)):
        # An archive is read only once, when it is complete.
        marks = marks_of(path, ()) if file.idle else None
        return marks and known._replace(offset=marks.size_bytes, last=marks.end, disk_bytes=size)
    source = inspect_file(path)
    if not isinstance(source, SourceFile):
        return None
    if not source.splittable:
        if not file.idle:
            return known if known.offset else None
        return known._replace(offset=size, line=0, head=head_of(path), last=mark_before(path, size))
    stop = _stop(path, known.offset, file, source, most_bytes)
    line = known.line + count_newlines(path, known.offset, stop)
    return known._replace(offset=stop, line=line, head=head_of(path), last=mark_before(path, stop))


def _stop(path: Path, begin: int, file: _File, source: SourceFile, most_bytes: int | None) -> int:
    """Return the end of the last event that is complete, within ``most_bytes`` unless the first event is longer."""
    cut = file.size if most_bytes is None else min(file.size, begin + most_bytes)
    while cut < file.size:
        if (stop := _start_of_last(path, cut, source)) > begin:
            return stop
        cut = min(file.size, begin + 2 * (cut - begin))
    return file.size if file.idle else max(begin, _start_of_last(path, file.size, source))


def _part_of(path: Path, identity: str, stop: Position, first: int, line: int, zone: tzinfo | None) -> TailSplit | None:
    source = inspect_file(path, zone)
    if not isinstance(source, SourceFile):
        return None
    if source.splittable:
        return TailSplit(Split(source, first, stop.offset), identity, stop, first, line)
    return TailSplit(Split(source, 0, None), identity, stop, first, 0)


def _holds(path: Path, stop: Position) -> bool:
    """Return whether a file has the content up to a position."""
    try:
        if stop.disk_bytes and path.stat().st_size == stop.disk_bytes and codec_of(read_head(path, 16)):
            return True
        if stop.head not in ("", head_of(path)):
            return False
        marks = marks_of(path, {stop.offset})
    except OSError:
        return False
    return marks.size_bytes >= stop.offset and stop.last in ("", marks.before.get(stop.offset))


def _start_of_last(path: Path, size: int, source: SourceFile) -> int:
    """Return the offset of the last event, which may still grow."""
    floor = max(0, size - LOOK_BACK_BYTES)
    data, base, _ = read_window(path, floor, size, Margins(1, 0), 0)
    if source.wrapper:
        first = data.find(b"\n") + 1 if base else 0
        return base + first + first_open_record(bytes(data[first:]), source)
    pattern, position = source.verdict.header(), len(data)
    while position > 0:
        position = data.rfind(b"\n", 0, position - 1) + 1 if position > 1 else 0
        if not source.verdict.has_headers or pattern.match(data, position):
            return base + position
    return base


def _ends_with_newline(path: Path, size: int) -> bool:
    return read_head(path, 1, max(0, size - 1)) in (b"\n", b"")


def _identity(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"
