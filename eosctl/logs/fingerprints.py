"""Identify a log's content, compressed or not, by its first bytes and by the bytes before an offset.

Rotation renames, copies, compresses, and moves logs, but keeps their content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.logs.files.content import codec_of, content_pieces, read_head

HEAD_BYTES: Final = 64
MARK_BYTES: Final = 1024


class Marks(NamedTuple):
    """The marks of a file's content.

    Attributes:
        size_bytes: Its size after decompression.
        end: The mark at its end.
        before: The mark at each requested offset that the content has.
    """

    size_bytes: int
    end: str
    before: Mapping[int, str]


def head_of(path: Path) -> str:
    """Return a hash of the content's first bytes, or an empty string if it has too few.

    Raises:
        OSError: The file cannot be read.
    """
    if codec_of(head := read_head(path, HEAD_BYTES)):
        head = next(content_pieces(path), b"")[:HEAD_BYTES]
    return _hash(head) if len(head) == HEAD_BYTES else ""


def mark_before(path: Path, offset: int) -> str:
    """Return a hash of the bytes before an offset of a plain file, at most ``MARK_BYTES``; empty for the start.

    Raises:
        OSError: The file cannot be read.
    """
    length = min(offset, MARK_BYTES)
    data = read_head(path, length, offset - length) if length else b""
    return _hash(data) if data and len(data) == length else ""


def marks_of(path: Path, offsets: Collection[int]) -> Marks:
    """Return the size and the marks of a file's content; a compressed file is inflated as a stream.

    Raises:
        OSError: The file cannot be read.
    """
    if not codec_of(read_head(path, 16)):
        size = path.stat().st_size
        return Marks(size, mark_before(path, size), {one: mark_before(path, one) for one in offsets if one <= size})
    wanted = sorted(offsets)
    before: dict[int, str] = {}
    size, last = 0, b""
    for chunk in content_pieces(path):
        data = last + chunk
        while wanted and wanted[0] <= size + len(chunk):
            end = len(last) + wanted[0] - size
            before[wanted.pop(0)] = _hash(data[max(0, end - MARK_BYTES) : end])
        size += len(chunk)
        last = data[-MARK_BYTES:]
    return Marks(size, _hash(last) if last else "", before)


def _hash(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()[:12]
