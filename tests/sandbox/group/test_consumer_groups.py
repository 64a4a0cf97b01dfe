"""KIP-848 groups as 4.3.1 answers them: epochs, assignment, revocation, fencing, patterns, restarts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from eosctl.sandbox.coordinator.group.consumer.assignors import assign_range, assign_uniform
from eosctl.sandbox.coordinator.group.consumer.group import Assignment, TopicIdPartition
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from eosctl.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from eosctl.wire.messages.delete_groups import DeleteGroupsRequest
from eosctl.wire.messages.describe_groups import DescribeGroupsRequest
from eosctl.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from eosctl.wire.messages.list_groups import ListGroupsRequest
from eosctl.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)


@pytest.fixture
def broker(new_broker: Any) -> Any:
    return new_broker("4.3")


def topic_id(broker: Any, name: str = "orders") -> bytes:
    return bytes(broker.metadata.topic_id(name))


def beat(broker: Any, member_id: str, epoch: int, version: int = 0, **fields: Any) -> Any:
    owned = fields.pop("owned", None)
    partitions = None if owned is None else [TopicPartitions(topic_id(broker), owned)] if owned else []
    plain = ConsumerGroupHeartbeatRequest("g", member_id, epoch, topic_partitions=partitions)
    request = replace(plain, **fields)
    return broker.ask(version, request)


def join(broker: Any, member_id: str, **fields: Any) -> Any:
    values = {"rebalance_timeout_ms": 10_000, "subscribed_topic_names": ["orders"], "owned": []} | fields
    return beat(broker, member_id, 0, **values)


def assigned(answer: Any) -> list[int] | None:
    if answer.assignment is None:
        return None
    return [index for topic in answer.assignment.topic_partitions for index in topic.partitions]


def describe(broker: Any, version: int = 1) -> Any:
    return broker.ask(version, ConsumerGroupDescribeRequest(["g"])).groups[0]


def test_the_first_member_starts_with_epoch_2_and_all_partitions(broker: Any) -> None:
    answer = join(broker, "")
    assert (answer.error_code, answer.member_epoch, assigned(answer)) == (0, 2, [0, 1])
    assert answer.member_id and answer.heartbeat_interval_ms == 5000
    repeated = beat(broker, answer.member_id, 2)
    assert (repeated.member_epoch, repeated.assignment) == (2, None)
    assert assigned(beat(broker, answer.member_id, 2, **FULL)) == [0, 1]


FULL = {"rebalance_timeout_ms": 10_000, "subscribed_topic_names": ["orders"], "owned": [0, 1]}


def test_partitions_move_only_after_they_were_given_up(broker: Any) -> None:
    join(broker, "a")
    second = join(broker, "b")
    assert (second.member_epoch, assigned(second)) == (2, [])
    assert describe(broker).group_state == "Assigning"
    broker.runtime.advance(1000)
    assert beat(broker, "b", 2).member_epoch == 3
    revoking = beat(broker, "a", 2)
    assert (revoking.member_epoch, assigned(revoking)) == (2, [0])
    assert describe(broker).group_state == "Reconciling"
    assert assigned(beat(broker, "b", 3)) is None
    released = beat(broker, "a", 2, owned=[0])
    assert (released.member_epoch, released.assignment) == (3, None)
    assert assigned(beat(broker, "b", 3)) == [1]
    group = describe(broker)
    assert (group.group_state, group.group_epoch, group.assignment_epoch) == ("Stable", 3, 3)
    assert {member.member_type for member in group.members} == {1}


def test_a_member_that_does_not_give_up_its_partitions_is_fenced(broker: Any) -> None:
    join(broker, "a", rebalance_timeout_ms=3000)
    join(broker, "b")
    broker.runtime.advance(1000)
    beat(broker, "b", 2)
    beat(broker, "a", 2)
    broker.runtime.advance(2999)
    assert beat(broker, "a", 2).error_code == ErrorCode.NONE
    broker.runtime.advance(1)
    assert beat(broker, "a", 2).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    answer = beat(broker, "b", 3)
    assert (answer.member_epoch, assigned(answer)) == (4, [0, 1])


def test_a_silent_member_is_removed_after_its_session(broker: Any) -> None:
    join(broker, "a")
    broker.runtime.advance(44_999)
    assert beat(broker, "a", 2).error_code == ErrorCode.NONE
    broker.runtime.advance(45_000)
    assert beat(broker, "a", 2).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert describe(broker).group_state == "Empty"


@pytest.mark.parametrize(
    ("version", "epoch", "fields", "error"),
    [
        (0, 0, {"subscribed_topic_names": None}, ErrorCode.INVALID_REQUEST),
        (0, 0, {"rebalance_timeout_ms": -1}, ErrorCode.INVALID_REQUEST),
        (0, 0, {"owned": None}, ErrorCode.INVALID_REQUEST),
        (0, 0, {"owned": [1]}, ErrorCode.INVALID_REQUEST),
        (0, 0, {"group_id": ""}, ErrorCode.INVALID_REQUEST),
        (0, 0, {"instance_id": ""}, ErrorCode.INVALID_REQUEST),
        (0, 0, {"rack_id": ""}, ErrorCode.INVALID_REQUEST),
        (0, -2, {}, ErrorCode.INVALID_REQUEST),
        (0, -3, {}, ErrorCode.INVALID_REQUEST),
        (0, 5, {}, ErrorCode.GROUP_ID_NOT_FOUND),
        (0, -1, {}, ErrorCode.GROUP_ID_NOT_FOUND),
        (0, 0, {"server_assignor": "nonsense"}, ErrorCode.UNSUPPORTED_ASSIGNOR),
        (1, 0, {"member_id": ""}, ErrorCode.INVALID_REQUEST),
        (1, 0, {"subscribed_topic_regex": "("}, ErrorCode.INVALID_REGULAR_EXPRESSION),
    ],
)
def test_a_bad_heartbeat_is_refused(
    broker: Any, version: int, epoch: int, fields: dict[str, Any], error: ErrorCode
) -> None:
    values = {"rebalance_timeout_ms": 10_000, "subscribed_topic_names": ["orders"], "owned": []} | fields
    answer = beat(broker, str(values.pop("member_id", "a")), epoch, version, **values)
    assert (answer.error_code, answer.member_id, answer.member_epoch, answer.assignment) == (error, None, 0, None)
    assert answer.error_message


@pytest.mark.parametrize(
    ("epoch", "fields", "error"),
    [
        (2, {}, ErrorCode.NONE),
        (9, {}, ErrorCode.FENCED_MEMBER_EPOCH),
        (1, {}, ErrorCode.FENCED_MEMBER_EPOCH),
        (0, {"rebalance_timeout_ms": 1, "subscribed_topic_names": ["orders"], "owned": []}, ErrorCode.NONE),
    ],
)
def test_epochs_fence(broker: Any, epoch: int, fields: dict[str, Any], error: ErrorCode) -> None:
    join(broker, "a")
    assert beat(broker, "a", epoch, **fields).error_code == error


def test_the_previous_epoch_is_valid_with_fewer_partitions(broker: Any) -> None:
    join(broker, "a")
    broker.runtime.advance(1000)
    join(broker, "b")
    beat(broker, "a", 2)
    assert beat(broker, "a", 2, owned=[0]).member_epoch == 3
    assert beat(broker, "a", 2, owned=[0]).error_code == ErrorCode.NONE
    assert beat(broker, "a", 2, owned=[0, 1]).error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert beat(broker, "a", 2).error_code == ErrorCode.FENCED_MEMBER_EPOCH


def test_leaving_gives_the_partitions_to_the_others(broker: Any) -> None:
    join(broker, "a")
    join(broker, "b")
    left = beat(broker, "a", -1)
    assert (left.error_code, left.member_id, left.member_epoch, left.heartbeat_interval_ms) == (0, "a", -1, 0)
    broker.runtime.advance(1000)
    assert assigned(beat(broker, "b", 2)) == [0, 1]


def test_an_unsubscribed_topic_is_revoked_immediately(broker: Any) -> None:
    join(broker, "a")
    again = join(broker, "a", subscribed_topic_names=[])
    assert (again.member_epoch, assigned(again)) == (2, [])


def test_a_static_member_comes_back_to_its_partitions(broker: Any) -> None:
    join(broker, "a", instance_id="one")
    taken = join(broker, "b", instance_id="one")
    assert taken.error_code == ErrorCode.UNRELEASED_INSTANCE_ID
    assert beat(broker, "a", -2, instance_id="one").member_epoch == -2
    back = join(broker, "b", instance_id="one")
    assert (back.error_code, back.member_epoch, assigned(back)) == (0, 2, [0, 1])
    assert beat(broker, "a", 2, instance_id="one").error_code == ErrorCode.FENCED_INSTANCE_ID
    assert beat(broker, "x", 2, instance_id="two").error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_pattern_is_resolved_after_the_join(broker: Any) -> None:
    fields = {"subscribed_topic_names": [], "subscribed_topic_regex": "ord.*"}
    first = join(broker, "a", version=1, **fields)
    assert (first.member_epoch, assigned(first)) == (1, [])
    broker.runtime.advance(1000)
    second = beat(broker, "a", 1, version=1)
    assert (second.member_epoch, assigned(second)) == (2, [0, 1])
    assert describe(broker).members[0].subscribed_topic_regex == "ord.*"


def test_a_new_matching_topic_is_found_at_the_next_resolution(broker: Any) -> None:
    join(broker, "a", version=1, subscribed_topic_names=[], subscribed_topic_regex="ord.*")
    broker.runtime.advance(1000)
    beat(broker, "a", 1, version=1)
    broker.metadata.counts["ordinary"] = 1
    broker.metadata.ids["ordinary"] = b"\0" * 15 + b"\1"
    for _ in range(20):
        broker.runtime.advance(30_000)
        answer = beat(broker, "a", describe(broker).members[0].member_epoch, version=1)
    assert len(assigned(answer) or []) == 3


def test_more_partitions_of_a_topic_reach_the_group(broker: Any) -> None:
    join(broker, "a")
    broker.metadata.counts["orders"] = 3
    broker.runtime.advance(1000)
    answer = beat(broker, "a", 2)
    assert (answer.member_epoch, assigned(answer)) == (3, [0, 1, 2])


def test_the_group_survives_a_restart(broker: Any) -> None:
    join(broker, "a", instance_id="one")
    join(broker, "b", version=1, subscribed_topic_names=["payments"], subscribed_topic_regex="pay.*")
    broker.runtime.advance(1000)
    beat(broker, "b", 2)
    beat(broker, "a", 2, instance_id="one")
    before = describe(broker)
    broker.restart()
    assert describe(broker) == before
    assert beat(broker, "a", 2, instance_id="one").error_code in (ErrorCode.NONE, ErrorCode.FENCED_MEMBER_EPOCH)
    broker.runtime.advance(45_001)
    assert describe(broker).group_state == "Empty"


def test_an_empty_group_is_deleted_with_its_records(broker: Any) -> None:
    join(broker, "a")
    assert broker.ask(2, DeleteGroupsRequest(["g"])).results[0].error_code == ErrorCode.NON_EMPTY_GROUP
    beat(broker, "a", -1)
    assert broker.ask(2, DeleteGroupsRequest(["g"])).results[0].error_code == ErrorCode.NONE
    broker.restart()
    missing = describe(broker)
    assert (missing.error_code, missing.group_state) == (ErrorCode.GROUP_ID_NOT_FOUND, "")


def test_a_refused_record_takes_the_join_back(broker: Any) -> None:
    broker.replicas.error = ErrorCode.NOT_ENOUGH_REPLICAS
    assert join(broker, "a").error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    broker.replicas.error = ErrorCode.NONE
    assert describe(broker).error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_an_empty_classic_group_and_a_consumer_group_convert(broker: Any) -> None:
    offset = [OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, 5)])]
    broker.ask(7, OffsetCommitRequest("g", topics=offset))
    assert join(broker, "a").error_code == ErrorCode.NONE
    classic = JoinGroupRequest("g", 10_000, 10_000, "", None, "connect", [JoinGroupRequestProtocol("range", b"")])
    assert broker.ask(3, classic).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert broker.ask(5, DescribeGroupsRequest(["g"])).groups[0].group_state == "Dead"
    beat(broker, "a", -1)
    assert broker.ask(3, classic).error_code == ErrorCode.NONE
    assert join(broker, "a").error_code == ErrorCode.GROUP_ID_NOT_FOUND
    broker.restart()
    assert [group.group_type for group in broker.ask(5, ListGroupsRequest()).groups] == ["classic"]


@pytest.mark.parametrize(
    ("version", "epoch", "member_id", "error"),
    [
        (9, 2, "a", ErrorCode.NONE),
        (9, 1, "a", ErrorCode.STALE_MEMBER_EPOCH),
        (9, 3, "a", ErrorCode.STALE_MEMBER_EPOCH),
        (9, 2, "nobody", ErrorCode.UNKNOWN_MEMBER_ID),
        (9, -1, "", ErrorCode.UNKNOWN_MEMBER_ID),
        (8, 2, "a", ErrorCode.UNSUPPORTED_VERSION),
    ],
)
def test_commits_carry_the_member_epoch(
    broker: Any, version: int, epoch: int, member_id: str, error: ErrorCode
) -> None:
    join(broker, "a")
    offset = [OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(0, 5)])]
    answer = broker.ask(version, OffsetCommitRequest("g", epoch, member_id, topics=offset))
    assert answer.topics[0].partitions[0].error_code == error


def test_3_9_does_not_speak_the_protocol(new_broker: Any) -> None:
    answer = join(new_broker("3.9"), "")
    assert (answer.error_code, answer.member_id, answer.member_epoch) == (ErrorCode.UNSUPPORTED_VERSION, None, 0)


TOPICS = {name: [TopicIdPartition(name.encode().ljust(16), index) for index in range(5)] for name in ("x", "y")}


@given(
    subscriptions=st.dictionaries(
        st.sampled_from("abcdef"), st.frozensets(st.sampled_from(["x", "y"]), min_size=1), min_size=1
    ),
    more=st.dictionaries(st.sampled_from("abcdef"), st.frozensets(st.sampled_from(["x", "y"]), min_size=1), min_size=1),
)
@pytest.mark.parametrize("assign", [assign_uniform, assign_range])
def test_every_partition_goes_to_exactly_one_subscriber(
    assign: Any, subscriptions: dict[str, frozenset[str]], more: dict[str, frozenset[str]]
) -> None:
    current: dict[str, Assignment] = {}
    for members in (subscriptions, more):
        current = assign(members, TOPICS, current)
        assert set(current) == set(members)
        taken = [partition for held in current.values() for partition in held]
        wanted = {partition for name in frozenset().union(*members.values()) for partition in TOPICS[name]}
        assert len(taken) == len(set(taken)) and set(taken) == wanted
        for member, held in current.items():
            assert {partition.topic_id.strip().decode() for partition in held} <= members[member]


@given(before=st.sets(st.sampled_from("abcdef"), min_size=1), after=st.sets(st.sampled_from("abcdef"), min_size=1))
def test_uniform_is_balanced_and_moves_no_more_than_needed(before: set[str], after: set[str]) -> None:
    both = frozenset({"x", "y"})
    first = assign_uniform(dict.fromkeys(before, both), TOPICS, {})
    second = assign_uniform(dict.fromkeys(after, both), TOPICS, first)
    sizes = [len(held) for held in second.values()]
    assert max(sizes) - min(sizes) <= 1
    share = 10 // len(after)
    for member in before & after:
        kept = len(first[member] & second[member])
        assert kept >= min(len(first[member]), share)


@pytest.mark.parametrize(("release", "error"), [("4.3", ErrorCode.GROUP_MAX_SIZE_REACHED), ("4.4", ErrorCode.NONE)])
def test_a_static_member_joins_a_full_group_again(new_broker: Any, release: str, error: ErrorCode) -> None:
    broker = new_broker(release)
    broker.config.values["group.consumer.max.size"] = 1
    join(broker, "a", instance_id="i")
    beat(broker, "a", -2, instance_id="i")
    assert join(broker, "b", instance_id="i").error_code == error
