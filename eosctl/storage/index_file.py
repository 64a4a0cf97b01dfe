"""The bytes of an offset or time index file, separated into entries and padding."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from eosctl.storage.regular_file import read_regular


class IndexFile(NamedTuple):
    """The parts of an index file.

    Attributes:
        entries: Whole entries, in the file's encoding.
        zero_bytes: Size of the zero padding after them. A broker preallocates the active segment's index, and the
            padding remains when it is killed.
        stray_bytes: Bytes of an incomplete entry at the end.
    """

    entries: bytes
    zero_bytes: int
    stray_bytes: int


def read_index_file(path: Path, entry_bytes: int) -> IndexFile:
    """Read an index file with entries of `entry_bytes` each.

    An entry is never all zeros: the first entry of an offset index points behind at least one batch, and the first
    entry of a time index has a timestamp, which is not 0 for current records.

    Raises:
        OSError: The file cannot be read.
    """
    data = read_regular(path)
    stray_bytes = len(data) % entry_bytes
    whole = data[: len(data) - stray_bytes]
    used_bytes = -(-len(whole.rstrip(b"\0")) // entry_bytes) * entry_bytes
    return IndexFile(whole[:used_bytes], len(whole) - used_bytes, stray_bytes)
