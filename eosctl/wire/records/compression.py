"""The compression codecs of record batches, in the framing of Kafka's Java client.

Decompression is bounded: the output never exceeds a limit.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from enum import IntEnum
from typing import Final

import cramjam

from eosctl.wire.errors import WireError

#: Default limit of a batch's decompressed size in bytes; brokers default to batches of 1 MiB.
MAX_DECOMPRESSED_BYTES: Final = 128 << 20


class Compression(IntEnum):
    """Codec number in the three lowest bits of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def compress(codec: Compression, data: bytes) -> bytes:
    """Compress a records section (or, in legacy formats, a message set)."""
    return _COMPRESSORS[codec](data)


def decompress(codec: int, data: bytes, max_bytes: int = MAX_DECOMPRESSED_BYTES, expected_bytes: int = 0) -> bytes:
    """Decompress a records section.

    Args:
        codec: Its `Compression`.
        data: The compressed bytes.
        max_bytes: Most bytes of the output.
        expected_bytes: About the size of the output, if known: frames that do not give theirs are then decompressed
            only once.

    Raises:
        WireError: The codec is unknown, the data is damaged, or the output exceeds `max_bytes`.
    """
    decompressor = _DECOMPRESSORS.get(codec)
    if decompressor is None:
        raise WireError(f"unknown compression codec {codec}", "attributes", 0)
    return decompressor(data, max_bytes, expected_bytes)


def _too_large(codec: str, max_bytes: int) -> WireError:
    return WireError(f"{codec} data decompresses to more than {max_bytes} bytes", "records", 0)


def _damaged(codec: str, reason: object, offset: int = 0) -> WireError:
    return WireError(f"damaged {codec} data: {reason}", "records", offset)


# --- gzip: RFC 1952 members, one after the other ---------------------------------------------------------------------

_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS
_GZIP_MAGIC: Final = b"\x1f\x8b"
_GZIP_INPUT_BYTES: Final = 256
"""The first part of a member's input; each following part is twice as large."""


def _compress_gzip(data: bytes) -> bytes:
    return zlib.compress(data, wbits=_GZIP_WINDOW)


def _decompress_gzip(data: bytes, max_bytes: int, _: int) -> bytes:
    parts: list[bytes] = []
    space, position = max_bytes, 0
    while not parts or data.startswith(
        _GZIP_MAGIC, position
    ):  # Like Java's reader, ignore bytes after the last member.
        part, position = _decompress_member(data, position, space)
        space -= len(part)
        if space < 0:
            raise _too_large("gzip", max_bytes)
        parts.append(part)
    return b"".join(parts)


def _decompress_member(data: bytes, position: int, space: int) -> tuple[bytes, int]:
    """Return one member, of at most `space` and one bytes, and the position after it.

    zlib copies what it does not use of its input, so a member of a few bytes must not be given all that follows.
    """
    member = zlib.decompressobj(wbits=_GZIP_WINDOW)
    parts: list[bytes] = []
    space, size = space + 1, _GZIP_INPUT_BYTES
    while not member.eof and space > 0:
        if position >= len(data):
            raise _damaged("gzip", "it ends early", len(data))
        given = data[position : position + size]
        try:
            parts.append(member.decompress(given, space))
        except zlib.error as error:
            raise _damaged("gzip", error, position) from None
        space -= len(parts[-1])
        position += len(given) - len(member.unused_data)
        size *= 2
    return b"".join(parts), position


# --- snappy: raw blocks in the framing of the Java library xerial ----------------------------------------------------

_XERIAL_MAGIC: Final = b"\x82SNAPPY\0"
_XERIAL_HEADER: Final = _XERIAL_MAGIC + struct.pack(">ii", 1, 1)
_XERIAL_BLOCK_BYTES: Final = 32 << 10
#: The densest element of the format copies 64 bytes and takes three.
_SNAPPY_MAX_RATIO: Final = 22


def _compress_snappy(data: bytes) -> bytes:
    parts = [_XERIAL_HEADER]
    for start in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(data[start : start + _XERIAL_BLOCK_BYTES]))
        parts += (struct.pack(">i", len(block)), block)
    return b"".join(parts)


def _decompress_snappy(data: bytes, max_bytes: int, _: int) -> bytes:
    if not data.startswith(_XERIAL_MAGIC):  # librdkafka and others send one raw block.
        if _snappy_size(data, 0) > max_bytes:
            raise _too_large("snappy", max_bytes)
        return _decompress_snappy_block(data, 0)
    parts: list[bytes] = []
    space, position = max_bytes, len(_XERIAL_HEADER)
    while position < len(data):
        if data.startswith(_XERIAL_MAGIC, position):  # another stream appended to the first
            position += len(_XERIAL_HEADER)
            continue
        start = position + 4
        size = int.from_bytes(data[position:start], "big", signed=True)
        if not 0 <= size <= len(data) - start:
            raise _damaged("snappy", f"block length {size} with {len(data) - start} bytes left", position)
        block = data[start : start + size]
        if _snappy_size(block, start) > space:
            raise _too_large("snappy", max_bytes)
        parts.append(_decompress_snappy_block(block, start))
        space -= len(parts[-1])
        position = start + size
    return b"".join(parts)


def _snappy_size(block: bytes, offset: int) -> int:
    """Return the decompressed size that a raw block declares; reject an impossible size."""
    try:
        size: int = cramjam.snappy.decompress_raw_len(block)
    except cramjam.DecompressionError as error:
        raise _damaged("snappy", error, offset) from None
    if size > _SNAPPY_MAX_RATIO * len(block):
        raise _damaged("snappy", f"{len(block)} bytes claim to hold {size}", offset)
    return size


def _decompress_snappy_block(block: bytes, offset: int) -> bytes:
    try:
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise _damaged("snappy", error, offset) from None


# --- lz4 and zstd: standard frames -----------------------------------------------------------------------------------

_TRUSTED_RATIO: Final = 16
"""Memory for an expected size, as a multiple of the input: a batch may claim any number of records."""


def _compress_lz4(data: bytes) -> bytes:
    # Kafka's Java reader rejects linked blocks, which are the library's default.
    compressor = cramjam.lz4.Compressor(content_checksum=False, block_linked=False)
    compressor.compress(data)
    return bytes(compressor.finish())


def _compress_zstd(data: bytes) -> bytes:
    return bytes(cramjam.zstd.compress(data, 3))  # 3 is the default of Kafka's compression.zstd.level.


def _decompress_frames(
    name: str, decompress_into: Callable[[bytes, bytearray], int], data: bytes, max_bytes: int, expected_bytes: int
) -> bytes:
    """Decompress frames of unknown size into a buffer that grows up to the limit."""
    expected_bytes = min(expected_bytes, _TRUSTED_RATIO * len(data))
    size = min(max_bytes, max(expected_bytes, 4 * len(data), 16 << 10))
    while True:
        output = bytearray(size)
        try:
            written = decompress_into(data, output)
        except cramjam.DecompressionError as error:
            if "failed to write whole buffer" not in str(error):
                raise _damaged(name, error) from None
        else:
            return bytes(memoryview(output)[:written])
        if size >= max_bytes:
            raise _too_large(name, max_bytes)
        size = min(max_bytes, 4 * size)


def _decompress_lz4(data: bytes, max_bytes: int, expected_bytes: int) -> bytes:
    return _decompress_frames("lz4", cramjam.lz4.decompress_into, data, max_bytes, expected_bytes)


def _decompress_zstd(data: bytes, max_bytes: int, expected_bytes: int) -> bytes:
    return _decompress_frames("zstd", cramjam.zstd.decompress_into, data, max_bytes, expected_bytes)


def _identity(data: bytes) -> bytes:
    return data


def _bounded_identity(data: bytes, max_bytes: int, _: int) -> bytes:
    if len(data) > max_bytes:
        raise WireError(f"{len(data)} bytes of records, the limit is {max_bytes}", "records", 0)
    return data


_COMPRESSORS: Final[dict[Compression, Callable[[bytes], bytes]]] = {
    Compression.NONE: _identity,
    Compression.GZIP: _compress_gzip,
    Compression.SNAPPY: _compress_snappy,
    Compression.LZ4: _compress_lz4,
    Compression.ZSTD: _compress_zstd,
}

_DECOMPRESSORS: Final[dict[int, Callable[[bytes, int, int], bytes]]] = {
    Compression.NONE: _bounded_identity,
    Compression.GZIP: _decompress_gzip,
    Compression.SNAPPY: _decompress_snappy,
    Compression.LZ4: _decompress_lz4,
    Compression.ZSTD: _decompress_zstd,
}
