"""Make temporary folders that a signal which ends the process removes, too: they hold copies of logs and settings."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)
_TRIES: Final = 3
"""How often a folder is removed to which another thread still writes."""
_folders: dict[Path, int] = {}
"""The folders of this process, each with the process that made it: a child that was forked removes none of them."""


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """Yield a new folder that only its owner can read, and that exists while the ``with`` block runs.

    Raises:
        OSError: The folder cannot be made.
    """
    import tempfile

    with tempfile.TemporaryDirectory(prefix=prefix) as name:
        folder = Path(name)
        _folders[folder] = os.getpid()
        try:
            yield folder
        finally:
            del _folders[folder]


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
