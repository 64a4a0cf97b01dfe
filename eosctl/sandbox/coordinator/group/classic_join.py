"""JoinGroup on a classic group (KIP-62, KIP-345, KIP-394)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.classic_effects import (
    AnswerJoin,
    AnswerSync,
    AwaitJoin,
    JoinResult,
    Respond,
    StartTimer,
    StaticWrite,
    Step,
    StopTimer,
    SyncResult,
    TimerKind,
    WriteGroup,
)
from eosctl.sandbox.coordinator.group.classic_group import (
    ClassicGroup,
    ClassicState,
    Member,
    MemberProtocol,
    add_member,
    remove_member,
    replace_static_member,
    select_protocol,
    supports_protocols,
    validate_member,
)
from eosctl.sandbox.coordinator.group.classic_rebalance import (
    join_result,
    maybe_complete_join,
    maybe_rebalance,
    prepare_rebalance,
    start_session,
)
from eosctl.sandbox.coordinator.group.config import NEW_MEMBER_JOIN_TIMEOUT_MS, ClassicConfig
from eosctl.wire.error_codes import ErrorCode


class JoinRequest(NamedTuple):
    """A JoinGroup request; `member_id` is empty for a new member.

    `requires_known_member_id` holds from version 4 for dynamic members, `can_skip_assignment` from version 9 (KIP-814).
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: tuple[MemberProtocol, ...]
    requires_known_member_id: bool = True
    can_skip_assignment: bool = False


def join(
    group: ClassicGroup,
    request: JoinRequest,
    config: ClassicConfig,
    now_ms: int,
    new_member_id: Callable[[], str],
) -> Step:
    """Respond to a JoinGroup request, or hold it until the rebalance completes."""
    if not _accepts(group, request.member_id, config):
        group = remove_member(group, request.member_id)
        return Step(group, (Respond(JoinResult(ErrorCode.GROUP_MAX_SIZE_REACHED)),))
    if group.state is ClassicState.DEAD:
        return _refuse(group, request.member_id, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    names = [protocol.name for protocol in request.protocols]
    if not supports_protocols(group, request.protocol_type, names):
        return _refuse(group, request.member_id, ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if not request.member_id:
        return _join_new(group, request, config, now_ms, new_member_id())
    if request.member_id in group.pending_members:
        if request.group_instance_id is not None:
            # Kafka throws an IllegalStateException.
            return Step(group, (Respond(JoinResult(ErrorCode.UNKNOWN_SERVER_ERROR)),))
        return _add_member(group, request, request.member_id, config, now_ms)
    error = validate_member(group, request.member_id, request.group_instance_id)
    if error is not ErrorCode.NONE:
        return _refuse(group, request.member_id, error)
    return _rejoin(group, request, config, now_ms)


def pending_timer_fired(group: ClassicGroup, member_id: str, now_ms: int) -> Step:
    """Remove an assigned id that was not used for a second JoinGroup."""
    if member_id not in group.pending_members:
        return Step(group)
    return maybe_complete_join(remove_member(group, member_id), now_ms)


def _accepts(group: ClassicGroup, member_id: str, config: ClassicConfig) -> bool:
    if group.state is ClassicState.PREPARING_REBALANCE:
        member = group.members.get(member_id)
        return (member is not None and member.is_awaiting_join) or group.awaiting_join_count < config.max_size
    if group.state in (ClassicState.COMPLETING_REBALANCE, ClassicState.STABLE):
        return member_id in group.members or len(group.members) < config.max_size
    return True


def _refuse(group: ClassicGroup, member_id: str, error: ErrorCode) -> Step:
    return Step(group, (Respond(JoinResult(error, member_id)),))


def _join_new(group: ClassicGroup, request: JoinRequest, config: ClassicConfig, now_ms: int, member_id: str) -> Step:
    if request.group_instance_id is not None:
        former_id = group.static_member_id(request.group_instance_id)
        if former_id is not None:
            return _replace_static(group, request, former_id, member_id, config, now_ms)
    elif request.requires_known_member_id:
        pending = replace(group, pending_members=group.pending_members | {member_id})
        return _refuse(pending, member_id, ErrorCode.MEMBER_ID_REQUIRED).also(
            StartTimer(TimerKind.PENDING, request.session_timeout_ms, member_id)
        )
    return _add_member(group, request, member_id, config, now_ms)


def _add_member(group: ClassicGroup, request: JoinRequest, member_id: str, config: ClassicConfig, now_ms: int) -> Step:
    member = Member(
        member_id=member_id,
        group_instance_id=request.group_instance_id,
        client_id=request.client_id,
        client_host=request.client_host,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        session_timeout_ms=request.session_timeout_ms,
        protocol_type=request.protocol_type,
        protocols=request.protocols,
        is_awaiting_join=True,
        is_new=True,
    )
    # 3.9 extends the initial delay only for the first generation, 4.x whenever the group was empty.
    if group.initial_delay is not None and (group.generation_id == 0 or not config.is_3_9):
        group = replace(group, new_member_added=True)
    step = Step(
        add_member(group, member),
        (
            AwaitJoin(member_id),
            StopTimer(TimerKind.PENDING, member_id),
            StartTimer(TimerKind.SESSION, NEW_MEMBER_JOIN_TIMEOUT_MS, member_id),
        ),
    )
    return step.then(partial(maybe_rebalance, config=config, now_ms=now_ms))


def _rejoin(group: ClassicGroup, request: JoinRequest, config: ClassicConfig, now_ms: int) -> Step:
    member = group.members[request.member_id]
    unchanged = member.protocols == request.protocols
    if group.is_empty:
        return _refuse(group, request.member_id, ErrorCode.UNKNOWN_MEMBER_ID)
    if group.state is ClassicState.COMPLETING_REBALANCE and unchanged:
        # The member did not receive the response of this generation; the rebalance continues.
        return Step(group, (Respond(join_result(group, member.member_id)),))
    if group.state is ClassicState.STABLE and unchanged and member.member_id != group.leader_id:
        return Step(group, (Respond(join_result(group, member.member_id)),))
    step = Step(group.with_member(_updated(member, request)), (AwaitJoin(member.member_id),))
    return step.then(partial(maybe_rebalance, config=config, now_ms=now_ms))


def _updated(member: Member, request: JoinRequest) -> Member:
    return replace(
        member,
        protocols=request.protocols,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        session_timeout_ms=request.session_timeout_ms,
        is_awaiting_join=True,
    )


def _replace_static(
    group: ClassicGroup, request: JoinRequest, former_id: str, member_id: str, config: ClassicConfig, now_ms: int
) -> Step:
    former = group.members[former_id]
    former_leader_id = group.leader_id or ""
    group = replace_static_member(group, former_id, member_id)
    member = _updated(group.members[member_id], request)
    step = Step(
        group.with_member(member),
        (
            AnswerJoin(former_id, JoinResult(ErrorCode.FENCED_INSTANCE_ID, former_id)),
            AnswerSync(former_id, SyncResult(ErrorCode.FENCED_INSTANCE_ID)),
            StopTimer(TimerKind.SESSION, former_id),
            AwaitJoin(member_id),
            start_session(member),
        ),
    )
    if group.state is ClassicState.STABLE:
        if select_protocol(step.group) == group.protocol_name:
            write = StaticWrite(former, member_id, former_leader_id, request.can_skip_assignment)
            return step.also(WriteGroup(step.group, write))
        return step.then(partial(maybe_rebalance, config=config, now_ms=now_ms))
    if group.state is ClassicState.COMPLETING_REBALANCE:
        return step.then(partial(prepare_rebalance, config=config, now_ms=now_ms))
    return step.then(partial(maybe_complete_join, now_ms=now_ms))
