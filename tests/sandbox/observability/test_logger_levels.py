"""Levels of loggers: which lines a node writes, and which loggers its release has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from eosctl.model.emulation import RELEASES
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.logging.logger_levels import LoggerLevels, packaged_loggers
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from tests.sandbox.harness import Harness

COORDINATOR = "kafka.coordinator.transaction.TransactionCoordinator"
SET, DELETE = 0, 1
LOGGER = 8


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    running = Harness(tmp_path / "data", ClusterShape(logs_dir=tmp_path / "logs"))
    yield running
    running.close()


def alter(harness: Harness, logger: str, level: str | None) -> None:
    change = AlterableConfig(logger, SET if level else DELETE, level)
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(LOGGER, "1", [change])])
    answer = harness.request(1, ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request)
    assert [result.error_code for result in answer.responses] == [0]


def listed(harness: Harness) -> dict[str, str]:
    request = DescribeConfigsRequest([DescribeConfigsResource(LOGGER, "1", None)])
    answer = harness.request(1, ApiKey.DESCRIBE_CONFIGS, 4, request)
    return {config.name: config.value for config in answer.results[0].configs}


def logs_start(harness: Harness, transactional_id: str) -> bool:
    """Initialize a transactional producer, and return whether server.log names it."""
    harness.request(1, ApiKey.FIND_COORDINATOR, 4, FindCoordinatorRequest("", 1, [transactional_id]))
    client = harness.client()
    request = InitProducerIdRequest(transactional_id, 60_000)

    def is_initialized() -> bool:
        harness.advance(100)
        return bool(client.request(ApiKey.INIT_PRODUCER_ID, 4, request).error_code == 0)

    harness.run_until(is_initialized)
    harness.advance(100)
    assert harness.core.shape.logs_dir is not None
    text = (harness.core.shape.logs_dir / "broker-1" / "server.log").read_text()
    return f"transactionalId {transactional_id} " in text


def test_a_raised_level_suppresses_lines_until_removed(harness: Harness) -> None:
    assert logs_start(harness, "before")
    alter(harness, "kafka", "WARN")
    assert not logs_start(harness, "quiet")
    alter(harness, COORDINATOR, "INFO")
    assert logs_start(harness, "own-level")
    alter(harness, COORDINATOR, None)
    assert not logs_start(harness, "inherited")
    alter(harness, "kafka", None)
    assert logs_start(harness, "after")


def test_a_restarted_broker_has_its_packaged_levels(harness: Harness) -> None:
    fresh = listed(harness)
    alter(harness, "root", "ERROR")
    alter(harness, "kafka", "FATAL")
    assert listed(harness) != fresh
    harness.stop(1)
    harness.restart(1)
    assert listed(harness) == fresh


@pytest.mark.parametrize("release", RELEASES)
def test_the_loggers_of_the_release_are_listed(tmp_path: Path, release: str) -> None:
    harness = Harness(tmp_path, ClusterShape(emulation=Emulation(release)))
    found = listed(harness)
    harness.close()
    assert set(found) == {"root", *packaged_loggers(release)}
    assert {name for name, level in found.items() if level != "INFO"} == {
        "kafka.request.logger",
        "kafka.network.RequestChannel$",
    }


def test_a_logger_that_writes_is_added() -> None:
    loggers = LoggerLevels({"kafka": "WARN"})
    assert "kafka.x.Late" not in loggers
    assert not loggers.permits("kafka.x.Late", "INFO")
    assert loggers.permits("kafka.x.Late", "ERROR")
    assert loggers.levels() == {"kafka": "WARN", "kafka.x.Late": "WARN", "root": "INFO"}
