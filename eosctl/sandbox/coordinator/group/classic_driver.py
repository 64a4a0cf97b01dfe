"""Apply the rules of classic groups; own their timers, pending responses, and records."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from eosctl.sandbox.coordinator.group.append_errors import classify_group_error
from eosctl.sandbox.coordinator.group.classic_effects import (
    AnswerJoin,
    AnswerSync,
    AwaitJoin,
    AwaitSync,
    EmptyWrite,
    JoinResult,
    Respond,
    StartTimer,
    Step,
    StopTimer,
    SyncResult,
    TimerKind,
    WriteGroup,
)
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup, ClassicState
from eosctl.sandbox.coordinator.group.classic_join import JoinRequest, join, pending_timer_fired
from eosctl.sandbox.coordinator.group.classic_rebalance import join_timer_fired, prepare_rebalance, start_session
from eosctl.sandbox.coordinator.group.classic_sync import (
    LeavingMember,
    SyncRequest,
    group_written,
    heartbeat,
    leave,
    session_timer_fired,
    sync,
    sync_timer_fired,
    unload,
)
from eosctl.sandbox.coordinator.group.config import ClassicConfig, read_classic_config
from eosctl.sandbox.coordinator.group.consumer.consumer_records import consumer_group_tombstones
from eosctl.sandbox.coordinator.group.consumer.group import ConsumerGroup
from eosctl.sandbox.coordinator.group.host import GroupHost
from eosctl.sandbox.coordinator.group.records import FIRST_SEQUENCE, NO_SEQUENCE, group_record
from eosctl.sandbox.coordinator.group.shard import Shard
from eosctl.sandbox.coordinator.group.streams.group import StreamsGroup
from eosctl.sandbox.coordinator.group.streams.streams_records import streams_group_tombstones
from eosctl.sandbox.logging.group_events import GroupEvents
from eosctl.wire.error_codes import ErrorCode

JoinDone = Callable[[JoinResult], None]
SyncDone = Callable[[SyncResult], None]


class ClassicDriver:
    """Applies requests, timers, and completed writes to classic groups."""

    def __init__(self, host: GroupHost, events: GroupEvents) -> None:
        self._host = host
        self._events = events

    @property
    def _config(self) -> ClassicConfig:
        return read_classic_config(self._host.config, self._host.emulation)

    def join(self, shard: Shard, group_id: str, request: JoinRequest, done: JoinDone) -> None:
        """Handle JoinGroup; create a group that does not exist."""
        config = self._config
        group = shard.groups.get(group_id)
        if isinstance(group, ConsumerGroup):  # An empty consumer group is replaced.
            shard.stop_timers_of(group_id)
            shard.append(consumer_group_tombstones(group), _ignore, base_sequence=FIRST_SEQUENCE)
            group = None
        elif isinstance(group, StreamsGroup):
            if not group.is_empty:
                done(JoinResult(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, ""))
                return
            shard.stop_timers_of(group_id)
            shard.append(streams_group_tombstones(group), _ignore, base_sequence=FIRST_SEQUENCE)
            group = None
        is_new_group = group is None
        if group is None:
            if request.member_id:
                done(JoinResult(ErrorCode.UNKNOWN_MEMBER_ID, request.member_id))
                return
            group = ClassicGroup(group_id, state_timestamp_ms=self._now_ms())
        prefix = request.group_instance_id if request.group_instance_id is not None else request.client_id
        step = join(group, request, config, self._now_ms(), partial(_new_member_id, prefix, self._host.runtime.random))
        if is_new_group and not config.is_3_9:
            # 4.x writes the record of a new group immediately.
            step = step.also(WriteGroup(group, EmptyWrite()))
        self._run(shard, step, join_done=done)

    def sync(self, shard: Shard, group_id: str, request: SyncRequest, done: SyncDone) -> None:
        """Handle SyncGroup."""
        group = shard.groups.get(group_id)
        if isinstance(group, ClassicGroup):
            self._run(shard, sync(group, request), sync_done=done)
        else:
            done(SyncResult(ErrorCode.UNKNOWN_MEMBER_ID))

    def heartbeat(
        self, shard: Shard, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int
    ) -> ErrorCode:
        """Handle Heartbeat; return the error code."""
        group = shard.groups.get(group_id)
        if not isinstance(group, ClassicGroup):
            return ErrorCode.UNKNOWN_MEMBER_ID
        error, step = heartbeat(group, member_id, group_instance_id, generation_id)
        self._run(shard, step)
        return error

    def leave(self, shard: Shard, group_id: str, leaving: Sequence[LeavingMember]) -> list[ErrorCode]:
        """Handle LeaveGroup; return the codes in the request's order."""
        group = shard.groups.get(group_id)
        if not isinstance(group, ClassicGroup):
            return [ErrorCode.UNKNOWN_MEMBER_ID] * len(leaving)
        errors, step = leave(group, leaving, self._config, self._now_ms())
        gone = [member for member_id, member in group.members.items() if member_id not in step.group.members]
        self._events.members_left(shard.partition.partition, group_id, gone)
        self._run(shard, step)
        return errors

    def renew_session(self, shard: Shard, group: ClassicGroup, member_id: str) -> None:
        """Restart a member's session after an offset commit."""
        member = group.members.get(member_id)
        if member is not None:
            self._run(shard, Step(group, (start_session(member),)))

    def loaded(self, shard: Shard, group: ClassicGroup) -> None:
        """Restart the session timers of a loaded group; rebalance an oversized group."""
        config = self._config
        step = Step(group, tuple(start_session(member) for member in group.members.values()))
        if len(group.members) > config.max_size:
            step = step.then(partial(prepare_rebalance, config=config, now_ms=self._now_ms()))
        self._run(shard, step)

    def adopt(self, shard: Shard, group: ClassicGroup, rebalances: bool) -> None:
        """Add a group whose members now all use the classic protocol."""
        shard.groups[group.group_id] = group
        step = Step(group, tuple(start_session(member) for member in group.members.values()))
        if rebalances:
            step = step.then(partial(prepare_rebalance, config=self._config, now_ms=self._now_ms()))
            shard.groups[group.group_id] = step.group
        self._run(shard, step)

    def send_back(self, shard: Shard, group: ClassicGroup) -> None:
        """Make all waiting members join again, because the group has become a consumer group."""
        for member_id in group.members:
            join_waits = shard.waiting_joins.pop((group.group_id, member_id), _ignore_result)
            join_waits(JoinResult(ErrorCode.REBALANCE_IN_PROGRESS, member_id))
            sync_waits = shard.waiting_syncs.pop((group.group_id, member_id), _ignore_result)
            sync_waits(SyncResult(ErrorCode.REBALANCE_IN_PROGRESS))

    def unloaded(self, shard: Shard, group: ClassicGroup) -> None:
        """Respond to all waiting members of a group that moves away."""
        self._run(shard, Step(group.with_state(ClassicState.DEAD, self._now_ms()), unload(group)))

    def _now_ms(self) -> int:
        return self._host.runtime.now_ms()

    def _run(
        self, shard: Shard, step: Step, join_done: JoinDone | None = None, sync_done: SyncDone | None = None
    ) -> None:
        group = step.group
        self._keep(shard, group)
        for effect in step.effects:
            match effect:
                case StartTimer(kind, delay_ms, member_id):
                    fired = partial(self._timer_fired, shard, group.group_id, kind, member_id)
                    shard.start_timer((group.group_id, kind, member_id), delay_ms, fired)
                case StopTimer(kind, member_id):
                    shard.stop_timer((group.group_id, kind, member_id))
                case AwaitJoin(member_id) if join_done is not None:
                    shard.waiting_joins[group.group_id, member_id] = join_done
                case AwaitSync(member_id) if sync_done is not None:
                    shard.waiting_syncs[group.group_id, member_id] = sync_done
                case WriteGroup():
                    self._write(shard, effect)
        # Respond last: a response may trigger the client's next request before it returns.
        for effect in step.effects:
            match effect:
                case AnswerJoin(member_id, result):
                    shard.waiting_joins.pop((group.group_id, member_id), _ignore_result)(result)
                case AnswerSync(member_id, synced):
                    shard.waiting_syncs.pop((group.group_id, member_id), _ignore_result)(synced)
                case Respond(JoinResult() as result) if join_done is not None:
                    join_done(result)
                case Respond(SyncResult() as synced) if sync_done is not None:
                    sync_done(synced)

    def _keep(self, shard: Shard, group: ClassicGroup) -> None:
        before = shard.groups.get(group.group_id)
        shard.groups[group.group_id] = group
        if before is not group:
            known = before if isinstance(before, ClassicGroup) else ClassicGroup(group.group_id)
            self._events.changed(shard.partition.partition, known, group)

    def _write(self, shard: Shard, write: WriteGroup) -> None:
        is_3_9 = self._host.emulation.is_3_9

        def written(error: ErrorCode, _offset: int) -> None:
            group = shard.groups.get(write.group.group_id)
            if shard.is_closed or not isinstance(group, ClassicGroup):
                return
            shown = classify_group_error(error, is_3_9)
            self._run(shard, group_written(group, write, shown, self._config, self._now_ms()))

        base_sequence = NO_SEQUENCE if is_3_9 else FIRST_SEQUENCE
        shard.append([group_record(write.group)], written, base_sequence=base_sequence)

    def _timer_fired(self, shard: Shard, group_id: str, kind: TimerKind, member_id: str) -> None:
        group = shard.groups.get(group_id)
        if not isinstance(group, ClassicGroup):
            return
        now_ms, config = self._now_ms(), self._config
        match kind:
            case TimerKind.SESSION:
                step = session_timer_fired(group, member_id, config, now_ms)
                if member_id not in step.group.members:
                    self._events.member_failed(shard.partition.partition, group_id, member_id)
            case TimerKind.PENDING:
                step = pending_timer_fired(group, member_id, now_ms)
            case TimerKind.JOIN:
                step = join_timer_fired(group, config, now_ms)
            case TimerKind.SYNC:
                step = sync_timer_fired(group, config, now_ms)
        self._run(shard, step)


def _ignore(error: ErrorCode, offset: int) -> None:
    """Ignore the result of an append."""


def _ignore_result(result: JoinResult | SyncResult) -> None:
    """Stand in for a member that does not wait."""


def _new_member_id(prefix: str, random: Random) -> str:
    return f"{prefix}-{uuid.UUID(int=random.getrandbits(128), version=4)}"
