"""Conversion between record batches and messages of magic 0 and 1 (`LogValidator`, `RecordsUtil`; removed in 4.0).

Brokers of 3.9 store batches alone: messages of old producers become one batch, and old consumers get messages.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from eosctl.sandbox.log.validation import Refusal
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.errors import WireError
from eosctl.wire.records import legacy
from eosctl.wire.records.batch import decode_header, decode_records, encode_batch
from eosctl.wire.records.compression import MAX_DECOMPRESSED_BYTES, Compression
from eosctl.wire.records.header import LOG_APPEND_TIME, BatchHeader
from eosctl.wire.records.legacy_writer import encode_message_set
from eosctl.wire.records.record import Record

MAGIC_AT: Final = 16
BATCH_MAGIC: Final = 2
OVERFLOW_BYTES: Final = 12
BATCH_OVERHEAD: Final = 61
_OVERFLOW: Final = struct.Struct(">qi")
_NOTHING: Final = Refusal(ErrorCode.NONE)  # Kafka appends nothing, and reports no error.
_INVALID: Final = Refusal(ErrorCode.INVALID_RECORD)
_CORRUPT: Final = Refusal(ErrorCode.CORRUPT_MESSAGE)
_UNEXPECTED: Final = Refusal(ErrorCode.UNKNOWN_SERVER_ERROR, knows_log=True)


def batch_of(data: bytes) -> bytes | Refusal:
    """Return the batch with the messages of a set, or a batch as it is; an incomplete last message is ignored."""
    if len(data) <= MAGIC_AT:
        return _NOTHING
    if data[MAGIC_AT] >= BATCH_MAGIC:
        return data
    found: list[BatchHeader] = []
    records: list[Record] = []
    position = 0
    while position + MAGIC_AT < len(data):
        try:
            header = legacy.decode_header(data, position)
        except (WireError, KeyError):
            return _INVALID
        if position + header.size_bytes > len(data):
            break
        if not legacy.check_crc(data, header, position):
            return _CORRUPT
        if header.codec == Compression.ZSTD:
            return _INVALID
        try:
            records += legacy.decode_records(data, header, position, max_bytes=MAX_DECOMPRESSED_BYTES)
        except WireError:
            return _UNEXPECTED
        found.append(header)
        position += header.size_bytes
    if not found:
        return _NOTHING
    codecs = {Compression(header.codec) for header in found}
    if len({header.magic for header in found}) > 1 or (len(found) > 1 and codecs != {Compression.NONE}):
        return _INVALID
    return encode_batch(records, codec=codecs.pop())


class UnsupportedCodec(Exception):  # noqa: N818 - an answer, not a failure
    """The first batch is compressed by a codec that messages do not have."""


def messages_of(data: bytes, magic: int, first_offset: int) -> bytes:
    """Return batches as messages, at most as many bytes as the batches have, but at least the first batch.

    Control batches are left out. What is missing to the size of the batches is filled by the start of a message that
    is too large, which clients ignore.

    Raises:
        UnsupportedCodec: The first batch cannot be converted.
    """
    found = bytearray()
    limit = len(data)
    for position, header in _batches(data):
        if header.is_control:
            continue
        if header.codec == Compression.ZSTD:
            if not found:
                raise UnsupportedCodec
            break
        converted = _converted(data[position : position + header.size_bytes], header, magic, first_offset)
        if converted and not found:
            limit = max(limit, len(converted))
        found += converted
        if len(found) >= limit:
            return bytes(found[:limit])
    if not found:
        limit = OVERFLOW_BYTES if data else 0
    left = limit - len(found)
    overflow = _OVERFLOW.pack(-1, max(left + 1, BATCH_OVERHEAD)).ljust(left, b"\0")
    return bytes(found) + overflow[:left]


def _batches(data: bytes) -> Iterator[tuple[int, BatchHeader]]:
    position = 0
    while position < len(data):
        try:
            header = decode_header(data, position)
        except WireError:
            return
        if position + header.size_bytes > len(data):
            return
        yield position, header
        position += header.size_bytes


def _converted(batch: bytes, header: BatchHeader, magic: int, first_offset: int) -> bytes:
    codec = Compression(header.codec)
    records = [record for record in decode_records(batch, header) if codec or record.offset >= first_offset]
    if not records:
        return b""
    append_time_ms = header.max_timestamp if header.attributes & LOG_APPEND_TIME else None
    return encode_message_set(magic, records, codec, append_time_ms)
