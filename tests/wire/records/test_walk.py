"""The walk over plain records ends where the records end, and refuses what the decoder refuses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.wire.errors import WireError
from eosctl.wire.records.record import Record, encode_records
from eosctl.wire.records.walk import walk_records
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
