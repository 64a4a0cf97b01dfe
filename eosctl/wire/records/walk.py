"""The walk of a broker over the records of an uncompressed batch, which checks their form and keeps nothing.

It accepts what Kafka's `DefaultRecord.readFrom` accepts, also what `record.decode_section` rejects: every negative
length of a key or value is null, and a 32-bit varint of five bytes loses its upper bits. Offset deltas are not checked.
Records of one layout in a row, as programs that measure throughput write them, are matched in one step.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from eosctl.wire.errors import WireError
from eosctl.wire.records.varint import MAX_VARINT_BYTES, ZIGZAG

#: A 32-bit number takes at most five groups of seven bits.
MAX_INT_BYTES: Final = 5
FEWEST_ALIKE: Final = 16
"""Number of records from which a search for records of one layout pays."""
LENGTH_VARINT: Final = "length_varint"
"""Field of the error for a record length of more than five bytes, which Kafka answers in a way of its own."""


def walk_records(buffer: bytes, position: int, count: int) -> int:
    """Check `count` records from a position of the buffer, and return the position after the last.

    Raises:
        WireError: A record is malformed, or the buffer ends before the last.
    """
    try:
        while count >= FEWEST_ALIKE:
            after = _walk(buffer, position, 1)
            length = after - position
            alike = _alike_from(buffer, after, length, count - 1)
            position = after + alike * length
            count -= 1 + alike
            if alike < FEWEST_ALIKE:
                break
        return _walk(buffer, position, count)
    except IndexError:
        raise WireError("the batch ends inside a record", "records", len(buffer)) from None


def _alike_from(buffer: bytes, position: int, length: int, most: int) -> int:
    """Return how many records from a position have the layout of the one before it: one match instead of a loop.

    Args:
        buffer: Bytes that hold the batch.
        position: The end of a record, which has been checked.
        length: Its length.
        most: Number of records to match at most.
    """
    start = position - length
    if buffer[position : position + 2] != buffer[start : start + 2]:
        return 0  # Records of different lengths, as most are, cost no pattern.
    timestamp_at = _decode_int(buffer, start, "length")[1] + 1
    delta_at = _skip_long(buffer, timestamp_at)
    key_length_at = _decode_int(buffer, delta_at, "offset_delta")[1]
    key_size, key_at = _decode_int(buffer, key_length_at, "key")
    value_length_at = key_at + max(key_size, 0)
    value_size, value_at = _decode_int(buffer, value_length_at, "value")
    if value_at + max(value_size, 0) + 1 != position:
        return 0  # It has headers.
    pattern = _layout(
        buffer[start : timestamp_at - 1],
        delta_at - timestamp_at,
        key_length_at - delta_at,
        buffer[key_length_at:key_at],
        max(key_size, 0),
        buffer[value_length_at:value_at],
        max(value_size, 0),
    )
    found = pattern.match(buffer, position, min(position + most * length, len(buffer)))
    return 0 if found is None else (found.end() - position) // length


@lru_cache(maxsize=64)
def _layout(
    length: bytes,
    timestamp_bytes: int,
    delta_bytes: int,
    key_length: bytes,
    key_bytes: int,
    value_length: bytes,
    value_bytes: int,
) -> re.Pattern[bytes]:
    """Return a pattern for records without headers, given their lengths as encoded and the sizes of their fields."""
    varint = rb"[\x80-\xff]{%d}[\x00-\x7f]"
    record = b"".join(
        (
            re.escape(length),
            b".",  # The attributes.
            varint % (timestamp_bytes - 1),
            varint % (delta_bytes - 1),
            re.escape(key_length),
            b".{%d}" % key_bytes,
            re.escape(value_length),
            b".{%d}" % value_bytes,
            rb"\x00",
        )
    )
    return re.compile(b"(?:" + record + b")*+", re.DOTALL)


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
