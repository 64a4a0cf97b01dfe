"""Replace a small file atomically: a reader sees the old content or the new content."""

from __future__ import annotations

import os
from pathlib import Path


def replace_file(path: Path, content: bytes, *, sync: bool = False) -> None:
    """Write a file under a temporary name and rename it, as Kafka does with its checkpoints.

    Args:
        path: The file. Its directory is created if absent.
        content: The new content.
        sync: Whether to wait until content and name are on the disk (fsync).
    """
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        file = temporary.open("wb")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = temporary.open("wb")
    try:
        with file:
            file.write(content)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    if sync:
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
