"""Read files that users name, in bounded time and memory: a pipe may have no writer, and a device need not end."""

from __future__ import annotations

import errno
import os
import select
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
        OSError: It cannot be opened, is a device or a directory, is a pipe that no program opens for writing, or is a
            file of the kernel that does not end, such as /proc/kmsg.
    """
    mode = os.stat(path).st_mode  # noqa: PTH116 - thousands of files are read
    if stat.S_ISFIFO(mode):
        return os.fdopen(_open_pipe(path), "rb")
    # Without O_NONBLOCK, a pipe that takes the file's place in between would block.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode) or (stat.S_ISCHR(mode) and (os.isatty(descriptor) or Path(path).samefile(os.devnull))):
        refuse_endless(descriptor, path)
        os.set_blocking(descriptor, True)
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise OSError(errno.EINVAL, "It is not a regular file", os.fspath(path))


def refuse_endless(descriptor: int, path: Path | str) -> None:
    """Refuse a regular file that waits for more instead of ending, as files of the kernel do.

    Args:
        descriptor: The file, opened with ``O_NONBLOCK``; closed if the file is refused.
        path: Its name for the error.

    Raises:
        OSError: It has content although its size is 0, and its reads can wait.
    """
    status = os.fstat(descriptor)
    if status.st_size or not stat.S_ISREG(status.st_mode) or not _can_wait(descriptor):
        return
    try:
        # A network file system lets its empty files be waited for, too; they end.
        is_empty = not os.read(descriptor, 1)
    except BlockingIOError:
        is_empty = False
    if not is_empty:
        os.close(descriptor)
        raise OSError(errno.EINVAL, "It is a file of the kernel that need not end", os.fspath(path))


def _can_wait(descriptor: int) -> bool:
    """Return whether a read of a regular file can wait for content: only those files accept a poll."""
    if not hasattr(select, "epoll"):
        return False
    with select.epoll() as waiting:
        try:
            waiting.register(descriptor, select.EPOLLIN)
        except PermissionError:
            return False
    return True


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
