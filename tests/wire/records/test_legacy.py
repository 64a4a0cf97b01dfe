"""Messages of magic 0 and 1 are read as consumers of their time read them."""

from __future__ import annotations

import struct
import zlib

import cramjam
import pytest

from eosctl.wire.errors import WireError
from eosctl.wire.records.batch import check_crc, decode_header, decode_records, iter_headers
from eosctl.wire.records.compression import Compression, compress
from eosctl.wire.records.legacy import with_right_lz4_header
from eosctl.wire.records.record import Record
from tests.wire.records.conftest import RECORDS


def read(data: bytes) -> list[Record]:
    found: list[Record] = []
    for position, header in iter_headers(data):
        assert check_crc(data, header, position)
        found += decode_records(data, header, position)
    return found


def message(magic: int, offset: int, value: bytes, attributes: int = 0, timestamp: int = 5000) -> bytes:
    """Write one message without key by hand."""
    checked = struct.pack(">bb", magic, attributes)
    if magic:
        checked += struct.pack(">q", timestamp)
    checked += struct.pack(">ii", -1, len(value)) + value
    body = struct.pack(">I", zlib.crc32(checked)) + checked
    return struct.pack(">qi", offset, len(body)) + body


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("magic", [0, 1])
def test_messages_of_another_implementation(
    magic: int, compressed: bool, legacy_set: dict[tuple[int, bool], bytes]
) -> None:
    assert read(legacy_set[magic, compressed]) == [
        Record(offset, 1000 + offset if magic else -1, key, value) for offset, (key, value) in enumerate(RECORDS)
    ]


def test_a_wrapper_carries_the_offset_of_its_last_message() -> None:
    inner = b"".join(message(1, relative, b"%d" % relative) for relative in range(3))
    wrapper = message(1, 42, compress(Compression.GZIP, inner), attributes=Compression.GZIP)
    assert [(record.offset, record.value) for record in read(wrapper)] == [(40, b"0"), (41, b"1"), (42, b"2")]


def test_inner_offsets_of_magic_0_are_absolute() -> None:
    inner = b"".join(message(0, offset, b"") for offset in (7, 9))
    assert [record.offset for record in read(message(0, 9, compress(Compression.SNAPPY, inner), 2))] == [7, 9]


def test_append_time_of_the_wrapper_is_that_of_its_messages() -> None:
    inner = message(1, 0, b"a", timestamp=1) + message(1, 1, b"b", timestamp=2)
    wrapper = message(1, 1, compress(Compression.GZIP, inner), attributes=Compression.GZIP | 0x08, timestamp=777)
    assert [record.timestamp for record in read(wrapper)] == [777, 777]


def test_lz4_of_magic_0_has_the_historical_header_checksum() -> None:
    inner = message(0, 0, b"payload " * 100)
    frame = compress(Compression.LZ4, inner)
    wrong = frame[:6] + bytes((frame[6] ^ 0x55,)) + frame[7:]
    with pytest.raises(cramjam.DecompressionError):
        cramjam.lz4.decompress(wrong)
    assert with_right_lz4_header(wrong) == frame
    assert [record.value for record in read(message(0, 0, wrong, Compression.LZ4))] == [b"payload " * 100]


@pytest.mark.parametrize("content_size", [False, True])
def test_lz4_header_checksums_are_those_of_the_standard(content_size: bool) -> None:
    # FLG, BD, content size; the last byte of the header is the checksum that the reference implementation writes.
    header = bytes.fromhex("04224d18" + ("6c407856341200000000" if content_size else "6040"))
    right = with_right_lz4_header(header + b"\0")
    assert right[:-1] == header
    empty = right + bytes(4)
    if not content_size:  # the library refuses the announced size, so only the plain frame can be opened
        assert bytes(cramjam.lz4.decompress(empty)) == b""
        assert right[-1] == 0x82


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (message(1, 0, b"")[:20], "batch"),
        (struct.pack(">qiIbb", 0, 13, 0, 0, 0) + bytes(50), "batch_length"),
        (message(1, 0, compress(Compression.GZIP, message(0, 0, b"")), Compression.GZIP), "magic"),
        (message(1, 0, compress(Compression.GZIP, b""), Compression.GZIP), "value"),
        (message(1, 0, compress(Compression.GZIP, message(1, 0, b"", 1)), Compression.GZIP), "attributes"),
        (message(1, 0, compress(Compression.GZIP, message(1, 0, b"abc")[:-1]), Compression.GZIP), "batch_length"),
    ],
)
def test_malformed_messages_are_refused(data: bytes, field: str) -> None:
    with pytest.raises(WireError) as error:
        decode_records(data, decode_header(data))
    assert error.value.field == field
