"""Append lines to a file of eosctl's own, each on disk as a whole before the call returns, or not at all.

The audit and the journals of runbooks are such files. A disk that fills up takes a part of a line without an error, and
a machine that loses power keeps a part: the next line would continue it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from pathlib import Path
from typing import Final

from eosctl.whole_file import OWNER_ONLY

_LINE_FEED: Final = b"\n"


def append_line(path: Path, line: bytes, *, is_new: bool = False) -> None:
    """Append a line, and flush it to disk; only the owner of the file may read it, also if it had other access.

    A cut line at the end of the file is ended first. Waits for other writers.

    Args:
        path: The file. Its folder is made if it is missing.
        line: The line, without a line feed.
        is_new: Whether the file must not exist yet.

    Raises:
        OSError: The line cannot be written as a whole; the file is as it was. Or it is a pipe or a device.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Without O_NONBLOCK, a pipe without a reader would block.
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    descriptor = os.open(path, flags | (os.O_EXCL if is_new else 0), OWNER_ONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "It is not a regular file")
        if found.st_mode & 0o777 & ~OWNER_ONLY:
            os.fchmod(descriptor, OWNER_ONLY)
        is_cut = found.st_size > 0 and os.pread(descriptor, 1, found.st_size - 1) != _LINE_FEED
        _write_whole(descriptor, (_LINE_FEED if is_cut else b"") + line + _LINE_FEED, found.st_size)
    finally:
        os.close(descriptor)


def _write_whole(descriptor: int, data: bytes, size_before: int) -> None:
    try:
        if os.write(descriptor, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, size_before)
        raise
