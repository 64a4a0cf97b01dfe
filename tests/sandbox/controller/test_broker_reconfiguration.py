"""Values that a running broker does not change to are refused with Kafka's messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.sandbox.harness import Harness

TOPIC, BROKER = 2, 4
POOL = "Dynamic thread count update validation failed for {}, value should"
REFUSED = (
    ("num.io.threads", "100", POOL.format("num.io.threads=100") + " not be greater than double the current value 8"),
    ("num.io.threads", "3", POOL.format("num.io.threads=3") + " be at least half the current value 8"),
    ("log.cleaner.threads", "3", "Log cleaner threads cannot be increased to more than double the current value 1"),
    ("max.connection.creation.rate", "0", "Invalid max.connection.creation.rate 0"),
)
REFUSED_PLAINLY = (
    ("log.cleaner.threads", "0", "/ by zero"),
    (
        "log.cleaner.dedupe.buffer.size",
        "10",
        "requirement failed: log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.",
    ),
    (
        "leader.replication.throttled.rate",
        "-1",
        "Invalid value -1 for configuration leader.replication.throttled.rate: Value must be at least 0",
    ),
    ("max.connections.per.ip.overrides", "a:b", 'For input string: "b"'),
    ("log.roll.ms", "0", "requirement failed: log.roll.ms must be greater than or equal to 1"),
    (
        "min.insync.replicas",
        "0",
        "Invalid value 0 for configuration min.insync.replicas: Value must be at least 1",
    ),
    (
        "ssl.keystore.location",
        "/x",
        (
            "These security configs can be dynamically updated only per-listener using the listener prefix: "
            "[ssl.keystore.location]"
        ),
    ),
)


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Harness]:
    harness = Harness(Path(tmp_path_factory.mktemp("cluster")))
    harness.request(1, ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest([CreatableTopic("orders", 1, 1)]))
    yield harness
    harness.close()


def alter(harness: Harness, kind: int, name: str, setting: str, value: str) -> tuple[int, str | None]:
    resource = AlterConfigsResource(kind, name, [AlterableConfig(setting, 0, value)])
    answer = harness.request(1, ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, IncrementalAlterConfigsRequest([resource]))
    return answer.responses[0].error_code, answer.responses[0].error_message


@pytest.mark.parametrize("broker", ["1", ""])
@pytest.mark.parametrize(("setting", "value", "reason"), REFUSED)
def test_a_broker_refuses_what_it_cannot_change_to(
    harness: Harness, broker: str, setting: str, value: str, reason: str
) -> None:
    prefix = "Invalid value org.apache.kafka.common.config.ConfigException: "
    text = f"{prefix}{reason} for configuration Invalid dynamic configuration"
    assert alter(harness, BROKER, broker, setting, value) == (ErrorCode.INVALID_REQUEST, text)


@pytest.mark.parametrize(("setting", "value", "text"), REFUSED_PLAINLY)
def test_a_broker_refuses_values_that_are_not_valid(harness: Harness, setting: str, value: str, text: str) -> None:
    assert alter(harness, BROKER, "1", setting, value) == (ErrorCode.INVALID_REQUEST, text)


def test_pools_change_in_steps(harness: Harness) -> None:
    steps = {"20": 0, "40": 0, "81": 42, "19": 42, "20 ": 0}
    assert {value: alter(harness, BROKER, "1", "background.threads", value)[0] for value in steps} == steps


def test_an_own_value_hides_the_clusters_default(harness: Harness) -> None:
    assert alter(harness, BROKER, "", "num.network.threads", "100")[0] == ErrorCode.INVALID_REQUEST
    assert alter(harness, BROKER, "1", "num.network.threads", "4") == (0, None)
    assert alter(harness, BROKER, "", "num.network.threads", "100") == (0, None)


def test_the_default_level_of_gzip_may_be_set(harness: Harness) -> None:
    assert alter(harness, TOPIC, "orders", "compression.gzip.level", "-1") == (0, None)
    assert alter(harness, TOPIC, "orders", "compression.gzip.level", "0") == (
        ErrorCode.INVALID_CONFIG,
        "Invalid value 0 for configuration compression.gzip.level: Value must be between 1 and 9 or equal to -1",
    )
