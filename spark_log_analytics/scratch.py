"""Create a directory for the temporary files of a local Spark, and remove the directories of killed processes."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_PREFIX: Final = "eosctl-spark-"
# sun_path of a Unix socket address holds 108 bytes with its final NUL; Spark names a socket ".UUID.sock".
_LONGEST_SOCKET_PATH: Final = 107
_SOCKET_NAME_LENGTH: Final = 42


@contextmanager
def scratch_directory() -> Iterator[Path]:
    """Create a directory, and remove it at the end; first remove this user's directories of killed processes.

    Raises:
        OSError: The directory cannot be created.
    """
    parent = Path(tempfile.gettempdir())
    for stale in parent.glob(f"{_PREFIX}*"):
        _remove_if_abandoned(stale)
    hidden = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}", dir=parent))
    lock = os.open(hidden, os.O_RDONLY)
    try:
        # The lock ends with the process in any case. The directory gets its final name after the lock, so a directory
        # without a lock is never one that is being created.
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = hidden.rename(parent / hidden.name.removeprefix("."))
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)
    finally:
        os.close(lock)


def fits_sockets(directory: Path) -> bool:
    """Return whether the path of one of Spark's sockets in this directory is short enough for the system."""
    return len(os.fsencode(directory)) + 1 + _SOCKET_NAME_LENGTH <= _LONGEST_SOCKET_PATH


def _remove_if_abandoned(directory: Path) -> None:
    try:
        lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        if os.fstat(lock).st_uid == os.getuid():
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(directory, ignore_errors=True)
    except BlockingIOError:
        return
    finally:
        os.close(lock)
