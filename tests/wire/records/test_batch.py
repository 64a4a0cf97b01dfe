"""Batches keep what they are given, and a broker's changes to them leave the rest alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eosctl.wire.errors import WireError
from eosctl.wire.records.batch import (
    BatchHeader,
    check_crc,
    decode_header,
    decode_records,
    encode_batch,
    encode_entries,
    encode_retained,
    iter_headers,
    iter_records,
    with_append_time,
    with_offset,
)
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.header import HEADER_BYTES
from eosctl.wire.records.record import Record
from tests.wire.records.kafka_python import DefaultRecordBatch, DefaultRecordBatchBuilder
from tests.wire.records.strategies import TIMESTAMPS, codecs, numbered, record_lists


@given(
    record_lists,
    codecs,
    st.integers(0, 2**62),
    st.integers(-1, 2**31 - 1),
    st.integers(-1, 2**62),
    st.integers(-1, 2**15 - 1),
    st.integers(-1, 2**31 - 1),
    st.booleans(),
)
def test_a_batch_holds_what_was_encoded(
    records: list[Record],
    codec: Compression,
    base_offset: int,
    leader_epoch: int,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    transactional: bool,
) -> None:
    batch = encode_batch(
        records,
        base_offset=base_offset,
        partition_leader_epoch=leader_epoch,
        codec=codec,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        transactional=transactional,
    )
    header = decode_header(batch)
    assert header.size_bytes == len(batch)
    assert check_crc(batch, header)
    assert decode_records(batch, header) == numbered(records, base_offset)
    assert header.codec == codec
    assert (header.base_offset, header.last_offset) == (base_offset, base_offset + len(records) - 1)
    assert header.partition_leader_epoch == leader_epoch
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (
        producer_id,
        producer_epoch,
        base_sequence,
    )
    assert header.is_transactional is transactional
    assert not header.is_control
    assert header.base_timestamp == records[0].timestamp
    assert header.max_timestamp == max(record.timestamp for record in records)


def in_slices(batch: bytes, slice_count: int) -> list[Record] | str:
    try:
        slices = list(iter_records(batch, decode_header(batch), slice_count))
    except WireError as error:
        return str(error)
    assert all(0 < len(part) <= slice_count for part in slices)
    return [record for part in slices for record in part]


def whole(batch: bytes) -> list[Record] | str:
    try:
        return decode_records(batch, decode_header(batch))
    except WireError as error:
        return str(error)


@given(record_lists, codecs, st.integers(1, 5), st.data())
def test_slices_hold_the_same_records_and_errors(
    records: list[Record], codec: Compression, slice_count: int, data: st.DataObject
) -> None:
    batch = bytearray(encode_batch(records, codec=codec))
    assert in_slices(bytes(batch), slice_count) == whole(bytes(batch)) == numbered(records, 0)
    batch[data.draw(st.integers(HEADER_BYTES - 4, len(batch) - 1))] ^= data.draw(st.integers(1, 255))
    assert in_slices(bytes(batch), slice_count) == whole(bytes(batch))


@given(record_lists, codecs, TIMESTAMPS)
def test_append_time_replaces_the_timestamps_of_all_records(
    records: list[Record], codec: Compression, append_time: int
) -> None:
    batch = with_append_time(encode_batch(records, codec=codec), append_time)
    header = decode_header(batch)
    assert check_crc(batch, header)
    assert header.is_log_append_time
    assert [record.timestamp for record in decode_records(batch, header)] == [append_time] * len(records)
    assert batch == encode_batch(records, codec=codec, log_append_time_ms=append_time)


@given(st.lists(st.tuples(st.binary(max_size=700), st.none() | st.binary(max_size=700)), min_size=1), TIMESTAMPS)
def test_entries_of_a_state_log_are_plain_records_of_one_time(
    entries: list[tuple[bytes, bytes | None]], timestamp: int
) -> None:
    records = [Record(0, timestamp, *entry) for entry in entries]
    batch = encode_batch(records, base_offset=7, partition_leader_epoch=3)
    assert encode_entries(entries, timestamp, 7, 3) == (decode_header(batch), batch)


@given(record_lists, codecs, st.integers(0, 2**62), st.integers(0, 2**31 - 1))
def test_the_leader_sets_offset_and_epoch_outside_the_checksum(
    records: list[Record], codec: Compression, base_offset: int, leader_epoch: int
) -> None:
    batch = encode_batch(records, codec=codec)
    placed = with_offset(batch, base_offset, leader_epoch)
    header = decode_header(placed)
    assert check_crc(placed, header)
    assert header == decode_header(batch).placed(base_offset, leader_epoch)
    assert decode_records(placed, header) == numbered(records, base_offset)


@given(record_lists, st.sets(st.integers(0, 11)), st.none() | st.integers(2**40, 2**41), codecs)
def test_the_cleaner_keeps_offsets_sequence_and_producer(
    records: list[Record], kept: set[int], delete_horizon_ms: int | None, codec: Compression
) -> None:
    batch = encode_batch(
        records, base_offset=100, codec=codec, producer_id=7, producer_epoch=3, base_sequence=20, transactional=True
    )
    original = decode_header(batch)
    retained = [record for index, record in enumerate(decode_records(batch, original)) if index in kept]
    cleaned = encode_retained(original, retained, delete_horizon_ms=delete_horizon_ms)
    header = decode_header(cleaned)
    assert check_crc(cleaned, header)
    assert decode_records(cleaned, header) == retained
    assert (header.base_offset, header.last_offset) == (original.base_offset, original.last_offset)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 3, 20)
    assert header.last_sequence == original.last_sequence
    assert header.is_transactional
    if retained:
        assert header.delete_horizon_ms == delete_horizon_ms
    else:
        assert (len(cleaned), header.codec, header.base_timestamp) == (61, 0, -1)
        assert header.max_timestamp == original.max_timestamp


@given(record_lists, st.sampled_from([Compression.NONE, Compression.GZIP]))
def test_kafka_python_reads_and_writes_the_same_batches(records: list[Record], codec: Compression) -> None:
    batch = encode_batch(records, codec=codec, producer_id=5, producer_epoch=1, base_sequence=9, transactional=True)
    read = DefaultRecordBatch(bytearray(batch))
    assert read.validate_crc()
    assert [(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in read] == [
        tuple(record) for record in numbered(records, 0)
    ]
    builder = DefaultRecordBatchBuilder(2, codec, True, 5, 1, 9, 1 << 20)
    for index, record in enumerate(records):
        builder.append(index, record.timestamp, record.key, record.value, list(record.headers))
    theirs = bytes(builder.build())
    header = decode_header(theirs)
    assert check_crc(theirs, header)
    assert decode_records(theirs, header) == numbered(records, 0)
    if codec is Compression.NONE and records[0].timestamp == min(record.timestamp for record in records):
        assert theirs[21:] == batch[21:]


@given(st.lists(record_lists, min_size=1, max_size=4), st.data())
def test_headers_are_found_up_to_a_partial_batch(batches: list[list[Record]], data: st.DataObject) -> None:
    encoded = [encode_batch(records, base_offset=1000 * index) for index, records in enumerate(batches)]
    joined = b"".join(encoded)
    cut = data.draw(st.integers(0, len(joined)))
    ends = [sum(map(len, encoded[: index + 1])) for index in range(len(encoded))]
    found = list(iter_headers(joined[:cut]))
    assert [position + header.size_bytes for position, header in found] == [end for end in ends if end <= cut]
    assert [header.base_offset for _, header in found] == [1000 * index for index in range(len(found))]


@pytest.mark.parametrize(
    ("base_sequence", "last_offset_delta", "last_sequence"),
    [(0, 4, 4), (-1, 4, -1), (2**31 - 1, 0, 2**31 - 1), (2**31 - 1, 1, 0), (2**31 - 3, 4, 1)],
)
def test_sequences_wrap_to_zero(base_sequence: int, last_offset_delta: int, last_sequence: int) -> None:
    header = BatchHeader(0, 49, 0, 2, 0, 0, last_offset_delta, 0, 0, 1, 0, base_sequence, last_offset_delta + 1)
    assert header.last_sequence == last_sequence


def test_every_bit_is_covered_by_the_checksum_or_precedes_it() -> None:
    batch = encode_batch([Record(0, 1, b"key", b"value")], producer_id=1, producer_epoch=0, base_sequence=0)
    for position in range(21, len(batch)):
        for bit in range(8):
            damaged = bytearray(batch)
            damaged[position] ^= 1 << bit
            assert not check_crc(bytes(damaged), decode_header(batch))


class TestMalformed:
    """Malformed batches are refused with the field and the byte."""

    BATCH = encode_batch([Record(0, 1000, b"key", b"value", (("h", b"x"), ("n", None)))] * 3, base_offset=7)

    def refused(self, batch: bytes, header: BatchHeader | None = None) -> WireError:
        with pytest.raises(WireError) as error:
            decode_records(batch, header or decode_header(batch))
        return error.value

    def test_unknown_magic(self) -> None:
        error = self.refused(self.BATCH[:16] + b"\x03" + self.BATCH[17:])
        assert (error.field, error.offset) == ("magic", 16)

    def test_length_below_a_header(self) -> None:
        error = self.refused(self.BATCH[:8] + (48).to_bytes(4, "big") + self.BATCH[12:])
        assert (error.field, error.offset) == ("batch_length", 8)

    def test_header_cut_off(self) -> None:
        for size in range(61):
            with pytest.raises(WireError):
                decode_header(self.BATCH[:size])

    def test_batch_cut_off(self) -> None:
        error = self.refused(self.BATCH[:-1])
        assert (error.field, error.offset) == ("batch_length", 8)

    def test_unknown_codec(self) -> None:
        error = self.refused(self.BATCH, replace(decode_header(self.BATCH), attributes=5))
        assert error.field == "attributes"

    @pytest.mark.parametrize("count", [-1, 0, 2, 4, 2**31 - 1])
    def test_wrong_record_count(self, count: int) -> None:
        error = self.refused(self.BATCH, replace(decode_header(self.BATCH), records_count=count))
        assert error.field in ("records_count", "records[3]")
        assert 61 <= error.offset <= len(self.BATCH)

    def test_errors_name_the_record_and_its_byte(self) -> None:
        position = self.BATCH.index(b"value", 80)  # the value of the second record
        damaged = bytearray(self.BATCH)
        damaged[position - 1] += 2  # its length, one too many
        error = self.refused(bytes(damaged))
        assert error.field.startswith("records[1].")
        assert 61 < error.offset < len(self.BATCH)

    def test_offsets_count_from_the_start_of_the_buffer(self) -> None:
        joined = self.BATCH + self.BATCH[:-4]
        with pytest.raises(WireError) as error:
            decode_records(joined, decode_header(joined, len(self.BATCH)), len(self.BATCH))
        assert error.value.offset == len(self.BATCH) + 8
