"""Clients that are idle for longer than `connections.max.idle.ms` are disconnected, as by Kafka's Selector."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.sandbox.core import ClusterShape
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.api_versions import ApiVersionsRequest
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from tests.sandbox.eos_client import EosClient
from tests.sandbox.harness import Harness, HarnessClient

MAX_IDLE_MS = 60_000
HELLO = ApiVersionsRequest("idle", "1")


def of(path: Path, max_idle_ms: int) -> Harness:
    return Harness(path, ClusterShape(settings={"connections.max.idle.ms": str(max_idle_ms)}))


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    harness = of(Path(tmp_path_factory.mktemp("cluster")), MAX_IDLE_MS)
    EosClient(harness).create_topic("orders")
    yield harness
    harness.close()


def connected(harness: Harness) -> HarnessClient:
    client = harness.client()
    assert client.request(ApiKey.API_VERSIONS, 3, HELLO).error_code == 0
    return client


def test_an_idle_client_is_disconnected_after_the_limit(harness: Harness) -> None:
    client = connected(harness)
    harness.advance(MAX_IDLE_MS - 10)
    assert not client.closed
    harness.advance(20)
    assert client.closed


def test_each_request_starts_the_time_again(harness: Harness) -> None:
    client = connected(harness)
    for _ in range(3):
        harness.advance(MAX_IDLE_MS - 10)
        client.request(ApiKey.API_VERSIONS, 3, HELLO)
    assert not client.closed


def test_a_client_that_never_sends_is_disconnected_too(harness: Harness) -> None:
    client = harness.client()
    harness.advance(MAX_IDLE_MS + 10)
    assert client.closed


def test_a_request_that_waits_for_longer_is_cut_off(harness: Harness) -> None:
    client = connected(harness)
    topic = FetchTopic("orders", partitions=[FetchPartition(0, fetch_offset=0, partition_max_bytes=1000)])
    fetch = client.send(ApiKey.FETCH, 12, FetchRequest(max_wait_ms=2 * MAX_IDLE_MS, min_bytes=1, topics=[topic]))
    harness.advance(MAX_IDLE_MS + 10)
    assert client.closed
    assert fetch.response is None


def test_a_skewed_wall_clock_disconnects_no_client(harness: Harness) -> None:
    client = connected(harness)
    runtime = harness.core.broker(1).runtime
    runtime.skew_ms += 10 * MAX_IDLE_MS
    harness.advance(MAX_IDLE_MS - 10)
    runtime.skew_ms = 0
    assert not client.closed


def test_a_negative_limit_never_disconnects(tmp_path: Path) -> None:
    harness = of(tmp_path, -1)
    client = connected(harness)
    harness.advance(3_600_000)
    assert not client.closed
    harness.close()
