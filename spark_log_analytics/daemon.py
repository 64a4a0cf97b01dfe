"""Spark's Python daemon with the installed pyspark, whose modules are compiled, before the archive of the same release.

Spark puts ``pyspark.zip`` first on its workers' path. The one in the package that pip installs has no bytecode, and to
compile its modules again takes half a second in each program.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

_ARCHIVE: Final = ("pyspark", "python", "lib", "pyspark.zip")


def without_archive(path: list[str]) -> list[str]:
    """Return a path for imports without the archive that lies in a package of which the path has the place, too."""
    return [entry for entry in path if not _is_within(entry, path)]


def _is_within(entry: str, path: list[str]) -> bool:
    parts = Path(entry).parts
    return parts[-len(_ARCHIVE) :] == _ARCHIVE and str(Path(*parts[: -len(_ARCHIVE)])) in path


if __name__ == "__main__":
    sys.path[:] = without_archive(sys.path)
    from pyspark.daemon import manager

    manager()
