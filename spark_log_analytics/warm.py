"""An archive of Spark's loaded classes, from which a local Spark starts in half the time (class data sharing).

The JVM itself holds an archive to its own build and class path, and starts without one that does not fit.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path


def class_archive(environment: Mapping[str, str]) -> Path | None:
    """Return where the archive for this Java and this pyspark is kept; None when one of them is missing.

    Args:
        environment: ``JAVA_HOME`` or ``PATH`` tell which Java, ``XDG_CACHE_HOME`` or ``HOME`` where caches are.
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
    """Return the JVM's options that write an archive when it ends."""
    return f"-XX:ArchiveClassesAtExit={archive} {_QUIET}"


def reading_options(archive: Path) -> str:
    """Return the JVM's options that start from an archive."""
    return f"-XX:SharedArchiveFile={archive} -Xshare:auto {_QUIET}"


# What the JVM has to say of an archive goes to stdout, where the result is.
_QUIET = "-Xlog:disable -Xlog:all=error:stderr"
