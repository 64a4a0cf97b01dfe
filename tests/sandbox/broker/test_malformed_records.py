"""Plain batches with a valid checksum and one malformation get the errors that a broker of 4.3.1 answered."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import google_crc32c
import pytest

from eosctl.sandbox.log.validation import SLICE_RECORDS
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from eosctl.wire.records.varint import encode_varint as varint
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness

NOW_MS = 1_790_000_000_000
CRC_START = 21
KEY, VALUE, NO_HEADERS = varint(1) + b"k", varint(1) + b"v", b"\0"
NAME, CONTENT = varint(1) + b"n", varint(1) + b"c"
GOOD_BYTES = 8
ACCEPTED, INVALID, UNEXPECTED = 0, int(ErrorCode.INVALID_RECORD), int(ErrorCode.UNKNOWN_SERVER_ERROR)


def record(
    delta: int | bytes = 0,
    *,
    length: int | bytes | None = None,
    attributes: bytes = b"\0",
    timestamp: bytes = b"\0",
    key: bytes = KEY,
    value: bytes = VALUE,
    headers: bytes = NO_HEADERS,
) -> bytes:
    offset = delta if isinstance(delta, bytes) else varint(delta)
    body = attributes + timestamp + offset + key + value + headers
    size = len(body) if length is None else length
    return (size if isinstance(size, bytes) else varint(size)) + body


def padded(first: int, size: int, last: int = 0) -> bytes:
    """A varint of this many bytes, with `first` as its lowest bits and `last` as its highest."""
    return bytes((first | 128, *[128] * (size - 2), last))


GOOD, NEXT = record(), record(1)
TABLE: list[tuple[str, bytes, int, int]] = [
    ("two records", GOOD + NEXT, 2, ACCEPTED),
    ("headers", record(headers=varint(2) + NAME + CONTENT + NAME + varint(-1)), 1, ACCEPTED),
    ("no record", b"", 1, INVALID),
    ("length too small", record(length=GOOD_BYTES - 1), 1, INVALID),
    ("length too small, another", record(length=GOOD_BYTES - 1) + NEXT, 2, INVALID),
    ("length too large", record(length=GOOD_BYTES + 1), 1, INVALID),
    ("length into the next", record(length=GOOD_BYTES + 1) + NEXT, 2, INVALID),
    ("length negative", record(length=-1), 1, INVALID),
    ("length zero", record(length=0), 1, INVALID),
    ("length huge", record(length=2**31 - 1), 1, INVALID),
    ("length cut", b"\x80", 1, INVALID),
    ("length of six bytes", record(length=padded(2 * GOOD_BYTES, 6)), 1, UNEXPECTED),
    ("length of eleven bytes", record(length=padded(2 * GOOD_BYTES, 11)), 1, UNEXPECTED),
    ("length of five bytes", record(length=padded(2 * GOOD_BYTES, 5)), 1, ACCEPTED),
    ("length beyond 32 bits", record(length=padded(2 * GOOD_BYTES, 5, 0x70)), 1, ACCEPTED),
    ("attributes", record(attributes=b"\xff"), 1, ACCEPTED),
    ("timestamp of ten bytes", record(timestamp=padded(0, 10)), 1, ACCEPTED),
    ("timestamp of eleven bytes", record(timestamp=padded(0, 11)), 1, INVALID),
    ("offset of five bytes", record(padded(0, 5)), 1, ACCEPTED),
    ("offset of six bytes", record(padded(0, 6)), 1, INVALID),
    ("offset from 1", record(1), 1, ACCEPTED),
    ("offset with a gap", GOOD + record(2), 2, ACCEPTED),
    ("offset twice", GOOD + GOOD, 2, ACCEPTED),
    ("offset falls", NEXT + GOOD, 2, ACCEPTED),
    ("offset negative", record(-1) + GOOD, 2, ACCEPTED),
    ("key length -2", record(key=varint(-2)), 1, ACCEPTED),
    ("key length -2 and a byte", record(key=varint(-2) + b"k"), 1, INVALID),
    ("key past the record", record(key=varint(5) + b"k"), 1, INVALID),
    ("key into the next", record(key=varint(5) + b"k") + NEXT, 2, INVALID),
    ("key length huge", record(key=varint(2**31 - 1) + b"k"), 1, INVALID),
    ("key length of six bytes", record(key=padded(2, 6) + b"k"), 1, INVALID),
    ("value length -2", record(value=varint(-2)), 1, ACCEPTED),
    ("value past the record", record(value=varint(5) + b"v"), 1, INVALID),
    ("value into the next", record(value=varint(5) + b"v") + NEXT, 2, INVALID),
    ("value too short", record(value=varint(0) + b"v"), 1, INVALID),
    ("value length huge", record(value=varint(2**31 - 1) + b"v"), 1, INVALID),
    ("value length of six bytes", record(value=padded(2, 6) + b"v"), 1, INVALID),
    ("header count negative", record(headers=varint(-1)), 1, INVALID),
    ("header count too large", record(headers=varint(2) + NAME + CONTENT), 1, INVALID),
    ("header count too small", record(headers=varint(1) + (NAME + CONTENT) * 2), 1, INVALID),
    ("header count huge", record(headers=varint(2**31 - 1)), 1, INVALID),
    ("header count missing", record(headers=b""), 1, INVALID),
    ("header count from the next", record(headers=b"") + NEXT, 2, INVALID),
    ("header from the next", record(headers=varint(1)) + NEXT, 2, INVALID),
    ("header count of six bytes", record(headers=padded(0, 6)), 1, INVALID),
    ("header name null", record(headers=varint(1) + varint(-1) + varint(-1)), 1, INVALID),
    ("header name past the record", record(headers=varint(1) + varint(9) + b"n" + varint(-1)), 1, INVALID),
    ("header name not UTF-8", record(headers=varint(1) + varint(1) + b"\xff" + CONTENT), 1, ACCEPTED),
    ("header value length -2", record(headers=varint(1) + NAME + varint(-2)), 1, ACCEPTED),
    ("header value past the record", record(headers=varint(1) + NAME + varint(9) + b"c"), 1, INVALID),
    ("header value too short", record(headers=varint(1) + NAME + varint(0) + b"c"), 1, INVALID),
    ("bytes left in the record", record(headers=NO_HEADERS + b"xx"), 1, INVALID),
    ("bytes left in the batch", GOOD + b"xx", 1, INVALID),
    ("zero left in the batch", GOOD + b"\0", 1, INVALID),
    ("more records than announced", GOOD + NEXT + record(2), 2, INVALID),
    ("fewer records than announced", GOOD + NEXT, 3, INVALID),
    ("two billion records announced", GOOD, 2**31 - 1, INVALID),
    ("second record cut", GOOD + NEXT[:-2], 2, INVALID),
    ("record of three bytes", varint(3) + bytes(3), 1, INVALID),
    ("record of three bytes, another", varint(3) + bytes(3) + NEXT, 2, INVALID),
]


def batch(section: bytes, count: int) -> bytes:
    checked = struct.pack(">hiqqqhii", 0, count - 1, NOW_MS, NOW_MS, -1, -1, -1, count) + section
    front = struct.pack(">qiibI", 0, len(checked) + CRC_START - 12, -1, 2, google_crc32c.value(checked))
    return front + checked


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    harness = Harness(tmp_path_factory.mktemp("cluster"))
    EosClient(harness).create_topic("orders")
    yield harness
    harness.close()


def produce(harness: Harness, section: bytes, count: int) -> PartitionProduceResponse:
    data = [TopicProduceData("orders", partition_data=[PartitionProduceData(0, batch(section, count))])]
    response = harness.client().request(ApiKey.PRODUCE, 8, ProduceRequest(None, -1, 1000, data))
    found: PartitionProduceResponse = response.responses[0].partition_responses[0]
    return found


@pytest.mark.parametrize(("section", "count", "error"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_malformed_records_are_refused_as_by_4_3_1(harness: Harness, section: bytes, count: int, error: int) -> None:
    before = produce(harness, GOOD, 1).base_offset
    found = produce(harness, section, count)
    after = produce(harness, GOOD, 1).base_offset
    assert found.error_code == error
    assert (found.error_message, found.log_start_offset) == (None, 0)
    assert after - before == (1 if error else 1 + count)


@pytest.mark.parametrize("malformed", [0, SLICE_RECORDS - 1, SLICE_RECORDS, 2 * SLICE_RECORDS])
def test_a_malformed_record_of_any_slice_is_found(harness: Harness, malformed: int) -> None:
    count = 2 * SLICE_RECORDS + 1
    records = [record(delta) for delta in range(count)]
    assert produce(harness, b"".join(records), count).error_code == ACCEPTED
    records[malformed] = record(malformed, headers=varint(1))
    assert produce(harness, b"".join(records), count).error_code == INVALID
