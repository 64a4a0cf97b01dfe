"""Pack the packages that executors need to read Kafka's files, in addition to pyarrow, for ``--archives``.

Compiled packages cannot be imported from a zip file, so each executor unpacks the archive into its working directory.
It works on the platform and Python release on which it was created.
"""

from __future__ import annotations

import importlib.metadata
import sys
import tarfile
from pathlib import Path
from typing import Final

NAME: Final = "eosctl_kafka_data_env"
"""The name of the unpacked archive: ``--archives FILE#NAME``."""
PACKAGES: Final = ("google-crc32c", "cramjam", "msgspec")


def build_environment(target: Path) -> Path:
    """Write the archive atomically.

    Raises:
        OSError: The file cannot be written.
        importlib.metadata.PackageNotFoundError: A package is not installed here.
    """
    temporary = target.with_name(f"{target.name}.tmp")
    with tarfile.open(temporary, "w:gz") as archive:
        for package in PACKAGES:
            for file in importlib.metadata.distribution(package).files or ():
                place = Path(str(file.locate()))
                if not file.parts[0].startswith("..") and "__pycache__" not in file.parts and place.is_file():
                    archive.add(place, file.as_posix())
    temporary.replace(target)
    return target


def enter_environment() -> None:
    """Add an unpacked archive to the import path, if the job has one."""
    from pyspark import SparkFiles

    try:
        folder = Path(SparkFiles.get(NAME))
    except (AssertionError, AttributeError, TypeError):  # outside of a job no folder is known
        return
    if folder.is_dir() and str(folder) not in sys.path:
        sys.path.append(str(folder))
