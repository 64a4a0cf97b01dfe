"""Manage an archive of Spark's loaded classes, with which a local Spark starts in half the time (class data sharing).

The JVM itself checks that an archive matches its build and class path, and ignores one that does not.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path


def class_archive(environment: Mapping[str, str]) -> Path | None:
    """Return the path of the archive for this Java and this pyspark; None if one of them is missing.

    Args:
        environment: ``JAVA_HOME`` or ``PATH`` for Java, ``XDG_CACHE_HOME`` or ``HOME`` for the cache directory.
    """
    home = environment.get("JAVA_HOME")
    java = shutil.which("java", path=f"{home}/bin" if home else environment.get("PATH"))
    package = find_spec("pyspark")
    if java is None or package is None or package.origin is None:
        return None
    parts = []
    for file in (Path(java).resolve(), Path(package.origin).resolve()):
        status = file.stat()
        parts.append(f"{file} {status.st_size} {status.st_mtime_ns}")
    key = hashlib.sha1("\n".join(parts).encode(), usedforsecurity=False).hexdigest()[:16]
    caches = environment.get("XDG_CACHE_HOME") or Path(environment.get("HOME") or Path.home()) / ".cache"
    return Path(caches) / "eosctl" / "spark" / f"{key}.jsa"


def writing_options(archive: Path) -> str:
    """Return the JVM's options that write an archive at exit."""
    return f"-XX:ArchiveClassesAtExit={archive} {_QUIET}"


def reading_options(archive: Path) -> str:
    """Return the JVM's options that start from an archive."""
    return f"-XX:SharedArchiveFile={archive} -Xshare:auto {_QUIET}"


# The JVM would log about the archive to stdout, which has the result.
_QUIET = "-Xlog:disable -Xlog:all=error:stderr"
