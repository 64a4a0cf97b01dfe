"""Recognize what an earlier job wrote, so that a job replaces its own results and no file of the user's.

A result goes to a directory that the user names, and reports of other origin may lie there under the same names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_OF_SPARK: Final = ("part-", "_SUCCESS", "_temporary", "_committed_", "_started_", ".part-", "._SUCCESS")
"""The beginnings of the names that Spark and Hadoop give to files of a table, and to their checksums."""


def foreign_verdict(file: Path, fields: Iterable[str]) -> str:
    """Return why a job may not replace a verdict; empty if it may.

    Args:
        file: A verdict of an earlier run, if it exists: a JSON object, or a list of them.
        fields: The fields of each object.
    """
    try:
        content = file.read_bytes()
        if not content:
            return ""
        value = json.loads(content)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (ValueError, RecursionError, OSError):
        value = None
    objects = value if isinstance(value, list) else [value]
    wanted = set(fields)
    if all(isinstance(one, dict) and wanted <= one.keys() for one in objects):
        return ""
    return f"{file} exists, and an earlier job did not write it. Move it, or name another directory for the result."


def foreign_tables(folders: Iterable[Path]) -> str:
    """Return why a job may not replace the tables in these folders; empty if it may."""
    if foreign := next((path for folder in folders for path in _foreign(folder)), None):
        return f"{foreign} exists, and Spark did not write it. Move it, or name another directory for the result."
    return ""


def _foreign(folder: Path) -> Iterator[Path]:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        yield folder
    elif folder.is_dir():
        yield from sorted(path for path in folder.iterdir() if not path.name.startswith(_OF_SPARK))
