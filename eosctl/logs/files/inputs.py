"""Copy inputs without random access to a temporary folder: standard input, pipes, and archives.

The size is bounded: archives that together unpack to more than ``MAX_UNPACKED_BYTES`` or ``MAX_MEMBERS`` files are read
up to that point and reported.
"""

from __future__ import annotations

import errno
import lzma
import os
import posixpath
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Final, NamedTuple

from eosctl.errors import standard_input_stream
from eosctl.input_file import open_input
from eosctl.logs.files.sources import Unread, archive_of, find_files
from eosctl.temporary_folders import temporary_folder

STDIN: Final = "-"
MAX_UNPACKED_BYTES: Final = 4 * 1024**3
MAX_MEMBERS: Final = 50_000
_CHUNK_BYTES: Final = 1 << 20
_MEMBER_CHUNK_BYTES: Final = 1 << 14
"""What one reading takes of a member: a cut archive loses at most so much of what is in front of the cut."""
_LAST_TIME_S: Final = 1 << 33
"""Later times of members (from the year 2242 on) are not used."""
_LONGEST_TARGET: Final = 4096
_DAMAGE: Final = (
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
"""Exceptions of the readers of archives; a ``RuntimeError`` is a zip with a password or another compression."""


_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
"""With these errors the disk is full, and further members are not tried."""


class Opened(NamedTuple):
    """Inputs as files.

    Attributes:
        paths: The files and folders to read.
        names: Temporary paths, and the names of the inputs that they contain.
        unread: The parts of archives that could not be read.
        archives: The archives among the inputs, which need not be read as files.
    """

    paths: tuple[Path, ...]
    names: Mapping[str, str]
    unread: tuple[Unread, ...]
    archives: frozenset[str]

    def name_of(self, file: str) -> str:
        """Return a file's name as the caller knows it: ``bundle.tgz/kafka/server.log``."""
        for path, name in self.names.items():
            if file == path or file.startswith(f"{path}{os.sep}"):
                return f"{name}{file[len(path) :]}"
        return file


@contextmanager
def opened_inputs(paths: Iterable[Path], progress: Callable[[str], None] = lambda _: None) -> Iterator[Opened]:
    """Yield inputs as files; temporary files exist while the ``with`` block runs.

    Args:
        paths: Files, folders, pipes, and ``-`` for standard input.
        progress: Called with a description of the next input, because the caller may have to wait for a pipe.
    """
    with temporary_folder("eosctl-logs-") as folder:
        copies = _Copies(folder, progress)
        for path in paths:
            copies.add(path)
        yield Opened(tuple(copies.paths), copies.names, tuple(copies.unread), frozenset(copies.archives))


class _Copies:
    """Collects the inputs, and copies those that need it."""

    def __init__(self, folder: Path, progress: Callable[[str], None]) -> None:
        self._folder, self._progress = folder, progress
        self.paths: list[Path] = []
        self.names: dict[str, str] = {}
        self.unread: list[Unread] = []
        self.archives: list[str] = []
        self._bytes_left, self._members_left = MAX_UNPACKED_BYTES, MAX_MEMBERS

    def add(self, path: Path) -> None:
        if str(path) == STDIN:
            self._progress("standard input, until it ends")
            self._keep(standard_input_stream(), "stdin")
        elif _is_pipe(path):
            self._progress(f"{path}, a pipe, until its writer closes it")
            try:
                with open_input(path) as stream:
                    self._keep(stream, str(path))
            except OSError as error:
                self.unread.append(Unread(str(path), error.strerror or str(error), True))
        elif path.is_dir():
            self.paths.append(path)
            for file in find_files([path]):
                self._unpack(file)
        elif not self._unpack(path):
            self.paths.append(path)

    def _keep(self, stream: IO[bytes], name: str) -> None:
        target = self._target(PurePosixPath(name).name)
        with target.open("wb") as copy:
            while self._bytes_left > 0 and (chunk := stream.read(min(self._bytes_left, _CHUNK_BYTES))):
                self._bytes_left -= copy.write(chunk)
        if self._bytes_left <= 0:
            self.unread.append(
                Unread(name, f"the copies of pipes and archives are longer than {MAX_UNPACKED_BYTES:,} bytes", True)
            )
        self.names[str(target)] = name
        if not self._unpack(target, name):
            self.paths.append(target)

    def _target(self, name: str) -> Path:
        folder = self._folder / str(len(self.names))
        folder.mkdir()
        return folder / name

    def _unpack(self, path: Path, name: str = "") -> bool:
        """Unpack an archive; return whether the file is one."""
        try:
            kind = archive_of(path)
        except OSError:
            return False
        if kind not in ("tar", "zip"):
            return False
        name = name or str(path)
        self.archives.append(str(path))
        target = self._target(path.name.partition(".")[0] or "archive")
        target.mkdir()
        self.names[str(target)] = name
        links: list[_Member] = []
        try:
            for member in _tar_members(path) if kind == "tar" else _zip_members(path):
                if not self._members_left:
                    self.unread.append(Unread(name, f"the archives have more than {MAX_MEMBERS:,} files", True))
                    break
                self._members_left -= 1
                self._progress(f"{name}, {member.name}")
                place = _place_of(member.name, target)
                if member.open is None:
                    links.append(member)
                if place is None or member.open is None:
                    continue
                self._bytes_left -= self._copy(member, place, self._bytes_left, f"{name}/{member.name}")
                if self._bytes_left < 0:
                    unpacked = f"the archives unpack to more than {MAX_UNPACKED_BYTES:,} bytes"
                    self.unread.append(Unread(name, unpacked, True))
                    break
        except _DAMAGE as error:
            self.unread.append(Unread(name, f"not read to its end ({kind}): {_reason(error)}", True))
        self.unread += _dangling(links, target, name)
        self.paths.append(target)
        return True

    def _copy(self, member: _Member, target: Path, most: int, name: str) -> int:
        """Copy a member up to a maximum size; return its size, or more than the maximum if it is larger.

        One that is damaged, or that cannot be a file here, is reported; those behind it follow.
        """
        size = 0
        try:
            if target.is_file():
                self.unread.append(Unread(name, "a later file of the archive has its name", True))
            target.parent.mkdir(parents=True, exist_ok=True)
            assert member.open is not None
            with member.open() as stream, target.open("wb") as copy:
                while size <= most and (chunk := stream.read(_MEMBER_CHUNK_BYTES)):
                    copy.write(chunk[: most - size])
                    size += len(chunk)
            if 0 < member.modified_s < _LAST_TIME_S:
                os.utime(target, (member.modified_s, member.modified_s))
        except _DAMAGE as error:
            if isinstance(error, OSError) and error.errno in _NO_ROOM:
                raise
            self.unread.append(Unread(name, f"not read to its end: {_reason(error)}", True))
        return size


class _Member(NamedTuple):
    """A file of an archive; without a way to open it, a link to `target`."""

    name: str
    modified_s: float
    open: Callable[[], IO[bytes]] | None
    target: str = ""


def _place_of(name: str, folder: Path) -> Path | None:
    """Return where a member of an archive is copied to, always within the folder; None without a name."""
    path = PurePosixPath(name.replace("\\", "/").replace("\0", ""))
    parts = [part for part in path.parts if part not in ("..", "/", ".", "//")]
    return folder.joinpath(*parts) if parts else None


def _dangling(links: Iterable[_Member], folder: Path, archive: str) -> Iterator[Unread]:
    """Yield the links of an archive to files that it does not have: no link leads out of it."""
    for member in links:
        place = _place_of(member.target, folder)
        if place is None or not os.path.lexists(place):
            yield Unread(f"{archive}/{member.name}", f"a link to {member.target}, which is not in the archive", True)


def _reason(error: Exception) -> str:
    # The text of an OSError names the temporary copy.
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _tar_members(path: Path) -> Iterator[_Member]:
    with tarfile.open(path, "r|*") as archive:
        for entry in archive:
            if entry.islnk():
                yield _Member(entry.name, entry.mtime, None, entry.linkname)
            elif entry.issym():
                yield _Member(entry.name, entry.mtime, None, _linked(entry.name, entry.linkname))
            elif entry.isreg():
                yield _Member(entry.name, entry.mtime, partial(_extracted, archive, entry))


def _zip_members(path: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(path) as archive:
        for entry in archive.infolist():
            if stat.S_ISLNK(entry.external_attr >> 16):
                with archive.open(entry) as link:
                    target = link.read(_LONGEST_TARGET).decode("utf-8", "replace")
                yield _Member(entry.filename, 0.0, None, _linked(entry.filename, target))
            elif not entry.is_dir():
                yield _Member(entry.filename, 0.0, partial(archive.open, entry))


def _extracted(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    stream = archive.extractfile(entry)
    if stream is None:
        raise tarfile.ExtractError("not a file")
    return stream


def _linked(name: str, target: str) -> str:
    """Return the place of a link's target, as members of the archive are named."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), target))


def _is_pipe(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)
