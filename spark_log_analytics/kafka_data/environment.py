"""What executors need beside pyarrow to read Kafka's files, as one archive for ``--archives``.

They are compiled, so they cannot be imported out of a zip file: the archive is unpacked beside each executor. It fits
machines of the platform and Python release that it was made on.
"""

from __future__ import annotations

import importlib.metadata
import sys
import tarfile
from pathlib import Path
from typing import Final

NAME: Final = "eosctl_kafka_data_env"
"""What the archive is unpacked as: ``--archives FILE#NAME``."""
PACKAGES: Final = ("google-crc32c", "cramjam", "msgspec")


def build_environment(target: Path) -> Path:
    """Write the archive, whole or not at all.

    Raises:
        OSError: It cannot be written.
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
    """Let imports find an unpacked archive, where the job was given one."""
    from pyspark import SparkFiles

    try:
        folder = Path(SparkFiles.get(NAME))
    except (AssertionError, AttributeError, TypeError):  # outside of a job no folder is known
        return
    if folder.is_dir() and str(folder) not in sys.path:
        sys.path.append(str(folder))
