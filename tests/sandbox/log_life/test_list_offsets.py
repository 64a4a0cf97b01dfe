"""ListOffsets by time, position and isolation level, also while a new leader does not know the high watermark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import START_MS, Harness

TIMES = TopicPartition("times", 0)
LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
READ_COMMITTED = 1


@pytest.fixture
def client(tmp_path: Path) -> Iterator[EosClient]:
    harness = Harness(tmp_path, ClusterShape(2, Emulation("4.3"), fast=True))
    client = EosClient(harness, implicit=True)
    client.create_topic("times", 1, 2)
    yield client
    harness.close()


def put(client: EosClient, *times_ms: int) -> None:
    batch = encode_batch([Record(0, START_MS + time_ms, None, b"v") for time_ms in times_ms])
    answer = client.append(TIMES, batch)
    assert answer is not None and not answer.error_code


def ask(client: EosClient, timestamp: int, *, version: int = 9, isolation: int = 0) -> ListOffsetsPartitionResponse:
    request = ListOffsetsRequest(
        -1, isolation, [ListOffsetsTopic("times", [ListOffsetsPartition(0, -1, timestamp)])], timeout_ms=1000
    )
    answer = client.harness.request(client.leader(TIMES), ApiKey.LIST_OFFSETS, version, request)
    found: ListOffsetsPartitionResponse = answer.topics[0].partitions[0]
    return found


def test_times_are_looked_up_record_by_record(client: EosClient) -> None:
    put(client, 10, 40, 20)
    put(client, 30, 5)
    found = {time_ms: ask(client, START_MS + time_ms).offset for time_ms in (0, 10, 11, 40, 41)}
    assert found == {0: 0, 10: 0, 11: 1, 40: 1, 41: -1}
    newest = ask(client, MAX_TIMESTAMP)
    assert (newest.offset, newest.timestamp) == (1, START_MS + 40)
    assert ask(client, MAX_TIMESTAMP, version=6).error_code == ErrorCode.UNSUPPORTED_VERSION


def test_an_open_transaction_bounds_read_committed_alone(client: EosClient) -> None:
    put(client, -60_000)
    handle = client.init("app")
    assert client.produce(handle, TIMES, ["open"]) is ErrorCode.NONE
    assert ask(client, LATEST).offset == 2
    assert ask(client, LATEST, isolation=READ_COMMITTED).offset == 1
    late = client.harness.core.brokers()[0].runtime.now_ms() - 1000
    assert ask(client, late).offset == 1
    assert ask(client, late, isolation=READ_COMMITTED).offset == -1
    assert client.end(handle, commit=True) is ErrorCode.NONE
    assert ask(client, LATEST, isolation=READ_COMMITTED).offset == 3


def test_a_new_leader_does_not_guess_the_high_watermark(client: EosClient) -> None:
    """Its epoch starts above its known high watermark (KIP-207)."""
    put(client, 10)
    leader = client.leader(TIMES)
    client.harness.core.network.cut(3 - leader, None)
    log = client.harness.core.broker(leader).replicas.partitions[TIMES].log
    assert client.append(TIMES, encode_batch([Record(0, START_MS, None, b"v")]), acks=1) is not None
    partition = client.harness.core.broker(leader).replicas.partitions[TIMES]
    partition.leader_start_offset = log.end_offset
    assert ask(client, LATEST).error_code == ErrorCode.OFFSET_NOT_AVAILABLE
    assert ask(client, LATEST, version=4).error_code == ErrorCode.LEADER_NOT_AVAILABLE
    assert ask(client, START_MS + 500).error_code == ErrorCode.OFFSET_NOT_AVAILABLE
    assert ask(client, START_MS + 10).offset == 0
    assert ask(client, EARLIEST).offset == 0
