"""Requests of the classic protocol, for both types of groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eosctl.sandbox.coordinator.group.classic_driver import ClassicDriver
from eosctl.sandbox.coordinator.group.classic_effects import JoinResult, SyncResult
from eosctl.sandbox.coordinator.group.classic_join import JoinRequest
from eosctl.sandbox.coordinator.group.classic_sync import LeavingMember, SyncRequest
from eosctl.sandbox.coordinator.group.config import read_classic_config
from eosctl.sandbox.coordinator.group.consumer.classic_member_driver import ClassicMemberDriver
from eosctl.sandbox.coordinator.group.consumer.group import ConsumerGroup
from eosctl.sandbox.coordinator.group.host import GroupHost
from eosctl.sandbox.coordinator.group.shard import Shard
from eosctl.wire.error_codes import ErrorCode


class ClassicRequests:
    """Routes each request by group type, since a consumer group with members also serves the classic protocol."""

    def __init__(self, host: GroupHost, groups: ClassicDriver, members: ClassicMemberDriver) -> None:
        self._host = host
        self._groups = groups
        self._members = members

    def join(self, shard: Shard, group_id: str, request: JoinRequest, done: Callable[[JoinResult], None]) -> None:
        """Handle JoinGroup."""
        config = read_classic_config(self._host.config, self._host.emulation)
        if not config.min_session_timeout_ms <= request.session_timeout_ms <= config.max_session_timeout_ms:
            done(JoinResult(ErrorCode.INVALID_SESSION_TIMEOUT, request.member_id))
            return
        if group_id in shard.share_groups:
            done(JoinResult(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, request.member_id))
            return
        group = shard.groups.get(group_id)
        if isinstance(group, ConsumerGroup) and not group.is_empty:
            self._members.join(shard, group, request, done)
        else:
            self._groups.join(shard, group_id, request, done)

    def sync(self, shard: Shard, group_id: str, request: SyncRequest, done: Callable[[SyncResult], None]) -> None:
        """Handle SyncGroup."""
        group = shard.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            done(self._members.sync(shard, group, request))
        else:
            self._groups.sync(shard, group_id, request, done)

    def heartbeat(
        self, shard: Shard, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int
    ) -> ErrorCode:
        """Handle Heartbeat; return the error code."""
        group = shard.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return self._members.heartbeat(shard, group, member_id, group_instance_id, generation_id)
        return self._groups.heartbeat(shard, group_id, member_id, group_instance_id, generation_id)

    def leave(self, shard: Shard, group_id: str, leaving: Sequence[LeavingMember]) -> list[ErrorCode]:
        """Handle LeaveGroup; return the codes in the request's order."""
        group = shard.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return self._members.leave(shard, group, leaving)
        return self._groups.leave(shard, group_id, leaving)
