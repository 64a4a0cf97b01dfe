"""The sizes that formulas compute are those of Kafka's encoding, byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.capacity.record_sizes import (
    MARKER_BATCH_BYTES,
    TopicPartitions,
    batch_bytes,
    offset_commit_batch_bytes,
    producer_snapshot_bytes,
    transaction_state_bytes,
    transaction_state_tag_bytes,
    unsigned_varint_bytes,
    varint_bytes,
)
from eosctl.storage.producer_snapshot import ProducerSnapshotEntry, encode_snapshot
from eosctl.wire.internal import offsets, transaction_log
from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitKey, OffsetCommitValue
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.control import EndTxnMarker, encode_marker_batch
from eosctl.wire.records.record import Record

NAMES = st.integers(1, 249)
NO_TAGS = {"previous_producer_id": -1, "next_producer_id": -1, "client_transaction_version": 0}


def state_batch(id_bytes: int, topics: list[tuple[int, int]], version: int, **tags: int) -> bytes:
    listed = [transaction_log.TransactionPartitions("t" * name, list(range(count))) for name, count in topics]
    value = transaction_log.TransactionValue(7, 3, 60_000, 1, listed, 1, 2, **{**NO_TAGS, **tags})
    key = transaction_log.encode_key(transaction_log.TransactionKey("i" * id_bytes))
    return encode_batch([Record(0, 1, key, transaction_log.encode_value(value, version))])


@given(NAMES, st.lists(st.tuples(NAMES, st.integers(1, 200)), max_size=4), st.booleans())
def test_transaction_state(id_bytes: int, topics: list[tuple[int, int]], flexible: bool) -> None:
    predicted = transaction_state_bytes(id_bytes, [TopicPartitions(*topic) for topic in topics], flexible=flexible)
    assert predicted == len(state_batch(id_bytes, topics, 1 if flexible else 0))


@pytest.mark.parametrize(
    ("version", "major", "tags"),
    [
        (1, 3, {}),
        (1, 4, {"previous_producer_id": 7}),
        (2, 4, {"previous_producer_id": 7, "client_transaction_version": 2}),
    ],
)
def test_tags_of_transaction_state(version: int, major: int, tags: dict[str, int]) -> None:
    predicted = transaction_state_bytes(20, tag_bytes=transaction_state_tag_bytes(version, kafka_major=major))
    assert predicted == len(state_batch(20, [], 1, **tags))


@given(NAMES, NAMES, st.integers(1, 40), st.integers(0, 60), st.booleans())
def test_offset_commit(group: int, name: int, count: int, metadata: int, topic_ids: bool) -> None:
    value = OffsetCommitValue(5, 1, "m" * metadata, 9, **({"topic_id": b"i" * 16} if topic_ids else {}))
    records = [
        Record(
            index,
            1,
            offsets.encode_key(OffsetCommitKey("g" * group, "t" * name, index)),
            offsets.encode_value(value, 4 if topic_ids else 3),
        )
        for index in range(count)
    ]
    topics = [TopicPartitions(name, count)]
    predicted = offset_commit_batch_bytes(group, topics, metadata_bytes=metadata, topic_ids=topic_ids)
    assert predicted == len(encode_batch(records))


@given(st.one_of(st.none(), st.integers(0, 300)), st.integers(0, 5_000), st.integers(1, 60))
def test_a_batch_of_equal_records(key: int | None, value: int, count: int) -> None:
    records = [Record(i, 1, None if key is None else b"k" * key, b"v" * value) for i in range(count)]
    assert batch_bytes(key, value, count) == len(encode_batch(records))


@given(st.integers(-(2**31), 2**31 - 1))
def test_varints(value: int) -> None:
    zigzag = (value << 1) ^ (value >> 31)
    length = 1
    while zigzag >= 0x80:
        zigzag >>= 7
        length += 1
    assert varint_bytes(value) == length


def test_unsigned_varints_change_size_where_seven_bits_are_full() -> None:
    assert [unsigned_varint_bytes(n) for n in (0, 127, 128, 16_383, 16_384)] == [1, 1, 2, 2, 3]


def test_markers_snapshots_and_index_entries() -> None:

    entry = ProducerSnapshotEntry(1, 0, 0, 0, 0, 1, 0, -1)
    assert len(encode_marker_batch(EndTxnMarker(True, 0), 7, 3, 1)) == MARKER_BATCH_BYTES
    assert len(encode_snapshot([entry] * 9)) == producer_snapshot_bytes(9)
