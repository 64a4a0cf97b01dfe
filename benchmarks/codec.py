"""Measure decoding a request and encoding a response, with eosctl, kio, and kafka-python.

    python -m benchmarks.codec

Decoding starts at the frame without its size bytes and includes the header; encoding ends with the whole frame. Figures
are the best of nine rounds, in microseconds of processor time.
"""

from __future__ import annotations

import importlib
import io
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from kio.serial import entity_reader, entity_writer

from eosctl.wire.codec import codec
from eosctl.wire.frames import decode_request, encode_request, encode_response
from eosctl.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
)
from eosctl.wire.messages.api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from eosctl.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from eosctl.wire.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from eosctl.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from eosctl.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from eosctl.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

RECORDS = bytes(1024)
TOPICS = [f"topic-{number}" for number in range(10)]


class Case(NamedTuple):
    """One API in one version with a usual request and response."""

    name: str
    version: int
    api_key: int
    request: Any
    response: Any


CASES = [
    Case(
        "ApiVersions", 3, 18,
        ApiVersionsRequest("librdkafka", "2.3.0"),
        ApiVersionsResponse(api_keys=[ApiVersion(key, 0, 9) for key in range(60)]),
    ),
    Case(
        "Metadata", 12, 3,
        MetadataRequest([MetadataRequestTopic(name=topic) for topic in TOPICS]),
        MetadataResponse(
            brokers=[MetadataResponseBroker(node, "localhost", 9092 + node) for node in range(3)],
            cluster_id="XSxb21JdSWiH3O5P0R5WyA",
            controller_id=1,
            topics=[
                MetadataResponseTopic(0, topic, bytes(range(16)), False, [
                    MetadataResponsePartition(0, index, index, 0, [0, 1, 2], [0, 1, 2]) for index in range(3)
                ])
                for topic in TOPICS
            ],
        ),
    ),
    Case(
        "Produce", 11, 0,
        ProduceRequest("app-1", -1, 30_000, [
            TopicProduceData("topic-1", partition_data=[PartitionProduceData(0, RECORDS)])
        ]),
        ProduceResponse([TopicProduceResponse("topic-1", partition_responses=[PartitionProduceResponse(0, 0, 1234)])]),
    ),
    Case(
        "AddPartitionsToTxn", 3, 24,
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="app-1",
            v3_and_below_producer_id=5,
            v3_and_below_topics=[AddPartitionsToTxnTopic("topic-1", [0])],
        ),
        AddPartitionsToTxnResponse(
            results_by_topic_v3_and_below=[
                AddPartitionsToTxnTopicResult("topic-1", [AddPartitionsToTxnPartitionResult(0, 0)])
            ]
        ),
    ),
    Case("EndTxn", 5, 26, EndTxnRequest("app-1", 5, 1, True), EndTxnResponse(0, 0, 5, 2)),
    Case(
        "TxnOffsetCommit", 5, 28,
        TxnOffsetCommitRequest("app-1", "group-1", 5, 1, 3, "member-1", None, [
            TxnOffsetCommitRequestTopic("topic-1", partitions=[TxnOffsetCommitRequestPartition(0, 100, -1, "")])
        ]),
        TxnOffsetCommitResponse(0, [
            TxnOffsetCommitResponseTopic("topic-1", partitions=[TxnOffsetCommitResponsePartition(0, 0)])
        ]),
    ),
    Case(
        "Fetch", 12, 1,
        FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=1_000_000, isolation_level=1, topics=[
            FetchTopic("topic-1", partitions=[FetchPartition(0, fetch_offset=100, partition_max_bytes=100_000)])
        ]),
        FetchResponse(responses=[FetchableTopicResponse("topic-1", partitions=[
            PartitionData(0, 0, 100, 100, 0, [AbortedTransaction(5, 10)], records=RECORDS)
        ])]),
    ),
]  # fmt: skip


def measure(work: Callable[[], object]) -> float:
    """Time one call: the best of nine rounds of about 20 ms, in microseconds."""
    count = 100
    while (elapsed := _round(work, count)) < 0.02:
        count = int(count * max(2, 0.025 / max(elapsed, 1e-6)))
    return min(_round(work, count) for _ in range(9)) / count * 1e6


def _round(work: Callable[[], object], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        work()
    return time.process_time() - start


def ours(case: Case) -> tuple[float, float]:
    """Measure eosctl."""
    frame = encode_request(case.api_key, case.version, 7, "client-1", case.request)[4:]
    decode = measure(lambda: decode_request(frame))
    return decode, measure(lambda: encode_response(case.api_key, case.version, 7, case.response))


def kios(case: Case) -> tuple[float, float]:
    """Measure kio with the response object already built."""
    index = importlib.import_module("kio.index")
    request = index.load_request_schema(case.api_key, case.version)
    response = index.load_response_schema(case.api_key, case.version)
    frame = encode_request(case.api_key, case.version, 7, "client-1", case.request)[4:]
    read_header, read_body = entity_reader(request.__header_schema__), entity_reader(request)
    body = codec(case.api_key, case.version).encode_response(case.response)
    message, _ = entity_reader(response)(body, 0)
    header = response.__header_schema__(correlation_id=7)
    write_header, write_body = entity_writer(response.__header_schema__), entity_writer(response)

    def decode() -> None:
        _, size = read_header(frame, 0)
        read_body(frame, size)

    def encode() -> bytes:
        with io.BytesIO() as buffer:
            buffer.write(b"\0\0\0\0")
            write_header(buffer, header)
            write_body(buffer, message)
            return buffer.getvalue()

    return measure(decode), measure(encode)


def kafka_pythons(case: Case) -> tuple[float, float]:
    """Measure kafka-python with the response object already built."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        modules = [importlib.import_module(f"kafka.protocol.{name}") for name in ("producer", "consumer", "metadata")]
    found = {name: kind for module in modules for name, kind in vars(module).items()}
    request, response = found[f"{case.name}Request"], found[f"{case.name}Response"]
    frame = encode_request(case.api_key, case.version, 7, "client-1", case.request)
    answer = encode_response(case.api_key, case.version, 7, case.response)
    message = response.decode(answer, version=case.version, header=True, framed=True)
    decode = measure(lambda: request.decode(frame, version=case.version, header=True, framed=True))
    return decode, measure(lambda: message.encode(header=True, framed=True))


def main() -> None:
    """Print the table."""
    print("microseconds: decode a request / encode a response\n")
    print(f"{'message':<24}{'eosctl':>16}{'kio':>16}{'kafka-python':>18}")
    for case in CASES:
        columns = [ours(case), kios(case), kafka_pythons(case)]
        cells = [f"{decode:.2f} / {encode:.2f}" for decode, encode in columns]
        print(f"{case.name + ' v' + str(case.version):<24}{cells[0]:>16}{cells[1]:>16}{cells[2]:>18}")


if __name__ == "__main__":
    main()
