"""Run Spark's Python daemon for a local session.

It imports the installed pyspark, which has bytecode, instead of the archive of the same release. Spark puts
``pyspark.zip`` first on its workers' path; the one in pip's package has no bytecode, and compiling its modules takes
half a second in each program.

Its workers exit silently with Spark. A waiting worker reports its end to Spark; over a socket file, unlike TCP, this
fails immediately if Spark has exited, and the worker would print a traceback.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

_ARCHIVE: Final = ("pyspark", "python", "lib", "pyspark.zip")


def without_archive(path: list[str]) -> list[str]:
    """Return an import path without pyspark's archive if the path also has the folder of that package."""
    return [entry for entry in path if not _is_within(entry, path)]


def _is_within(entry: str, path: list[str]) -> bool:
    parts = Path(entry).parts
    return parts[-len(_ARCHIVE) :] == _ARCHIVE and str(Path(*parts[: -len(_ARCHIVE)])) in path


def without_broken_pipe(worker: Callable[..., int]) -> Callable[..., int]:
    """Return a worker that exits silently if its driver has exited."""

    def work(*arguments: Any) -> int:
        try:
            return worker(*arguments)
        except BrokenPipeError:
            return 1

    return work


if __name__ == "__main__":
    sys.path[:] = without_archive(sys.path)
    from pyspark import daemon

    daemon.worker = without_broken_pipe(daemon.worker)
    daemon.manager()
