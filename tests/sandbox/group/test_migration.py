"""Live migration of groups between the classic protocol and KIP-848: as recorded, and where no record can show it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from eosctl.testing import SandboxThread
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    encode_assignment,
    encode_subscription,
)
from eosctl.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from eosctl.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from eosctl.wire.messages.heartbeat import HeartbeatRequest
from eosctl.wire.messages.internal.consumer_protocol.consumer_protocol_assignment import TopicPartition
from eosctl.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from eosctl.wire.messages.list_groups import ListGroupsRequest
from eosctl.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from tests.sandbox.group.migration_scenarios import SETTINGS, play_all

RECORDED = Path(__file__).parents[2] / "fixtures/protocol/group-migration-4.3.json.gz"


def test_responses_and_records_match_a_real_broker() -> None:
    recorded = json.loads(gzip.decompress(RECORDED.read_bytes()))
    with SandboxThread(fast=False, config=SETTINGS, emulate="4.3") as sandbox:
        played = play_all(sandbox.bootstrap)
    assert played.keys() == recorded.keys()
    for name, lines in recorded.items():
        assert played[name] == lines


@pytest.fixture
def broker(new_broker: Any) -> Any:
    return new_broker("4.3")


SUBSCRIPTION = encode_subscription(ConsumerProtocolSubscription(["orders"], None, [], -1, None), 1)


def join(broker: Any, member_id: str = "", group_instance_id: str | None = None) -> Any:
    protocols = [JoinGroupRequestProtocol("range", SUBSCRIPTION)]
    return broker.ask(3, JoinGroupRequest("g", 10_000, 20_000, member_id, group_instance_id, "consumer", protocols))


def sync(broker: Any, joined: Any, partitions: list[int] | None = None) -> Any:
    given = [TopicPartition("orders", partitions)] if partitions else []
    assignment = encode_assignment(ConsumerProtocolAssignment(given, None), 1)
    assignments = [SyncGroupRequestAssignment(joined.member_id, assignment)] if partitions else []
    return broker.ask(3, SyncGroupRequest("g", joined.generation_id, joined.member_id, assignments=assignments))


def beat(broker: Any, joined: Any) -> int:
    return int(broker.ask(3, HeartbeatRequest("g", joined.generation_id, joined.member_id)).error_code)


def beat_new(broker: Any, epoch: int) -> Any:
    joins = epoch == 0
    request = ConsumerGroupHeartbeatRequest("g", "new", epoch)
    if joins:
        request = replace(request, rebalance_timeout_ms=20_000, subscribed_topic_names=["orders"], topic_partitions=[])
    return broker.ask(1, request)


def stable_classic(broker: Any) -> Any:
    joined = join(broker)
    assert sync(broker, joined, [0, 1]).error_code == 0
    return joined


def members(broker: Any) -> dict[str, tuple[int, int]]:
    group = broker.ask(1, ConsumerGroupDescribeRequest(["g"])).groups[0]
    return {member.member_id: (member.member_type, member.member_epoch) for member in group.members}


def kind(broker: Any) -> tuple[str, str]:
    group = broker.ask(5, ListGroupsRequest()).groups[0]
    return group.group_type, group.group_state


@pytest.mark.parametrize(
    ("policy", "upgrades", "downgrades"),
    [
        ("disabled", False, False),
        ("upgrade", True, False),
        ("DOWNGRADE", False, True),
        ("Bidirectional", True, True),
    ],
)
def test_the_policy_decides(broker: Any, policy: str, upgrades: bool, downgrades: bool) -> None:
    broker.config.values["group.consumer.migration.policy"] = policy
    old = stable_classic(broker)
    answer = beat_new(broker, 0)
    if upgrades:
        assert (answer.error_code, kind(broker)[0]) == (0, "consumer")
        assert beat(broker, old) == ErrorCode.REBALANCE_IN_PROGRESS
    else:
        assert (answer.error_code, answer.error_message) == (69, "Group g is not a consumer group.")
        assert (kind(broker), beat(broker, old)) == (("classic", "Stable"), 0)
        broker.config.values["group.consumer.migration.policy"] = "upgrade"
        answer = beat_new(broker, 0)
        broker.config.values["group.consumer.migration.policy"] = policy
    assert beat_new(broker, -1).error_code == 0
    assert kind(broker)[0] == ("classic" if downgrades else "consumer")


def test_a_group_of_both_kinds_outlives_its_coordinator(broker: Any) -> None:
    old = stable_classic(broker)
    beat_new(broker, 0)
    before = members(broker)
    broker.restart()
    assert members(broker) == before == {old.member_id: (0, 1), "new": (1, 2)}
    again = join(broker, old.member_id)
    assert (again.error_code, again.generation_id) == (0, 2)
    assert sync(broker, again).error_code == 0
    beat_new(broker, -1)
    broker.restart()
    assert kind(broker) == ("classic", "Stable")


def test_each_member_has_the_session_that_it_asked_for(broker: Any) -> None:
    old = stable_classic(broker)
    beat_new(broker, 0)
    broker.runtime.advance(9_999)
    assert old.member_id in members(broker)
    broker.runtime.advance(1)
    assert members(broker).keys() == {"new"}


def test_a_group_goes_back_when_the_last_new_member_falls_silent(broker: Any) -> None:
    broker.config.values["group.consumer.session.timeout.ms"] = 5_000
    old = stable_classic(broker)
    beat_new(broker, 0)
    broker.runtime.advance(5_000)
    assert kind(broker) == ("classic", "PreparingRebalance")
    again = join(broker, old.member_id)
    assert (again.error_code, again.leader, again.generation_id) == (0, old.member_id, 3)


@pytest.mark.parametrize("asks", ["heartbeat", "sync"])
def test_a_member_that_is_called_must_join_and_then_sync(broker: Any, asks: str) -> None:
    old = stable_classic(broker)
    beat_new(broker, 0)
    for _ in range(4):
        broker.runtime.advance(5_000)
        called = beat(broker, old) if asks == "heartbeat" else sync(broker, old).error_code
        if asks == "sync":
            beat(broker, old)
        beat_new(broker, 2)
    assert called == ErrorCode.REBALANCE_IN_PROGRESS
    broker.runtime.advance(5_000)
    assert members(broker).keys() == {"new"}


def test_a_member_that_does_not_sync_is_removed(broker: Any) -> None:
    beat_new(broker, 0)
    joined = join(broker)
    for _ in range(3):
        broker.runtime.advance(6_000)
        beat(broker, joined)
        beat_new(broker, 2)
    assert joined.member_id in members(broker)
    broker.runtime.advance(2_000)
    assert joined.member_id not in members(broker)


def test_what_cannot_be_written_does_not_happen(broker: Any) -> None:
    old = stable_classic(broker)
    broker.replicas.error = ErrorCode.NOT_ENOUGH_REPLICAS
    assert beat_new(broker, 0).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert (kind(broker), beat(broker, old)) == (("classic", "Stable"), 0)
    broker.replicas.error = ErrorCode.NONE
    assert beat_new(broker, 0).error_code == 0
    broker.replicas.error = ErrorCode.NOT_ENOUGH_REPLICAS
    assert join(broker).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert beat_new(broker, -1).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert kind(broker)[0] == "consumer"
    assert members(broker).keys() == {old.member_id, "new"}
    broker.replicas.error = ErrorCode.NONE
    assert beat_new(broker, -1).error_code == 0
    assert kind(broker) == ("classic", "PreparingRebalance")


def test_group_sizes_are_kept(broker: Any) -> None:
    old = stable_classic(broker)
    broker.config.values["group.consumer.max.size"] = 1
    assert beat_new(broker, 0).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert beat(broker, old) == 0
    broker.config.values["group.consumer.max.size"] = 2
    assert beat_new(broker, 0).error_code == 0
    assert join(broker).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    broker.config.values["group.max.size"] = 0
    assert beat_new(broker, -1).error_code == 0
    assert kind(broker)[0] == "consumer"
