"""Files as they lie on a host: compressed or not, told by their first bytes."""

from __future__ import annotations

import bz2
import gzip
import lzma
import mmap
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.logs.records.record import Buffer

MAX_INFLATED_BYTES: Final = 4 * 1024**3
"""A compressed file is held in memory while it is read; one that grows beyond this is cut and named."""

_HEAD_BYTES: Final = 262_144
_CHUNK_BYTES: Final = 1 << 22
REPLACED: Final = "another file has taken its place since it was looked at"

_CODECS: Final = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"\xff\x06\x00\x00sNaPpY", "snappy"),
)
_BOMS: Final = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_WIDE: Final = (("utf-32-le", 4, 0), ("utf-32-be", 4, 3), ("utf-16-le", 2, 0), ("utf-16-be", 2, 1))
"""Encodings without a mark: the width of a character, and where in it ASCII has its byte."""
_TOLD_BY_BYTES: Final = 4_096
CARRIAGE_RETURNS: Final = "carriage-returns"
"""What ``recoding_of`` calls lines that end with CR alone."""


class Content(NamedTuple):
    """A file's bytes after decompression, and why they end early if they do."""

    data: Buffer
    error: str


class Window(NamedTuple):
    """A part of a file's bytes: where it starts in the file, and why it ends early if it does."""

    data: Buffer
    base: int
    error: str


def begins_with(path: Path, head: bytes) -> bool:
    """Whether a file still begins as it did: a log that grows or is cut does, another one in its place does not.

    Raises:
        OSError: The file cannot be read.
    """
    return head.startswith(read_head(path, len(head)))


def read_window(path: Path, start: int, end: int | None, beyond: int, expected_bytes: int) -> Window:
    """Read a part of a plain file and some bytes on both sides of it.

    A mapped file that is truncated while it is read (``copytruncate``) ends the process; one that is read does not.

    Args:
        path: The file.
        start: First byte of the part; the one before it is read, too.
        end: First byte behind the part; None means the end of the file.
        beyond: How many bytes behind the part to read.
        expected_bytes: How large the file was; when it has become smaller the error says so.

    Raises:
        OSError: The file cannot be read.
    """
    base = max(0, start - 1)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(base)
        data = file.read((size if end is None else min(size, end + beyond)) - base) if size > base else b""
    error = f"it has become smaller: {size} bytes of {expected_bytes}" if size < expected_bytes else ""
    return Window(data, base, error)


def count_newlines(path: Path, start: int, stop: int) -> int:
    """Count the line ends in ``[start, stop)`` of a plain file.

    Raises:
        OSError: The file cannot be read.
    """
    count = 0
    with path.open("rb") as file:
        file.seek(start)
        while start < stop and (chunk := file.read(min(_CHUNK_BYTES, stop - start))):
            count += chunk.count(b"\n")
            start += len(chunk)
    return count


def codec_of(head: bytes) -> str:
    """Name the compression of a file by its first bytes; empty when it is plain."""
    return next((name for magic, name in _CODECS if head.startswith(magic)), "")


def recoding_of(head: bytes) -> str:
    """Name what has to be done with a file's bytes before they are lines of UTF-8; empty for nothing.

    Args:
        head: The first part of the file, as ``read_head`` returns it.
    """
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    told = head[: _TOLD_BY_BYTES - _TOLD_BY_BYTES % 4]
    told = told[: len(told) - len(told) % 4]
    if b"\0" in told:
        for encoding, width, place in _WIDE:
            own_count = told[place::width].count(0)
            other_count = told.count(0) - own_count
            # Text of other alphabets has fewer NULs beside its bytes, and a few of its bytes may be NUL.
            is_wide = other_count * 10 >= (len(told) - len(told) // width) * (8 if width == 4 else 5)
            if is_wide and own_count * 20 <= len(told) // width:
                return encoding
        return ""
    return CARRIAGE_RETURNS if b"\n" not in head and head.count(b"\r") > 1 else ""


def recoded(data: bytes, recoding: str) -> bytes:
    """Return bytes as lines of UTF-8."""
    if recoding == CARRIAGE_RETURNS:
        return data.replace(b"\r", b"\n")
    mark = next((mark for mark, encoding in _BOMS if encoding == recoding and data.startswith(mark)), b"")
    return data[len(mark) :].decode(recoding, "replace").encode()


def first_text(path: Path) -> int:
    """Return where a file's text begins behind leading NULs: the byte, or its size where there is nothing else.

    Raises:
        OSError: The file cannot be read.
    """
    place = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            if rest := chunk.lstrip(b"\0"):
                return place + len(chunk) - len(rest)
            place += len(chunk)
    return place


def read_head(path: Path, size: int = _HEAD_BYTES, start: int = 0) -> bytes:
    """Read the start of a plain file, or so many bytes from another place on.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as file:
        file.seek(start)
        return file.read(size)


def read_content(path: Path) -> Content:
    """Map a plain file or decompress another.

    A damaged archive gives what could be read before the damage, and the error.

    Raises:
        OSError: The file cannot be opened.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES)
        codec = codec_of(head)
        if not codec:
            return _plain(file.fileno(), head, path)
    if codec in ("gzip", "bzip2", "xz"):
        return _inflate(path, codec)
    return _inflate_framed(path, codec)


def _plain(number: int, head: bytes, path: Path) -> Content:
    if not head:
        return Content(b"", "")
    if recoding := recoding_of(head):
        return Content(recoded(path.read_bytes(), recoding), "")
    return Content(mmap.mmap(number, 0, access=mmap.ACCESS_READ), "")


def _inflate(path: Path, codec: str) -> Content:
    whole = bytearray()
    try:
        with _open_known(path, codec) as stream:
            while chunk := stream.read1(1 << 18):
                whole += chunk
                if len(whole) > MAX_INFLATED_BYTES:
                    return Content(bytes(whole), f"cut after {MAX_INFLATED_BYTES} bytes")
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        return Content(bytes(whole), f"{codec}: {error}")
    return Content(bytes(whole), "")


def first_inflated(path: Path, size: int) -> bytes:
    """Return the first bytes of a compressed file's content; fewer where it is damaged.

    Raises:
        OSError: The file cannot be opened.
    """
    data = bytearray()
    for chunk in inflated(path):
        data += chunk
        if len(data) >= size:
            break
    return bytes(data[:size])


def inflated(path: Path) -> Iterator[bytes]:
    """Yield a compressed file's bytes in pieces, as far as it is not damaged.

    Raises:
        OSError: The file cannot be opened.
    """
    codec = codec_of(read_head(path, 16))
    if codec not in ("gzip", "bzip2", "xz"):
        yield bytes(read_content(path).data)
        return
    with _open_known(path, codec) as stream:
        while True:
            try:
                chunk = stream.read1(1 << 18)
            except (EOFError, OSError, zlib.error, lzma.LZMAError):
                return
            if not chunk:
                return
            yield chunk


def _open_known(path: Path, codec: str) -> gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile:
    if codec == "gzip":
        return gzip.open(path, "rb")
    return bz2.open(path, "rb") if codec == "bzip2" else lzma.open(path, "rb")


def _inflate_framed(path: Path, codec: str) -> Content:
    """Decompress the formats that Python itself does not know, with cramjam or, failing that, pyarrow."""
    raw = path.read_bytes()
    try:
        import cramjam
    except ImportError:
        return _inflate_with_arrow(path, codec)
    try:
        return Content(bytes(getattr(cramjam, codec).decompress(raw)), "")
    except cramjam.DecompressionError as error:
        return Content(b"", f"{codec}: {error}")


def _inflate_with_arrow(path: Path, codec: str) -> Content:
    try:
        import pyarrow as pa
    except ImportError:
        return Content(b"", f"{codec}: neither cramjam nor pyarrow is installed")
    try:
        with pa.CompressedInputStream(pa.OSFile(str(path), "rb"), codec) as stream:
            return Content(stream.read(), "")
    except (OSError, pa.ArrowException) as error:
        return Content(b"", f"{codec}: {error}")
