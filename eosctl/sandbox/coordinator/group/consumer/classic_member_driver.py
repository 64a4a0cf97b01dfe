"""Apply the rules of consumer group members that use the classic protocol; own their responses and timers."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from functools import partial

from eosctl.sandbox.coordinator.group.append_errors import classify_group_error
from eosctl.sandbox.coordinator.group.classic_effects import JoinResult, SyncResult
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup
from eosctl.sandbox.coordinator.group.classic_join import JoinRequest
from eosctl.sandbox.coordinator.group.classic_sync import LeavingMember, SyncRequest
from eosctl.sandbox.coordinator.group.consumer.classic_members import (
    ClassicJoin,
    check_join,
    heartbeat,
    join,
    leave_errors,
    sync,
)
from eosctl.sandbox.coordinator.group.consumer.driver import JOIN, SYNC, ConsumerDriver, read_consumer_config
from eosctl.sandbox.coordinator.group.consumer.group import ConsumerGroup, ConsumerMember
from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.host import GroupHost
from eosctl.sandbox.coordinator.group.shard import Shard
from eosctl.wire.error_codes import ErrorCode

JoinDone = Callable[[JoinResult], None]
LATE_JOIN = "the classic member failed to join within the rebalance timeout."
LATE_SYNC = "the member failed to sync within timeout."


class ClassicMemberDriver:
    """Applies requests of the classic protocol to consumer groups with members."""

    def __init__(self, host: GroupHost, consumer: ConsumerDriver) -> None:
        self._host = host
        self._consumer = consumer

    def join(self, shard: Shard, group: ConsumerGroup, request: JoinRequest, done: JoinDone) -> None:
        """Handle JoinGroup."""
        config = read_consumer_config(self._host)
        new_member_id = str(uuid.UUID(int=self._host.runtime.random.getrandbits(128), version=4))
        try:
            check_join(group, request, config)
            if request.requires_known_member_id and not request.member_id:
                done(JoinResult(ErrorCode.MEMBER_ID_REQUIRED, new_member_id))
                return
            now_ms = self._host.runtime.now_ms()
            joined = join(group, request, new_member_id, self._host.metadata, config, now_ms)
        except RefusedError as refusal:
            done(JoinResult(refusal.error))
            return
        written = partial(self._join_written, shard, joined, request, done)
        if isinstance(joined.group, ClassicGroup):
            self._consumer.become_classic(shard, group, joined.group, joined.records, joined.rebalances, written)
            return
        shard.groups[group.group_id] = joined.group
        restore = partial(self._consumer.restore, shard, joined.group, group)
        self._consumer.write(shard, joined.records, partial(written, restore))

    def sync(self, shard: Shard, group: ConsumerGroup, request: SyncRequest) -> SyncResult:
        """Handle SyncGroup."""
        try:
            result = sync(group, request, self._host.metadata)
        except RefusedError as refusal:
            if refusal.error is ErrorCode.REBALANCE_IN_PROGRESS:
                self._await_join(shard, group.group_id, group.members[request.member_id])
            return SyncResult(refusal.error)
        shard.stop_timer((group.group_id, SYNC, request.member_id))
        self._consumer.start_session(shard, group.group_id, group.members[request.member_id])
        return result

    def heartbeat(
        self, shard: Shard, group: ConsumerGroup, member_id: str, group_instance_id: str | None, generation_id: int
    ) -> ErrorCode:
        """Handle Heartbeat; return the error code."""
        try:
            error, member = heartbeat(group, member_id, group_instance_id, generation_id)
        except RefusedError as refusal:
            return refusal.error
        self._consumer.start_session(shard, group.group_id, member)
        if error is not ErrorCode.NONE:
            self._await_join(shard, group.group_id, member)
        return error

    def leave(self, shard: Shard, group: ConsumerGroup, leaving: Sequence[LeavingMember]) -> list[ErrorCode]:
        """Handle LeaveGroup; return the codes in the request's order."""
        errors, gone = leave_errors(group, leaving)
        if gone:
            self._consumer.remove_members(shard, group, gone)
        return errors

    def _join_written(
        self,
        shard: Shard,
        joined: ClassicJoin,
        request: JoinRequest,
        done: JoinDone,
        restore: Callable[[], None],
        error: ErrorCode,
    ) -> None:
        shown = classify_group_error(error, is_3_9=False)
        if shown is not ErrorCode.NONE:
            restore()
            done(JoinResult(shown))
            return
        group_id, member = joined.group.group_id, joined.member
        if isinstance(joined.group, ConsumerGroup) and not shard.is_closed:
            shard.stop_timer((group_id, JOIN, member.member_id))
            self._consumer.start_session(shard, group_id, member)
            timeout_ms = request.rebalance_timeout_ms
            self._consumer.fence_after(shard, group_id, member.member_id, SYNC, timeout_ms, LATE_SYNC)
        done(joined.result)

    def _await_join(self, shard: Shard, group_id: str, member: ConsumerMember) -> None:
        if not shard.has_timer((group_id, JOIN, member.member_id)):
            timeout_ms = member.rebalance_timeout_ms
            self._consumer.fence_after(shard, group_id, member.member_id, JOIN, timeout_ms, LATE_JOIN)
