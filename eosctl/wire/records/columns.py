"""The records of a batch as columns, for printing logs without an object per record.

Malformed input returns None; `record.decode_section` explains the error.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from eosctl.wire.records.record import decode_headers
from eosctl.wire.records.varint import ZIGZAG, decode_varint

#: Offset of a two-byte varint's first byte, added to 64 times its second. Negative numbers get a value too small for
#: any sum.
_LOW: Final = tuple((n & 127) >> 1 if not n & 1 else -(1 << 40) for n in range(256))


class Columns(NamedTuple):
    """The columns of a batch, with one entry per record.

    Attributes:
        offset_deltas: Distances from the batch's base offset.
        timestamps: Milliseconds since the epoch. With LogAppendTime, use the batch's max timestamp instead.
        keys: The keys; empty when the content was not requested.
        values: The values; empty when the content was not requested.
        null_keys: Number of keys that are null.
        null_values: Number of values that are null.
        first_bytes: First bytes of keys and values; empty when the content was not requested.
        has_headers: Whether any record has headers, which were validated.
    """

    offset_deltas: list[int]
    timestamps: list[int]
    keys: list[bytes]
    values: list[bytes]
    null_keys: int
    null_values: int
    first_bytes: set[int]
    has_headers: bool


def decode_columns(
    section: bytes, count: int, base_timestamp: int, *, with_content: bool, null: bytes
) -> Columns | None:
    """Decode an uncompressed records section of a magic 2 batch into columns; return None when it is malformed.

    Args:
        section: The records section and nothing else.
        count: Number of records in the batch header.
        base_timestamp: The batch's base timestamp.
        with_content: Whether to return keys and values; they are validated in both cases.
        null: Replacement for a null key or value.
    """
    try:
        return _decode(section, count, base_timestamp, with_content, null)
    except (IndexError, ValueError):  # WireError is a ValueError.
        return None


def _decode(  # noqa: C901 - one hot loop
    section: bytes, count: int, base_timestamp: int, with_content: bool, null: bytes
) -> Columns | None:
    """Decode a section; varints of one or two bytes are read inline, as in `record.decode_section`."""
    offset_deltas: list[int] = []
    timestamps: list[int] = []
    keys: list[bytes] = []
    values: list[bytes] = []
    first_bytes: set[int] = set()
    null_keys = null_values = 0
    has_headers = False
    zigzag, low, limit, position = ZIGZAG, _LOW, len(section), 0
    for _ in range(count):
        size = section[position]
        if size < 128:
            end = position + 1 + zigzag[size]
            position += 2  # Skip the attributes as well; none of their bits is in use.
        elif (high := section[position + 1]) < 128:
            end = position + 2 + (high << 6) + low[size]
            position += 3
        else:
            size, position = decode_varint(section, position)
            end = position + size
            position += 1
        if end > limit:
            return None

        delta = section[position]
        if delta < 128:
            timestamps.append(base_timestamp + zigzag[delta])
            position += 1
        elif (high := section[position + 1]) < 128 and not delta & 1:
            timestamps.append(base_timestamp + (high << 6) + low[delta])
            position += 2
        else:
            delta, position = decode_varint(section, position)
            timestamps.append(base_timestamp + delta)

        delta = section[position]
        if delta < 128:
            offset_deltas.append(zigzag[delta])
            position += 1
        elif (high := section[position + 1]) < 128 and not delta & 1:
            offset_deltas.append((high << 6) + low[delta])
            position += 2
        else:
            delta, position = decode_varint(section, position)
            offset_deltas.append(delta)

        size = section[position]
        if size == 1:
            position += 1
            null_keys += 1
            if with_content:
                keys.append(null)
        else:
            if size < 128:
                start = position + 1
                size = zigzag[size]
            else:
                size, start = decode_varint(section, position)
            if size < 0:
                return None
            position = start + size
            if with_content:
                keys.append(section[start:position])
                if size:
                    first_bytes.add(section[start])

        size = section[position]
        if size == 1:
            position += 1
            null_values += 1
            if with_content:
                values.append(null)
        else:
            if size < 128:
                start = position + 1
                size = zigzag[size]
            elif (high := section[position + 1]) < 128:
                start = position + 2
                size = (high << 6) + low[size]
            else:
                size, start = decode_varint(section, position)
            if size < 0:
                return None
            position = start + size
            if with_content:
                values.append(section[start:position])
                if size:
                    first_bytes.add(section[start])

        if section[position]:
            if position >= end:
                return None
            has_headers = True
            position = decode_headers(section, position, end)[1]
        else:
            position += 1
        if position != end:
            return None
    if position != limit:
        return None
    return Columns(offset_deltas, timestamps, keys, values, null_keys, null_values, first_bytes, has_headers)
