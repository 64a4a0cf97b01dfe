"""A batch of many records is checked in slices, and other clients are served between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import google_crc32c
import pytest

from eosctl.sandbox.log.validation import LARGE_COMPRESSED_BYTES, SLICE_RECORDS
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.metadata import MetadataRequest
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.compression import Compression
from eosctl.wire.records.header import CRC_START
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


class OtherThread:
    """A thread that does its work when the test says so."""

    def __init__(self) -> None:
        self.work: Callable[[], Any] | None = None
        self._future: Future[Any] = Future()

    def run(self, _: None, work: Callable[[], Any]) -> Future[Any]:
        self.work = work
        return self._future

    def finish(self) -> None:
        assert self.work is not None
        try:
            self._future.set_result(self.work())
        except ValueError as error:
            self._future.set_exception(error)


MANY_RECORDS = [Record(0, 1_790_000_000_000, None, b"")] * COUNT
MANY_BYTES = [Record(0, 1_790_000_000_000, None, Random(1).randbytes(LARGE_COMPRESSED_BYTES))] * 2
DAMAGED_BYTES = 200


@pytest.mark.parametrize("records", [MANY_RECORDS, MANY_BYTES], ids=["many records", "many bytes"])
@pytest.mark.parametrize("is_damaged", [False, True], ids=["whole", "damaged"])
def test_a_large_batch_is_unpacked_in_a_thread(tmp_path: Path, records: list[Record], is_damaged: bool) -> None:
    harness, thread = Harness(tmp_path), OtherThread()
    EosClient(harness).create_topic("orders")
    harness.core.broker(1).runtime.in_thread = thread.run
    batch = encode_batch(records, codec=Compression.GZIP)
    if is_damaged:
        damaged = batch[CRC_START:-DAMAGED_BYTES] + bytes(DAMAGED_BYTES)
        batch = batch[: CRC_START - 4] + google_crc32c.value(damaged).to_bytes(4, "big") + damaged
    data = [PartitionProduceData(0, batch)]
    large = harness.client().send(
        ApiKey.PRODUCE, 8, ProduceRequest(None, -1, 1000, [TopicProduceData("orders", b"", data)])
    )
    harness.run_until(lambda: thread.work is not None)
    small = harness.client().send(ApiKey.METADATA, 9, MetadataRequest([], False))
    harness.run_until(lambda: small.is_over)
    assert not large.is_over
    thread.finish()
    harness.run_until(lambda: large.is_over)
    error = large.response.responses[0].partition_responses[0].error_code
    assert error == (ErrorCode.UNKNOWN_SERVER_ERROR if is_damaged else ErrorCode.NONE)
    harness.close()
