"""The walk over plain records ends where the records end, and refuses what the decoder refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.wire.errors import WireError
from eosctl.wire.records.record import Record, encode_records
from eosctl.wire.records.walk import FEWEST_ALIKE, walk_records
from tests.wire.records.strategies import record_lists


@given(record_lists, st.binary(max_size=8), st.data())
def test_the_walk_ends_after_the_last_record(records: list[Record], before: bytes, data: st.DataObject) -> None:
    section = before + encode_records(records, records[0].timestamp)
    count = data.draw(st.integers(0, len(records)))
    middle = walk_records(section, len(before), count)
    assert middle == len(before) + len(encode_records(records[:count], records[0].timestamp))
    assert walk_records(section, middle, len(records) - count) == len(section)


@given(record_lists, st.data())
def test_a_section_cut_anywhere_is_refused(records: list[Record], data: st.DataObject) -> None:
    section = encode_records(records, records[0].timestamp)
    cut = data.draw(st.integers(0, len(section) - 1))
    with pytest.raises(WireError):
        walk_records(section[:cut], 0, len(records))


@given(st.binary(max_size=64), st.integers(1, 3))
def test_any_bytes_are_walked_within_them_or_refused(section: bytes, count: int) -> None:
    try:
        end = walk_records(section, 0, count)
    except WireError:
        return
    assert count <= end <= len(section)


@given(st.integers(FEWEST_ALIKE, 150), st.integers(0, 80), st.integers(-1, 70), st.integers(-1, 200), st.data())
def test_records_of_one_layout_are_checked_one_by_one(
    count: int, time_step: int, key_size: int, value_size: int, data: st.DataObject
) -> None:
    def content(size: int) -> bytes | None:
        return None if size < 0 else b"x" * size

    key, value = content(key_size), content(value_size)
    section = bytearray(encode_records([Record(0, n * time_step, key, value) for n in range(count)], 0))
    assert outcome(bytes(section), count, walk_records) == outcome(bytes(section), count, one_by_one) == len(section)
    section[data.draw(st.integers(0, len(section) - 1))] = data.draw(st.integers(0, 255))
    assert outcome(bytes(section), count, walk_records) == outcome(bytes(section), count, one_by_one)


def one_by_one(section: bytes, position: int, count: int) -> int:
    for _ in range(count):
        position = walk_records(section, position, 1)
    return position


def outcome(section: bytes, count: int, walk: Callable[[bytes, int, int], int]) -> int | str:
    try:
        return walk(section, 0, count)
    except WireError as error:
        return str(error)
