"""Classic groups from joining to leaving, on a virtual clock, through the real handlers."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_groups import DescribeGroupsRequest
from eosctl.wire.messages.heartbeat import HeartbeatRequest
from eosctl.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from eosctl.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from eosctl.wire.messages.list_groups import ListGroupsRequest
from eosctl.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

SUBSCRIPTION = bytes.fromhex("000000000001000474657374ffffffff")


def join_request(member_id: str = "", **fields: Any) -> JoinGroupRequest:
    protocols = fields.pop("protocols", [JoinGroupRequestProtocol("range", SUBSCRIPTION)])
    return JoinGroupRequest(
        "g",
        fields.pop("session_timeout_ms", 10_000),
        fields.pop("rebalance_timeout_ms", 10_000),
        member_id,
        fields.pop("group_instance_id", None),
        fields.pop("protocol_type", "consumer"),
        protocols,
    )


def sync_request(member_id: str, generation_id: int, **assignments: bytes) -> SyncGroupRequest:
    entries = [SyncGroupRequestAssignment(key, value) for key, value in assignments.items()]
    return SyncGroupRequest("g", generation_id, member_id, None, "consumer", "range", entries)


def heartbeat(broker: Any, member_id: str, generation_id: int, instance_id: str | None = None) -> int:
    return int(broker.ask(4, HeartbeatRequest("g", generation_id, member_id, instance_id)).error_code)


def join_alone(broker: Any, **fields: Any) -> str:
    """Join as the only member and take the assignment b"a"."""
    member_id = str(broker.ask(6, join_request(**fields)).member_id)
    joined = broker.ask(6, join_request(member_id, **fields))
    assert joined.error_code == ErrorCode.NONE
    sync = SyncGroupRequest(
        "g", joined.generation_id, member_id, None, "consumer", "range", [SyncGroupRequestAssignment(member_id, b"a")]
    )
    assert broker.ask(5, sync).assignment == b"a"
    return member_id


def describe(broker: Any) -> Any:
    return broker.ask(5, DescribeGroupsRequest(["g"])).groups[0]


def test_a_newcomer_first_gets_an_id_and_joins_with_it(broker: Any) -> None:
    first = broker.ask(6, join_request())
    assert first.error_code == ErrorCode.MEMBER_ID_REQUIRED
    assert first.member_id.startswith("A-")
    second = broker.ask(6, join_request(first.member_id))
    assert (second.error_code, second.generation_id, second.leader) == (ErrorCode.NONE, 1, first.member_id)
    assert [(member.member_id, member.metadata) for member in second.members] == [(first.member_id, SUBSCRIPTION)]


def test_versions_below_4_join_immediately(broker: Any) -> None:
    joined = broker.ask(3, join_request())
    assert (joined.error_code, joined.generation_id) == (ErrorCode.NONE, 1)


def test_an_unused_id_is_forgotten_after_the_session_timeout(broker: Any) -> None:
    pending = broker.ask(6, join_request(session_timeout_ms=1000)).member_id
    broker.runtime.advance(1001)
    assert broker.ask(6, join_request(pending)).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_the_initial_delay_is_extended_by_new_members(broker: Any) -> None:
    broker.config.values["group.initial.rebalance.delay.ms"] = 3000
    first = broker.send(3, join_request(rebalance_timeout_ms=60_000))
    broker.runtime.advance(2000)
    second = broker.send(3, join_request(rebalance_timeout_ms=60_000), "B")
    broker.runtime.advance(1500)
    assert not first and not second
    broker.runtime.advance(3000)
    assert first[0].generation_id == second[0].generation_id == 1
    assert len(first[0].members) == 2 and not second[0].members


def test_the_initial_delay_ends_with_the_rebalance_timeout(broker: Any) -> None:
    broker.config.values["group.initial.rebalance.delay.ms"] = 3000
    first = broker.send(3, join_request(rebalance_timeout_ms=5000))
    for client in "BCDEFG":
        broker.runtime.advance(900)
        broker.send(3, join_request(rebalance_timeout_ms=5000), client)
    broker.runtime.advance(900)
    assert len(first[0].members) >= 5


def test_a_second_member_calls_the_first_to_join_again(broker: Any) -> None:
    first = join_alone(broker)
    second = broker.ask(6, join_request(), "B").member_id
    waiting = broker.send(6, join_request(second), "B")
    assert heartbeat(broker, first, 1) == ErrorCode.REBALANCE_IN_PROGRESS
    assert broker.ask(5, sync_request(first, 1)).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    rejoined = broker.ask(6, join_request(first))
    assert (rejoined.generation_id, len(rejoined.members)) == (2, 2)
    assert (waiting[0].generation_id, waiting[0].leader, waiting[0].members) == (2, first, [])
    follower = broker.send(5, sync_request(second, 2), "B")
    assert not follower
    leader_sync = SyncGroupRequest(
        "g",
        2,
        first,
        None,
        "consumer",
        "range",
        [SyncGroupRequestAssignment(first, b"1"), SyncGroupRequestAssignment(second, b"2")],
    )
    assert broker.ask(5, leader_sync).assignment == b"1"
    assert follower[0].assignment == b"2"
    assert heartbeat(broker, second, 2) == ErrorCode.NONE
    assert heartbeat(broker, second, 1) == ErrorCode.ILLEGAL_GENERATION


def test_a_late_member_is_removed_from_the_new_generation(broker: Any) -> None:
    join_alone(broker, rebalance_timeout_ms=2000, session_timeout_ms=30_000)
    second = broker.ask(6, join_request(rebalance_timeout_ms=2000), "B").member_id
    waiting = broker.send(6, join_request(second, rebalance_timeout_ms=2000), "B")
    broker.runtime.advance(1999)
    assert not waiting
    broker.runtime.advance(2)
    assert (waiting[0].generation_id, waiting[0].leader, len(waiting[0].members)) == (2, second, 1)


def test_a_leader_that_never_sends_the_assignment_is_removed(broker: Any) -> None:
    first = join_alone(broker, rebalance_timeout_ms=1500)
    second = broker.ask(6, join_request(rebalance_timeout_ms=1500), "B").member_id
    broker.send(6, join_request(second, rebalance_timeout_ms=1500), "B")
    broker.ask(6, join_request(first, rebalance_timeout_ms=1500))
    follower = broker.send(5, sync_request(second, 2), "B")
    broker.runtime.advance(1501)
    assert follower[0].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert heartbeat(broker, first, 2) == ErrorCode.UNKNOWN_MEMBER_ID
    assert broker.ask(6, join_request(second, rebalance_timeout_ms=1500), "B").generation_id == 3


def test_heartbeats_keep_a_member_and_their_absence_removes_it(broker: Any) -> None:
    member = join_alone(broker, session_timeout_ms=1000)
    for _ in range(5):
        broker.runtime.advance(900)
        assert heartbeat(broker, member, 1) == ErrorCode.NONE
    broker.runtime.advance(1001)
    assert heartbeat(broker, member, 1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert describe(broker).group_state == "Empty"
    newcomer = broker.ask(6, join_request(), "B").member_id
    assert broker.ask(6, join_request(newcomer), "B").generation_id == 3


def test_a_waiting_member_survives_its_session_timeout(broker: Any) -> None:
    first = join_alone(broker, session_timeout_ms=30_000)
    second = broker.ask(6, join_request(session_timeout_ms=1000), "B").member_id
    waiting = broker.send(6, join_request(second, session_timeout_ms=1000), "B")
    broker.runtime.advance(5000)
    assert not waiting
    broker.ask(6, join_request(first, session_timeout_ms=30_000))
    assert waiting[0].error_code == ErrorCode.NONE


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"session_timeout_ms": 999}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"session_timeout_ms": 1_800_001}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"protocols": []}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": ""}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
def test_a_bad_first_join_is_refused(broker: Any, fields: dict[str, Any], error: ErrorCode) -> None:
    answer = broker.ask(6, join_request(**fields))
    assert (answer.error_code, answer.generation_id, answer.member_id) == (error, -1, "")


@pytest.mark.parametrize(
    "fields", [{"protocol_type": "connect"}, {"protocols": [JoinGroupRequestProtocol("other", SUBSCRIPTION)]}]
)
def test_a_member_must_share_type_and_one_protocol(broker: Any, fields: dict[str, Any]) -> None:
    join_alone(broker)
    assert broker.ask(6, join_request(**fields), "B").error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_the_most_preferred_common_protocol_is_selected(broker: Any) -> None:
    def offer(*names: str) -> list[JoinGroupRequestProtocol]:
        return [JoinGroupRequestProtocol(name, name.encode()) for name in names]

    broker.config.values["group.initial.rebalance.delay.ms"] = 100
    answers = [
        broker.send(3, join_request(protocols=offer("a", "b", "c")), "A"),
        broker.send(3, join_request(protocols=offer("b", "c")), "B"),
        broker.send(3, join_request(protocols=offer("c", "b")), "C"),
    ]
    broker.runtime.advance(300)
    assert {answer[0].protocol_name for answer in answers} == {"b"}


def test_a_full_group_accepts_no_other_member(broker: Any) -> None:
    broker.config.values["group.max.size"] = 1
    join_alone(broker)
    assert broker.ask(3, join_request(), "B").error_code == ErrorCode.GROUP_MAX_SIZE_REACHED


def test_the_last_leave_creates_an_empty_next_generation(broker: Any) -> None:
    member = join_alone(broker)
    left = broker.ask(4, LeaveGroupRequest("g", "", [MemberIdentity("nobody"), MemberIdentity(member)]))
    assert [entry.error_code for entry in left.members] == [ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.NONE]
    group = describe(broker)
    assert (group.group_state, group.protocol_type, group.protocol_data, group.members) == ("Empty", "consumer", "", [])
    assert broker.ask(2, LeaveGroupRequest("g", member)).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_static_member_takes_the_place_of_its_former_self(broker: Any) -> None:
    first = broker.ask(6, join_request(group_instance_id="one"))
    assert first.error_code == ErrorCode.NONE
    sync = SyncGroupRequest(
        "g", 1, first.member_id, "one", "consumer", "range", [SyncGroupRequestAssignment(first.member_id, b"a")]
    )
    broker.ask(5, sync)
    second = broker.ask(6, join_request(group_instance_id="one"), "B")
    assert (second.error_code, second.generation_id, second.leader) == (ErrorCode.NONE, 1, first.member_id)
    assert heartbeat(broker, first.member_id, 1, "one") == ErrorCode.FENCED_INSTANCE_ID
    assert heartbeat(broker, second.member_id, 1, "one") == ErrorCode.NONE
    assert broker.ask(5, replace(sync, member_id=second.member_id, assignments=[])).assignment == b"a"
    assert heartbeat(broker, first.member_id, 1, "two") == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_static_leader_may_skip_the_assignment_from_version_9(broker: Any) -> None:
    first = broker.ask(9, join_request(group_instance_id="one"))
    broker.ask(5, SyncGroupRequest("g", 1, first.member_id, "one", "consumer", "range", []))
    second = broker.ask(9, join_request(group_instance_id="one"))
    assert second.skip_assignment and second.leader == second.member_id and len(second.members) == 1


def test_a_static_member_with_another_protocol_rebalances(broker: Any) -> None:
    first = broker.ask(6, join_request(group_instance_id="one"))
    broker.ask(5, SyncGroupRequest("g", 1, first.member_id, "one", "consumer", "range", []))
    other = [JoinGroupRequestProtocol("other", SUBSCRIPTION)]
    assert broker.ask(6, join_request(group_instance_id="one", protocols=other)).error_code == (
        ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    )
    both = [JoinGroupRequestProtocol("range", b"x"), JoinGroupRequestProtocol("other", SUBSCRIPTION)]
    assert broker.ask(6, join_request(group_instance_id="one", protocols=both)).generation_id == 1


def test_a_refused_assignment_makes_all_members_rejoin(broker: Any) -> None:
    member = broker.ask(6, join_request()).member_id
    broker.ask(6, join_request(member))
    broker.replicas.error = ErrorCode.NOT_ENOUGH_REPLICAS
    sync = SyncGroupRequest("g", 1, member, None, "consumer", "range", [SyncGroupRequestAssignment(member, b"a")])
    assert broker.ask(5, sync).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    broker.replicas.error = ErrorCode.NONE
    assert broker.ask(6, join_request(member)).generation_id == 2


def test_sync_names_type_and_protocol_of_the_generation(broker: Any) -> None:
    member = join_alone(broker)
    wrong = SyncGroupRequest("g", 1, member, None, "consumer", "other", [])
    assert broker.ask(5, wrong).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert broker.ask(5, replace(wrong, protocol_name=None)).error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert broker.ask(3, wrong).error_code == ErrorCode.NONE


def test_a_coordinator_that_moves_away_sends_its_members_off(broker: Any) -> None:
    first = join_alone(broker)
    second = broker.ask(6, join_request(), "B").member_id
    waiting = broker.send(6, join_request(second), "B")
    index = broker.partition_of("g").partition
    broker.groups.resign(index, 1)
    assert waiting[0].error_code == ErrorCode.NOT_COORDINATOR
    assert heartbeat(broker, first, 1) == ErrorCode.NOT_COORDINATOR
    broker.groups.become_leader(index, 2)
    assert broker.send(4, HeartbeatRequest("g", 1, first))[0].error_code == ErrorCode.NONE
    assert broker.send(5, sync_request(first, 1))[0].error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert broker.send(6, join_request(first))[0].error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    broker.runtime.drain()
    assert heartbeat(broker, first, 1) == ErrorCode.NONE


def test_a_stale_resignation_is_ignored(broker: Any) -> None:
    first = join_alone(broker)
    index = broker.partition_of("g").partition
    broker.groups.become_leader(index, 5)
    broker.groups.resign(index, 4)
    assert heartbeat(broker, first, 1) == ErrorCode.NONE


def test_members_survive_a_restart_for_one_session(broker: Any) -> None:
    member = join_alone(broker, session_timeout_ms=5000)
    broker.restart()
    group = describe(broker)
    assert (group.group_state, group.members[0].member_assignment) == ("Stable", b"a")
    assert heartbeat(broker, member, 1) == ErrorCode.NONE
    broker.runtime.advance(5001)
    assert describe(broker).group_state == "Empty"


def test_groups_are_listed_by_state_and_type(broker: Any) -> None:
    join_alone(broker)

    def names(states: list[str], types: list[str]) -> list[str]:
        return [group.group_id for group in broker.ask(5, ListGroupsRequest(states, types)).groups]

    assert names([], []) == names(["stable"], []) == names([], ["Classic"]) == ["g"]
    assert names(["Empty"], []) == names([], ["consumer"]) == []
