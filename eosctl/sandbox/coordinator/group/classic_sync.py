"""SyncGroup, Heartbeat, and LeaveGroup on a classic group, and its expired timers and completed writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.classic_effects import (
    AnswerJoin,
    AnswerSync,
    AssignmentWrite,
    AwaitSync,
    Effect,
    JoinResult,
    Respond,
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
    remove_member,
    replace_static_member,
    validate_member,
)
from eosctl.sandbox.coordinator.group.classic_rebalance import (
    drop_members,
    join_result,
    maybe_complete_join,
    maybe_rebalance,
    prepare_rebalance,
    propagate_assignment,
    start_session,
    sync_result,
)
from eosctl.sandbox.coordinator.group.config import ClassicConfig
from eosctl.wire.error_codes import ErrorCode


class SyncRequest(NamedTuple):
    """A SyncGroup request; protocol type and name are None below version 5."""

    member_id: str
    group_instance_id: str | None
    generation_id: int
    protocol_type: str | None
    protocol_name: str | None
    assignments: Mapping[str, bytes]


class LeavingMember(NamedTuple):
    """A member of a LeaveGroup request; a static member may be identified by its instance id alone."""

    member_id: str
    group_instance_id: str | None


def sync(group: ClassicGroup, request: SyncRequest) -> Step:
    """Respond with the assignment; the leader's request contains it, the others wait for it."""
    error = _validate_sync(group, request)
    if error is not ErrorCode.NONE:
        return Step(group, (Respond(SyncResult(error)),))
    member = group.members[request.member_id]
    group, effects = _note_synced(group, request.member_id)
    if group.state is ClassicState.STABLE:
        return Step(group, (*effects, Respond(sync_result(group, member)), start_session(member)))
    group = group.with_member(replace(member, is_awaiting_sync=True))
    step = Step(group, (*effects, AwaitSync(member.member_id)))
    if member.member_id != group.leader_id:
        return step
    assigned = {
        key: replace(member, assignment=request.assignments.get(key, b"")) for key, member in group.members.items()
    }
    return step.also(WriteGroup(replace(group, members=assigned), AssignmentWrite(member.member_id)))


def heartbeat(
    group: ClassicGroup, member_id: str, group_instance_id: str | None, generation_id: int
) -> tuple[ErrorCode, Step]:
    """Restart the member's session; return REBALANCE_IN_PROGRESS if it must join again."""
    error = _validate_generation(group, member_id, group_instance_id, generation_id)
    if error is not ErrorCode.NONE:
        return error, Step(group)
    if group.is_empty:
        return ErrorCode.UNKNOWN_MEMBER_ID, Step(group)
    step = Step(group, (start_session(group.members[member_id]),))
    rebalancing = group.state is ClassicState.PREPARING_REBALANCE
    return (ErrorCode.REBALANCE_IN_PROGRESS if rebalancing else ErrorCode.NONE), step


def leave(
    group: ClassicGroup, leaving: Sequence[LeavingMember], config: ClassicConfig, now_ms: int
) -> tuple[list[ErrorCode], Step]:
    """Remove members at their own request; return the codes in the request's order."""
    errors: list[ErrorCode] = []
    step = Step(group)
    rebalances = False
    for member in leaving:
        error, member_id = _resolve_leaving(step.group, member)
        errors.append(error)
        if error is not ErrorCode.NONE:
            continue
        if member_id in step.group.pending_members:
            step = Step(remove_member(step.group, member_id), (*step.effects, StopTimer(TimerKind.PENDING, member_id)))
            rebalances |= not config.is_3_9  # 4.x rebalances also for a member that never joined.
        else:
            step = step.then(partial(drop_members, member_ids=[member_id]))
            rebalances = True
    if rebalances:
        step = step.then(partial(_after_removal, config=config, now_ms=now_ms))
    elif ErrorCode.NONE in errors:
        step = step.then(partial(maybe_complete_join, now_ms=now_ms))
    return errors, step


def session_timer_fired(group: ClassicGroup, member_id: str, config: ClassicConfig, now_ms: int) -> Step:
    """Remove a member with an expired session, unless it waits for the coordinator."""
    member = group.members.get(member_id)
    if member is None or member.holds_session:
        return Step(group)
    return drop_members(group, [member_id]).then(partial(_after_removal, config=config, now_ms=now_ms))


def sync_timer_fired(group: ClassicGroup, config: ClassicConfig, now_ms: int) -> Step:
    """Remove the members without a SyncGroup in this generation, and rebalance."""
    settled = group.state in (ClassicState.COMPLETING_REBALANCE, ClassicState.STABLE)
    if not settled or not group.pending_sync_members:
        return Step(group)
    step = drop_members(group, sorted(group.pending_sync_members))
    return step.then(partial(prepare_rebalance, config=config, now_ms=now_ms))


def group_written(
    group: ClassicGroup, written: WriteGroup, error: ErrorCode, config: ClassicConfig, now_ms: int
) -> Step:
    """Continue after the group's record was replicated or rejected (`error` as a member receives it)."""
    match written.write:
        case AssignmentWrite():
            return _assignment_written(group, written.group, error, config, now_ms)
        case StaticWrite() as write:
            return _static_written(group, write, error)
        case _:
            return Step(group)


def unload(group: ClassicGroup) -> tuple[Effect, ...]:
    """Reject all held requests, since this broker no longer coordinates the group."""
    effects: list[Effect] = []
    for member_id in group.members:
        effects.append(AnswerJoin(member_id, JoinResult(ErrorCode.NOT_COORDINATOR, member_id)))
        effects.append(AnswerSync(member_id, SyncResult(ErrorCode.NOT_COORDINATOR)))
    return tuple(effects)


def _validate_generation(
    group: ClassicGroup, member_id: str, group_instance_id: str | None, generation_id: int
) -> ErrorCode:
    if group.state is ClassicState.DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    error = validate_member(group, member_id, group_instance_id)
    if error is ErrorCode.NONE and generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    return error


def _validate_sync(group: ClassicGroup, request: SyncRequest) -> ErrorCode:
    error = _validate_generation(group, request.member_id, request.group_instance_id, request.generation_id)
    if error is not ErrorCode.NONE:
        return error
    if request.protocol_type not in (None, group.protocol_type):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if request.protocol_name not in (None, group.protocol_name):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if group.is_empty:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if group.state is ClassicState.PREPARING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def _note_synced(group: ClassicGroup, member_id: str) -> Step:
    group = replace(group, pending_sync_members=group.pending_sync_members - {member_id})
    return Step(group, () if group.pending_sync_members else (StopTimer(TimerKind.SYNC),))


def _resolve_leaving(group: ClassicGroup, member: LeavingMember) -> tuple[ErrorCode, str]:
    if not member.member_id:
        current = None if member.group_instance_id is None else group.static_member_id(member.group_instance_id)
        return (ErrorCode.UNKNOWN_MEMBER_ID, "") if current is None else (ErrorCode.NONE, current)
    if member.member_id in group.pending_members:
        return ErrorCode.NONE, member.member_id
    return validate_member(group, member.member_id, member.group_instance_id), member.member_id


def _after_removal(group: ClassicGroup, config: ClassicConfig, now_ms: int) -> Step:
    if group.state in (ClassicState.STABLE, ClassicState.COMPLETING_REBALANCE):
        return maybe_rebalance(group, config, now_ms)
    return maybe_complete_join(group, now_ms)


def _assignment_written(
    group: ClassicGroup, written: ClassicGroup, error: ErrorCode, config: ClassicConfig, now_ms: int
) -> Step:
    if group.state is not ClassicState.COMPLETING_REBALANCE or group.generation_id != written.generation_id:
        return Step(group)
    if error is not ErrorCode.NONE:
        step = propagate_assignment(group, error)
        return step.then(partial(maybe_rebalance, config=config, now_ms=now_ms))
    assigned = {
        key: replace(member, assignment=written.members[key].assignment if key in written.members else b"")
        for key, member in group.members.items()
    }
    stable = replace(group.with_state(ClassicState.STABLE, now_ms), members=assigned)
    return propagate_assignment(stable, ErrorCode.NONE)


def _static_written(group: ClassicGroup, write: StaticWrite, error: ErrorCode) -> Step:
    member = group.members.get(write.member_id)
    if member is None:
        return Step(group)
    group = group.with_member(replace(member, is_awaiting_join=False))
    if error is not ErrorCode.NONE:
        former = write.former
        group = replace_static_member(group, write.member_id, former.member_id).with_member(former)
        refusal = join_result(group, "")._replace(error=error, leader_id=write.former_leader_id, members=())
        return Step(group, (AnswerJoin(write.member_id, refusal), start_session(former))).also(
            StopTimer(TimerKind.SESSION, write.member_id)
        )
    result = join_result(group, write.member_id)
    if write.can_skip_assignment:
        result = result._replace(skip_assignment=write.member_id == group.leader_id)
    else:
        result = result._replace(leader_id=write.former_leader_id, members=())
    return Step(group, (AnswerJoin(write.member_id, result),))
