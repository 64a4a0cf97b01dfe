"""The code that executors need, as one archive for ``--py-files`` or Connect's ``addArtifacts``."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Final

import eosctl
import spark_log_analytics

SHIPPED: Final = (
    "eosctl/__init__.py",
    "eosctl/model/**/*.py",
    "eosctl/analysis/__init__.py",
    "eosctl/analysis/incidents/*.py",
    "spark_log_analytics/**/*.py",
    "spark_log_analytics/*.toml",
)
"""What the log scan and its judge are made of: pure Python, so any platform and Python from 3.11 on can run it."""


def build_archive(target: Path) -> Path:
    """Write the archive, whole or not at all.

    Raises:
        OSError: It cannot be written.
    """
    roots = {Path(str(package.__file__)).parents[1] for package in (eosctl, spark_log_analytics)}
    temporary = target.with_name(f"{target.name}.tmp")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for root in sorted(roots):
            for pattern in SHIPPED:
                for file in sorted(root.glob(pattern)):
                    name = file.relative_to(root).as_posix()
                    if name not in archive.namelist():
                        archive.write(file, name)
    temporary.replace(target)
    return target
