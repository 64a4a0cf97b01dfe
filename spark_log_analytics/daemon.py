"""Spark's Python daemon, for a local session.

It takes the installed pyspark, whose modules are compiled, before the archive of the same release. Spark puts
``pyspark.zip`` first on its workers' path; the one in the package that pip installs has no bytecode, and to compile its
modules again takes half a second in each program.

Its workers end without a word when Spark does. One that waits for work has something to say about the end of it, and
through a socket file, unlike TCP, it learns at once that nobody listens, of which it would print a traceback.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

_ARCHIVE: Final = ("pyspark", "python", "lib", "pyspark.zip")


def without_archive(path: list[str]) -> list[str]:
    """Return a path for imports without the archive that lies in a package of which the path has the place, too."""
    return [entry for entry in path if not _is_within(entry, path)]


def _is_within(entry: str, path: list[str]) -> bool:
    parts = Path(entry).parts
    return parts[-len(_ARCHIVE) :] == _ARCHIVE and str(Path(*parts[: -len(_ARCHIVE)])) in path


def without_last_words(worker: Callable[..., int]) -> Callable[..., int]:
    """Return a worker that ends where there is nobody left to tell what it found."""

    def work(*arguments: Any) -> int:
        try:
            return worker(*arguments)
        except BrokenPipeError:
            return 1

    return work


if __name__ == "__main__":
    sys.path[:] = without_archive(sys.path)
    from pyspark import daemon

    daemon.worker = without_last_words(daemon.worker)
    daemon.manager()
