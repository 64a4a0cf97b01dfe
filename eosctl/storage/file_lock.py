"""The lock of a directory: brokers and Kafka Streams lock a file `.lock` in their directories."""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from enum import StrEnum
from pathlib import Path
from typing import Final

from eosctl.storage.regular_file import open_regular

#: `struct flock` of 64-bit Linux: type, whence, start, length, process id.
_FLOCK: Final = struct.Struct("@hhlli0l")


class LockState(StrEnum):
    """Whether a running program holds the lock of a directory."""

    HELD = "held"
    FREE = "free"
    ABSENT = "absent"
    UNKNOWN = "unknown"


def read_lock_state(path: Path) -> tuple[LockState, int | None]:
    """Find the holder of a file's lock without taking the lock.

    The process id is None when the holder cannot be seen from this process.
    """
    if not path.exists():
        return LockState.ABSENT, None
    if sys.platform != "linux" or sys.maxsize < 1 << 32:
        return LockState.UNKNOWN, None
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            answer = fcntl.fcntl(file, fcntl.F_GETLK, _FLOCK.pack(fcntl.F_WRLCK, 0, 0, 0, 0))
    except OSError:  # The file is not readable, or the file system has no locks.
        return LockState.UNKNOWN, None
    kind, _, _, _, pid = _FLOCK.unpack(answer)
    return (LockState.FREE, None) if kind == fcntl.F_UNLCK else (LockState.HELD, pid if pid > 0 else None)
