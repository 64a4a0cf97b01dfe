"""Random lives of a streams group (KIP-1071): no active task ever has two owners, and every task finds one.

Members behave as Kafka Streams: tasks that a response no longer lists are closed immediately, new ones are taken. A
member that falls silent keeps its tasks until its session is over; then it must give them up by itself.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from eosctl.sandbox.core import ClusterShape
from eosctl.sandbox.ports import Emulation
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.streams_group_describe import StreamsGroupDescribeRequest
from eosctl.wire.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
)
from tests.sandbox.eos_client import RETRIED, EosClient
from tests.sandbox.harness import Harness
from tests.sandbox.test_exactly_once_machine import FEW_PARTITIONS, examples

GROUP = "g"
SLOTS = range(4)
TOPICS = {"orders": 3, "returns": 2}
TOPOLOGY = Topology(
    0,
    [
        Subtopology("0", ["orders"], repartition_sink_topics=["middle"]),
        Subtopology(
            "1", ["returns"], repartition_source_topics=[TopicInfo("middle")], state_changelog_topics=[TopicInfo("log")]
        ),
    ],
)
TASKS = {("0", index) for index in range(3)} | {("1", index) for index in range(3)}
SESSION_MS = 45_000
REBALANCE_MS = 60_000
MAX_CRASHES = 3
ROUNDS = 40
LEAVING = -1
BROKER_SETTINGS = {
    **FEW_PARTITIONS,
    "group.streams.assignment.interval.ms": "0",
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.num.standby.replicas": "1",
}

Task = tuple[str, int]


@dataclass
class Member:
    member_id: str
    process_id: str
    epoch: int = 0
    active: set[Task] = field(default_factory=set)
    standby: set[Task] = field(default_factory=set)
    reported: tuple[set[Task], set[Task]] | None = None
    is_silent: bool = False


class StreamsGroups(RuleBasedStateMachine):
    release = "4.4"

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.harness = Harness(self.folder, ClusterShape(1, Emulation(self.release), 2, BROKER_SETTINGS))
        self.members: dict[int, Member] = {}
        self.former: list[Member] = []
        self.count = self.crash_count = 0

    def teardown(self) -> None:
        self.harness.close()
        shutil.rmtree(self.folder)

    @initialize()
    def create(self) -> None:
        client = EosClient(self.harness)
        for topic, count in TOPICS.items():
            client.create_topic(topic, count)
        self.harness.request(1, ApiKey.FIND_COORDINATOR, 3, FindCoordinatorRequest(GROUP, 0))  # makes the offsets topic

    # --- members ----------------------------------------------------------------------------------------------------

    @rule(slot=st.sampled_from(SLOTS), process=st.sampled_from(["p1", "p2", "p3"]))
    def join(self, slot: int, process: str) -> None:
        if slot not in self.members:
            self.count += 1
            member = self.members[slot] = Member(f"member-{self.count}", process)
            assert self.beat_as(member) is ErrorCode.NONE

    @rule(slot=st.sampled_from(SLOTS), rounds=st.integers(1, 2))
    def beat(self, slot: int, rounds: int) -> None:
        member = self.members.get(slot)
        if member is not None and not member.is_silent:
            for _ in range(rounds):
                assert self.beat_as(member) is ErrorCode.NONE

    @rule(slot=st.sampled_from(SLOTS))
    def lose_an_answer(self, slot: int) -> None:
        """An answer that never comes: the member gives its tasks up and joins again.

        Kafka would not repeat the tasks in the next answer, so the member would be fenced after its rebalance timeout.
        """
        member = self.members.get(slot)
        if member is not None and not member.is_silent:
            self.send(self.request_of(member, full=True))
            member.epoch, member.active, member.standby, member.reported = 0, set(), set(), None

    @rule(slot=st.sampled_from(SLOTS))
    def leave(self, slot: int) -> None:
        member = self.members.get(slot)
        if member is None or member.is_silent:
            return
        del self.members[slot]
        request = StreamsGroupHeartbeatRequest(GROUP, member.member_id, LEAVING)
        assert self.send(request).error_code == ErrorCode.NONE
        self.former.append(member)

    @rule(slot=st.sampled_from(SLOTS))
    def fall_silent(self, slot: int) -> None:
        if slot in self.members:
            self.members[slot].is_silent = True

    @precondition(lambda self: any(member.is_silent for member in self.members.values()))
    @rule()
    def sessions_end(self) -> None:
        """Time passes; members without heartbeats are out of the group and know it."""
        for _ in range(SESSION_MS // 5_000 + 2):
            self.harness.advance(5_000)
            self.beat_all()
        for slot, member in tuple(self.members.items()):
            if member.is_silent:
                self.former.append(self.members.pop(slot))

    @rule()
    def former_members_are_refused(self) -> None:
        for member in self.former:
            refused = self.send(StreamsGroupHeartbeatRequest(GROUP, member.member_id, max(member.epoch, 1)))
            gone = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND}
            assert refused.error_code in gone, ErrorCode(refused.error_code)

    @rule()
    def every_task_finds_an_owner(self) -> None:
        """Without silent members, a few rounds of heartbeats complete the last assignment."""
        if any(member.is_silent for member in self.members.values()) or not self.members:
            return
        for _ in range(ROUNDS):
            self.harness.advance(50)  # Internal topics are created meanwhile.
            self.beat_all()
        assert len({member.epoch for member in self.members.values()}) == 1
        assert sorted(task for member in self.members.values() for task in member.active) == sorted(TASKS)
        (group,) = self.harness.request(
            1, ApiKey.STREAMS_GROUP_DESCRIBE, 0, StreamsGroupDescribeRequest([GROUP])
        ).groups
        assert group.group_state == "Stable"
        assert {member.member_id: member.assignment for member in group.members} == {
            member.member_id: member.target_assignment for member in group.members
        }
        processes = {member.process_id for member in self.members.values()}
        for task in (task for task in TASKS if task[0] == "1"):
            replicas = [member.process_id for member in self.members.values() if task in member.active | member.standby]
            assert len(replicas) == len(set(replicas)) == min(2, len(processes))

    # --- the coordinator --------------------------------------------------------------------------------------------

    @precondition(lambda self: self.crash_count < MAX_CRASHES)
    @rule()
    def crash_and_recover(self) -> None:
        before = self.described()
        self.crash_count += 1
        self.harness.kill(1)
        self.harness.restart(1)
        assert self.described() == before

    @invariant()
    def no_active_task_has_two_owners(self) -> None:
        owned = [task for member in self.members.values() for task in member.active]
        assert len(owned) == len(set(owned))

    # --- the protocol -----------------------------------------------------------------------------------------------

    def described(self) -> Any:
        while True:
            request = StreamsGroupDescribeRequest([GROUP])
            (group,) = self.harness.request(1, ApiKey.STREAMS_GROUP_DESCRIBE, 0, request).groups
            if group.error_code not in RETRIED:
                return group
            self.harness.advance(20)

    def beat_all(self) -> None:
        for member in self.members.values():
            if not member.is_silent:
                assert self.beat_as(member) is ErrorCode.NONE

    def beat_as(self, member: Member) -> ErrorCode:
        answer = self.send(self.request_of(member, full=member.reported is None))
        if answer.error_code:
            return ErrorCode(answer.error_code)
        assert answer.member_epoch >= member.epoch
        member.epoch = answer.member_epoch
        member.reported = (member.active, member.standby)
        if answer.active_tasks is not None:
            member.active, member.standby = read(answer.active_tasks), read(answer.standby_tasks)
        return ErrorCode.NONE

    def request_of(self, member: Member, *, full: bool) -> StreamsGroupHeartbeatRequest:
        """Build a heartbeat; one that is not full leaves out what has not changed since the last."""
        reports = full or (member.active, member.standby) != member.reported
        joins = member.epoch == 0
        return StreamsGroupHeartbeatRequest(
            GROUP,
            member.member_id,
            member.epoch,
            rebalance_timeout_ms=REBALANCE_MS if full else -1,
            topology=TOPOLOGY if joins else None,
            process_id=member.process_id if full else None,
            active_tasks=write(member.active) if reports else None,
            standby_tasks=write(member.standby) if reports else None,
            warmup_tasks=[] if reports else None,
        )

    def send(self, request: StreamsGroupHeartbeatRequest) -> Any:
        while True:
            answer = self.harness.request(1, ApiKey.STREAMS_GROUP_HEARTBEAT, 0, request)
            if answer.error_code not in RETRIED:
                return answer
            self.harness.advance(20)


def read(tasks: Any) -> set[Task]:
    return {(part.subtopology_id, index) for part in tasks for index in part.partitions}


def write(tasks: set[Task]) -> list[TaskIds]:
    parts = sorted({part for part, _ in tasks})
    return [TaskIds(part, sorted(index for other, index in tasks if other == part)) for part in parts]


class StreamsGroupsOf43(StreamsGroups):
    release = "4.3"


def test_tasks_of_streams_groups_have_one_owner_each() -> None:
    run_state_machine_as_test(StreamsGroups, settings=examples(20))


def test_tasks_of_streams_groups_have_one_owner_in_4_3() -> None:
    run_state_machine_as_test(StreamsGroupsOf43, settings=examples(10))
