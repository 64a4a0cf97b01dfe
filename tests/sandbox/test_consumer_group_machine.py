"""Random lives of a KIP-848 consumer group: no partition ever has two owners, and every partition finds one.

Members behave as Java's consumer: partitions that a response no longer lists are revoked immediately, new ones are
taken. A member that falls silent keeps its partitions until its session is over; then it must give them up by itself.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
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
from eosctl.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.sandbox.eos_client import RETRIED, EosClient
from tests.sandbox.harness import Harness
from tests.sandbox.test_exactly_once_machine import FEW_PARTITIONS, examples

GROUP = "g"
SLOTS = range(3)
TOPICS = {"orders": 3, "returns": 2}
SESSION_MS = 45_000
REBALANCE_MS = 60_000
MAX_CRASHES = 3
ROUNDS = 30
BROKER_SETTINGS = {**FEW_PARTITIONS, "group.consumer.assignment.interval.ms": "0"}
LEAVING = -1

Owned = frozenset[tuple[bytes, int]]
NOTHING: Owned = frozenset()


@dataclass
class Member:
    member_id: str
    topics: tuple[str, ...]
    epoch: int = 0
    owned: Owned = NOTHING
    reported: Owned | None = None
    is_silent: bool = False
    lost_answers: int = 0


class ConsumerGroups(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.harness = Harness(self.folder, ClusterShape(1, Emulation("4.3"), 2, BROKER_SETTINGS))
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

    @rule(
        slot=st.sampled_from(SLOTS),
        topics=st.sampled_from([("orders",), ("returns",), ("orders", "returns")]),
    )
    def join(self, slot: int, topics: tuple[str, ...]) -> None:
        if slot not in self.members:
            self.count += 1
            member = self.members[slot] = Member(f"member-{self.count}", topics)
            assert self.beat_as(member) is ErrorCode.NONE

    @rule(slot=st.sampled_from(SLOTS), rounds=st.integers(1, 2))
    def beat(self, slot: int, rounds: int) -> None:
        member = self.members.get(slot)
        if member is not None and not member.is_silent:
            for _ in range(rounds):
                assert self.beat_as(member) is ErrorCode.NONE

    @rule(slot=st.sampled_from(SLOTS))
    def lose_an_answer(self, slot: int) -> None:
        """An answer that never comes: the member repeats everything it knows, in its old epoch."""
        member = self.members.get(slot)
        if member is None or member.is_silent or not member.epoch:
            return
        self.send(member, self.request_of(member, full=True))
        member.reported = None
        member.lost_answers += 1

    @rule(slot=st.sampled_from(SLOTS))
    def leave(self, slot: int) -> None:
        member = self.members.get(slot)
        if member is None or member.is_silent:
            return
        del self.members[slot]
        member.owned = NOTHING
        request = ConsumerGroupHeartbeatRequest(GROUP, member.member_id, LEAVING)
        assert self.send(member, request).error_code == ErrorCode.NONE
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
            refused = self.send(member, ConsumerGroupHeartbeatRequest(GROUP, member.member_id, max(member.epoch, 1)))
            gone = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND}
            assert refused.error_code in gone, ErrorCode(refused.error_code)

    @rule()
    def every_partition_finds_an_owner(self) -> None:
        """Without silent members, a few rounds of heartbeats complete the last assignment."""
        if any(member.is_silent for member in self.members.values()) or not self.members:
            return
        for _ in range(ROUNDS):
            before = [(member.epoch, member.owned) for member in self.members.values()]
            self.beat_all()
            if before == [(member.epoch, member.owned) for member in self.members.values()]:
                break
        assert len({member.epoch for member in self.members.values()}) == 1
        wanted = {topic for member in self.members.values() for topic in member.topics}
        everything = {(self.topic_id(topic), index) for topic in wanted for index in range(TOPICS[topic])}
        assert {pair for member in self.members.values() for pair in member.owned} == everything
        for member in self.members.values():
            assert {topic_id for topic_id, _ in member.owned} <= {self.topic_id(topic) for topic in member.topics}

    # --- the coordinator --------------------------------------------------------------------------------------------

    @precondition(lambda self: self.crash_count < MAX_CRASHES)
    @rule()
    def crash_and_recover(self) -> None:
        self.crash_count += 1
        self.harness.kill(1)
        self.harness.restart(1)

    @invariant()
    def no_partition_has_two_owners(self) -> None:
        owned = [pair for member in self.members.values() for pair in member.owned]
        assert len(owned) == len(set(owned))

    # --- the protocol -----------------------------------------------------------------------------------------------

    def topic_id(self, topic: str) -> bytes:
        topic_id = self.harness.core.broker(1).metadata.topic_id(topic)
        assert topic_id is not None
        return topic_id

    def beat_all(self) -> None:
        for member in self.members.values():
            if not member.is_silent:
                assert self.beat_as(member) is ErrorCode.NONE

    def beat_as(self, member: Member) -> ErrorCode:
        answer = self.send(member, self.request_of(member, full=member.reported is None))
        if answer.error_code == ErrorCode.FENCED_MEMBER_EPOCH and member.lost_answers > 1:
            # Only the last epoch is remembered: a member that missed more starts over without partitions.
            member.epoch, member.owned, member.reported = 0, NOTHING, None
            answer = self.send(member, self.request_of(member, full=True))
        if answer.error_code:
            return ErrorCode(answer.error_code)
        member.lost_answers = 0
        assert answer.member_epoch >= member.epoch
        member.epoch = answer.member_epoch
        member.reported = member.owned
        if answer.assignment is not None:
            member.owned = frozenset(
                (topic.topic_id, index) for topic in answer.assignment.topic_partitions for index in topic.partitions
            )
        return ErrorCode.NONE

    def request_of(self, member: Member, *, full: bool) -> ConsumerGroupHeartbeatRequest:
        """Build a heartbeat; one that is not full leaves out what has not changed since the last."""
        owned = None
        if full or member.owned != member.reported:
            owned = [
                TopicPartitions(topic_id, sorted(index for other, index in member.owned if other == topic_id))
                for topic_id in sorted({topic_id for topic_id, _ in member.owned})
            ]
        return ConsumerGroupHeartbeatRequest(
            GROUP,
            member.member_id,
            member.epoch,
            rebalance_timeout_ms=REBALANCE_MS if full else -1,
            subscribed_topic_names=list(member.topics) if full else None,
            topic_partitions=owned,
        )

    def send(self, member: Member, request: ConsumerGroupHeartbeatRequest) -> Any:
        while True:
            answer = self.harness.request(1, ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, request)
            if answer.error_code not in RETRIED:
                return answer
            self.harness.advance(20)


def test_partitions_of_consumer_groups_have_one_owner_each() -> None:
    run_state_machine_as_test(ConsumerGroups, settings=examples(30))
