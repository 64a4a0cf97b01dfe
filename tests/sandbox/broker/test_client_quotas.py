"""Client quotas: which one applies, the throttle time, and the muted connection, as recorded from 4.3.1 and 4.4.0."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.quotas.client_quota_manager import Client, limit_of, sharing
from eosctl.sandbox.quotas.rate import WindowedRate
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import alter_client_quotas as quotas
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from eosctl.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from eosctl.wire.records.batch import encode_batch
from eosctl.wire.records.record import Record
from tests.sandbox.harness import START_MS, Harness, HarnessClient

ANONYMOUS = "ANONYMOUS"


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    running = Harness(tmp_path)
    topic = CreateTopicsRequest([CreatableTopic("q", 1, 1)], 30_000, False)
    running.request(1, ApiKey.CREATE_TOPICS, 7, topic)
    running.advance(500)
    yield running
    running.close()


def limit(harness: Harness, key: str, value: float | None, **entity: str | None) -> None:
    parts = [quotas.EntityData(kind.replace("_", "-"), name) for kind, name in entity.items()]
    change = quotas.RequestEntryData(parts, [quotas.OpData(key, value or 0.0, value is None)])
    answer = harness.request(1, ApiKey.ALTER_CLIENT_QUOTAS, 1, quotas.AlterClientQuotasRequest([change]))
    assert [entry.error_code for entry in answer.entries] == [0]
    harness.advance(500)


def produce(client: HarnessClient, acks: int = 1) -> Any:
    """Send a request of 11,105 bytes, as the recorded client did."""
    batch = encode_batch([Record(0, START_MS, None, b"x" * 11_000)])
    return client.send(
        ApiKey.PRODUCE,
        9,
        ProduceRequest(None, acks, 30_000, [TopicProduceData("q", partition_data=[PartitionProduceData(0, batch)])]),
    )


def answered(harness: Harness, pending: Any) -> tuple[int, int]:
    """Return the throttle time of a response, and the virtual milliseconds until it arrived."""
    started = harness.now_ms()
    harness.run_until(lambda: pending.is_over)
    return pending.response.throttle_time_ms, harness.now_ms() - started


def fetch(session_id: int = 0, epoch: int = -1, *, offset: int = 0) -> FetchRequest:
    partitions = [FetchPartition(0, fetch_offset=offset, partition_max_bytes=10_000_000)]
    topics = [FetchTopic("q", partitions=partitions)] if epoch <= 0 else []
    return FetchRequest(-1, 100, 1, 50_000_000, 0, session_id, epoch, topics)


def test_a_producer_is_throttled_as_recorded(harness: Harness) -> None:
    limit(harness, "producer_byte_rate", 1000.0, client_id="pp")
    client = harness.client(1, "pp")
    assert answered(harness, produce(client)) == (1105, 0)
    throttle_ms, waited_ms = answered(harness, produce(client))
    assert (throttle_ms, waited_ms) == (22_210 - 10_105, 1105)  # Two requests in 1.105 s and nine windows before.
    assert answered(harness, produce(client)) == (1105, 12_105)  # The earlier windows are too old.


def test_other_clients_are_not_throttled(harness: Harness) -> None:
    limit(harness, "producer_byte_rate", 1000.0, client_id="pp")
    client = harness.client(1, "other")
    assert [answered(harness, produce(client)) for _ in range(3)] == [(0, 0)] * 3


def test_connections_of_a_client_id_share_its_quota(harness: Harness) -> None:
    limit(harness, "producer_byte_rate", 1000.0, client_id="pp")
    first, second = harness.client(1, "pp"), harness.client(1, "pp")
    assert answered(harness, produce(first)) == (1105, 0)
    assert answered(harness, produce(second)) == (22_210 - 10_000, 0)  # Its own connection was not muted.


def test_a_removed_quota_throttles_no_client(harness: Harness) -> None:
    limit(harness, "producer_byte_rate", 1000.0, client_id="pp")
    client = harness.client(1, "pp")
    assert answered(harness, produce(client))[0] == 1105
    limit(harness, "producer_byte_rate", None, client_id="pp")
    assert answered(harness, produce(client))[0] == 0


def test_a_producer_without_acks_is_muted(harness: Harness) -> None:
    limit(harness, "producer_byte_rate", 1000.0, user=ANONYMOUS)
    client = harness.client(1, "pp")
    produce(client, acks=0)
    assert answered(harness, produce(client))[1] == 1105


def test_a_consumer_gets_empty_responses_as_recorded(harness: Harness) -> None:
    assert answered(harness, produce(harness.client()))[0] == 0
    limit(harness, "consumer_byte_rate", 1000.0, client_id=None)
    client = harness.client(1, "ff")
    first = client.send(ApiKey.FETCH, 11, fetch())
    assert answered(harness, first) == (1139, 0)
    assert first.response is not None
    assert list(first.response.responses) == []
    second = client.send(ApiKey.FETCH, 11, fetch())
    assert answered(harness, second) == (1000, 1139)  # The records of the empty response did not count.


def test_a_throttled_fetch_opens_no_session(harness: Harness) -> None:
    assert answered(harness, produce(harness.client()))[0] == 0
    limit(harness, "consumer_byte_rate", 1000.0, user=None)
    client = harness.client(1, "ff")
    opening = client.request(ApiKey.FETCH, 11, fetch(epoch=0))
    assert (opening.session_id, opening.throttle_time_ms) == (0, 1139)


def test_a_throttled_session_continues(harness: Harness) -> None:
    client = harness.client(1, "ff")
    opened = client.request(ApiKey.FETCH, 11, fetch(epoch=0))
    limit(harness, "consumer_byte_rate", 1000.0, client_id="ff")
    answered(harness, produce(harness.client()))
    throttled = client.request(ApiKey.FETCH, 11, fetch(opened.session_id, 1))
    assert (throttled.session_id, list(throttled.responses)) == (opened.session_id, [])
    assert throttled.throttle_time_ms > 0
    limit(harness, "consumer_byte_rate", None, client_id="ff")
    served = client.request(ApiKey.FETCH, 11, fetch(opened.session_id, 2))
    assert len(served.responses[0].partitions[0].records) > 11_000


def entity(**parts: str | None) -> frozenset[tuple[str, str | None]]:
    return frozenset((kind.replace("_", "-"), name) for kind, name in parts.items())


@pytest.mark.parametrize(
    ("given", "client", "value"),
    [
        ([entity(client_id="c")], Client("", "c"), 1),
        ([entity(client_id=None)], Client("", "c"), 1),
        ([entity(client_id="d")], Client("", "c"), None),
        ([entity(user="u")], Client("u", ""), 1),
        ([entity(user=None)], Client("u", ""), 1),
        ([entity(user="u", client_id="c")], Client("u", "c"), 1),
        ([entity(user=None, client_id=None), entity(user="u", client_id=None)], Client("u", "c"), 2),
        ([entity(client_id="c"), entity(user="u")], Client("u", ""), 2),
        ([entity(client_id="c"), entity(user="v")], Client("", "c"), 1),
        ([entity(user="u"), entity(user="u", client_id="c")], Client("u", "c"), 2),
        ([entity(user="u"), entity(user=None, client_id="c")], Client("u", ""), 1),
        ([entity(user=None), entity(user=None, client_id="c")], Client("u", "c"), 2),
        ([entity(user=None), entity(client_id="c")], Client("u", ""), 1),
    ],
)
def test_the_most_specific_quota_applies(
    given: list[frozenset[tuple[str, str | None]]], client: Client, value: float | None
) -> None:
    table = {one: float(number) for number, one in enumerate(given, 1)}
    assert sharing(table, "u", "c") == client
    assert limit_of(table, client) == value


STEPS = st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 5000)), min_size=1, max_size=60)


@given(STEPS, st.integers(1, 3000))
def test_only_a_rate_above_its_bound_is_throttled(steps: list[tuple[int, int]], bound: int) -> None:
    rate, now_ms = WindowedRate(11, 1000), START_MS
    for pause_ms, value in steps:
        now_ms += pause_ms
        rate.record(value, now_ms)
        before = rate.measure(now_ms)
        throttle_ms = rate.throttle_ms(bound, now_ms)
        assert (throttle_ms == 0) == (before - bound <= bound * 0.5 / 10_000 or before <= bound)
        rate.record(500, now_ms)
        rate.record(-500, now_ms)
        assert rate.measure(now_ms) == pytest.approx(before)
    assert rate.measure(now_ms + 11_000) == 0


@given(STEPS)
def test_a_rate_covers_ten_to_twelve_windows(steps: list[tuple[int, int]]) -> None:
    rate, now_ms, recorded = WindowedRate(11, 1000), START_MS, []
    for pause_ms, value in steps:
        now_ms += pause_ms
        rate.record(value, now_ms)
        recorded.append((now_ms, value))
        recent = sum(value for time_ms, value in recorded if now_ms - time_ms < 10_000)
        possible = sum(value for time_ms, value in recorded if now_ms - time_ms < 13_000)
        assert recent / 13 <= rate.measure(now_ms) + 0.001
        assert rate.measure(now_ms) <= possible / 10 + 0.001
