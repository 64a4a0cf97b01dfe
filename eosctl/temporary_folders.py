"""Make temporary folders that are removed however the process ends: they hold copies of logs and settings.

Signals that a process can handle remove them. Nothing removes them when it is killed or the machine loses power, so the
next process that makes a folder removes those whose owner is gone: its lock on the file ``lock`` ended with it.
"""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Final

_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)
_TRIES: Final = 3
"""How often a folder is removed to which another thread still writes."""
_LOCK: Final = "lock"
_NEW_LOCK: Final = "lock.new"
_MARK: Final = b"A temporary folder of eosctl; a later run removes it once this file is not locked.\n"
_folders: dict[Path, int] = {}
"""The folders of this process, each with the process that made it: a child that was forked removes none of them."""


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Yield a new folder that only its owner can read, and that exists while the ``with`` block runs.

    Raises:
        OSError: The folder cannot be made.
    """
    import tempfile

    remove_abandoned(Path(tempfile.gettempdir()), prefix)
    with tempfile.TemporaryDirectory(prefix=prefix) as name:
        outer = Path(name)
        _folders[outer] = os.getpid()
        lock = _locked(outer)
        try:
            (outer / "files").mkdir(0o700)
            yield outer / "files"
        finally:
            os.close(lock)
            del _folders[outer]


def remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove the folders of this user in `parent` whose processes ended without removing them.

    A folder without a lock of ``temporary_folder``, or with one that a process still holds, is not touched.
    """
    import shutil
    from fcntl import LOCK_EX, LOCK_NB, flock

    for folder in parent.glob(f"{prefix}*"):
        with suppress(OSError):
            status = folder.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if stat.S_ISREG(os.fstat(lock).st_mode) and os.read(lock, len(_MARK)) == _MARK:
                    flock(lock, LOCK_EX | LOCK_NB)
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _locked(folder: Path) -> int:
    """Return the descriptor of the lock, which is held before it has its name; a forked child holds it, too."""
    from fcntl import LOCK_EX, flock

    lock = os.open(folder / _NEW_LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    flock(lock, LOCK_EX)
    os.write(lock, _MARK)
    (folder / _NEW_LOCK).rename(folder / _LOCK)
    return lock


def remove_at_signals() -> None:
    """Remove the temporary folders before SIGTERM or SIGHUP ends the process; an ignored signal remains ignored.

    Called in the main thread of a process that lives for one command.
    """
    for number in _ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def _end(number: int, _: FrameType | None) -> None:
    import shutil

    for folder in [folder for folder, owner in _folders.items() if owner == os.getpid()]:
        for _try in range(_TRIES):
            shutil.rmtree(folder, ignore_errors=True)
    # As without a handler: the parent sees which signal ended the process.
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
