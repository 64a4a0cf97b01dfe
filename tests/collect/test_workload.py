"""Counting what was appended, from headers."""

from __future__ import annotations

import pytest

from eosctl.collect.workload import count_batches
from eosctl.model.traffic import PartitionTraffic
from eosctl.model.transaction import TopicPartition
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.control import EndTxnMarker, encode_marker_batch
from eosctl.wire.records.record import Record

NOTHING = PartitionTraffic(TopicPartition("orders", 0), 0, 100)


def batch(offset: int, count: int, producer_id: int = -1) -> bytes:
    records = [Record(offset + index, 1, None, b"v" * 10) for index in range(count)]
    return encode_batch(
        records,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=0,
        transactional=producer_id >= 0,
        base_offset=offset,
    )


def marker(offset: int, committed: bool) -> bytes:
    return encode_marker_batch(EndTxnMarker(committed, 0), 7, 0, 1, base_offset=offset)


def test_data_markers_and_producers_are_distinguished() -> None:
    data = batch(0, 3, producer_id=7) + marker(3, True) + batch(4, 1) + batch(5, 1, producer_id=8) + marker(6, False)
    counted, next_offset = count_batches(NOTHING, data, 0, 100)
    assert (counted.data_batch_count, counted.data_record_count) == (3, 5)
    assert (counted.marker_count, counted.abort_marker_count, counted.marker_bytes) == (2, 1, 156)
    assert counted.producer_ids == {7, 8}
    assert counted.stored_bytes == len(data)
    assert next_offset == 7


def test_only_the_interval_counts() -> None:
    data = batch(0, 3) + batch(3, 2) + batch(5, 2)
    counted, next_offset = count_batches(NOTHING, data, 3, 5)
    assert (counted.data_batch_count, counted.data_record_count, next_offset) == (1, 2, 5)


@pytest.mark.parametrize("cut", [1, 20, 61, 70])
def test_a_batch_that_is_cut_off_is_left_for_the_next_fetch(cut: int) -> None:
    data = batch(0, 3)
    counted, next_offset = count_batches(NOTHING, data + batch(3, 1)[:cut], 0, 100)
    assert (counted.data_batch_count, next_offset) == (1, 3)


def test_a_sample_speaks_for_its_interval() -> None:
    assert NOTHING._replace(counted_offsets=25).scale == 4.0
    assert NOTHING.scale == 1.0
