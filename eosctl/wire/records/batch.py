"""Record batches: check headers, encode and decode records, and set the fields that brokers set."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import google_crc32c

from eosctl.wire.errors import WireError
from eosctl.wire.records import legacy
from eosctl.wire.records.compression import MAX_DECOMPRESSED_BYTES, Compression, compress, decompress
from eosctl.wire.records.header import (
    CODEC_MASK,
    CONTROL,
    CRC_START,
    DELETE_HORIZON,
    HEADER,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    LOG_OVERHEAD_BYTES,
    MAGIC_POSITION,
    TRANSACTIONAL,
    BatchHeader,
    ByteSource,
)
from eosctl.wire.records.record import (
    Record,
    decode_section,
    decode_slices,
    encode_entry,
    encode_record,
    encode_records,
)

__all__ = [
    "MIN_BATCH_LENGTH",
    "BatchHeader",
    "check_crc",
    "decode_header",
    "decode_records",
    "encode_batch",
    "encode_retained",
    "iter_headers",
    "with_append_time",
    "with_offset",
]

MAGIC: Final = 2
_TINY_RECORD_BYTES: Final = 12
"""Size of a record with at most a few bytes of key and value: millions of such records compress best."""
#: Smallest value of the length field of a magic 2 batch: a header without records.
MIN_BATCH_LENGTH: Final = HEADER_BYTES - LOG_OVERHEAD_BYTES

_crc32c: Final = google_crc32c.value
_FRONT: Final = struct.Struct(">qii")
_FRONT_END: Final = 16
_CRC: Final = struct.Struct(">I")
_CHECKED_HEAD: Final = struct.Struct(">hiqqqhii")
_LENGTH_TO_CRC: Final = struct.Struct(">qiibI")
_ATTRIBUTES: Final = struct.Struct(">h")
_MAX_TIMESTAMP: Final = struct.Struct(">q")


def decode_header(buffer: ByteSource, position: int = 0) -> BatchHeader:
    """Decode the header of the batch (of any magic) at a position.

    The batch itself may be incomplete; `iter_headers` checks that.

    Raises:
        WireError: The header is cut off, its magic is unknown, or its length is impossible.
    """
    try:
        fields = HEADER.unpack_from(buffer, position)
    except struct.error:
        return _decode_unusual_header(buffer, position)
    if fields[3] == MAGIC and fields[1] >= MIN_BATCH_LENGTH:
        return BatchHeader(*fields)
    return _decode_unusual_header(buffer, position)


def _decode_unusual_header(buffer: ByteSource, position: int) -> BatchHeader:
    available = len(buffer) - position
    if position < 0 or available <= MAGIC_POSITION:
        raise WireError(f"{max(available, 0)} bytes are too few for a batch header", "batch", position)
    magic = int.from_bytes(buffer[position + MAGIC_POSITION : position + MAGIC_POSITION + 1], "big", signed=True)
    if magic in (0, 1):
        return legacy.decode_header(buffer, position)
    if magic != MAGIC:
        raise WireError(f"unknown magic {magic}", "magic", position + MAGIC_POSITION)
    length = int.from_bytes(buffer[position + 8 : position + 12], "big", signed=True)
    if length < MIN_BATCH_LENGTH:
        raise WireError(f"batch length {length} is below {MIN_BATCH_LENGTH}", "batch_length", position + 8)
    raise WireError(f"a batch header takes {HEADER_BYTES} bytes, {available} are there", "batch", position)


def iter_headers(buffer: ByteSource, position: int = 0) -> Iterator[tuple[int, BatchHeader]]:
    """Yield the position and header of each complete batch, and stop at a batch that the buffer cuts off.

    Fetch responses regularly end in such partial batches.

    Raises:
        WireError: A header is malformed.
    """
    limit = len(buffer)
    while position + LOG_OVERHEAD_BYTES <= limit:
        length = int.from_bytes(buffer[position + 8 : position + 12], "big", signed=True)
        end = position + LOG_OVERHEAD_BYTES + length
        if end > limit:
            return
        yield position, decode_header(buffer, position)
        position = end


def check_crc(buffer: ByteSource, header: BatchHeader, position: int = 0) -> bool:
    """Return whether the batch at a position matches the checksum in its header."""
    end = position + LOG_OVERHEAD_BYTES + header.batch_length
    if end > len(buffer):
        return False
    if header.magic < MAGIC:
        return legacy.check_crc(buffer, header, position)
    return bool(_crc32c(bytes(buffer[position + CRC_START : end])) == header.crc)


def decode_records(
    buffer: ByteSource, header: BatchHeader, position: int = 0, *, max_bytes: int = MAX_DECOMPRESSED_BYTES
) -> list[Record]:
    """Decode the records of the batch at a position, of any magic and codec, control records included.

    Args:
        buffer: Bytes that hold the whole batch.
        header: The batch's header, from `decode_header`.
        position: Where the batch starts.
        max_bytes: Most bytes that the records may decompress to.

    Raises:
        WireError: The batch is cut off or damaged, or decompresses to more than `max_bytes`.
    """
    end = _end(buffer, header, position)
    if header.magic < MAGIC:
        return legacy.decode_records(buffer, header, position, max_bytes=max_bytes)
    section, origin = _section(buffer, header, position, end, max_bytes)
    return decode_section(
        section,
        header.records_count,
        base_offset=header.base_offset,
        base_timestamp=header.base_timestamp,
        append_timestamp=header.max_timestamp if header.attributes & LOG_APPEND_TIME else None,
        origin=origin,
    )


def iter_records(
    buffer: ByteSource, header: BatchHeader, slice_count: int, position: int = 0
) -> Iterator[list[Record]]:
    """Decode the records of the batch of magic 2 at a position of a buffer, in lists of at most `slice_count`.

    Raises:
        WireError: The batch is cut off or damaged. The slices before the damage have been yielded.
    """
    return slices_of(records_section(buffer, header, position), header, slice_count)


class RecordsSection(NamedTuple):
    """The uncompressed records of a batch.

    Attributes:
        data: The records and nothing else.
        origin: The position that errors count from.
    """

    data: bytes
    origin: int


def records_section(buffer: ByteSource, header: BatchHeader, position: int = 0) -> RecordsSection:
    """Return the uncompressed records of the batch of magic 2 at a position of a buffer.

    Raises:
        WireError: The batch is cut off, its codec is unknown, or its records are damaged or too many.
    """
    return _section(buffer, header, position, _end(buffer, header, position), MAX_DECOMPRESSED_BYTES)


def slices_of(section: RecordsSection, header: BatchHeader, slice_count: int) -> Iterator[list[Record]]:
    """Decode the records of a batch, in lists of at most `slice_count`.

    Raises:
        WireError: The batch is damaged. The slices before the damage have been yielded.
    """
    return decode_slices(
        section.data,
        header.records_count,
        slice_count,
        base_offset=header.base_offset,
        base_timestamp=header.base_timestamp,
        append_timestamp=header.max_timestamp if header.attributes & LOG_APPEND_TIME else None,
        origin=section.origin,
    )


def _end(buffer: ByteSource, header: BatchHeader, position: int) -> int:
    end = position + LOG_OVERHEAD_BYTES + header.batch_length
    if end > len(buffer):
        raise WireError(f"the batch ends {end - len(buffer)} bytes past the buffer", "batch_length", position + 8)
    return end


def _section(buffer: ByteSource, header: BatchHeader, position: int, end: int, max_bytes: int) -> RecordsSection:
    origin = position + HEADER_BYTES
    section = bytes(buffer[origin:end])
    if not header.attributes & CODEC_MASK:
        return RecordsSection(section, origin)
    try:
        expected_bytes = header.records_count * _TINY_RECORD_BYTES
        return RecordsSection(decompress(header.attributes & CODEC_MASK, section, max_bytes, expected_bytes), 0)
    except WireError as error:
        raise WireError(error.what, error.field, origin + error.offset) from None


def encode_batch(
    records: Sequence[Record],
    *,
    base_offset: int = 0,
    partition_leader_epoch: int = -1,
    codec: Compression = Compression.NONE,
    log_append_time_ms: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    transactional: bool = False,
    control: bool = False,
    base_timestamp: int | None = None,
) -> bytes:
    """Encode a magic 2 batch as a producer builds it.

    Args:
        records: At least one record; they are numbered from `base_offset` on, their own offsets are ignored.
        base_offset: Offset of the first record.
        partition_leader_epoch: Epoch of the leader that appends the batch; -1 while unknown.
        codec: Codec of the records section.
        log_append_time_ms: Broker's append time on a topic with LogAppendTime; the records keep their deltas.
        producer_id: Producer id, -1 for none.
        producer_epoch: Producer epoch, -1 for none.
        base_sequence: Sequence of the first record, -1 for none.
        transactional: Whether the batch belongs to a transaction.
        control: Whether the records are control records.
        base_timestamp: Timestamp that the records' deltas refer to; the first record's when not given.
    """
    if not records:
        raise WireError("a batch needs a record", "records", 0)
    if base_timestamp is None:
        base_timestamp = records[0].timestamp
    if len(records) == 1:
        section = encode_record(records[0], 0, records[0].timestamp - base_timestamp)
        max_timestamp = records[0].timestamp
    else:
        section = encode_records(records, base_timestamp)
        max_timestamp = max([record.timestamp for record in records])
    attributes = codec | (TRANSACTIONAL if transactional else 0) | (CONTROL if control else 0)
    if log_append_time_ms is not None:
        attributes |= LOG_APPEND_TIME
        max_timestamp = log_append_time_ms
    return _assemble(
        base_offset,
        partition_leader_epoch,
        _CHECKED_HEAD.pack(
            attributes,
            len(records) - 1,
            base_timestamp,
            max_timestamp,
            producer_id,
            producer_epoch,
            base_sequence,
            len(records),
        )
        + (compress(codec, section) if codec else section),
    )


def encode_entries(
    entries: Sequence[tuple[bytes, bytes | None]], timestamp: int, base_offset: int, partition_leader_epoch: int
) -> tuple[BatchHeader, bytes]:
    """Encode keys and values as a coordinator writes its state: plain records with one timestamp, without a producer.

    A faster equivalent of `encode_batch` for this case.

    Args:
        entries: At least one; a value of None is a tombstone.
        timestamp: Milliseconds since the epoch.
        base_offset: Offset of the first record.
        partition_leader_epoch: Epoch of the leader that appends the batch.

    Returns:
        The batch's header, and the whole batch.
    """
    count = len(entries)
    section = b"".join([encode_entry(key, value, delta) for delta, (key, value) in enumerate(entries)])
    checked = _CHECKED_HEAD.pack(0, count - 1, timestamp, timestamp, -1, -1, -1, count) + section
    length, crc = len(checked) + CRC_START - LOG_OVERHEAD_BYTES, _crc32c(checked)
    header = BatchHeader(
        base_offset, length, partition_leader_epoch, MAGIC, crc, 0, count - 1, timestamp, timestamp, -1, -1, -1, count
    )
    return header, _LENGTH_TO_CRC.pack(base_offset, length, partition_leader_epoch, MAGIC, crc) + checked


def encode_retained(header: BatchHeader, records: Sequence[Record], *, delete_horizon_ms: int | None = None) -> bytes:
    """Encode the records of a batch that the log cleaner retains: some of them, or none.

    Offsets, producer fields, and sequence stay those of the original, so that readers and producer state are unaffected
    (KIP-98, KIP-534; Kafka's `MemoryRecords.filterTo`).

    Args:
        header: Header of the original batch (magic 2).
        records: The retained records, with their absolute offsets, in order.
        delete_horizon_ms: Time from which tombstones or the marker may be removed; replaces the base timestamp.
    """
    attributes = header.attributes
    if delete_horizon_ms is not None:
        attributes |= DELETE_HORIZON
    if not records:
        # Kafka writes an empty batch without codec and keeps the original's max timestamp.
        attributes &= ~(CODEC_MASK | DELETE_HORIZON)
        base_timestamp, max_timestamp, section = -1, header.max_timestamp, b""
    else:
        if delete_horizon_ms is not None:
            base_timestamp = delete_horizon_ms
        elif header.has_delete_horizon:
            base_timestamp = header.base_timestamp
        else:
            base_timestamp = records[0].timestamp
        max_timestamp = (
            header.max_timestamp if header.is_log_append_time else max([record.timestamp for record in records])
        )
        section = compress(
            Compression(header.codec),
            b"".join(
                [
                    encode_record(record, record.offset - header.base_offset, record.timestamp - base_timestamp)
                    for record in records
                ]
            ),
        )
    return _assemble(
        header.base_offset,
        header.partition_leader_epoch,
        _CHECKED_HEAD.pack(
            attributes,
            header.last_offset_delta,
            base_timestamp,
            max_timestamp,
            header.producer_id,
            header.producer_epoch,
            header.base_sequence,
            len(records),
        )
        + section,
    )


def _assemble(base_offset: int, partition_leader_epoch: int, checked: bytes) -> bytes:
    """Prepend the fields that the checksum does not cover."""
    return (
        _LENGTH_TO_CRC.pack(
            base_offset,
            len(checked) + CRC_START - LOG_OVERHEAD_BYTES,
            partition_leader_epoch,
            MAGIC,
            _crc32c(checked),
        )
        + checked
    )


def with_offset(batch: bytes, base_offset: int, partition_leader_epoch: int) -> bytes:
    """Return the batch with the offset and leader epoch that the appending leader assigns.

    Both fields lie outside the checksum, so nothing else changes.
    """
    return _FRONT.pack(base_offset, len(batch) - LOG_OVERHEAD_BYTES, partition_leader_epoch) + batch[_FRONT_END:]


def with_append_time(batch: bytes, append_time_ms: int) -> bytes:
    """Return the batch as a leader stores it on a topic with LogAppendTime.

    Sets the flag, the max timestamp, and the checksum.
    """
    checked = bytearray(batch[CRC_START:])
    (attributes,) = _ATTRIBUTES.unpack_from(checked)
    _ATTRIBUTES.pack_into(checked, 0, attributes | LOG_APPEND_TIME)
    _MAX_TIMESTAMP.pack_into(checked, 35 - CRC_START, append_time_ms)
    sealed = bytes(checked)
    return batch[: CRC_START - 4] + _CRC.pack(_crc32c(sealed)) + sealed
