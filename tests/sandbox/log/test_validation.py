"""Compressed batches with records that contradict the header are refused as by a broker of 4.3.1."""

from __future__ import annotations

import gzip
import struct

import pytest

from eosctl.sandbox.log.topic_settings import TopicSettings
from eosctl.sandbox.log.validation import SLICE_RECORDS, Refusal, check_records, finish
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.records.batch import decode_header, encode_batch
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.record import Record
from eosctl.wire.runtime import unsigned_varint

GZIP, UNKNOWN_CODEC = 1, 7
NOW_MS = 1_790_000_000_000
COUNT_PLACE, ATTRIBUTES_PLACE, LENGTH_PLACE = 57, 21, 8


def varint(value: int) -> bytes:
    return unsigned_varint(value << 1 if value >= 0 else (-value << 1) - 1)


def packed(data: bytes) -> bytes:
    """Compress without the time of day: a worker of the tests must give each case the same name as the others."""
    return gzip.compress(data, mtime=0)


def records(*deltas: int) -> bytes:
    bodies = [b"\0" + varint(0) + varint(delta) + varint(-1) + varint(1) + b"v" + varint(0) for delta in deltas]
    return b"".join(varint(len(body)) + body for body in bodies)


def refusal(section: bytes, count: int, codec: int = GZIP) -> Refusal | None:
    """Check a batch with this content; its checksum is not read here."""
    head = bytearray(encode_batch([Record(0, NOW_MS, None, b"v")])[: COUNT_PLACE + 4])
    struct.pack_into(">i", head, COUNT_PLACE, count)
    struct.pack_into(">h", head, ATTRIBUTES_PLACE, codec)
    struct.pack_into(">i", head, LENGTH_PLACE, len(head) + len(section) - 12)
    batch = bytes(head) + section
    return finish(check_records(batch, decode_header(batch), TopicSettings(), NOW_MS, "orders-0"))


@pytest.mark.parametrize(
    ("section", "count", "error"),
    [
        (packed(records(0, 1, 2)), 3, None),
        (packed(records(0)) + packed(records(1)), 2, None),
        (packed(b"") + packed(records(0)), 1, None),
        (packed(records(0, 0)), 2, ErrorCode.UNKNOWN_SERVER_ERROR),
        (packed(records(1, 0)), 2, ErrorCode.UNKNOWN_SERVER_ERROR),
        (packed(records(0, 2)), 2, ErrorCode.UNKNOWN_SERVER_ERROR),
        (packed(records(-1, 0)), 2, ErrorCode.UNKNOWN_SERVER_ERROR),
        (b"not gzip", 1, ErrorCode.UNKNOWN_SERVER_ERROR),
        (packed(records(0, 1)), 5, ErrorCode.INVALID_RECORD),
        (packed(records(0, 1, 2)), 2, ErrorCode.INVALID_RECORD),
        (packed(records(0)), 2**31 - 1, ErrorCode.INVALID_RECORD),
        (packed(records(0) + b"xx"), 1, ErrorCode.INVALID_RECORD),
        (packed(b""), 1, ErrorCode.INVALID_RECORD),
    ],
)
def test_records_must_be_those_of_the_header(section: bytes, count: int, error: ErrorCode | None) -> None:
    found = refusal(section, count)
    assert (found and found.error) == error
    assert found is None or (found.message, found.knows_log) == (None, True)


def test_a_gap_between_slices_is_found() -> None:
    deltas = list(range(2 * SLICE_RECORDS))
    assert refusal(packed(records(*deltas)), len(deltas)) is None
    deltas[SLICE_RECORDS:] = [delta + 1 for delta in deltas[SLICE_RECORDS:]]
    found = refusal(packed(records(*deltas)), len(deltas))
    assert found is not None
    assert found.error is ErrorCode.UNKNOWN_SERVER_ERROR


def test_decompression_and_each_slice_are_steps_of_their_own() -> None:
    batch = encode_batch([Record(0, NOW_MS, None, b"v")] * (SLICE_RECORDS + 1), codec=Compression.GZIP)
    steps = list(check_records(batch, decode_header(batch), TopicSettings(), NOW_MS, "orders-0"))
    assert len(steps) == 1 + 2


def test_an_unknown_codec_is_an_unexpected_error() -> None:
    found = refusal(records(0), 1, UNKNOWN_CODEC)
    assert found is not None
    assert found.error is ErrorCode.UNKNOWN_SERVER_ERROR
