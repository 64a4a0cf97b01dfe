"""Writes messages of magic 0 and 1, which brokers before 4.0 send to clients that read no later format."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Final

from eosctl.wire.records.compression import Compression, compress
from eosctl.wire.records.header import LOG_APPEND_TIME
from eosctl.wire.records.legacy import with_old_lz4_header
from eosctl.wire.records.record import Record

_HEADER: Final = struct.Struct(">qiI")
_SIZE: Final = struct.Struct(">i")
_NULL: Final = _SIZE.pack(-1)


def encode_message(
    magic: int, offset: int, timestamp: int, key: bytes | None, value: bytes | None, attributes: int = 0
) -> bytes:
    """Encode a message; magic 0 has no timestamp."""
    body = struct.pack(">bb", magic, attributes) + (struct.pack(">q", timestamp) if magic else b"")
    body += _sized(key) + _sized(value)
    return _HEADER.pack(offset, len(body) + 4, zlib.crc32(body)) + body


def encode_message_set(
    magic: int, records: Sequence[Record], codec: Compression, log_append_time_ms: int | None = None
) -> bytes:
    """Encode records with their offsets, as a compressed message that contains them if there is a codec.

    The offset of such a message is that of its last record; magic 1 counts inner offsets from its first record.
    """
    times = [record.timestamp if log_append_time_ms is None else log_append_time_ms for record in records]
    kind = LOG_APPEND_TIME if magic and log_append_time_ms is not None else 0
    shift = records[0].offset if magic and codec else 0
    messages = b"".join(
        encode_message(magic, record.offset - shift, time_ms, record.key, record.value, kind)
        for record, time_ms in zip(records, times, strict=True)
    )
    if not codec:
        return messages
    value = compress(codec, messages)
    if magic == 0 and codec is Compression.LZ4:
        value = with_old_lz4_header(value)
    return encode_message(magic, records[-1].offset, max(times), None, value, kind | codec)


def _sized(data: bytes | None) -> bytes:
    return _NULL if data is None else _SIZE.pack(len(data)) + data
