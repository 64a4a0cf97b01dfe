"""Uuids, varints and the partition of a key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.wire.internal.partitioner import java_hash_code, partition_for
from eosctl.wire.runtime import read_unsigned_varint, unsigned_varint
from eosctl.wire.uuid import ZERO_UUID, parse_uuid, render_uuid


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (ZERO_UUID, "AAAAAAAAAAAAAAAAAAAAAA"),
        (bytes.fromhex("0123456789abcdeffedcba9876543210"), "ASNFZ4mrze_-3LqYdlQyEA"),
        (b"\xff" * 15 + b"\xfe", "_____________________g"),
    ],
)
def test_uuids_as_kafka_prints_them(value: bytes, text: str) -> None:
    assert render_uuid(value) == text
    assert parse_uuid(text) == value


@given(st.binary(min_size=16, max_size=16))
def test_uuids_round_trip(value: bytes) -> None:
    assert parse_uuid(render_uuid(value)) == value


@pytest.mark.parametrize("text", ["", "AAAA", "_____________________x", "not a uuid at all!!!!!", "A" * 24])
def test_invalid_uuids(text: str) -> None:
    with pytest.raises(ValueError, match=r"uuid|base64|padding"):
        parse_uuid(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [  # printed by a Java virtual machine
        ("", 0),
        ("order-app", -392749278),
        ("payments-é世", -1539499795),
        ("app-😀", -1409352561),
        ("polygenelubricants", -2147483648),
        ("fa7-transactional-id-0123456789", -893397182),
    ],
)
def test_hash_codes_are_those_of_java(text: str, code: int) -> None:
    assert java_hash_code(text) == code


def test_partitions() -> None:
    assert partition_for("order-app", 50) == 392749278 % 50
    assert partition_for("polygenelubricants", 50) == 0
    assert {partition_for(f"app-{number}", 3) for number in range(50)} == {0, 1, 2}


@given(st.integers(0, 2**32 - 1))
def test_varints_round_trip(value: int) -> None:
    wire = unsigned_varint(value)
    assert read_unsigned_varint(b"\xff" + wire + b"\xff", 1) == (value, 1 + len(wire))
