"""Random lives of a classic group: members come, go and fall silent, offsets are committed plainly and in transactions.

The model keeps who is a member, which offsets are committed and which wait for the end of a transaction. A rebalance
is always carried to its end, so that between two steps every live member is of the group's present generation.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest
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
from eosctl.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.heartbeat import HeartbeatRequest
from eosctl.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from eosctl.wire.messages.leave_group import LeaveGroupRequest
from eosctl.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from eosctl.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from eosctl.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from eosctl.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from eosctl.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.sandbox.eos_client import RETRIED, EosClient, Handle
from tests.sandbox.group.offset_requests import SUBSCRIBED_TO_ORDERS
from tests.sandbox.harness import Harness, HarnessClient
from tests.sandbox.test_exactly_once_machine import FEW_PARTITIONS, examples

GROUP = "g"
SLOTS = range(3)
PRODUCERS = ("a", "b")
PARTITIONS = range(2)
SESSION_MS = 10_000
BEAT_MS = 3_000
RETENTION_MS = 60_000
TRANSACTION_TIMEOUT_MS = 3_000_000  # timeouts belong to another machine
MAX_CRASHES = 3
NO_OFFSET = -1
EXPELLED = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION}
BROKER_SETTINGS = {
    **FEW_PARTITIONS,
    "offsets.retention.minutes": "1",
    "offsets.retention.check.interval.ms": "1000",
    "transaction.max.timeout.ms": str(TRANSACTION_TIMEOUT_MS),
}


@dataclass
class Member:
    connection: HarnessClient
    member_id: str = ""
    generation_id: int = -1
    is_silent: bool = False


@dataclass
class Committed:
    """An offset, and when its record was written: a later record wins, whenever its transaction ends."""

    offset: int
    written: int


@dataclass
class Producer:
    handle: Handle
    pending: dict[int, Committed] = field(default_factory=dict)


class Groups(RuleBasedStateMachine):
    release = "4.3"
    transaction_version: int | None = 2
    broker_settings: ClassVar[dict[str, str]] = BROKER_SETTINGS

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        shape = ClusterShape(1, Emulation(self.release), self.transaction_version, self.broker_settings)
        self.harness = Harness(self.folder, shape)
        self.implicit = self.transaction_version == 2
        self.client = EosClient(self.harness, implicit=self.implicit)
        self.members: dict[int, Member] = {}
        self.former: list[Member] = []
        self.producers: dict[str, Producer] = {}
        self.committed: dict[int, Committed] = {}
        self.generation_id = 0
        self.write_count = self.crash_count = 0

    def teardown(self) -> None:
        self.harness.close()
        shutil.rmtree(self.folder)

    @initialize()
    def create(self) -> None:
        self.client.create_topic("orders", len(PARTITIONS))
        self.harness.request(1, ApiKey.FIND_COORDINATOR, 3, FindCoordinatorRequest(GROUP, 0))  # makes the offsets topic
        self.fetch(stable=False)

    # --- membership -------------------------------------------------------------------------------------------------

    @property
    def live(self) -> list[Member]:
        return [member for member in self.members.values() if not member.is_silent]

    @rule(slot=st.sampled_from(SLOTS))
    def join(self, slot: int) -> None:
        if slot in self.members:
            return
        member = Member(self.harness.client())
        answer = member.connection.request(ApiKey.JOIN_GROUP, 5, self.join_request(member))
        assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED  # a newcomer is given its id first (KIP-394)
        member.member_id = answer.member_id
        self.members[slot] = member
        self.rebalance()

    @rule(slot=st.sampled_from(SLOTS))
    def leave(self, slot: int) -> None:
        member = self.members.get(slot)
        if member is None or member.is_silent:
            return
        answer = self.harness.request(1, ApiKey.LEAVE_GROUP, 2, LeaveGroupRequest(GROUP, member.member_id))
        assert answer.error_code == ErrorCode.NONE
        self.former.append(self.members.pop(slot))
        self.rebalance()

    @rule(slot=st.sampled_from(SLOTS))
    def fall_silent(self, slot: int) -> None:
        if slot in self.members:
            self.members[slot].is_silent = True

    @precondition(lambda self: any(member.is_silent for member in self.members.values()))
    @rule()
    def sessions_end(self) -> None:
        self.pass_time(SESSION_MS + BEAT_MS)
        self.bury_silent()
        self.rebalance()

    @rule()
    def former_members_are_refused(self) -> None:
        for member in self.former:
            beat = HeartbeatRequest(GROUP, member.generation_id, member.member_id)
            answer = self.harness.request(1, ApiKey.HEARTBEAT, 3, beat)
            assert answer.error_code == ErrorCode.UNKNOWN_MEMBER_ID
            assert self.commit_as(0, 999_999, member.member_id, member.generation_id) in EXPELLED

    def join_request(self, member: Member) -> JoinGroupRequest:
        protocols = [JoinGroupRequestProtocol("range", SUBSCRIBED_TO_ORDERS)]
        return JoinGroupRequest(GROUP, SESSION_MS, SESSION_MS, member.member_id, None, "consumer", protocols)

    def rebalance(self) -> None:
        """Let all live members join; silent ones are removed after the others have waited long enough."""
        live = self.live[::-1]  # a newcomer first: until it has come, the others have no reason to join again
        if not live:
            return
        waiting = [member.connection.send(ApiKey.JOIN_GROUP, 5, self.join_request(member)) for member in live]
        self.harness.run_until(lambda: all(pending.is_over for pending in waiting))
        self.bury_silent()
        joined = [pending.response for pending in waiting]
        assert {answer.error_code for answer in joined} == {ErrorCode.NONE}
        generation_id = joined[0].generation_id
        assert {answer.generation_id for answer in joined} == {generation_id}
        assert generation_id > self.generation_id
        self.generation_id = generation_id
        leaders = [answer for answer in joined if answer.member_id == answer.leader]
        assert len(leaders) == 1
        leader = leaders[0]
        assert {entry.member_id for entry in leader.members} == {member.member_id for member in live}
        plan = [SyncGroupRequestAssignment(member.member_id, member.member_id.encode()) for member in live]
        synced = []
        for member in live:
            member.generation_id = generation_id
            assignments = plan if member.member_id == leader.leader else []
            request = SyncGroupRequest(GROUP, generation_id, member.member_id, assignments=assignments)
            synced.append(member.connection.send(ApiKey.SYNC_GROUP, 3, request))
        self.harness.run_until(lambda: all(pending.is_over for pending in synced))
        for member, pending in zip(live, synced, strict=True):
            assert pending.response.error_code == ErrorCode.NONE
            assert pending.response.assignment == member.member_id.encode()

    def bury_silent(self) -> None:
        for slot, member in tuple(self.members.items()):
            if member.is_silent:
                self.former.append(self.members.pop(slot))

    def pass_time(self, ms: int) -> None:
        """Let time pass while live members send heartbeats."""
        for _ in range(0, ms, BEAT_MS):
            self.harness.advance(BEAT_MS)
            for member in self.live:
                request = HeartbeatRequest(GROUP, member.generation_id, member.member_id)
                answer = self.harness.request(1, ApiKey.HEARTBEAT, 3, request)
                expected = {ErrorCode.NONE}
                if len(self.live) < len(self.members):
                    expected.add(ErrorCode.REBALANCE_IN_PROGRESS)  # a silent one's session may have ended
                assert answer.error_code in expected, ErrorCode(answer.error_code)

    # --- offsets ----------------------------------------------------------------------------------------------------

    @rule(slot=st.sampled_from(SLOTS), partition=st.sampled_from(PARTITIONS))
    def commit(self, slot: int, partition: int) -> None:
        member = self.members.get(slot)
        if member is None:
            return
        value = self.next_value()
        if not member.is_silent:
            assert self.commit_as(partition, value.offset, member.member_id, member.generation_id) is ErrorCode.NONE
            self.committed[partition] = value
            error = self.commit_as(partition, value.offset, member.member_id, member.generation_id - 1)
            assert error is ErrorCode.ILLEGAL_GENERATION

    @rule(partition=st.sampled_from(PARTITIONS))
    def commit_without_membership(self, partition: int) -> None:
        """A commit without a member is only valid for empty groups."""
        value = self.next_value()
        error = self.commit_as(partition, value.offset, "", -1)
        if self.members:
            assert error is ErrorCode.UNKNOWN_MEMBER_ID
        else:
            assert error is ErrorCode.NONE
            self.committed[partition] = value

    @rule(name=st.sampled_from(PRODUCERS))
    def init(self, name: str) -> None:
        """A new instance of a producer: what the last one left open is aborted."""
        self.producers[name] = Producer(self.client.init(name, TRANSACTION_TIMEOUT_MS))

    @rule(name=st.sampled_from(PRODUCERS), partition=st.sampled_from(PARTITIONS))
    def commit_in_transaction(self, name: str, partition: int) -> None:
        producer = self.producers.get(name)
        if producer is None:
            return
        handle, value = producer.handle, self.next_value()
        identity = (handle.producer_id, handle.producer_epoch)
        if not self.implicit:
            added = self.until_served(
                ApiKey.ADD_OFFSETS_TO_TXN, 3, AddOffsetsToTxnRequest(name, *identity, GROUP), lambda a: a.error_code
            )
            assert added.error_code == ErrorCode.NONE
        topic = TxnOffsetCommitRequestTopic(
            "orders", partitions=[TxnOffsetCommitRequestPartition(partition, value.offset)]
        )
        request = TxnOffsetCommitRequest(name, GROUP, *identity, topics=[topic])
        answer = self.until_served(
            ApiKey.TXN_OFFSET_COMMIT, 5 if self.implicit else 3, request, lambda a: a.topics[0].partitions[0].error_code
        )
        assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE
        producer.pending[partition] = value

    @rule(name=st.sampled_from(PRODUCERS), commit=st.booleans())
    def end(self, name: str, commit: bool) -> None:
        producer = self.producers.get(name)
        if producer is None or not producer.pending:
            return
        assert self.client.end(producer.handle, commit=commit) is ErrorCode.NONE
        for partition, value in producer.pending.items():
            known = self.committed.get(partition)
            if commit and (known is None or known.written < value.written):
                self.committed[partition] = value
        producer.pending.clear()

    @rule(partition=st.sampled_from(PARTITIONS))
    def delete_offset(self, partition: int) -> None:
        """Only offsets of unsubscribed topics can be deleted, including pending ones."""
        is_pending = self.is_pending(partition)
        if is_pending and self.release == "3.9":
            return  # 3.9 brings a pending offset back after a restart
        topic = OffsetDeleteRequestTopic("orders", [OffsetDeleteRequestPartition(partition)])
        answer = self.harness.request(1, ApiKey.OFFSET_DELETE, 0, OffsetDeleteRequest(GROUP, [topic]))
        if self.members:
            assert answer.topics[0].partitions[0].error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
            return
        allowed = {ErrorCode.NONE}
        if not self.committed and not self.has_pending:
            allowed.add(ErrorCode.GROUP_ID_NOT_FOUND)
        assert answer.error_code in allowed
        self.committed.pop(partition, None)
        for producer in self.producers.values():
            producer.pending.pop(partition, None)

    @precondition(lambda self: not self.has_pending)
    @rule()
    def retention_passes(self) -> None:
        """Offsets of a group without members expire; those of topics that a member subscribes to never do."""
        if len(self.live) < len(self.members):
            self.sessions_end()
        self.pass_time(RETENTION_MS + BEAT_MS)
        if not self.members:
            self.committed.clear()

    def next_value(self) -> Committed:
        self.write_count += 1
        return Committed(self.write_count, self.write_count)

    def is_pending(self, partition: int) -> bool:
        return any(partition in producer.pending for producer in self.producers.values())

    @property
    def has_pending(self) -> bool:
        return any(producer.pending for producer in self.producers.values())

    def commit_as(self, partition: int, offset: int, member_id: str, generation_id: int) -> ErrorCode:
        topic = OffsetCommitRequestTopic("orders", partitions=[OffsetCommitRequestPartition(partition, offset)])
        request = OffsetCommitRequest(GROUP, generation_id, member_id, topics=[topic])
        answer = self.harness.request(1, ApiKey.OFFSET_COMMIT, 8, request)
        return ErrorCode(answer.topics[0].partitions[0].error_code)

    def until_served(self, api_key: ApiKey, version: int, request: Any, code: Callable[[Any], int]) -> Any:
        """Send a request again while the answer is one that clients retry: markers of the last end may be under way."""
        while True:
            answer = self.harness.request(1, api_key, version, request)
            if code(answer) not in RETRIED:
                return answer
            self.harness.advance(20)

    def fetch(self, *, stable: bool) -> dict[int, tuple[int, int]]:
        request = OffsetFetchRequest(
            GROUP, [OffsetFetchRequestTopic("orders", list(PARTITIONS))], require_stable=stable
        )
        answer = self.until_served(ApiKey.OFFSET_FETCH, 7, request, lambda a: a.error_code)
        return {
            entry.partition_index: (entry.committed_offset, entry.error_code) for entry in answer.topics[0].partitions
        }

    # --- the coordinator --------------------------------------------------------------------------------------------

    @precondition(lambda self: self.crash_count < MAX_CRASHES)
    @rule()
    def crash_and_recover(self) -> None:
        self.crash_count += 1
        self.harness.kill(1)
        self.harness.restart(1)
        for member in self.members.values():
            member.connection = self.harness.client()
        # Generations are written down, departures are not: who left among silent members is a member again.
        self.former = [member for member in self.former if member.generation_id != self.generation_id]

    @invariant()
    def offsets_are_what_was_committed(self) -> None:
        if not (self.members or self.committed or self.has_pending):
            self.generation_id = 0  # nothing is left of the group: it is removed with the next look for what expired
        if not self.write_count:
            return
        self.harness.advance(1)
        known = {
            partition: (self.committed[partition].offset if partition in self.committed else NO_OFFSET, ErrorCode.NONE)
            for partition in PARTITIONS
        }
        assert self.fetch(stable=False) == known
        unstable = (NO_OFFSET, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        stable = {partition: unstable if self.is_pending(partition) else known[partition] for partition in PARTITIONS}
        assert self.fetch(stable=True) == stable


class GroupsOn39(Groups):
    release = "3.9"
    transaction_version = None


@pytest.mark.parametrize(("machine", "count"), [(Groups, 24), (GroupsOn39, 12)])
def test_groups_keep_their_members_and_offsets(machine: type[Groups], count: int) -> None:
    run_state_machine_as_test(machine, settings=examples(count))
