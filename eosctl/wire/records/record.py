"""Records of a batch, and the records section that contains them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from eosctl.wire.errors import WireError
from eosctl.wire.records.varint import LENGTHS, ZIGZAG, decode_varint, encode_varint

Headers = tuple[tuple[str, bytes | None], ...]

#: Lengths below this take one byte.
_ONE_BYTE: Final = len(LENGTHS)
_NULL: Final = encode_varint(-1)
_NO_HEADERS: Final = encode_varint(0)
#: Attributes, timestamp delta, and offset delta of a batch's first record.
_FIRST_RECORD: Final = bytes(3)


class Record(NamedTuple):
    """A record with its absolute offset and its timestamp in milliseconds since the epoch."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()


def encode_record(record: Record, offset_delta: int, timestamp_delta: int) -> bytes:
    """Encode a record of a magic 2 batch, given its deltas from the batch's base offset and timestamp."""
    _, _, key, value, headers = record
    if timestamp_delta or offset_delta:
        parts = [b"\0", encode_varint(timestamp_delta), encode_varint(offset_delta)]
    else:
        parts = [_FIRST_RECORD]
    for field in (key, value):
        if field is None:
            parts.append(_NULL)
        else:
            size = len(field)
            parts += (LENGTHS[size] if size < _ONE_BYTE else encode_varint(size), field)
    if not headers:
        parts.append(_NO_HEADERS)
        body = b"".join(parts)
        size = len(body)
        return (LENGTHS[size] if size < _ONE_BYTE else encode_varint(size)) + body
    parts.append(encode_varint(len(headers)))
    for name, content in headers:
        utf8 = name.encode()
        parts += (encode_varint(len(utf8)), utf8)
        parts += (_NULL,) if content is None else (encode_varint(len(content)), content)
    body = b"".join(parts)
    return encode_varint(len(body)) + body


def encode_records(records: Sequence[Record], base_timestamp: int) -> bytes:
    """Encode an uncompressed records section; offset deltas are 0, 1, 2 ..."""
    return b"".join(
        [encode_record(record, delta, record.timestamp - base_timestamp) for delta, record in enumerate(records)]
    )


def encode_entry(key: bytes, value: bytes | None, offset_delta: int) -> bytes:
    """Encode a record without headers that has its batch's base timestamp; a value of None is a tombstone."""
    front = b"\0\0" + encode_varint(offset_delta) if offset_delta else _FIRST_RECORD
    size = len(key)
    key_size = LENGTHS[size] if size < _ONE_BYTE else encode_varint(size)
    if value is None:
        body = b"".join((front, key_size, key, _NULL, _NO_HEADERS))
    else:
        size = len(value)
        value_size = LENGTHS[size] if size < _ONE_BYTE else encode_varint(size)
        body = b"".join((front, key_size, key, value_size, value, _NO_HEADERS))
    size = len(body)
    return (LENGTHS[size] if size < _ONE_BYTE else encode_varint(size)) + body


def decode_section(
    section: bytes,
    count: int,
    *,
    base_offset: int,
    base_timestamp: int,
    append_timestamp: int | None = None,
    origin: int = 0,
) -> list[Record]:
    """Decode an uncompressed records section of a magic 2 batch.

    Args:
        section: The records section and nothing else.
        count: Number of records in the batch header.
        base_offset: The batch's base offset.
        base_timestamp: The batch's base timestamp, or the delete horizon in batches that the cleaner has marked.
        append_timestamp: The batch's max timestamp on topics with LogAppendTime; it replaces the records' own.
        origin: Position of the section in the caller's buffer, added to the offsets in errors.

    Raises:
        WireError: The section is malformed, or the number of records differs from the header.
    """
    records, position = _decode_part(section, 0, 0, count, base_offset, base_timestamp, append_timestamp, origin)
    _check_end(section, position, count, origin)
    return records


def decode_slices(
    section: bytes,
    count: int,
    slice_count: int,
    *,
    base_offset: int,
    base_timestamp: int,
    append_timestamp: int | None = None,
    origin: int = 0,
) -> Iterator[list[Record]]:
    """Decode a section as `decode_section` does, in lists of at most `slice_count` records.

    Raises:
        WireError: The section is malformed. The slices before the malformed record have been yielded.
    """
    position = 0
    for first in range(0, count, slice_count):
        wanted = min(slice_count, count - first)
        records, position = _decode_part(
            section, position, first, wanted, base_offset, base_timestamp, append_timestamp, origin
        )
        yield records
    _check_end(section, position, count, origin)


def _check_end(section: bytes, position: int, count: int, origin: int) -> None:
    if position != len(section) or count < 0:
        left = len(section) - position
        what = f"{left} bytes are left after {max(count, 0)} of {count} announced records"
        raise WireError(what, "records_count", origin + position)


def _decode_part(
    section: bytes,
    position: int,
    first: int,
    count: int,
    base_offset: int,
    base_timestamp: int,
    append_timestamp: int | None,
    origin: int,
) -> tuple[list[Record], int]:
    """Decode `count` records from a position; `first` is the index of the first. Return the position after the last."""
    records: list[Record] = []
    try:
        position = _decode_into(records, section, count, base_offset, base_timestamp, append_timestamp, position)
    except IndexError:
        what, field, position = "the batch ends inside a record", "", len(section)
    except WireError as error:
        what, field, position = error.what, f".{error.field}", error.offset
    else:
        return records, position
    raise WireError(what, f"records[{first + len(records)}]{field}", origin + position)


def _decode_into(  # noqa: C901 - one loop, its varints written out: the cost of every deep decode is here
    records: list[Record],
    section: bytes,
    count: int,
    base_offset: int,
    base_timestamp: int,
    append_timestamp: int | None,
    position: int,
) -> int:
    """Append up to `count` records from a position of the section, and return the position after the last.

    Varints of one byte (and of two, where they are common) are read inline. Slices are not bounds-checked individually:
    a slice past the end leaves a record whose end differs from its length.
    """
    append, new, zigzag, limit = records.append, tuple.__new__, ZIGZAG, len(section)
    for _ in range(count):
        start = position
        size = section[position]
        if size < 128:
            end = position + 1 + zigzag[size]
            position += 2  # Skip the attributes as well; none of their bits is in use.
        elif (high := section[position + 1]) < 128 and not size & 1:
            end = position + 2 + (high << 6 | (size & 127) >> 1)
            position += 3
        else:
            size, position = decode_varint(section, position)
            end = position + size
            position += 1
        if end > limit or end < position:
            raise WireError(f"record length leads from byte {start} to {end} of {limit}", "length", start)

        delta = section[position]
        if delta < 128:
            timestamp = base_timestamp + zigzag[delta]
            position += 1
        elif (high := section[position + 1]) < 128 and not delta & 1:
            timestamp = base_timestamp + (high << 6 | (delta & 127) >> 1)
            position += 2
        else:
            delta, position = decode_varint(section, position)
            timestamp = base_timestamp + delta

        delta = section[position]
        if delta < 128:
            delta = zigzag[delta]
            position += 1
        elif (high := section[position + 1]) < 128 and not delta & 1:
            delta = high << 6 | (delta & 127) >> 1
            position += 2
        else:
            delta, position = decode_varint(section, position)

        size = section[position]
        if size < 128:
            size = zigzag[size]
            position += 1
        else:
            size, position = decode_varint(section, position)
        if size >= 0:
            after = position + size
            key: bytes | None = section[position:after]
            position = after
        elif size == -1:
            key = None
        else:
            raise WireError(f"length {size}", "key", position)

        size = section[position]
        if size < 128:
            size = zigzag[size]
            position += 1
        elif (high := section[position + 1]) < 128 and not size & 1:
            size = high << 6 | (size & 127) >> 1
            position += 2
        else:
            size, position = decode_varint(section, position)
        if size >= 0:
            after = position + size
            value: bytes | None = section[position:after]
            position = after
        elif size == -1:
            value = None
        else:
            raise WireError(f"length {size}", "value", position)

        if position >= end:
            raise WireError(f"record should end at byte {end}, its value ends at {position}", "length", start)
        headers: Headers = ()
        if section[position]:
            headers, position = decode_headers(section, position, end)
        else:
            position += 1
        if position != end:
            raise WireError(f"record should end at byte {end}, its content ends at {position}", "length", start)
        append(
            new(
                Record,
                (base_offset + delta, timestamp if append_timestamp is None else append_timestamp, key, value, headers),
            )
        )
    return position


def decode_headers(section: bytes, position: int, end: int) -> tuple[Headers, int]:
    """Decode the headers of a record that ends at `end`.

    Invalid UTF-8 in header keys becomes replacement characters, as in Java clients.
    """
    count, position = decode_varint(section, position)
    # A header takes at least two bytes, so a larger count is rejected before anything is read.
    if not 0 <= count <= (end - position) // 2:
        raise WireError(f"{count} headers in {end - position} bytes", "headers", position)
    headers: list[tuple[str, bytes | None]] = []
    for _ in range(count):
        size, position = decode_varint(section, position)
        if not 0 <= size <= end - position:
            raise WireError(f"header key length {size} with {end - position} bytes left", "headers", position)
        name = section[position : position + size].decode(errors="replace")
        size, position = decode_varint(section, position + size)
        if not -1 <= size <= end - position:
            raise WireError(f"header value length {size} with {end - position} bytes left", "headers", position)
        if size < 0:
            headers.append((name, None))
        else:
            headers.append((name, section[position : position + size]))
            position += size
    return tuple(headers), position
