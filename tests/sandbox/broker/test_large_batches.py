"""A batch of many records is checked in slices, and other clients are served between them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from eosctl.sandbox.log.validation import SLICE_RECORDS
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.metadata import MetadataRequest
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.record import Record
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness, Pending

COUNT = 2 * SLICE_RECORDS + 1
WIDTH = 6


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    harness = Harness(tmp_path_factory.mktemp("cluster"))
    client = EosClient(harness)
    client.create_topic("orders")
    client.create_topic("latest", cleanup_policy="compact")
    client.create_topic("wide", WIDTH)
    yield harness
    harness.close()


def produce(topic: str, keyless: int | None = None) -> ProduceRequest:
    records = [Record(0, 1_790_000_000_000, None if number == keyless else b"k", b"") for number in range(COUNT)]
    batch = encode_batch(records, codec=Compression.GZIP)
    return ProduceRequest(None, -1, 1000, [TopicProduceData(topic, partition_data=[PartitionProduceData(0, batch)])])


def test_other_clients_are_served_during_the_check(harness: Harness) -> None:
    large = harness.client().send(ApiKey.PRODUCE, 8, produce("orders"))
    small = harness.client().send(ApiKey.METADATA, 9, MetadataRequest([], False))
    harness.run_until(lambda: small.is_over)
    assert not large.is_over
    harness.run_until(lambda: large.is_over)
    again = harness.client().request(ApiKey.PRODUCE, 8, produce("orders"))
    found = [response.responses[0].partition_responses[0] for response in (large.response, again)]
    assert [(one.error_code, one.base_offset) for one in found] == [(0, 0), (0, COUNT)]


def test_many_batches_are_checked_in_turns(harness: Harness) -> None:
    batch = encode_batch([Record(0, 1_790_000_000_000, None, b"")] * (SLICE_RECORDS // 2 + 1), codec=Compression.GZIP)
    data = [PartitionProduceData(index, batch) for index in range(WIDTH)]
    large = harness.client().send(
        ApiKey.PRODUCE, 8, ProduceRequest(None, 1, 1000, [TopicProduceData("wide", b"", data)])
    )
    witness, served = harness.client(), 0
    while not large.is_over:
        small = witness.send(ApiKey.METADATA, 9, MetadataRequest([], False))
        harness.run_until(partial(is_any_over, small, large))
        served += not large.is_over
    assert served >= WIDTH - 2
    errors = [part.error_code for part in large.response.responses[0].partition_responses]
    assert errors == [0] * WIDTH


def is_any_over(*pending: Pending) -> bool:
    return any(one.is_over for one in pending)


@pytest.mark.parametrize("keyless", [0, SLICE_RECORDS, COUNT - 1])
def test_a_bad_record_of_any_slice_is_named(harness: Harness, keyless: int) -> None:
    response = harness.client().request(ApiKey.PRODUCE, 8, produce("latest", keyless))
    refused = response.responses[0].partition_responses[0]
    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert [error.batch_index for error in refused.record_errors] == [keyless]
    assert refused.log_start_offset == 0
