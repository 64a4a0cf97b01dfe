"""Write files atomically, and lock state files."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

#: Only the owner can read eosctl's own state, regardless of the folder's permissions.
OWNER_ONLY: Final = 0o600


@contextmanager
def whole_file(path: Path, *, is_private: bool = True) -> Iterator[BinaryIO]:
    """Give a file to write to, which takes the place of ``path`` at the end of the block.

    After an error ``path`` is what it was, and the unfinished file is removed.

    Args:
        path: The file to write or replace; its folder exists.
        is_private: Only its owner may read it. Otherwise a new file gets the user's ordinary permissions, and one that
            is replaced keeps its own.

    Raises:
        OSError: It cannot be written.
    """
    # A name of its own process, and an error if it is taken: two writers never share an unfinished file.
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(
        unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, OWNER_ONLY if is_private else 0o666
    )
    try:
        with os.fdopen(descriptor, "wb") as file:
            if not is_private and path.exists():
                os.fchmod(file.fileno(), path.stat().st_mode & 0o777)
            yield file
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Hold the lock of a state file from reading it to writing it, so that no change of another process is lost.

    The lock is a file of its own next to ``path``: ``path`` itself is replaced. Waits for other holders.

    Raises:
        OSError: The folder or the lock cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path.with_name(f".{path.name}.lock"), flags, OWNER_ONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
