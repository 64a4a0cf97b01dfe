"""The vetted configurations of Spring and Flink in applications that are killed: no record is lost or comes twice."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks.profile_applications import FLINK, SPRING, compile_application, copying
from eosctl.lab.engine import MissingTool
from eosctl.testing import SandboxThread
from tests.apache.conftest import running
from tests.settings.filled_profiles import filled

pytestmark = pytest.mark.long

BROKERS = "broker-eos-production"
LONG_S = 240
HALF = 2000
# The sooner the dead member leaves its group and the next checkpoint comes, the sooner the test ends.
SOONER = {
    SPRING: ("spring.kafka.consumer.properties.session.timeout.ms=6000",),
    FLINK: ("execution.checkpointing.interval=4 s",),
}


@contextmanager
def brokers(kind: str, folder: Path) -> Iterator[str]:
    """Run three brokers with the vetted settings, real ones or ours."""
    if kind == "apache":
        with running("4.3.1", folder / "brokers", filled(BROKERS), node_count=3) as engine:
            yield engine.bootstrap
    else:
        with SandboxThread(brokers=3, config=filled(BROKERS), fast=False) as sandbox:
            yield sandbox.bootstrap


def feed(bootstrap: str, first: int) -> None:
    producer = Producer({**filled("producer-idempotent-only"), "bootstrap.servers": bootstrap})
    for number in range(first, first + HALF):
        producer.produce("in", str(number))
    assert producer.flush(LONG_S) == 0


def read(reader: Consumer, seen: Counter[int], count: int) -> None:
    """Read until so many different records are seen."""
    deadline = time.monotonic() + LONG_S
    while len(seen) < count:
        assert time.monotonic() < deadline, f"{len(seen)} of {count}"
        count_some(reader, seen, 0.2)


def count_some(reader: Consumer, seen: Counter[int], timeout_s: float) -> None:
    for message in reader.consume(1000, timeout_s):
        value = message.value()
        if message.error() is None and value is not None:
            seen[int(value)] += 1


@pytest.mark.parametrize("kind", ["apache", "sandbox"])
@pytest.mark.parametrize("profile", [SPRING, FLINK])
def test_a_killed_application_delivers_every_record_once(profile: str, kind: str, tmp_path: Path) -> None:
    try:
        application = compile_application(profile, tmp_path)
    except MissingTool as missing:
        pytest.skip(f"{missing.tool} is missing: {missing.what}")
    with brokers(kind, tmp_path) as bootstrap:
        admin = AdminClient({"bootstrap.servers": bootstrap})
        for made in admin.create_topics([NewTopic(topic, 1, -1) for topic in ("in", "out")]).values():
            made.result(LONG_S)
        reader = Consumer({**filled("consumer-read-committed", GROUP_ID="reader"), "bootstrap.servers": bootstrap})
        reader.subscribe(["out"])
        seen: Counter[int] = Counter()
        state = tmp_path / "state"
        feed(bootstrap, 0)
        with copying(application, bootstrap, ("in", "out"), state, SOONER[profile]):
            read(reader, seen, 1)
            feed(bootstrap, HALF)  # killed while it copies these
        with copying(application, bootstrap, ("in", "out"), state, SOONER[profile]):
            read(reader, seen, 2 * HALF)
            count_some(reader, seen, 3.0)
        reader.close()
    assert seen == Counter(range(2 * HALF))
