"""Keep the progress of a check of data directories in a file, so that an interrupted check continues where it was.

The file is replaced as a whole, so that a run that is killed leaves the file of its last save. A file that is damaged,
of another check, or of another eosctl is an error: what it says about the data cannot be used.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import google_crc32c
import msgspec

import eosctl
from eosctl.analysis.fsck.progress import PartitionProgress, basis_of
from eosctl.errors import UsageError, write_failed
from eosctl.model.fsck import FsckFinding
from eosctl.storage.regular_file import read_regular
from eosctl.storage.survey import PartitionFacts
from eosctl.text import bytes_text, count_text, time_text
from eosctl.whole_file import whole_file

_MAGIC: Final = b"eosctl fsck progress 1\n"
_CRC_BYTES: Final = 4
_NAME_ANOTHER: Final = "Name another file with --progress-file."
#: The small files of a segment cost as much as so many bytes of a log.
_FILES_BYTES: Final = 1 << 20
#: The file is written no sooner than after so many times its own bytes of logs, so that writing it costs little.
_SAVE_EVERY_FILES: Final = 16
#: A running broker appends to the last segment: the progress before it counts then.
_KEPT_POINTS: Final = 2


class _Point(msgspec.Struct, frozen=True):
    """The progress of a partition after a segment.

    Attributes:
        segments: Number of segments judged.
        log_bytes: Their size.
        compared_to: The offset up to which snapshots were compared.
        basis: The digest of the files that the progress depends on.
        progress: A `PartitionProgress` in MessagePack.
    """

    segments: int
    log_bytes: int
    compared_to: int
    basis: bytes
    progress: bytes


class _SavedCheck(msgspec.Struct):
    """What the file holds.

    Attributes:
        directories: The data directories as they were named, and their real paths.
        program: The versions of eosctl and Python: progress has the form of their data.
        began_ms: The time at which the first of the interrupted runs began, in ms since the epoch.
        first_findings: The findings of the first of two readings; None during the first.
        partitions: The newest points of each partition of the current reading, the newest last.
    """

    directories: tuple[str, ...]
    program: str
    began_ms: int
    first_findings: list[FsckFinding] | None = None
    partitions: dict[str, list[_Point]] = {}


class Pace(NamedTuple):
    """How often progress is kept.

    Attributes:
        point_bytes: Bytes of a log between two points of a partition; its last two segments have one each anyway.
        save_bytes: Bytes of logs between two writes of the file.
    """

    point_bytes: int = 64 << 20
    save_bytes: int = 256 << 20


class Taken(NamedTuple):
    """What the current reading has taken from the file, and what it has read.

    Attributes:
        since_ms: When the interrupted run began, in ms since the epoch; None without one.
        segments: Number of segments taken.
        log_bytes: Their size.
        read_segments: Number of segments read in this run.
        changed: Number of partitions with progress that no longer fits their files.
    """

    since_ms: int | None
    segments: int
    log_bytes: int
    read_segments: int
    changed: int

    @property
    def text(self) -> str:
        """Return what was taken, in a sentence; empty if nothing could be."""
        if self.since_ms is None:
            return ""
        since = time_text(self.since_ms)
        taken = f"Taken from the interrupted run of {since}: {count_text(self.segments, 'segment')}"
        taken += f" ({bytes_text(self.log_bytes)}) with the same size, time, inode, and first and last 4 KiB."
        taken += f" Read in this run: {count_text(self.read_segments, 'segment')}"
        return f"{taken}, again after a change: {count_text(self.changed, 'partition')}."


NORMAL_PACE: Final = Pace()


class FsckProgressFile:
    """The file, as a keeper of progress."""

    def __init__(self, path: Path, directories: Sequence[Path], now_ms: int, pace: Pace = NORMAL_PACE) -> None:
        """Read the file of an interrupted run, or begin one.

        Args:
            path: The file; it need not exist.
            directories: The data directories of this run.
            now_ms: The time, in ms since the epoch.
            pace: How often progress is kept.

        Raises:
            UsageError: The file lies in a data directory, or is not one that this run can continue.
            EosctlError: The file cannot be written.
            OSError: The file cannot be read.
        """
        _refuse_inside(path, directories)
        named = tuple(f"{one}={one.resolve()}" for one in directories)
        self._path, self._pace = path, pace
        self._is_resumed = path.exists()
        self._check = _load(path, named) if self._is_resumed else _SavedCheck(named, _program(), now_ms)
        self._unsaved_bytes = self._saved_bytes = self._unkept_bytes = 0
        self._reset()
        self.save()

    def _reset(self) -> None:
        self._taken: dict[str, _Point] = {}
        self._read_segments = self._changed = 0

    @property
    def taken(self) -> Taken:
        """What the current reading has taken, and what it has read."""
        taken = self._taken.values()
        return Taken(
            self._check.began_ms if self._is_resumed else None,
            sum(one.segments for one in taken),
            sum(one.log_bytes for one in taken),
            self._read_segments,
            self._changed,
        )

    @property
    def first_findings(self) -> list[FsckFinding] | None:
        """The findings of the first of two readings; None if it has not ended."""
        return self._check.first_findings

    def begin_second_reading(self, findings: list[FsckFinding]) -> None:
        """Keep the findings of the first reading, and forget its progress: everything is read again."""
        self._check.first_findings = findings
        self._check.partitions = {}
        self._reset()
        self.save()

    def recall(self, directory: str, facts: PartitionFacts, log_start: int | None) -> PartitionProgress | None:
        """Return the newest progress of a partition that still fits its files."""
        key = f"{directory}/{facts.name}"
        points = self._check.partitions.get(key, [])
        while points:
            point = points[-1]
            fits = point.segments <= len(facts.segments)
            if fits and point.basis == basis_of(facts, log_start, point.segments, point.compared_to):
                self._taken[key] = point
                return msgspec.msgpack.decode(point.progress, type=PartitionProgress)
            points.pop()
            self._changed += not points
        return None

    def wants(self, directory: str, facts: PartitionFacts, segments: int) -> bool:
        """Return whether enough was read since the last point of the partition, or few segments are left."""
        read_bytes = facts.segments[segments - 1].log_bytes + _FILES_BYTES
        self._read_segments += 1
        self._unsaved_bytes += read_bytes
        self._unkept_bytes += read_bytes
        return self._unkept_bytes >= self._pace.point_bytes or segments > len(facts.segments) - _KEPT_POINTS

    def keep(self, directory: str, facts: PartitionFacts, log_start: int | None, progress: PartitionProgress) -> None:
        """Keep the progress after a segment, and write the file from time to time."""
        points = self._check.partitions.setdefault(f"{directory}/{facts.name}", [])
        segments, compared_to = progress.segments, progress.compared_to
        judged = facts.segments[:segments]
        points.append(
            _Point(
                segments=segments,
                log_bytes=sum(segment.log_bytes for segment in judged),
                compared_to=compared_to,
                basis=basis_of(facts, log_start, segments, compared_to),
                progress=msgspec.msgpack.encode(progress),
            )
        )
        del points[:-_KEPT_POINTS]
        self._unkept_bytes = 0
        if self._unsaved_bytes >= max(self._pace.save_bytes, _SAVE_EVERY_FILES * self._saved_bytes):
            self.save()

    def save(self) -> None:
        """Write the file.

        Raises:
            EosctlError: It cannot be written.
        """
        body = msgspec.msgpack.encode(self._check)
        try:
            with whole_file(self._path) as file:
                file.write(_MAGIC + google_crc32c.value(body).to_bytes(_CRC_BYTES, "big"))
                file.write(body)
        except OSError as error:
            raise write_failed(self._path, error, _NAME_ANOTHER, UsageError) from error
        self._unsaved_bytes, self._saved_bytes = 0, len(body)

    def remove(self) -> None:
        """Remove the file: the check is complete, and the next one reads everything."""
        self._path.unlink(missing_ok=True)


def _program() -> str:
    return f"{eosctl.__version__}, {sys.implementation.cache_tag}"


def _refuse_inside(path: Path, directories: Sequence[Path]) -> None:
    home = path.parent.resolve()
    for directory in directories:
        if home.is_relative_to(directory.resolve()):
            raise UsageError(
                f"{path} lies in the data directory {directory}.",
                "Data directories are only read.",
                "Name a file elsewhere with --progress-file.",
            )


def _load(path: Path, directories: tuple[str, ...]) -> _SavedCheck:
    content = read_regular(path)
    start = len(_MAGIC) + _CRC_BYTES
    if not content.startswith(_MAGIC):
        why = "It is empty." if not content else "It does not begin as a progress file of eosctl fsck does."
        raise UsageError(f"{path} does not hold the progress of a check.", why, _NAME_ANOTHER)
    stored = int.from_bytes(content[len(_MAGIC) : start], "big")
    if len(content) < start or google_crc32c.value(content[start:]) != stored:
        raise _unusable(path, "It is damaged: its checksum does not match.")
    try:
        saved = msgspec.msgpack.decode(content[start:], type=_SavedCheck)
    except msgspec.DecodeError as error:
        raise _unusable(path, f"It has another form: {error}.") from error
    if saved.program != _program():
        raise _unusable(path, f"It was written by eosctl {saved.program}; this is {_program()}.")
    if saved.directories != directories:
        named = ", ".join(one.partition("=")[0] for one in saved.directories)
        raise UsageError(
            f"{path} holds the progress of a check of other directories.",
            f"It was written for {named}.",
            "Name these directories, or another file with --progress-file.",
        )
    return saved


def _unusable(path: Path, why: str) -> UsageError:
    return UsageError(f"The progress in {path} cannot be used.", why, "Remove the file to check from the start.")
