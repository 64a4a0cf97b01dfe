"""Client metrics subscriptions, as recorded from 3.9.2 and 4.3.1 with a reporter that receives client metrics."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.sandbox.replies import ClientInformation
from eosctl.sandbox.telemetry.client_metrics_manager import MAX_CLIENTS, ClientMetricsManager
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.api_versions import ApiVersionsRequest
from eosctl.wire.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsRequest
from eosctl.wire.messages.push_telemetry import PushTelemetryRequest
from tests.sandbox.broker.telemetry_conversation import SETTINGS, Conversation
from tests.sandbox.harness import START_MS, Harness

FIXTURES = Path(__file__).parents[2] / "fixtures" / "sandbox"
RECEIVER = {**SETTINGS, "metric.reporters": "com.example.TelemetryReporter"}
JMX_ALONE = {"metric.reporters": "org.apache.kafka.common.metrics.JmxReporter"}
ANY_CLIENT = ClientInformation("127.0.0.1", 40_000, ("apache-kafka-java", "4.3"))
Start = Callable[..., Harness]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    running: list[Harness] = []

    def begin(release: str, settings: dict[str, str]) -> Harness:
        running.append(Harness(tmp_path, ClusterShape(emulation=Emulation(release), settings=settings)))
        return running[-1]

    yield begin
    for harness in running:
        harness.close()


@pytest.mark.parametrize(("release", "recording"), [("3.9", "3.9"), ("4.3", "4.3"), ("4.4", "4.3")])
def test_subscriptions_and_pushes_are_as_recorded(release: str, recording: str, start: Start) -> None:
    recorded: list[Any] = json.loads((FIXTURES / f"telemetry-{recording}.json").read_text())
    steps = Conversation(start(release, RECEIVER), is_3_9=release == "3.9").run()
    assert len(recorded) > 95
    assert [(ours, theirs) for ours, theirs in zip(steps, recorded, strict=True) if ours != theirs] == []


@pytest.mark.parametrize("settings", [{}, JMX_ALONE])
def test_a_broker_without_a_receiver_serves_no_telemetry(settings: dict[str, str], start: Start) -> None:
    harness = start("4.3", settings)
    assert not {71, 72} & announced(harness)
    client = harness.client(1)
    assert client.request(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, 0, GetTelemetrySubscriptionsRequest()) is None
    assert client.closed


@pytest.mark.parametrize("release", ["3.9", "4.3", "4.4"])
def test_a_receiver_is_announced(release: str, start: Start) -> None:
    assert {71, 72} <= announced(start(release, RECEIVER))


def announced(harness: Harness) -> set[int]:
    answer = harness.client(1).request(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("test", "1"))
    return {api.api_key for api in answer.api_keys}


def manager(now_ms: Callable[[], int]) -> ClientMetricsManager:
    ids = iter(range(1 << 20))
    made = ClientMetricsManager(1000, now_ms, lambda: next(ids).to_bytes(16, "big"), is_3_9=False)
    made.update("all", {"metrics": "*", "interval.ms": "1000"})
    return made


@given(st.lists(st.tuples(st.integers(0, 3000), st.booleans()), min_size=1, max_size=40))
def test_a_client_pushes_at_most_once_per_interval(steps: list[tuple[int, bool]]) -> None:
    now_ms = START_MS
    clients = manager(lambda: now_ms)
    own_id, pushed = b"c" * 16, 0
    subscription = clients.subscribe(own_id, "c", ANY_CLIENT).subscription_id
    subscribed = 1
    for pause_ms, subscribes in steps:
        now_ms += pause_ms
        if subscribes:
            subscribed += not clients.subscribe(own_id, "c", ANY_CLIENT).error_code
        else:
            pushed += not clients.push(PushTelemetryRequest(own_id, subscription), "c", ANY_CLIENT)
    assert subscribed <= 1 + (now_ms - START_MS) // 1000
    assert pushed <= subscribed + (now_ms - START_MS) // 1000


def test_the_least_recent_client_is_forgotten_first() -> None:
    clients = manager(lambda: START_MS)
    first = clients.subscribe(bytes(16), "c", ANY_CLIENT).client_instance_id
    second = clients.subscribe(bytes(16), "c", ANY_CLIENT).client_instance_id
    for _ in range(MAX_CLIENTS - 1):
        clients.subscribe(bytes(16), "c", ANY_CLIENT)
    answers = [clients.subscribe(one, "c", ANY_CLIENT).error_code for one in (second, first)]
    assert answers == [ErrorCode.THROTTLING_QUOTA_EXCEEDED, ErrorCode.NONE]
