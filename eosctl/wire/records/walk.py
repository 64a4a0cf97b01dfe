"""The walk of a broker over the records of an uncompressed batch, which checks their form and keeps nothing.

It accepts what Kafka's `DefaultRecord.readFrom` accepts, also what `record.decode_section` rejects: every negative
length of a key or value is null, and a 32-bit varint of five bytes loses its upper bits. Offset deltas are not checked.
"""

from __future__ import annotations

from typing import Final

from eosctl.wire.errors import WireError
from eosctl.wire.records.varint import MAX_VARINT_BYTES, ZIGZAG

#: A 32-bit number takes at most five groups of seven bits.
MAX_INT_BYTES: Final = 5
LENGTH_VARINT: Final = "length_varint"
"""Field of the error for a record length of more than five bytes, which Kafka answers in a way of its own."""


def walk_records(buffer: bytes, position: int, count: int) -> int:
    """Check `count` records from a position of the buffer, and return the position after the last.

    Raises:
        WireError: A record is malformed, or the buffer ends before the last.
    """
    try:
        return _walk(buffer, position, count)
    except IndexError:
        raise WireError("the batch ends inside a record", "records", len(buffer)) from None


def _walk(buffer: bytes, position: int, count: int) -> int:
    """Walk with varints of one byte, and lengths of two, read inline."""
    zigzag, limit = ZIGZAG, len(buffer)
    for _ in range(count):
        start = position
        size = buffer[position]
        if size < 128:
            end = position + 1 + zigzag[size]
            position += 2  # The attributes as well: every value is valid.
        elif (high := buffer[position + 1]) < 128 and not size & 1:
            end = position + 2 + (high << 6 | (size & 127) >> 1)
            position += 3
        else:
            size, position = _decode_int(buffer, position, LENGTH_VARINT)
            end = position + size
            position += 1
        if end > limit or end < position:
            raise WireError(f"record length leads from byte {start} to {end} of {limit}", "length", start)
        position = position + 1 if buffer[position] < 128 else _skip_long(buffer, position)
        position = position + 1 if buffer[position] < 128 else _decode_int(buffer, position, "offset_delta")[1]
        size = buffer[position]
        if size < 128:
            position += 1 if size & 1 else 1 + (size >> 1)
        else:
            size, position = _decode_int(buffer, position, "key")
            if size > 0:
                position += size
        size = buffer[position]
        if size < 128:
            position += 1 if size & 1 else 1 + (size >> 1)
        elif (high := buffer[position + 1]) < 128 and not size & 1:
            position += 2 + (high << 6 | (size & 127) >> 1)
        else:
            size, position = _decode_int(buffer, position, "value")
            if size > 0:
                position += size
        if position >= end:
            raise WireError(f"record should end at byte {end}, its value ends at {position}", "length", start)
        position = _walk_headers(buffer, position, end) if buffer[position] else position + 1
        if position != end:
            raise WireError(f"record should end at byte {end}, its content ends at {position}", "length", start)
    return position


def _walk_headers(buffer: bytes, position: int, end: int) -> int:
    count, position = _decode_int(buffer, position, "headers")
    # A header takes at least two bytes, so a larger count is rejected before anything is read.
    if not 0 <= count <= (end - position) // 2:
        raise WireError(f"{count} headers in {end - position} bytes", "headers", position)
    for _ in range(count):
        size, position = _decode_int(buffer, position, "headers")
        if not 0 <= size <= end - position:
            raise WireError(f"header key length {size} with {end - position} bytes left", "headers", position)
        size, position = _decode_int(buffer, position + size, "headers")
        if size > end - position:
            raise WireError(f"header value length {size} with {end - position} bytes left", "headers", position)
        if size > 0:
            position += size
    return position


def _decode_int(buffer: bytes, position: int, field: str) -> tuple[int, int]:
    """Decode a signed number of 32 bits as Java does; return it and the position after it."""
    value = shift = 0
    for index in range(position, position + MAX_INT_BYTES):
        byte = buffer[index]
        value |= (byte & 0x7F) << shift
        if byte < 128:
            value &= 0xFFFFFFFF
            return (value >> 1) ^ -(value & 1), index + 1
        shift += 7
    raise WireError(f"a varint has more than {MAX_INT_BYTES} bytes", field, position)


def _skip_long(buffer: bytes, position: int) -> int:
    """Return the position after a number of 64 bits."""
    for index in range(position, position + MAX_VARINT_BYTES):
        if buffer[index] < 128:
            return index + 1
    raise WireError(f"a varint has more than {MAX_VARINT_BYTES} bytes", "timestamp_delta", position)
