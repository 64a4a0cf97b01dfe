"""Messages of magic 0 and 1, found in segments from before Kafka 0.11. Current brokers no longer write them.

The value of a compressed message is a compressed set of inner messages; the message's own offset is that of the last
inner message. Inner offsets are absolute in magic 0 and relative (0, 1, 2 ...) in magic 1.
"""

from __future__ import annotations

import struct
import zlib
from typing import Final

from eosctl.wire.errors import WireError
from eosctl.wire.records.compression import Compression, decompress
from eosctl.wire.records.header import CODEC_MASK, LOG_APPEND_TIME, BatchHeader, ByteSource
from eosctl.wire.records.record import Record

_CRC_END: Final = 16
_NO_TIMESTAMP: Final = -1
#: Checksum, magic, attributes, and the lengths of key and value; magic 1 adds the timestamp.
_MIN_LENGTH: Final = {0: 14, 1: 22}
_HEAD_BYTES: Final = {0: 18, 1: 26}
_FIXED: Final = struct.Struct(">qiIbb")
_TIMESTAMP: Final = struct.Struct(">q")
_SIZE: Final = struct.Struct(">i")


def decode_header(buffer: ByteSource, position: int) -> BatchHeader:
    """Decode the header of a message of magic 0 or 1 into a `BatchHeader`.

    Raises:
        WireError: The header is cut off or its length is impossible.
    """
    try:
        offset, length, crc, magic, attributes = _FIXED.unpack_from(buffer, position)
        if length < _MIN_LENGTH[magic]:
            raise WireError(f"message length {length} is below {_MIN_LENGTH[magic]}", "batch_length", position + 8)
        timestamp = _TIMESTAMP.unpack_from(buffer, position + 18)[0] if magic else _NO_TIMESTAMP
    except struct.error:
        raise WireError("the buffer ends inside a message header", "batch", position) from None
    return BatchHeader(offset, length, -1, magic, crc, attributes, 0, timestamp, timestamp, -1, -1, -1, 1)


def check_crc(buffer: ByteSource, header: BatchHeader, position: int) -> bool:
    """Return whether the CRC-32 (IEEE, from the magic byte on) of the message at a position is correct."""
    return zlib.crc32(buffer[position + _CRC_END : position + header.size_bytes]) == header.crc


def decode_records(buffer: ByteSource, header: BatchHeader, position: int, *, max_bytes: int) -> list[Record]:
    """Decode the message at a position, or the inner messages of a compressed message.

    Raises:
        WireError: The message or an inner message is damaged, or it decompresses to more than `max_bytes`.
    """
    if not header.attributes & CODEC_MASK:
        return [_decode_message(buffer, header, position)]
    wrapper = _decode_message(buffer, header, position)
    if wrapper.value is None:
        raise WireError("a compressed message without value", "value", position)
    codec = header.attributes & CODEC_MASK
    data = wrapper.value
    if header.magic == 0 and codec == Compression.LZ4:
        data = with_right_lz4_header(data)
    return _decode_inner(decompress(codec, data, max_bytes), header)


def _decode_inner(message_set: bytes, wrapper: BatchHeader) -> list[Record]:
    inner: list[Record] = []
    position = 0
    while position < len(message_set):
        header = decode_header(message_set, position)
        if header.magic != wrapper.magic:
            raise WireError(f"message of magic {header.magic} inside one of {wrapper.magic}", "magic", position + 16)
        if header.codec:
            raise WireError("a compressed message inside a compressed message", "attributes", position + 17)
        if position + header.size_bytes > len(message_set):
            raise WireError("an inner message is cut off", "batch_length", position + 8)
        inner.append(_decode_message(message_set, header, position))
        position += header.size_bytes
    if not inner:
        raise WireError("a compressed message holds no messages", "value", 0)
    # The wrapper carries the offset of its last inner message, so relative offsets of magic 1 are counted from there.
    # Some producers leave it 0.
    shift = wrapper.base_offset - inner[-1].offset if wrapper.magic and wrapper.base_offset else 0
    append_time = wrapper.max_timestamp if wrapper.magic and wrapper.attributes & LOG_APPEND_TIME else None
    return [
        record._replace(
            offset=record.offset + shift, timestamp=record.timestamp if append_time is None else append_time
        )
        for record in inner
    ]


def _decode_message(buffer: ByteSource, header: BatchHeader, position: int) -> Record:
    end = position + header.size_bytes
    start = position + _HEAD_BYTES[header.magic]
    key, start = _decode_bytes(buffer, start, end, "key")
    value, start = _decode_bytes(buffer, start, end, "value")
    if start != end:
        raise WireError(f"{end - start} bytes follow the value of a message", "value", start)
    return Record(header.base_offset, header.max_timestamp, key, value)


def _decode_bytes(buffer: ByteSource, position: int, end: int, field: str) -> tuple[bytes | None, int]:
    start = position + _SIZE.size
    if start > end:
        raise WireError("the message ends inside a length", field, position)
    (size,) = _SIZE.unpack_from(buffer, position)
    if size == -1:
        return None, start
    if not 0 <= size <= end - start:
        raise WireError(f"length {size} with {end - start} bytes left", field, position)
    return bytes(buffer[start : start + size]), start + size


def with_right_lz4_header(frame: bytes) -> bytes:
    """Return an LZ4 frame with the header checksum of the LZ4 standard.

    Producers of magic 0 included the frame's magic number in the checksum (KAFKA-3160).
    """
    return _with_lz4_checksum(frame, 4)


def with_old_lz4_header(frame: bytes) -> bytes:
    """Return an LZ4 frame with the header checksum of magic 0, which includes the frame's magic number."""
    return _with_lz4_checksum(frame, 0)


def _with_lz4_checksum(frame: bytes, start: int) -> bytes:
    if len(frame) < 7:
        raise WireError("an LZ4 frame header takes 7 bytes", "value", 0)
    flags = frame[4]
    end = 6 + (8 if flags & 0x08 else 0) + (4 if flags & 0x01 else 0)
    return frame[:end] + bytes((_xxh32_short(frame[start:end]) >> 8 & 0xFF,)) + frame[end + 1 :]


_PRIMES: Final = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)
_WORD: Final = 0xFFFF_FFFF


def _xxh32_short(data: bytes) -> int:
    """Hash fewer than 16 bytes, the size of a frame header, with XXH32 and seed 0."""
    digest = (_PRIMES[4] + len(data)) & _WORD
    words = len(data) // 4 * 4
    for start in range(0, words, 4):
        digest = (digest + int.from_bytes(data[start : start + 4], "little") * _PRIMES[2]) & _WORD
        digest = (digest << 17 | digest >> 15) * _PRIMES[3] & _WORD
    for byte in data[words:]:
        digest = (digest + byte * _PRIMES[4]) & _WORD
        digest = (digest << 11 | digest >> 21) * _PRIMES[0] & _WORD
    digest = (digest ^ digest >> 15) * _PRIMES[1] & _WORD
    digest = (digest ^ digest >> 13) * _PRIMES[2] & _WORD
    return digest ^ digest >> 16
