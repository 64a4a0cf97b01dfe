"""The quotas of controller mutations, request time, and connections, as recorded from 3.9.2, 4.3.1, and 4.4.0."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.broker.config import NodeConfig
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.metadata.image import ClusterImage
from eosctl.sandbox.quotas.connection_quotas import ConnectionQuotas
from eosctl.sandbox.quotas.controller_mutation_quota import TokenBucket
from eosctl.testing import SandboxThread
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import alter_client_quotas as quotas
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.metadata import MetadataRequest
from tests.sandbox.broker import request_quota_conversation
from tests.sandbox.broker.mutation_quota_conversation import Conversation
from tests.sandbox.harness import START_MS, Harness
from tests.sandbox.security.wire_client import WireClient

RECORDED = json.loads((Path(__file__).parents[2] / "fixtures" / "sandbox" / "quotas-4.3.json").read_text())
TOLERANCE_MS = 150  # A real broker computes throttle times a little after it received the request.


class WorkClock:
    """A clock by which every piece of work takes a millisecond."""

    def __init__(self) -> None:
        self._now_ns = 0

    def __call__(self) -> int:
        self._now_ns += 1_000_000
        return self._now_ns


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    running = Harness(tmp_path)
    running.core.broker(1).runtime.work_ns = WorkClock()
    yield running
    running.close()


def without_times(step: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in step.items() if not name.endswith("_ms")}


def test_controller_mutations_are_as_recorded(harness: Harness) -> None:
    recorded = RECORDED["mutations"]
    steps = Conversation(harness, [step["at_ms"] for step in recorded]).run()
    assert [without_times(step) for step in steps] == [without_times(step) for step in recorded]
    throttled = muted = 0
    for ours, theirs in zip(steps, recorded, strict=True):
        assert ours["throttle_ms"] == pytest.approx(theirs["throttle_ms"], abs=TOLERANCE_MS), (ours, theirs)
        assert ours["waited_ms"] <= theirs["waited_ms"] + TOLERANCE_MS, (ours, theirs)  # The real broker worked, too.
        throttled += theirs["throttle_ms"] > 0
        muted += ours["waited_ms"] > TOLERANCE_MS
    assert throttled > 5
    assert muted > 5


def test_request_times_are_counted_as_recorded(harness: Harness) -> None:
    assert request_quota_conversation.play(harness) == RECORDED["requests"]


def test_mutations_count_through_faults_and_brokers(tmp_path: Path) -> None:
    harness = Harness(tmp_path, ClusterShape(3))
    entry = quotas.RequestEntryData(
        [quotas.EntityData("client-id", "c")], [quotas.OpData("controller_mutation_rate", 1.0, False)]
    )
    harness.request(1, ApiKey.ALTER_CLIENT_QUOTAS, 1, quotas.AlterClientQuotasRequest([entry]))
    harness.advance(500)
    creation = CreateTopicsRequest([CreatableTopic("t", 12, 1)], 30_000, True)
    first = harness.client(1, "c").request(ApiKey.CREATE_TOPICS, 7, creation)
    faults = harness.core.network.cut(2, 3)  # Messages are encoded from now on.
    second = harness.client(2, "c").request(ApiKey.CREATE_TOPICS, 7, creation)
    other = harness.client(2, "d").request(ApiKey.CREATE_TOPICS, 7, creation)
    for fault in faults:
        harness.core.network.remove_fault(fault)
    harness.close()
    assert [answer.topics[0].error_code for answer in (first, second, other)] == [0, 89, 0]
    assert (first.throttle_time_ms, second.throttle_time_ms, other.throttle_time_ms) == (0, 1000, 0)


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(1, 40)), min_size=1, max_size=40), st.integers(1, 50))
def test_a_bucket_allows_its_rate_and_a_burst(steps: list[tuple[int, int]], rate: int) -> None:
    bucket, now_ms, allowed, largest = TokenBucket(11), START_MS, 0, 0
    for pause_ms, count in steps:
        now_ms += pause_ms
        if bucket.balance(rate, now_ms) >= 0:
            bucket.spend(count, rate, now_ms)
            allowed, largest = allowed + count, max(largest, count)
    elapsed_s = (now_ms - START_MS) / 1000
    assert allowed <= rate * (11 + elapsed_s) + largest + 0.001
    assert bucket.balance(rate, now_ms + 100_000_000) == 11 * rate


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=60), st.integers(1, 5))
def test_served_connections_stay_within_their_rate(pauses: list[int], rate: int) -> None:
    image = ClusterImage()
    image.quotas[frozenset({("ip", None)})] = {"connection_creation_rate": 1.0}
    image.quotas[frozenset({("ip", "10.0.0.1")})] = {"connection_creation_rate": float(rate)}
    limits = ConnectionQuotas(NodeConfig("4.3", {}), image, ["PLAINTEXT"])
    now_ms, served = START_MS, 0
    for pause_ms in pauses:
        now_ms += pause_ms
        throttle_ms = limits.record("10.0.0.1", now_ms)
        assert throttle_ms <= 1000
        served += not throttle_ms
    assert served <= rate * ((now_ms - START_MS) / 1000 + 12)
    assert served >= min(len(pauses), 10 * rate)


def test_ten_seconds_of_connections_are_served_at_first() -> None:
    """As by 4.3.1 with a rate of 1: ten of fourteen connections were served, the others closed after a second each.

    A real broker checks every 500 ms whether one is to be closed.
    """
    image = ClusterImage()
    image.quotas[frozenset({("ip", "10.0.0.1")})] = {"connection_creation_rate": 1.0}
    limits = ConnectionQuotas(NodeConfig("4.3", {}), image, ["PLAINTEXT"])
    now_ms, waits = START_MS, []
    for _ in range(14):
        waits.append(limits.record("10.0.0.1", now_ms))
        now_ms += waits[-1] + 5
    assert waits[:10] == [0] * 10
    assert all(900 < wait_ms <= 1000 for wait_ms in waits[10:])


def test_connections_above_their_rate_are_closed_unserved() -> None:
    with SandboxThread() as sandbox:
        with WireClient(sandbox.bootstrap) as client:
            entry = quotas.RequestEntryData(
                [quotas.EntityData("ip", "127.0.0.1")], [quotas.OpData("connection_creation_rate", 1.0, False)]
            )
            answer = client.ask(ApiKey.ALTER_CLIENT_QUOTAS, 1, quotas.AlterClientQuotasRequest([entry]))
            assert answer is not None
            while not is_refused(sandbox.bootstrap):
                pass
            entry = quotas.RequestEntryData(entry.entity, [quotas.OpData("connection_creation_rate", 0.0, True)])
            client.ask(ApiKey.ALTER_CLIENT_QUOTAS, 1, quotas.AlterClientQuotasRequest([entry]))
        while is_refused(sandbox.bootstrap):
            pass


def is_refused(bootstrap: str) -> bool:
    """Connect and send a request; return whether the broker closes the connection without a response."""
    with WireClient(bootstrap) as client:
        try:
            return client.ask(ApiKey.METADATA, 12, MetadataRequest([])) is None
        except (TimeoutError, ConnectionError):
            return True
