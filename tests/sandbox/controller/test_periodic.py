"""What the active controller does from time to time: no-ops, preferred leaders, leaders that may have lost records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.metadata.image import RECOVERED, RECOVERING, PartitionState
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.alter_partition import (
    AlterPartitionRequest,
    BrokerState,
    RequestPartitionData,
    RequestTopicData,
)
from eosctl.wire.messages.create_topics import CreatableReplicaAssignment, CreatableTopic, CreateTopicsRequest
from eosctl.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.sandbox.harness import Harness

CONTROLLER = 100
TOPIC_RESOURCE, SET = 2, 0
ORDERS = TopicPartition("orders", 0)
NEVER = {"auto.leader.rebalance.enable": "false", "metadata.max.idle.interval.ms": "0"}


@contextmanager
def cluster(folder: Path, settings: dict[str, str], release: str = "4.3", count: int = 3) -> Iterator[Harness]:
    harness = Harness(folder, ClusterShape(count, Emulation(release), settings=settings))
    try:
        yield harness
    finally:
        harness.close()


def controller(harness: Harness) -> Controller:
    found = harness.core.nodes[CONTROLLER if CONTROLLER in harness.core.nodes else 1].controller
    assert found is not None
    return found


def create(harness: Harness) -> None:
    """Create a topic that broker 1 leads and broker 2 follows."""
    topic = CreatableTopic("orders", -1, -1, [CreatableReplicaAssignment(0, [1, 2])], [])
    answer = harness.request(3, ApiKey.CREATE_TOPICS, 5, CreateTopicsRequest([topic], 5000, False))
    assert not answer.topics[0].error_code
    harness.advance(500)


def state(harness: Harness) -> PartitionState:
    found = controller(harness).image.partition(ORDERS)
    assert found is not None
    return found


def allow_unclean(harness: Harness) -> None:
    change = AlterConfigsResource(
        TOPIC_RESOURCE, "orders", [AlterableConfig("unclean.leader.election.enable", SET, "true")]
    )
    answer = harness.request(
        3, ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, IncrementalAlterConfigsRequest([change], validate_only=False)
    )
    assert not answer.responses[0].error_code


@pytest.mark.parametrize(("idle_ms", "expected"), [(500, 20), (2000, 5), (0, 0)])
def test_the_log_grows_by_one_record_an_interval(tmp_path: Path, idle_ms: int, expected: int) -> None:
    with cluster(tmp_path, {"metadata.max.idle.interval.ms": str(idle_ms)}, count=1) as harness:
        harness.advance(1000)
        log = controller(harness).log
        before = log.high_watermark
        harness.advance(10_000)
        assert log.high_watermark - before == expected


def test_the_preferred_replica_leads_again(tmp_path: Path) -> None:
    with cluster(tmp_path, {"leader.imbalance.check.interval.seconds": "20"}) as harness:
        create(harness)
        harness.core.stop_node(1, clean=True)
        harness.advance(3000)
        harness.core.start_node(1)
        harness.run_until(lambda: 1 in state(harness).isr)
        harness.advance(1000)
        assert state(harness).leader == 2
        harness.advance(20_000)
        assert state(harness).leader == 1
        assert state(harness).leader_recovery_state == RECOVERED


def lose_the_leader(harness: Harness) -> None:
    """Leave the partition without a leader: the only replica that lives is not in sync."""
    harness.core.stop_node(2, clean=True)
    harness.advance(3000)
    harness.kill(1)
    harness.advance(3000)
    harness.core.start_node(2)
    harness.advance(3000)
    assert state(harness).leader == -1


@pytest.mark.parametrize("release", ["4.3", "3.9"])
def test_a_leaderless_partition_is_checked_again(tmp_path: Path, release: str) -> None:
    with cluster(tmp_path, NEVER | {"unclean.leader.election.interval.ms": "10000"}, release) as harness:
        create(harness)
        lose_the_leader(harness)
        harness.advance(10_000)
        assert state(harness).leader == -1
        allow_unclean(harness)
        harness.run_until(lambda: state(harness).leader == 2, limit_ms=11_000)
        assert (state(harness).isr, state(harness).leader_recovery_state) == ((2,), RECOVERING)
        harness.kill(CONTROLLER)
        harness.core.start_node(CONTROLLER)
        harness.advance(2000)
        assert state(harness).leader_recovery_state == RECOVERING  # it is in the log
        harness.core.start_node(1)
        harness.run_until(lambda: set(state(harness).isr) == {1, 2})
        assert state(harness).leader_recovery_state == RECOVERED


@pytest.mark.parametrize(
    ("leader_is", "isr", "asked", "error"),
    [
        (RECOVERING, (2,), RECOVERING, ErrorCode.NONE),
        (RECOVERING, (1, 2), RECOVERING, ErrorCode.INVALID_REQUEST),
        (RECOVERED, (2,), RECOVERING, ErrorCode.INVALID_REQUEST),
        (RECOVERING, (2,), RECOVERED, ErrorCode.NONE),
    ],
)
def test_a_leader_may_say_that_it_recovers(
    tmp_path: Path, leader_is: int, isr: tuple[int, ...], asked: int, error: ErrorCode
) -> None:
    with cluster(tmp_path, NEVER) as harness:
        create(harness)
        topic = controller(harness).image.topics["orders"]
        topic.partitions[0] = known = state(harness)._replace(leader=2, isr=(2,), leader_recovery_state=leader_is)
        brokers = controller(harness).image.brokers
        wanted = RequestPartitionData(
            0,
            known.leader_epoch,
            (),
            [BrokerState(broker, brokers[broker].broker_epoch) for broker in isr],
            asked,
            known.partition_epoch,
        )
        request = AlterPartitionRequest(2, brokers[2].broker_epoch, [RequestTopicData("", topic.topic_id, [wanted])])
        answers = []
        harness.core.nodes[2].channel.send_to_controller(ApiKey.ALTER_PARTITION, 3, request, answers.append)
        harness.advance(5)
        (answer,) = answers[0].topics[0].partitions
        assert answer.error_code == error
        if not error:
            assert answer.leader_recovery_state == asked
