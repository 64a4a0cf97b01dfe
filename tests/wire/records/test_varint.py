"""Zigzag varints over the whole range of 64 bits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.wire.errors import WireError
from eosctl.wire.records.varint import decode_varint, encode_varint


@given(st.integers(-(2**63), 2**63 - 1) | st.integers(-20_000, 20_000), st.binary(max_size=3), st.binary(max_size=3))
def test_numbers_come_back(value: int, before: bytes, after: bytes) -> None:
    encoded = encode_varint(value)
    assert decode_varint(before + encoded + after, len(before)) == (value, len(before) + len(encoded))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (-1, "01"), (63, "7e"), (-64, "7f"), (64, "8001"), (300, "d804"), (2**31 - 1, "feffffff0f")],
)
def test_known_encodings(value: int, encoded: str) -> None:
    assert encode_varint(value).hex() == encoded


def test_endless_and_cut_off_numbers_are_refused() -> None:
    with pytest.raises(WireError):
        decode_varint(b"\x80" * 11, 0)
    with pytest.raises(IndexError):
        decode_varint(b"\x80" * 9, 0)
