"""Read files that users name, in bounded time and memory: a pipe may have no writer, and a device need not end."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path
from typing import BinaryIO, Final

#: More than any file of settings, rules, or workloads holds.
MAX_BYTES: Final = 64 * 1024 * 1024
_USUAL_BYTES: Final = 64 * 1024
#: The writer of a pipe starts with, or before, its reader.
WRITER_TIMEOUT_S: Final = 3.0


def open_input(path: Path | str) -> BinaryIO:
    """Open a file, a pipe that a program writes to, a terminal, or the null device for reading.

    Raises:
        OSError: It cannot be opened, is a device or a directory, or is a pipe that no program opens for writing.
    """
    mode = os.stat(path).st_mode  # noqa: PTH116 - thousands of files are read
    if stat.S_ISFIFO(mode):
        return os.fdopen(_open_pipe(path), "rb")
    # Without O_NONBLOCK, a pipe that takes the file's place in between would block.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and (os.isatty(descriptor) or Path(path).samefile(os.devnull))):
        os.set_blocking(descriptor, True)
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise OSError(errno.EINVAL, "It is not a regular file", os.fspath(path))


def exists(word: str) -> bool:
    """Return whether an argument that may also be text names a file or a directory.

    No text is an error: where the system refuses it as a path (too long, a null byte), it names nothing.
    """
    try:
        return Path(word).exists()
    except (OSError, ValueError):
        return False


def is_file(word: str) -> bool:
    """Return whether an argument that may also be text names a file that can be read; see `exists`."""
    return exists(word) and Path(word).is_file()


def read_input(path: Path | str, limit: int = MAX_BYTES) -> bytes:
    """Return the content of such a file.

    Args:
        path: The file.
        limit: Its largest size in bytes.

    Raises:
        OSError: As for `open_input`, or the file is larger.
    """
    with open_input(path) as file:
        data = file.read(min(_USUAL_BYTES, limit + 1))
        if len(data) == _USUAL_BYTES:
            data += file.read(limit + 1 - _USUAL_BYTES)  # takes the memory of the limit before it reads
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"It is larger than {limit:,} bytes", os.fspath(path))
    return data


def _open_pipe(path: Path | str) -> int:
    opened: list[int] = []
    failed: list[OSError] = []

    def wait_for_writer() -> None:
        try:
            opened.append(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
        except OSError as error:
            failed.append(error)

    waiting = threading.Thread(target=wait_for_writer, daemon=True)
    waiting.start()
    waiting.join(WRITER_TIMEOUT_S)
    if waiting.is_alive():
        # A writer of our own ends the wait of the thread.
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        waiting.join()
        for descriptor in opened:
            os.close(descriptor)
        raise OSError(errno.EPIPE, "It is a pipe, and no program writes to it", os.fspath(path))
    if failed:
        raise failed[0]
    return opened[0]
