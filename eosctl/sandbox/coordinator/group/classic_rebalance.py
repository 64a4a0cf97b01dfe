"""Rebalances of a classic group: prepare, wait for members, and complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from eosctl.sandbox.coordinator.group.classic_effects import (
    AnswerJoin,
    AnswerSync,
    Effect,
    EmptyWrite,
    JoinedMember,
    JoinResult,
    StartTimer,
    Step,
    StopTimer,
    SyncResult,
    TimerKind,
    WriteGroup,
)
from eosctl.sandbox.coordinator.group.classic_group import (
    ClassicGroup,
    ClassicState,
    InitialDelay,
    Member,
    compute_subscribed_topics,
    remove_member,
    select_protocol,
)
from eosctl.sandbox.coordinator.group.config import ClassicConfig
from eosctl.wire.error_codes import ErrorCode


def start_session(member: Member) -> StartTimer:
    """Restart the member's session timer."""
    return StartTimer(TimerKind.SESSION, member.session_timeout_ms, member.member_id)


def join_result(group: ClassicGroup, member_id: str) -> JoinResult:
    """Return the JoinGroup response of a member; only the leader's response lists the others."""
    members: tuple[JoinedMember, ...] = ()
    protocol_name = group.protocol_name or ""
    if member_id == group.leader_id:
        members = tuple(
            JoinedMember(member.member_id, member.group_instance_id, member.metadata(protocol_name))
            for member in group.members.values()
        )
    return JoinResult(
        error=ErrorCode.NONE,
        member_id=member_id,
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader_id=group.leader_id or "",
        skip_assignment=False,
        members=members,
    )


def maybe_rebalance(group: ClassicGroup, config: ClassicConfig, now_ms: int) -> Step:
    """Start a rebalance, or complete the current one if all members have joined."""
    if group.state is ClassicState.PREPARING_REBALANCE:
        return maybe_complete_join(group, now_ms)
    if group.state is ClassicState.DEAD:
        return Step(group)
    return prepare_rebalance(group, config, now_ms)


def prepare_rebalance(group: ClassicGroup, config: ClassicConfig, now_ms: int) -> Step:
    """Make the members join again; a group that was empty waits for more members first."""
    step = Step(group)
    if group.state is ClassicState.COMPLETING_REBALANCE:
        step = step.then(partial(propagate_assignment, error=ErrorCode.REBALANCE_IN_PROGRESS))
    step = Step(replace(step.group, pending_sync_members=frozenset()), step.effects).also(StopTimer(TimerKind.SYNC))
    if group.is_empty:
        delay_ms = config.initial_rebalance_delay_ms
        initial = InitialDelay(delay_ms, max(group.rebalance_timeout_ms - delay_ms, 0))
        waiting = replace(
            step.group.with_state(ClassicState.PREPARING_REBALANCE, now_ms),
            initial_delay=initial,
            new_member_added=False,
        )
        return Step(waiting, step.effects).also(StartTimer(TimerKind.JOIN, delay_ms))
    preparing = step.group.with_state(ClassicState.PREPARING_REBALANCE, now_ms)
    step = Step(preparing, step.effects).also(StartTimer(TimerKind.JOIN, preparing.rebalance_timeout_ms))
    return step.then(partial(maybe_complete_join, now_ms=now_ms))


def maybe_complete_join(group: ClassicGroup, now_ms: int) -> Step:
    """Complete the rebalance if all members have joined and the initial delay is over."""
    waits = group.initial_delay is not None or not group.has_all_members_joined
    if group.state is not ClassicState.PREPARING_REBALANCE or waits:
        return Step(group)
    return complete_join(group, now_ms)


def join_timer_fired(group: ClassicGroup, config: ClassicConfig, now_ms: int) -> Step:
    """Extend the initial delay while new members arrive, else continue with those that have joined."""
    if group.state is not ClassicState.PREPARING_REBALANCE:
        return Step(group)
    initial = group.initial_delay
    if initial is not None and group.new_member_added and initial.remaining_ms > 0:
        delay_ms = min(config.initial_rebalance_delay_ms, initial.remaining_ms)
        extended = InitialDelay(delay_ms, max(initial.remaining_ms - initial.delay_ms, 0))
        return Step(replace(group, initial_delay=extended, new_member_added=False)).also(
            StartTimer(TimerKind.JOIN, delay_ms)
        )
    return complete_join(group, now_ms)


def complete_join(group: ClassicGroup, now_ms: int) -> Step:
    """Start the next generation with the joined members; remove late dynamic members.

    Late static members stay until their session expires, unless no member has joined.
    """
    late = [member.member_id for member in group.members.values() if not (member.is_awaiting_join or member.is_static)]
    effects: list[Effect] = [StopTimer(TimerKind.JOIN)]
    for member_id in late:
        effects.append(StopTimer(TimerKind.SESSION, member_id))
        group = remove_member(group, member_id)
    joined = [member.member_id for member in group.members.values() if member.is_awaiting_join]
    if group.members and not joined:
        group = replace(group, initial_delay=None)
        return Step(group, (*effects, StartTimer(TimerKind.JOIN, group.rebalance_timeout_ms)))
    if group.leader_id not in joined:
        group = replace(group, leader_id=joined[0] if joined else None)
    group = _next_generation(group, now_ms)
    if not group.members:
        return Step(group, (*effects, WriteGroup(group, EmptyWrite())))
    for member in group.members.values():
        effects.append(AnswerJoin(member.member_id, join_result(group, member.member_id)))
        effects.append(start_session(member))
    settled = {key: replace(member, is_awaiting_join=False, is_new=False) for key, member in group.members.items()}
    group = replace(group, members=settled, pending_sync_members=frozenset(settled))
    return Step(group, (*effects, StartTimer(TimerKind.SYNC, group.rebalance_timeout_ms)))


def propagate_assignment(group: ClassicGroup, error: ErrorCode) -> Step:
    """Respond to every held SyncGroup with the member's assignment, or with an error that clears the assignments."""
    failed = error is not ErrorCode.NONE
    effects: list[Effect] = []
    members: dict[str, Member] = {}
    for key, member in group.members.items():
        assignment = b"" if failed else member.assignment
        if member.is_awaiting_sync:
            result = SyncResult(error, None, None, b"") if failed else sync_result(group, member)
            effects += [AnswerSync(key, result), start_session(member)]
        members[key] = replace(member, assignment=assignment, is_awaiting_sync=False)
    return Step(replace(group, members=members), tuple(effects))


def sync_result(group: ClassicGroup, member: Member) -> SyncResult:
    """Return the member's assignment in the current generation."""
    return SyncResult(ErrorCode.NONE, group.protocol_type, group.protocol_name, member.assignment)


def drop_members(group: ClassicGroup, member_ids: Sequence[str]) -> Step:
    """Remove members with their timers; their held JoinGroups get UNKNOWN_MEMBER_ID."""
    effects: list[Effect] = []
    for member_id in member_ids:
        effects.append(StopTimer(TimerKind.SESSION, member_id))
        effects.append(AnswerJoin(member_id, JoinResult(ErrorCode.UNKNOWN_MEMBER_ID)))
        group = remove_member(group, member_id)
    return Step(group, tuple(effects))


def _next_generation(group: ClassicGroup, now_ms: int) -> ClassicGroup:
    protocol_name = select_protocol(group) if group.members else None
    state = ClassicState.COMPLETING_REBALANCE if group.members else ClassicState.EMPTY
    group = replace(
        group.with_state(state, now_ms),
        generation_id=group.generation_id + 1,
        protocol_name=protocol_name,
        initial_delay=None,
        new_member_added=False,
        pending_sync_members=frozenset(),
    )
    return replace(group, subscribed_topics=compute_subscribed_topics(group))
