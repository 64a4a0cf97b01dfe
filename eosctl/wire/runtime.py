"""Support for the generated codecs: varints, arrays of numbers, tagged fields, and slow paths.

The generated code reads the common case inline (a length below 128 is one byte) and calls this module for the rest.
Reading past the end raises IndexError or struct.error; a wrong length raises LengthError. Each decoder passes all three
to `eosctl.wire.explain`, which identifies the field.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from eosctl.wire.errors import STRING_LIMIT, WireError

INLINE_COUNT: Final = 64  # Shorter arrays use a prepared format.
LENGTHS: Final = tuple(bytes([length]) for length in range(128))


class LengthError(ValueError):
    """A length or tag is impossible. Decoders convert it to WireError, so callers never receive it."""


def unsigned_varint(value: int) -> bytes:
    """Encode an unsigned varint."""
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def read_unsigned_varint(buffer: bytes, position: int) -> tuple[int, int]:
    """Read an unsigned varint of at most five bytes; return it and the position after it."""
    value = 0
    for shift in range(0, 35, 7):
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFF, position
    raise LengthError("varint of more than five bytes")


def compact_length(buffer: bytes, position: int) -> tuple[int, int]:
    """Read a compact length that is not null and not of one byte.

    Returns:
        The length plus one, as on the wire, and the position of the varint's last byte.
    """
    value, position = read_unsigned_varint(buffer, position)
    if not 0 < value <= len(buffer) - position + 1:
        raise LengthError("length")
    return value, position - 1


def compact_string_length(buffer: bytes, position: int) -> tuple[int, int]:
    """Read the compact length of a string, as `compact_length` does."""
    value, position = compact_length(buffer, position)
    if value > STRING_LIMIT + 1:
        raise LengthError("string length")
    return value, position


def check_count(buffer: bytes, position: int, count: int) -> None:
    """Reject an array with more elements than remaining bytes, before allocating memory."""
    if not 0 <= count <= len(buffer) - position:
        raise LengthError("count")


def read_many(kind: str, buffer: bytes, position: int, count: int) -> tuple[tuple[int, ...], int]:
    """Read `count` numbers of one `struct` format character.

    Returns:
        The numbers, and the position after them.
    """
    size = struct.calcsize(f">{kind}")
    if not 0 <= count * size <= len(buffer) - position:
        raise LengthError("count")
    return struct.unpack_from(f">{count}{kind}", buffer, position), position + count * size


def read_many_compact(kind: str, buffer: bytes, position: int) -> tuple[tuple[int, ...], int]:
    """Read a compact array of numbers with its count."""
    count, position = compact_length(buffer, position)
    return read_many(kind, buffer, position + 1, count - 1)


def pack_many(kind: str, values: Sequence[int]) -> bytes:
    """Encode an array of numbers with its 32-bit count."""
    return struct.pack(f">i{len(values)}{kind}", len(values), *values)


def pack_many_compact(kind: str, values: Sequence[int]) -> bytes:
    """Encode a compact array of numbers with its count."""
    return unsigned_varint(len(values) + 1) + struct.pack(f">{len(values)}{kind}", *values)


@cache
def unpackers(kind: str) -> tuple[Callable[[bytes, int], tuple[int, ...]], ...]:
    """Return the readers of 0 to 63 numbers."""
    return tuple(struct.Struct(f">{count}{kind}").unpack_from for count in range(INLINE_COUNT))


@cache
def packers(kind: str) -> tuple[Callable[..., bytes], ...]:
    """Return the writers of a 32-bit count and 0 to 63 numbers."""
    return tuple(struct.Struct(f">i{count}{kind}").pack for count in range(INLINE_COUNT))


@cache
def compact_packers(kind: str) -> tuple[Callable[..., bytes], ...]:
    """Return the writers of a compact count and 0 to 63 numbers."""
    return tuple(struct.Struct(f">B{count}{kind}").pack for count in range(INLINE_COUNT))


def skip_tags(buffer: bytes, position: int) -> int:
    """Skip a section of unused tagged fields; return the position after it."""
    count, position = read_unsigned_varint(buffer, position)
    for _ in range(count):
        _, position = read_unsigned_varint(buffer, position)
        size, position = read_unsigned_varint(buffer, position)
        position += size
        if position > len(buffer):
            raise LengthError("tag size")
    return position


def tagged_field(tag: int, value: bytes) -> bytes:
    """Encode one tagged field."""
    return unsigned_varint(tag) + unsigned_varint(len(value)) + value


def explain(table: str, section: str, version: int, buffer: bytes, position: int) -> WireError:
    """Find the field that a decoder could not read. The message table is loaded only here."""
    from eosctl.wire.explain import explain_failure

    return explain_failure(table, section, version, buffer, position)
