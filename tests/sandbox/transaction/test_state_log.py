"""The state log: records of real brokers round-trip exactly, and a coordinator's state survives a reload."""

from __future__ import annotations

import base64
import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eosctl.model.transaction import TopicPartition, TransactionState
from eosctl.sandbox.coordinator.transaction.metadata import TransactionMetadata
from eosctl.sandbox.coordinator.transaction.state_log import (
    decode_transactional_id,
    decode_value,
    encode_key,
    encode_value,
)
from eosctl.wire.internal import transaction_log
from eosctl.wire.internal.transaction_log import TransactionPartitions, TransactionValue

RECORDS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "fixtures/sandbox/transaction/state-records.json").read_text()
)
VALUES = [record for record in RECORDS if record["value"] is not None]


@pytest.mark.parametrize("case", sorted({record["case"] for record in VALUES}))
def test_real_records_round_trip(case: str) -> None:
    for record in VALUES:
        if record["case"] != case:
            continue
        key, value = base64.b64decode(record["key"]), base64.b64decode(record["value"])
        transactional_id = decode_transactional_id(key)
        assert transactional_id is not None
        assert encode_key(transactional_id) == key
        metadata = decode_value(transactional_id, value)
        version = int.from_bytes(value[:2], "big")
        encoded = encode_value(metadata, version, writes_tags=record["release"] != "3.9")
        if len(metadata.partitions) < 2:
            assert encoded == value
        else:  # Kafka writes the partitions in the order of a hash set
            assert len(encoded) == len(value)
            assert in_order(encoded) == in_order(value)


def in_order(value: bytes) -> TransactionValue:
    decoded = transaction_log.decode_value(value)
    topics = sorted((topic.topic, sorted(topic.partition_ids)) for topic in decoded.transaction_partitions or ())
    return replace(decoded, transaction_partitions=[TransactionPartitions(*topic) for topic in topics])


def test_keys_of_other_kinds_are_skipped() -> None:
    assert decode_transactional_id(b"\x00\x09\x00\x01a") is None


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
int64 = st.integers(0, 2**63 - 1)
partitions = st.frozensets(st.builds(TopicPartition, names, st.integers(0, 2**31 - 1)), max_size=6)
written = st.sampled_from([state for state in TransactionState if state is not TransactionState.EMPTY])


@given(
    st.builds(
        TransactionMetadata,
        transactional_id=names,
        producer_id=int64,
        producer_epoch=st.integers(0, 32767),
        timeout_ms=st.integers(1, 2**31 - 1),
        state=written,
        partitions=partitions,
        start_ms=int64,
        last_update_ms=int64,
        last_producer_epoch=st.just(-1),
        previous_producer_id=int64,
        next_producer_id=int64 | st.just(-1),
        client_transaction_version=st.sampled_from([0, 2]),
    )
)
def test_values_round_trip(metadata: TransactionMetadata) -> None:
    assert decode_value(metadata.transactional_id, encode_value(metadata, 1, writes_tags=True)) == metadata
    untagged = dataclasses.replace(metadata, previous_producer_id=-1, next_producer_id=-1, client_transaction_version=0)
    for version in (0, 1):
        assert decode_value(metadata.transactional_id, encode_value(metadata, version, writes_tags=False)) == untagged
