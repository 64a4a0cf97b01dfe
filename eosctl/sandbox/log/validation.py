"""Validation of a batch by the leader, before the producer checks (Kafka's `LogValidator` and `UnifiedLog`).

The form of every record is checked. Records are decoded only for rules about records: compacted topics, timestamps out
of bounds, and compressed batches. They are checked in slices, since a batch of a megabyte may hold millions of them.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial
from typing import Final, NamedTuple

from eosctl.sandbox.log.topic_settings import TopicSettings
from eosctl.sandbox.turns import Background, Wait, in_place
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.errors import WireError
from eosctl.wire.records.batch import BatchHeader, RecordsSection, check_crc, decode_header, records_section, slices_of
from eosctl.wire.records.header import CODEC_MASK, HEADER_BYTES
from eosctl.wire.records.record import Record
from eosctl.wire.records.walk import LENGTH_VARINT, walk_records


class RecordError(NamedTuple):
    """The reason why a record of a batch was rejected."""

    batch_index: int
    message: str


class Refusal(NamedTuple):
    """The reason why a batch is not appended.

    `knows_log` is whether the response contains the log start offset; checks before Kafka opens the log do not.
    """

    error: ErrorCode
    message: str | None = None
    knows_log: bool = False
    record_errors: tuple[RecordError, ...] = ()


_CORRUPT: Final = Refusal(ErrorCode.CORRUPT_MESSAGE)
_INVALID: Final = Refusal(ErrorCode.INVALID_RECORD)
_INVALID_IN_LOG: Final = Refusal(ErrorCode.INVALID_RECORD, knows_log=True)
_UNEXPECTED: Final = Refusal(ErrorCode.UNKNOWN_SERVER_ERROR, knows_log=True)
"""Kafka's answer to bytes that a codec does not decompress, to offsets with gaps in a compressed batch, and to a record
length of more than five bytes in a plain batch.
"""
_CODEC_FIELDS: Final = ("attributes", "records")
NO_TIMESTAMP: Final = -1
SLICE_RECORDS: Final = 2048
"""Number of records checked in one turn: some milliseconds, in which other clients wait."""
LARGE_COMPRESSED_BYTES: Final = 256 << 10
"""Size from which compressed records are not unpacked in a turn."""
_ZSTD: Final = 4
_ZSTD_MIN_PRODUCE_VERSION: Final = 7


def check_request_batch(records: bytes, produce_version: int) -> BatchHeader | Refusal:
    """Check the batch of a partition in a Produce request of version 3 or later: exactly one v2 batch."""
    if not records:
        return _INVALID
    if len(records) >= 17 and records[16] not in (0, 1, 2):
        magic = records[16] - 256 if records[16] > 127 else records[16]
        return Refusal(ErrorCode.CORRUPT_MESSAGE, f"Invalid magic found in record: {magic}")
    try:
        header = decode_header(records)
    except WireError:
        return _INVALID  # Kafka takes what is shorter than a batch for no batch.
    if header.magic != 2 or header.size_bytes != len(records):
        return _INVALID
    if header.attributes & 7 == _ZSTD and produce_version < _ZSTD_MIN_PRODUCE_VERSION:
        return Refusal(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    return header


def check_client_batch(
    batch: bytes, header: BatchHeader, settings: TopicSettings, now_ms: int, partition: object
) -> Refusal | None:
    """Check a client's batch without its records: checksum, size, and header consistency."""
    if len(batch) > settings.max_message_bytes:
        return Refusal(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"The record batch size in the append to {partition} is {len(batch)} bytes which exceeds the maximum "
            f"configured value of {settings.max_message_bytes}.",
        )
    if not check_crc(batch, header):
        return _CORRUPT
    if header.is_control:
        return _INVALID_IN_LOG
    count = header.records_count
    if header.base_offset != 0:
        return _INVALID_IN_LOG
    if count <= 0 or header.last_offset_delta + 1 != count:
        return _INVALID_IN_LOG
    if header.producer_id >= 0 and header.base_sequence < 0:
        return _INVALID_IN_LOG
    return None


def reads_records(header: BatchHeader, settings: TopicSettings, now_ms: int) -> bool:
    """Return whether rules about records apply to a batch: if not, `check_form` is enough."""
    late = not settings.log_append_time and (
        header.max_timestamp - now_ms > settings.timestamp_after_max_ms
        or (header.base_timestamp != NO_TIMESTAMP and header.base_timestamp < now_ms - settings.timestamp_before_max_ms)
    )
    return settings.is_compacted or late or header.attributes & 7 != 0


def check_form(batch: bytes, header: BatchHeader) -> Refusal | None:
    """Check the form of the records of a plain batch, and their number."""
    reached = _walk(batch, HEADER_BYTES, header.records_count)
    return reached if isinstance(reached, Refusal) else _check_end(batch, reached)


def _walk(batch: bytes, position: int, count: int) -> int | Refusal:
    try:
        return walk_records(batch, position, count)
    except WireError as error:
        return _UNEXPECTED if error.field == LENGTH_VARINT else _INVALID_IN_LOG


def _check_end(batch: bytes, position: int) -> Refusal | None:
    return None if position == len(batch) else _INVALID_IN_LOG


RecordsCheck = Generator[Wait | None, None, Refusal | None]


def is_large(header: BatchHeader) -> bool:
    """Return whether the check of a batch takes longer than a turn."""
    is_compressed = header.attributes & CODEC_MASK != 0
    return header.records_count > SLICE_RECORDS or (is_compressed and header.size_bytes > LARGE_COMPRESSED_BYTES)


def check_records(
    batch: bytes,
    header: BatchHeader,
    settings: TopicSettings,
    now_ms: int,
    partition: object,
    background: Background[RecordsSection] = in_place,
) -> RecordsCheck:
    """Check the records of a client's batch, and return the reason for rejecting it.

    It yields after the batch is decompressed and after each slice of records. No step can end the decompression of a
    batch early, so a large one belongs into another thread.
    """
    keyless: list[RecordError] = []
    out_of_range: list[RecordError] = []
    first, is_compressed = 0, header.attributes & CODEC_MASK != 0
    if not is_compressed:
        refusal = yield from _check_form_in_slices(batch, header)
        if refusal is not None or not reads_records(header, settings, now_ms):
            return refusal
    try:
        unpack = partial(records_section, batch, header)
        section = (yield from background(unpack)) if is_compressed else unpack()
        if is_compressed:
            yield None
        for records in slices_of(section, header, SLICE_RECORDS):
            if is_compressed and any(record.offset != offset for offset, record in enumerate(records, first)):
                return _UNEXPECTED
            if settings.is_compacted:
                keyless += _keyless(records, first, partition)
            if not settings.log_append_time:
                out_of_range += _out_of_range(records, first, settings, now_ms)
            first += len(records)
            yield None
    except WireError as error:
        return _UNEXPECTED if is_compressed and error.field in _CODEC_FIELDS else _INVALID_IN_LOG
    if keyless:
        return Refusal(ErrorCode.INVALID_RECORD, _summary(keyless), True, tuple(keyless))
    if out_of_range:
        text = "One or more records have been rejected due to invalid timestamp"
        return Refusal(ErrorCode.INVALID_TIMESTAMP, text, True, tuple(out_of_range))
    return None


def _check_form_in_slices(batch: bytes, header: BatchHeader) -> RecordsCheck:
    position, count = HEADER_BYTES, header.records_count
    for first in range(0, count, SLICE_RECORDS):
        reached = _walk(batch, position, min(SLICE_RECORDS, count - first))
        if isinstance(reached, Refusal):
            return reached
        position = reached
        yield None
    return _check_end(batch, position)


def finish(check: RecordsCheck) -> Refusal | None:
    """Run a check to its end, and return its result."""
    while True:
        try:
            next(check)
        except StopIteration as end:
            refusal: Refusal | None = end.value
            return refusal


def _keyless(records: list[Record], first: int, partition: object) -> list[RecordError]:
    text = f"Compacted topic cannot accept message without key in topic partition {partition}."
    return [RecordError(index, text) for index, record in enumerate(records, first) if record.key is None]


def _out_of_range(records: list[Record], first: int, settings: TopicSettings, now_ms: int) -> list[RecordError]:
    earliest = now_ms - settings.timestamp_before_max_ms
    latest = now_ms + settings.timestamp_after_max_ms
    return [
        RecordError(
            index,
            f"Timestamp {record.timestamp} of message with offset {index} is out of range. "
            f"The timestamp should be within [{earliest}, {latest}]",
        )
        for index, record in enumerate(records, first)
        if record.timestamp != NO_TIMESTAMP and not earliest <= record.timestamp <= latest
    ]


def _summary(errors: list[RecordError]) -> str:
    shown = ", ".join(f"RecordError(batchIndex={error.batch_index}, message='{error.message}')" for error in errors[:3])
    return (
        f"One or more records have been rejected due to {len(errors)} record errors in total, and only showing the "
        f"first three errors at most: [{shown}]"
    )
