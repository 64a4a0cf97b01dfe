"""The bytes of an offset or time index file, and which of them are entries."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from eosctl.storage.regular_file import read_regular


class IndexFile(NamedTuple):
    """The parts of an index file.

    Attributes:
        entries: Whole entries, in the file's encoding.
        zero_bytes: Size of the zeros after them. A broker preallocates the active segment's index, and the zeros stay
            when it is killed.
        stray_bytes: How many bytes at the very end are not a whole entry.
    """

    entries: bytes
    zero_bytes: int
    stray_bytes: int


def read_index_file(path: Path, entry_bytes: int) -> IndexFile:
    """Read an index file whose entries take `entry_bytes` each.

    No entry is all zeros: the first of an offset index lies behind at least one batch, and the first of a time index
    has a timestamp, which is 0 for no record of this century.

    Raises:
        OSError: When the file cannot be read.
    """
    data = read_regular(path)
    stray_bytes = len(data) % entry_bytes
    whole = data[: len(data) - stray_bytes]
    used_bytes = -(-len(whole.rstrip(b"\0")) // entry_bytes) * entry_bytes
    return IndexFile(whole[:used_bytes], len(whole) - used_bytes, stray_bytes)
