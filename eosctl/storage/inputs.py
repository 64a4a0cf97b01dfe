"""Find the files that a command line names: files, directories, and glob patterns."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from eosctl.errors import standard_input_stream
from eosctl.storage.names import FileState, Suffix, parse_segment_file

STDIN: Final = "-"
_PIECE_BYTES: Final = 1 << 20


def is_segment_file(suffix: Suffix) -> Callable[[Path], bool]:
    """Return a predicate for live files of one kind."""

    def matches(path: Path) -> bool:
        name = parse_segment_file(path.name)
        return name is not None and name.suffix is suffix and name.state is FileState.LIVE

    return matches


def _raise(error: OSError) -> None:
    raise error


def find_files(
    arguments: Iterable[str], matches: Callable[[Path], bool], refused: Callable[[OSError], None] = _raise
) -> Iterator[Path]:
    """Yield the files that arguments name, in argument order and sorted within a directory.

    Args:
        arguments: Files, directories (searched recursively), and glob patterns. A file is included under any name.
        matches: Predicate for the files of a directory.
        refused: Called with the error of a directory that cannot be listed: what it holds is unknown.

    Raises:
        FileNotFoundError: An argument matches nothing.
        PermissionError: A directory below an argument cannot be listed, and `refused` does not take errors.
    """
    for argument in arguments:
        found = [Path(argument)] if Path(argument).exists() else [Path(name) for name in sorted(glob.glob(argument))]  # noqa: PTH207 - the pattern may be absolute
        if not found:
            raise FileNotFoundError(argument)
        for path in found:
            if path.is_dir():
                yield from sorted(inner for inner in _files_below(path, refused) if inner.is_file() and matches(inner))
            else:
                yield path


def _files_below(folder: Path, refused: Callable[[OSError], None]) -> Iterator[Path]:
    """Yield the files below a directory. One that a broker removes meanwhile is left out."""

    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            refused(error)

    for parent, _, names in os.walk(folder, onerror=refuse):
        yield from (Path(parent, name) for name in names)


def base_offset_of(path: Path) -> int:
    """Return the offset in a file's name, or 0 if the name has none (a copy under another name)."""
    digits = path.name[:20]
    return int(digits) if len(digits) == 20 and digits.isascii() and digits.isdigit() else 0


@contextmanager
def spooled(stream: BinaryIO | None = None) -> Iterator[Path]:
    """Copy a stream (standard input) to a temporary file, since readers need random access."""
    source = standard_input_stream() if stream is None else stream
    with tempfile.NamedTemporaryFile(prefix="eosctl-", suffix=".spool") as file:
        while piece := source.read(_PIECE_BYTES):
            file.write(piece)
        file.flush()
        yield Path(file.name)
