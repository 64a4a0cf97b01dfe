"""Records of internal topics as real brokers wrote them, and as Kafka's classes decoded them."""

import base64
import gzip
import json
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from eosctl.model.transaction import TransactionState
from eosctl.wire.errors import WireError
from eosctl.wire.generated.index import RECORDS
from eosctl.wire.internal import consumer_protocol, control_records, metadata, offsets, transaction_log
from eosctl.wire.internal.versioned import UnknownRecordError, share_group_state
from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitKey
from eosctl.wire.messages.internal.control.leader_change_message import LeaderChangeMessage
from tests.wire.vectors import FIXTURES, differences, load_vectors

ROOMS: dict[str, Any] = {
    "__transaction_state": transaction_log,
    "__consumer_offsets": offsets,
    "__share_group_state": share_group_state,
}


def load_records(topic: str) -> list[dict[str, Any]]:
    with gzip.open(FIXTURES / "internal-records.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [row for row in map(json.loads, lines) if row["topic"] == topic]


@pytest.mark.parametrize("topic", sorted(ROOMS))
def test_records_of_real_brokers_round_trip(topic: str) -> None:
    room = ROOMS[topic]
    rows = load_records(topic)
    for row in rows:
        key_bytes = base64.b64decode(row["key"])
        key = room.decode_key(key_bytes)
        assert differences(key, row["decoded"]["key"], "key") == []
        assert room.encode_key(key) == key_bytes
        if row["value"] is None:
            continue
        value_bytes = base64.b64decode(row["value"])
        value = room.decode_value(value_bytes) if room is transaction_log else room.decode_value(key, value_bytes)
        assert differences(value, row["decoded"]["value"], "value") == []
        assert room.encode_value(value, row["decoded"]["valueVersion"]) == value_bytes
    assert Counter(row["value"] is None for row in rows)[False] > 5


def test_transaction_states_have_kafkas_numbers() -> None:
    assert transaction_log.TRANSACTION_STATES[0] is TransactionState.EMPTY
    assert transaction_log.TRANSACTION_STATES[4] is TransactionState.COMPLETE_COMMIT
    assert set(transaction_log.TRANSACTION_STATES) == set(TransactionState)


def test_unknown_tags_survive() -> None:
    value = transaction_log.TransactionValue(5, 1, 60_000, 1, unknown_tags=((9, b"new"),), next_producer_epoch=3)
    again = transaction_log.decode_value(transaction_log.encode_value(value, 1))
    assert again.unknown_tags == ((9, b"new"),)
    assert again.next_producer_epoch == 3
    assert transaction_log.decode_value(transaction_log.encode_value(value, 0)).next_producer_epoch == -1


def test_very_many_unknown_tags_take_linear_time() -> None:
    value = transaction_log.TransactionValue(
        5, 1, 60_000, 1, unknown_tags=tuple((tag, b"") for tag in range(9, 200_009))
    )
    assert transaction_log.decode_value(transaction_log.encode_value(value, 1)) == replace(
        value, transaction_partitions=[]
    )


def test_both_types_of_committed_offsets_are_one() -> None:
    key = OffsetCommitKey("group", "topic", 3)
    wire = offsets.encode_key(key)
    assert wire[:2] == b"\0\1"
    assert offsets.decode_key(b"\0\0" + wire[2:]) == key


def test_unknown_records_are_distinguished_from_broken_ones() -> None:
    with pytest.raises(UnknownRecordError, match="record type 77"):
        offsets.decode_key(b"\0\x4d")
    with pytest.raises(UnknownRecordError, match="no version 9"):
        transaction_log.decode_value(b"\0\x09")
    with pytest.raises(WireError) as caught:
        transaction_log.decode_value(b"\0\0\0")
    assert not isinstance(caught.value, UnknownRecordError)
    assert (caught.value.field, caught.value.offset) == ("producer_id", 2)
    with pytest.raises(WireError, match="record_type"):
        offsets.decode_key(b"\0")
    with pytest.raises(TypeError, match="is not a record of"):
        offsets.encode_key(transaction_log.TransactionKey("x"))


def test_metadata_records_round_trip_behind_their_prefix() -> None:
    seen = set()
    for name, (number, _) in RECORDS.items():
        room, _, record_name = name.partition(".")
        if room != "metadata":
            continue
        for vector in load_vectors()[record_name]:
            wire = metadata.encode_record(vector.decode(), vector.version)
            assert wire == bytes((1, number or 0, vector.version)) + vector.wire
            assert metadata.decode_record(wire) == vector.decode()
            assert isinstance(metadata.decode_record(wire), getattr(metadata, record_name))
        seen.add(number)
    assert {0, 2, 3, 5, 7, 8, 12, 15, 17, 18} <= seen


@pytest.mark.parametrize(
    ("wire", "field"),
    [(b"", "record_type"), (b"\1\2", "record_type"), (b"\2\2\0", "frame_version"), (b"\1\x63\0", "record_type"),
     (b"\1\2\x09", "version"), (b"\1\2\0\4", "name")],
)  # fmt: skip
def test_broken_metadata_records(wire: bytes, field: str) -> None:
    with pytest.raises(WireError) as caught:
        metadata.decode_record(wire)
    assert caught.value.field == field


def test_subscriptions_and_assignments_in_recorded_groups() -> None:
    found = 0
    for row in load_records("__consumer_offsets"):
        if row["decoded"]["recordType"] != "GROUP_METADATA" or row["value"] is None:
            continue
        if row["decoded"]["value"]["protocolType"] != "consumer":
            continue
        for member in row["decoded"]["value"]["members"]:
            wire = base64.b64decode(member["subscription"])
            subscription = consumer_protocol.decode_subscription(wire)
            assert subscription.topics
            assert consumer_protocol.encode_subscription(subscription, wire[1]) == wire
            wire = base64.b64decode(member["assignment"])
            if wire:
                assignment = consumer_protocol.decode_assignment(wire)
                assert consumer_protocol.encode_assignment(assignment, wire[1]) == wire
                found += 1
    assert found


def test_later_subscription_versions_are_read_as_the_last_known() -> None:
    subscription = consumer_protocol.ConsumerProtocolSubscription(["a"], rack_id="r")
    wire = b"\0\x07" + consumer_protocol.encode_subscription(subscription)[2:] + b"more"
    assert consumer_protocol.decode_subscription(wire).rack_id == "r"


def test_control_values() -> None:
    value = LeaderChangeMessage(0, 1, [], [])
    wire = control_records.encode_control_value(value, 0)
    assert control_records.decode_control_value(2, wire) == value
    with pytest.raises(UnknownRecordError):
        control_records.decode_control_value(9, wire)


def test_a_record_has_no_other_attributes() -> None:
    with pytest.raises(AttributeError):
        getattr(metadata, "NoSuchRecord")  # noqa: B009
