"""Transaction markers have Kafka's bytes; other control records are kept as they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.wire.errors import WireError
from eosctl.wire.records.batch import check_crc, decode_header, decode_records, encode_batch
from eosctl.wire.records.control import (
    MARKER_BATCH_BYTES,
    ControlType,
    EndTxnMarker,
    OtherControl,
    decode_control,
    encode_marker_batch,
)
from eosctl.wire.records.record import Record

COMMIT_AT_5 = bytes.fromhex(
    "0000000000000005 00000042 00000000 02 339ae2ff 0030 00000000 0000000000000000 0000000000000000"
    "00000000000003e8 0000 ffffffff 00000001 2000000008 00000001 0c 000000000000 00"
)


def test_a_commit_marker_has_kafkas_bytes() -> None:
    batch = encode_marker_batch(EndTxnMarker(True, 0), 1000, 0, 0, base_offset=5, partition_leader_epoch=0)
    assert batch == COMMIT_AT_5
    assert len(batch) == MARKER_BATCH_BYTES == 78


@given(
    st.booleans(),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(0, 2**62),
    st.integers(0, 2**15 - 1),
    st.integers(0, 2**45),
    st.booleans(),
)
def test_a_marker_comes_back(
    committed: bool, coordinator_epoch: int, producer_id: int, producer_epoch: int, timestamp: int, append_time: bool
) -> None:
    marker = EndTxnMarker(committed, coordinator_epoch)
    batch = encode_marker_batch(marker, producer_id, producer_epoch, timestamp, log_append_time=append_time)
    header = decode_header(batch)
    assert check_crc(batch, header)
    assert header.is_control
    assert header.is_transactional
    assert header.is_log_append_time is append_time
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (producer_id, producer_epoch, -1)
    (record,) = decode_records(batch, header)
    assert record.timestamp == timestamp
    assert decode_control(record) == marker
    generic = encode_batch(
        [record],
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        transactional=True,
        control=True,
        log_append_time_ms=timestamp if append_time else None,
    )
    assert batch == generic


def control(key: str | None, value: str | None) -> Record:
    return Record(0, 0, None if key is None else bytes.fromhex(key), None if value is None else bytes.fromhex(value))


def test_later_versions_of_a_marker_are_read_as_the_first() -> None:
    assert decode_control(control("00000001", "000100000007ffff")) == EndTxnMarker(True, 7)
    assert decode_control(control("000100000000", "000000000007")) == EndTxnMarker(False, 7)


@pytest.mark.parametrize("control_type", [2, 3, 4, 5, 6, 99, -1])
def test_other_types_are_kept(control_type: int) -> None:
    key = "0000" + control_type.to_bytes(2, "big", signed=True).hex()
    assert decode_control(control(key, "0001")) == OtherControl(control_type, b"\0\1")
    assert decode_control(control(key, None)) == OtherControl(control_type, None)


@pytest.mark.parametrize(
    ("key", "value", "field"),
    [
        (None, "000000000000", "key"),
        ("0000", "000000000000", "key"),
        ("ffff0001", "000000000000", "key.version"),
        ("00000001", None, "value"),
        ("00000001", "0000000000", "value"),
        ("00000000", "ffff00000000", "value.version"),
    ],
)
def test_malformed_control_records_are_refused(key: str | None, value: str | None, field: str) -> None:
    with pytest.raises(WireError) as error:
        decode_control(control(key, value))
    assert error.value.field == field


def test_type_numbers_are_kafkas() -> None:
    assert [kind.name for kind in sorted(ControlType)] == [
        "ABORT",
        "COMMIT",
        "LEADER_CHANGE",
        "SNAPSHOT_HEADER",
        "SNAPSHOT_FOOTER",
        "KRAFT_VERSION",
        "KRAFT_VOTERS",
    ]
