"""Codecs: compatible with Kafka's Java client in both directions, with bounded output."""

from __future__ import annotations

import gzip
import struct
import tracemalloc
import zlib

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.wire.errors import WireError
from eosctl.wire.records.compression import Compression, compress, decompress

DATA = b"".join(b"record %d of a batch; " % n for n in range(10_000))  # several blocks of every format
COMPRESSED = [codec for codec in Compression if codec]
XERIAL = bytes.fromhex("82534e41505059000000000100000001")


@given(st.sampled_from(Compression), st.binary(max_size=2000), st.integers(1, 100))
def test_data_comes_back(codec: Compression, data: bytes, repeat: int) -> None:
    assert decompress(codec, compress(codec, data * repeat)) == data * repeat


@pytest.mark.parametrize("codec", COMPRESSED)
def test_joined_frames_are_one_stream(codec: Compression) -> None:
    assert decompress(codec, compress(codec, DATA) + compress(codec, b"more")) == DATA + b"more"


@pytest.mark.parametrize("codec", COMPRESSED)
@pytest.mark.parametrize("cut", [1, 7, 100])
def test_data_that_ends_early_is_refused(codec: Compression, cut: int) -> None:
    with pytest.raises(WireError, match=codec.name.lower()):
        decompress(codec, compress(codec, DATA)[:-cut])


@pytest.mark.parametrize("codec", COMPRESSED)
def test_garbage_is_refused(codec: Compression) -> None:
    for garbage in (b"", b"\xff", bytes(40), b"\x1f\x8b" + bytes(20), XERIAL + b"\x7f\xff\xff\xff", b"\xff" * 64):
        with pytest.raises(WireError):
            decompress(codec, garbage)


@given(st.sampled_from(COMPRESSED), st.integers(-(1 << 31), 1 << 35))
def test_a_wrong_expected_size_changes_nothing(codec: Compression, expected_bytes: int) -> None:
    assert decompress(codec, compress(codec, DATA), expected_bytes=expected_bytes) == DATA
    with pytest.raises(WireError, match="more than 999 bytes"):
        decompress(codec, compress(codec, bytes(1000)), 999, expected_bytes)


@pytest.mark.parametrize("codec", [Compression.LZ4, Compression.ZSTD])
def test_an_expected_size_costs_memory_of_the_order_of_the_input(codec: Compression) -> None:
    small = compress(codec, b"one record")
    tracemalloc.start()
    try:
        decompress(codec, small, expected_bytes=1 << 35)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("member_bytes", [0, 1, 5_000])
def test_twice_the_gzip_members_take_twice_the_work(member_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    member = gzip.compress(bytes(member_bytes))
    given_bytes = 0
    real = zlib.decompressobj

    class Counted:
        def __init__(self, wbits: int) -> None:
            self._real = real(wbits)

        def __getattr__(self, name: str) -> object:
            return getattr(self._real, name)

        def decompress(self, data: bytes, most: int) -> bytes:
            nonlocal given_bytes
            given_bytes += len(data)  # zlib copies what it does not use.
            return self._real.decompress(data, most)

    monkeypatch.setattr(zlib, "decompressobj", Counted)

    def work(count: int) -> int:
        nonlocal given_bytes
        given_bytes = 0
        assert len(decompress(Compression.GZIP, member * count)) == member_bytes * count
        return given_bytes

    assert work(400) < 2.2 * work(200)


@pytest.mark.parametrize("size", [0, 255, 256, 257, 512, 70_000])
def test_gzip_members_of_every_size_are_joined(size: int) -> None:
    member = zlib.compress(bytes(range(256)) * 300, level=0, wbits=31) if size == 70_000 else gzip.compress(bytes(size))
    once = decompress(Compression.GZIP, member)
    assert decompress(Compression.GZIP, member * 3 + b"not a member") == once * 3
    with pytest.raises(WireError, match="ends early"):
        decompress(Compression.GZIP, member * 2 + member[:-1])


def test_unknown_codecs_are_refused() -> None:
    for codec in (5, 6, 7):
        with pytest.raises(WireError) as error:
            decompress(codec, b"")
        assert error.value.field == "attributes"


@pytest.mark.parametrize("codec", Compression)
def test_output_is_bounded(codec: Compression) -> None:
    assert decompress(codec, compress(codec, DATA), max_bytes=len(DATA)) == DATA
    with pytest.raises(WireError, match=str(len(DATA) - 1)):
        decompress(codec, compress(codec, DATA), max_bytes=len(DATA) - 1)


@pytest.mark.parametrize("codec", COMPRESSED)
def test_a_bomb_takes_no_more_memory_than_the_limit(codec: Compression) -> None:
    bomb = compress(codec, bytes(64 << 20))
    limit = 1 << 20
    tracemalloc.start()
    try:
        with pytest.raises(WireError):
            decompress(codec, bomb, max_bytes=limit)
        assert tracemalloc.get_traced_memory()[1] < 4 * limit
    finally:
        tracemalloc.stop()


class TestGzip:
    def test_other_writers(self) -> None:
        assert decompress(Compression.GZIP, gzip.compress(DATA)) == DATA
        assert gzip.decompress(compress(Compression.GZIP, DATA)) == DATA

    def test_bytes_after_the_last_member_are_ignored_as_by_java(self) -> None:
        assert decompress(Compression.GZIP, compress(Compression.GZIP, DATA) + b"\0\0\0") == DATA

    def test_plain_zlib_is_refused(self) -> None:
        with pytest.raises(WireError):
            decompress(Compression.GZIP, zlib.compress(DATA))


class TestSnappy:
    def test_framing_is_that_of_the_java_library(self) -> None:
        data = compress(Compression.SNAPPY, DATA)
        assert data.startswith(XERIAL)
        position, blocks = len(XERIAL), []
        while position < len(data):
            (size,) = struct.unpack_from(">i", data, position)
            blocks.append(bytes(cramjam.snappy.decompress_raw(data[position + 4 : position + 4 + size])))
            position += 4 + size
        assert b"".join(blocks) == DATA
        assert all(len(block) == 32 << 10 for block in blocks[:-1])

    def test_one_raw_block_is_read(self) -> None:
        assert decompress(Compression.SNAPPY, bytes(cramjam.snappy.compress_raw(DATA))) == DATA

    def test_a_block_cannot_claim_more_than_the_format_can_hold(self) -> None:
        for claim in (b"\xff\xff\xff\xff\x0f", b"\xff\xff\xff\x1f"):
            with pytest.raises(WireError):
                decompress(Compression.SNAPPY, claim + b"\x00x")

    def test_the_densest_data_is_read(self) -> None:
        zeros = bytes(1 << 20)
        assert decompress(Compression.SNAPPY, bytes(cramjam.snappy.compress_raw(zeros))) == zeros


class TestLz4:
    def test_frames_have_independent_blocks_and_no_content_checksum(self) -> None:
        frame = compress(Compression.LZ4, DATA)
        assert frame.startswith(b"\x04\x22\x4d\x18")
        flags, block_descriptor = frame[4], frame[5]
        assert flags >> 6 == 1  # version
        assert flags & 0x20  # blocks stand alone: Java refuses linked ones
        assert not flags & 0x0F  # no content size, content checksum or dictionary
        assert block_descriptor == 0x40  # 64 KiB

    def test_linked_blocks_and_checksums_of_other_writers_are_read(self) -> None:
        assert decompress(Compression.LZ4, bytes(cramjam.lz4.compress(DATA))) == DATA

    def test_incompressible_data(self) -> None:
        noise = bytes(cramjam.zstd.compress(DATA)) * 3
        assert decompress(Compression.LZ4, compress(Compression.LZ4, noise)) == noise


def test_zstd_frames_of_other_levels_are_read() -> None:
    for level in (1, 9, 19):
        assert decompress(Compression.ZSTD, bytes(cramjam.zstd.compress(DATA, level))) == DATA
