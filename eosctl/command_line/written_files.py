"""Refuse a command line on which two results go to one file, or a result to a file that the command reads.

Results are written one after the other, and each replaces an earlier result of eosctl: the last one would stay alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from eosctl.errors import UsageError

#: The fields of the options that name a file to write.
OUTPUTS: Final = frozenset(
    {"output_file", "report", "save_snapshot", "write_baseline", "record_file", "script", "history"}
)
# A baseline is read before it is written: the known findings and those of this run.
_UPDATED: Final = frozenset({"baseline", "write_baseline"})


def check_written_files(values: Mapping[str, Any], words: Mapping[str, str]) -> None:
    """Refuse results that would overwrite each other, or an input; devices, pipes, and standard output take several.

    Args:
        values: The values of a command's parameters, by field.
        words: The option or argument of each field.

    Raises:
        UsageError: Two of them name the same file.
    """
    for output in (field for field in values if field in OUTPUTS):
        for written in _paths(values.get(output)):
            if _takes_several(written):
                continue
            others = (field for field in values if field != output and {field, output} != _UPDATED)
            for field in others:
                if _is_among(written, _paths(values[field])):
                    verb = "writes to" if field in OUTPUTS else "reads"
                    raise UsageError(
                        f"{words[output]} and {words[field]} name the same file: {written}.",
                        f"{words[field]} {verb} it, and {words[output]} would replace it.",
                        "Name different files.",
                    )


def _takes_several(path: Path) -> bool:
    """Return whether what is written to a path is appended: standard output, a device, or a pipe."""
    try:
        return str(path) == "-" or (path.exists() and not path.is_file())
    except OSError:
        return False


def _is_among(file: Path, others: Iterable[Path]) -> bool:
    """Return whether one of several paths leads to a file, also through a link."""
    target = os.path.realpath(file)  # `Path.resolve` raises at a loop of links
    return any(target == os.path.realpath(other) for other in others)


def _paths(value: object) -> Iterator[Path]:
    if isinstance(value, Path):
        yield value
    elif isinstance(value, list | tuple):
        yield from (one for one in value if isinstance(one, Path))
