"""Read files as they are on a host; their first bytes show whether and how they are compressed."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import mmap
import os
import zlib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from eosctl.input_file import open_input
from eosctl.logs.records.record import Buffer

MAX_INFLATED_BYTES: Final = 1024**3
"""A compressed document is read into memory; one that exceeds this size is truncated and reported."""

_HEAD_BYTES: Final = 262_144
_CHUNK_BYTES: Final = 1 << 22
REPLACED: Final = "another file has replaced it since it was inspected"

_CODECS: Final = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"\xff\x06\x00\x00sNaPpY", "snappy"),
)
_STREAMED: Final = ("gzip", "bzip2", "xz")
"""What Python itself decompresses piece by piece."""
_STREAMED_BY_ARROW: Final = ("zstd", "lz4")
"""What pyarrow decompresses piece by piece, where it is installed."""
_INFLATED_BYTES: Final = 1 << 18
LONGEST_LINE_BYTES: Final = 16 * 1024 * 1024
"""A window of whole lines ends within a line that is longer."""
_BOMS: Final = (
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_WIDE: Final = (("utf-32-le", 4, 0), ("utf-32-be", 4, 3), ("utf-16-le", 2, 0), ("utf-16-be", 2, 1))
"""Encodings without a byte order mark: the width of a character, and the position of the ASCII byte in it."""
_SAMPLE_BYTES: Final = 4_096
CARRIAGE_RETURNS: Final = "carriage-returns"
"""The value of ``recoding_of`` for lines that end with CR alone."""


class Content(NamedTuple):
    """A file's bytes after decompression, and the error that ended them early, if any."""

    data: Buffer
    error: str


class Window(NamedTuple):
    """A part of a file's bytes, its position in the file, and the error that ended it early, if any."""

    data: Buffer
    base: int
    error: str


class Tail(NamedTuple):
    """The end of a file's bytes, its position in the file, and the number of line breaks before it."""

    data: bytes
    base: int
    newline_count: int


def begins_with(path: Path, head: bytes) -> bool:
    """Return whether a file still has the same beginning: true for a log that grew or was cut, not for a replacement.

    Raises:
        OSError: The file cannot be read.
    """
    return head.startswith(read_head(path, len(head)))


class Margins(NamedTuple):
    """What a window has on both sides of its part.

    Attributes:
        before: The number of bytes before it.
        beyond: The number of bytes after it.
        has_whole_lines: Whether the window continues to the end of its last line.
    """

    before: int
    beyond: int
    has_whole_lines: bool = False


def read_window(path: Path, start: int, end: int | None, margins: Margins, expected_bytes: int) -> Window:
    """Read a part of a plain file and some bytes on both sides of it.

    The file is not mapped: a truncation (``copytruncate``) of a mapped file would end the process.

    Args:
        path: The file.
        start: First byte of the part.
        end: First byte after the part; None means the end of the file.
        margins: What else is read.
        expected_bytes: The earlier size of the file; the error reports a smaller one.

    Raises:
        OSError: The file cannot be read.
    """
    base = max(0, start - margins.before)
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(base)
        data = file.read((size if end is None else min(size, end + margins.beyond)) - base) if size > base else b""
        if margins.has_whole_lines and data:
            data += file.readline(LONGEST_LINE_BYTES) if data[-1:] != b"\n" else b""
    error = f"it has shrunk: {size} of {expected_bytes} bytes are left" if size < expected_bytes else ""
    return Window(data, base, error)


def count_newlines(path: Path, start: int, stop: int) -> int:
    """Count the line breaks in ``[start, stop)`` of a plain file.

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
    """Return the name of a file's compression according to its first bytes; empty if it is plain."""
    return next((name for magic, name in _CODECS if head.startswith(magic)), "")


def recoding_of(head: bytes) -> str:
    """Return the name of the recoding that turns a file's bytes into lines of UTF-8; empty if it needs none.

    Args:
        head: The first part of the file, as ``read_head`` returns it.
    """
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    sample = head[: _SAMPLE_BYTES - _SAMPLE_BYTES % 4]
    sample = sample[: len(sample) - len(sample) % 4]
    if b"\0" in sample:
        for encoding, width, place in _WIDE:
            own_count = sample[place::width].count(0)
            other_count = sample.count(0) - own_count
            # Text in other alphabets has fewer NULs next to its bytes, and a few of its bytes may be NUL.
            is_wide = other_count * 10 >= (len(sample) - len(sample) // width) * (8 if width == 4 else 5)
            if is_wide and own_count * 20 <= len(sample) // width:
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
    """Return the offset of a file's text after leading NULs; the file's size if it contains only NULs.

    Raises:
        OSError: The file cannot be read.
    """
    place = 0
    with open_input(path) as file:
        while chunk := file.read(_CHUNK_BYTES):
            if rest := chunk.lstrip(b"\0"):
                return place + len(chunk) - len(rest)
            place += len(chunk)
    return place


def read_head(path: Path, size: int = _HEAD_BYTES, start: int = 0) -> bytes:
    """Read bytes from the start of a plain file, or from another position.

    Raises:
        OSError: The file cannot be read.
    """
    with open_input(path) as file:
        file.seek(start)
        return file.read(size)


def read_content(path: Path) -> Content:
    """Map a plain file, or decompress a compressed one.

    For a damaged file, the result has the bytes before the damage, and the error.

    Raises:
        OSError: The file cannot be opened.
    """
    with open_input(path) as file:
        head = file.read(_HEAD_BYTES)
        codec = codec_of(head)
        if not codec:
            return _plain(file.fileno(), head, path)
    return _inflate(path, codec) if _is_streamed(codec) else _inflate_framed(path, codec)


def _plain(number: int, head: bytes, path: Path) -> Content:
    if not head:
        return Content(b"", "")
    if recoding := recoding_of(head):
        return Content(recoded(path.read_bytes(), recoding), "")
    return Content(mmap.mmap(number, 0, access=mmap.ACCESS_READ), "")


def _inflate(path: Path, codec: str) -> Content:
    whole, error = io.BytesIO(), ""  # Its value is the buffer itself, where a bytearray would be copied.
    for piece in _pieces(path, codec):
        whole.write(piece.data)
        error = piece.error
        if whole.tell() > MAX_INFLATED_BYTES:
            error = f"cut after {MAX_INFLATED_BYTES} bytes"
            break
    return Content(whole.getvalue(), error)


def is_streamed(head: bytes) -> bool:
    """Return whether ``inflated_windows`` reads a file with this beginning."""
    return _is_streamed(codec_of(head))


def _is_streamed(codec: str) -> bool:
    return codec in _STREAMED or (codec in _STREAMED_BY_ARROW and find_spec("pyarrow") is not None)


def inflated_windows(path: Path, step: int, margins: Margins) -> Iterator[Window]:
    """Yield the content of a compressed file as windows of consecutive parts, with only one in memory at a time.

    Args:
        path: The file.
        step: The number of bytes in each part.
        margins: The bytes on both sides of a part that its window has; fewer at the start and at the end. The first
            window with less than ``step`` bytes from its part on is the last one, and has the error of a damaged file.

    Raises:
        OSError: The file cannot be opened.
    """
    codec = codec_of(read_head(path, 16))
    data, error, base, start = bytearray(), "", 0, 0
    for piece in _pieces(path, codec):
        data += piece.data
        error = piece.error
        while stop := _window_end(data, start + step + margins.beyond - base, margins):
            yield Window(bytes(data[:stop]), base, "")
            start += step
            del data[: max(0, start - margins.before - base)]
            base = max(base, start - margins.before)
    while base + len(data) > start + step:
        yield Window(bytes(data), base, "")
        start += step
        del data[: max(0, start - margins.before - base)]
        base = max(base, start - margins.before)
    yield Window(bytes(data), base, error)


def _window_end(data: bytearray, least: int, margins: Margins) -> int:
    """Return where a window ends that has at least so many bytes; 0 if its end is not read yet."""
    if len(data) < least:
        return 0
    if not margins.has_whole_lines:
        return least
    newline = data.find(b"\n", max(0, least - 1))
    if newline < 0:
        return least if len(data) - least >= LONGEST_LINE_BYTES else 0
    return newline + 1


def _pieces(path: Path, codec: str) -> Iterator[Content]:
    """Decompress a file piece by piece; of a damaged one the last piece is its error."""
    if codec in _STREAMED_BY_ARROW:
        yield from _arrow_pieces(path, codec)
        return
    try:
        with _open_known(path, codec) as stream:
            while chunk := stream.read1(_INFLATED_BYTES):
                yield Content(chunk, "")
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        yield Content(b"", f"{codec}: {error}")


def _arrow_pieces(path: Path, codec: str) -> Iterator[Content]:
    import pyarrow as pa

    try:
        with pa.CompressedInputStream(pa.OSFile(str(path), "rb"), codec) as stream:
            while chunk := stream.read(_INFLATED_BYTES):
                yield Content(chunk, "")
    except (OSError, pa.ArrowException) as error:
        yield Content(b"", f"{codec}: {error}")


def first_inflated(path: Path, size: int) -> bytes:
    """Return the first bytes of a compressed file's content; fewer if it is damaged.

    Raises:
        OSError: The file cannot be opened.
    """
    data = bytearray()
    for chunk in content_pieces(path):
        data += chunk
        if len(data) >= size:
            break
    return bytes(data[:size])


def inflated_text(path: Path, size: int) -> bytes:
    """Return the first bytes of a compressed file's content after leading NULs.

    Raises:
        OSError: The file cannot be opened.
    """
    data, place = b"", 0
    for chunk in content_pieces(path):
        place += len(chunk)
        data += chunk if data else chunk.lstrip(b"\0")
        if len(data) >= size or place > MAX_INFLATED_BYTES:
            break
    return data[:size]


def last_inflated(path: Path, size: int) -> Tail:
    """Return the last bytes of a compressed file's content, up to the first damage.

    Raises:
        OSError: The file cannot be opened.
    """
    data, base, newlines = bytearray(), 0, 0
    for chunk in content_pieces(path):
        data += chunk
        if len(data) > 2 * size:
            extra = len(data) - size
            newlines += data.count(b"\n", 0, extra)
            del data[:extra]
            base += extra
    extra = max(0, len(data) - size)
    return Tail(bytes(data[extra:]), base + extra, newlines + data.count(b"\n", 0, extra))


def content_pieces(path: Path) -> Iterator[bytes]:
    """Yield a file's bytes after decompression in pieces, up to the first damage.

    Raises:
        OSError: The file cannot be opened.
    """
    codec = codec_of(read_head(path, 16))
    if not _is_streamed(codec):
        yield bytes(read_content(path).data)
        return
    for piece in _pieces(path, codec):
        if piece.data:
            yield bytes(piece.data)


def _open_known(path: Path, codec: str) -> gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile:
    if codec == "gzip":
        return gzip.open(path, "rb")
    return bz2.open(path, "rb") if codec == "bzip2" else lzma.open(path, "rb")


def _inflate_framed(path: Path, codec: str) -> Content:
    """Decompress a file as a whole with cramjam."""
    raw = path.read_bytes()
    try:
        import cramjam
    except ImportError:
        return Content(b"", f"{codec}: neither cramjam nor a pyarrow that reads it is installed")
    try:
        return Content(bytes(getattr(cramjam, codec).decompress(raw)), "")
    except cramjam.DecompressionError as error:
        return Content(b"", f"{codec}: {error}")
