"""The code that executors need, as one archive for ``--py-files`` or Connect's ``addArtifacts``."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Final

import eosctl
import spark_log_analytics

SHIPPED: Final = (
    "eosctl/__init__.py",
    "eosctl/model/**/*.py",
    "eosctl/text.py",
    "eosctl/logs/**/*.py",
    "eosctl/logs/**/*.toml",
    "spark_log_analytics/**/*.py",
)
"""What the log scan and its judge are made of: pure Python, so any platform and Python from 3.11 on can run it."""

SHIPPED_FOR_DATA: Final = (
    *SHIPPED,
    "eosctl/analysis/*.py",
    "eosctl/analysis/fsck/*.py",
    "eosctl/storage/*.py",
    "eosctl/wire/*.py",
    "eosctl/wire/internal/*.py",
    "eosctl/wire/records/*.py",
    "eosctl/wire/schema/*.py",
    "eosctl/wire/schema/record/**/*.msg",
    "eosctl/wire/messages/__init__.py",
    "eosctl/wire/messages/internal/**/*.py",
    "eosctl/wire/generated/__init__.py",
    "eosctl/wire/generated/index.py",
    "eosctl/wire/generated/stamp.py",
    "eosctl/wire/generated/internal_*.py",
)
"""What the job over Kafka's files is made of; the compiled packages that it needs are in its environment."""


def build_archive(target: Path, shipped: Sequence[str] = SHIPPED) -> Path:
    """Write the archive, whole or not at all.

    Args:
        target: The file.
        shipped: Patterns of what goes into it.

    Raises:
        OSError: It cannot be written.
    """
    roots = {Path(str(package.__file__)).parents[1] for package in (eosctl, spark_log_analytics)}
    files = {
        file.relative_to(root).as_posix(): file for root in roots for pattern in shipped for file in root.glob(pattern)
    }
    # Packages without __init__.py are found in an archive only by an entry of the folder itself.
    folders = {f"{parent.as_posix()}/" for name in files for parent in PurePosixPath(name).parents if parent.name}
    temporary = target.with_name(f"{target.name}.tmp")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for folder in sorted(folders):
            archive.writestr(folder, b"")
        for name, file in sorted(files.items()):
            archive.write(file, name)
    temporary.replace(target)
    return target
