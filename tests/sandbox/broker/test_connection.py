"""One connection: order, muting, garbage, sizes, versions that do not exist."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.frames import encode_request
from eosctl.wire.messages.api_versions import ApiVersionsRequest
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from eosctl.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    harness = Harness(Path(tmp_path_factory.mktemp("cluster")))
    EosClient(harness).create_topic("orders")
    yield harness
    harness.close()


def produce(value: str, acks: int = -1) -> ProduceRequest:
    batch = encode_batch([Record(0, 1_790_000_000_000, None, value.encode())])
    return ProduceRequest(
        None, acks, 1000, [TopicProduceData("orders", partition_data=[PartitionProduceData(0, batch)])]
    )


def still_serves(harness: Harness) -> bool:
    response = harness.client().request(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("test", "1"))
    return response is not None and response.error_code == 0


def test_requests_are_answered_in_order_however_they_are_cut(harness: Harness) -> None:
    client = harness.client()
    frames = b"".join(
        encode_request(ApiKey.METADATA, 9, number, "c", MetadataRequest([], False)) for number in range(1, 6)
    )
    answered = [client.send(ApiKey.METADATA, 9, MetadataRequest([], False))]
    harness.advance(1)
    assert answered[0].response is not None
    other = harness.client()
    pending = [other.expect(ApiKey.METADATA, 9) for _ in range(5)]
    for position in range(0, len(frames), 7):
        other.feed(frames[position : position + 7])
    harness.advance(1)
    assert all(request.response is not None for request in pending)


def test_a_waiting_request_blocks_only_its_own_connection(harness: Harness) -> None:
    first, second = harness.client(), harness.client()
    end = EosClient(harness)
    offset = len(end.read(TopicPartition("orders", 0)))
    waiting = first.send(
        ApiKey.FETCH,
        11,
        FetchRequest(
            max_wait_ms=5000,
            min_bytes=1,
            topics=[FetchTopic("orders", partitions=[FetchPartition(0, -1, offset, partition_max_bytes=1000)])],
        ),
    )
    behind = first.send(ApiKey.METADATA, 9, MetadataRequest([], False))
    harness.advance(100)
    assert waiting.response is None
    assert behind.response is None
    assert second.request(ApiKey.METADATA, 9, MetadataRequest([], False)) is not None
    second.request(ApiKey.PRODUCE, 9, produce("wakes the fetch"))
    harness.advance(1)
    assert waiting.response.responses[0].partitions[0].records
    assert behind.response is not None


def test_acks_0_has_no_answer_and_the_connection_stays(harness: Harness) -> None:
    client = harness.client()
    silent = client.send(ApiKey.PRODUCE, 9, produce("quiet", acks=0))
    assert client.request(ApiKey.METADATA, 9, MetadataRequest([], False)) is not None
    assert silent.response is None
    assert not silent.closed


def test_acks_0_with_an_error_closes_the_connection(harness: Harness) -> None:
    client = harness.client()
    request = ProduceRequest(
        None, 0, 1000, [TopicProduceData("missing", partition_data=[PartitionProduceData(0, b"")])]
    )
    pending = client.send(ApiKey.PRODUCE, 9, request)
    harness.advance(1)
    assert pending.closed


def test_an_unknown_api_versions_version_is_answered_in_v0(harness: Harness) -> None:
    client = harness.client()
    body = b"\x05test\x021\x00"
    pending = client.send_as(ApiKey.API_VERSIONS, 0, 99, b"\0", body)
    harness.advance(1)
    assert pending.response.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [(api.api_key, api.max_version) for api in pending.response.api_keys] == [(ApiKey.API_VERSIONS, 5)]
    assert client.request(ApiKey.API_VERSIONS, 0, ApiVersionsRequest()).error_code == 0


@pytest.mark.parametrize(("api_key", "version"), [(ApiKey.METADATA, 99), (ApiKey.PRODUCE, 2), (999, 0), (-5, 0)])
def test_any_other_unknown_request_closes_the_connection(harness: Harness, api_key: int, version: int) -> None:
    client = harness.client()
    client.feed(struct.pack(">ihhih", 10, api_key, version, 1, -1))
    harness.advance(1)
    assert client.closed
    assert still_serves(harness)


@pytest.mark.parametrize(
    "api_key", [ApiKey.ALTER_PARTITION, ApiKey.ALLOCATE_PRODUCER_IDS, ApiKey.ASSIGN_REPLICAS_TO_DIRS]
)
def test_requests_between_nodes_are_not_for_clients(harness: Harness, api_key: ApiKey) -> None:
    client = harness.client()
    client.feed(struct.pack(">ihhih", 30, api_key, 0, 1, -1) + bytes(20))
    harness.advance(1)
    assert client.closed


@pytest.mark.parametrize("asked", [MetadataRequestTopic(b"\1" * 16, None), MetadataRequestTopic(b"\1" * 16, "orders")])
def test_topic_ids_are_rejected_where_metadata_ignores_them(harness: Harness, asked: MetadataRequestTopic) -> None:
    answer = harness.client().request(ApiKey.METADATA, 10, MetadataRequest([asked], False))
    assert [(topic.error_code, topic.name) for topic in answer.topics] == [
        (ErrorCode.INVALID_REQUEST, asked.name or "")
    ]


@pytest.mark.parametrize("size", [-1, 100 * 1024 * 1024 + 1, 0x7FFF_FFFF])
def test_a_frame_of_an_impossible_size_closes_the_connection(harness: Harness, size: int) -> None:
    client = harness.client()
    client.feed(struct.pack(">i", size) + b"x")
    harness.advance(1)
    assert client.closed
    assert still_serves(harness)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.binary(max_size=200))
def test_garbage_never_hurts_more_than_its_connection(harness: Harness, data: bytes) -> None:
    client = harness.client()
    client.feed(struct.pack(">i", len(data)) + data)
    harness.advance(1)
    assert still_serves(harness)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.data())
def test_mutated_requests_never_hurt_more_than_their_connection(harness: Harness, data: st.DataObject) -> None:
    frame = bytearray(encode_request(ApiKey.PRODUCE, 9, 1, "c", produce("v")))
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(4, len(frame) - 1))
        frame[position] = data.draw(st.integers(0, 255))
    client = harness.client()
    client.feed(bytes(frame))
    harness.advance(1)
    assert still_serves(harness)
