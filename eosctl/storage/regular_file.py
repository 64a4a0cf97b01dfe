"""Open files of a data directory only if they are regular files; a named pipe would block the reader."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import Final

from eosctl.input_file import refuse_endless

_LINE_END: Final = re.compile(r"\r\n|\r|\n")


def open_regular(path: Path | str) -> int:
    """Open a regular file for reading and return its descriptor, which the caller closes.

    Raises:
        OSError: The file cannot be opened, or it is a pipe, a device, a socket, a directory, or a file of the
            kernel that does not end.
    """
    # Without O_NONBLOCK, opening a named pipe waits for a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "It is not a regular file", os.fspath(path))
    refuse_endless(descriptor, path)
    return descriptor


def read_regular(path: Path | str, limit: int = -1) -> bytes:
    """Read a regular file, or its first `limit` bytes.

    Raises:
        OSError: As for `open_regular`.
    """
    with os.fdopen(open_regular(path), "rb") as file:
        return file.read(limit)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text as Java's BufferedReader reads them: a form feed, for one, ends none.

    >>> lines_of("0\\r\\n1\\x0c\\n")
    ['0', '1\\x0c']
    """
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]
