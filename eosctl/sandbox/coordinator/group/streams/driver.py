"""Apply the rules of streams groups; own their timers and records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.append_errors import classify_group_error
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup
from eosctl.sandbox.coordinator.group.consumer.group import ConsumerGroup
from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.host import GroupHost
from eosctl.sandbox.coordinator.group.records import FIRST_SEQUENCE, StoredRecord, group_tombstone
from eosctl.sandbox.coordinator.group.shard import Shard
from eosctl.sandbox.coordinator.group.streams.config import read_streams_config
from eosctl.sandbox.coordinator.group.streams.endpoints import EndpointPartitions
from eosctl.sandbox.coordinator.group.streams.group import (
    STATIC_LEAVE_EPOCH,
    MemberState,
    StreamsGroup,
    StreamsMember,
)
from eosctl.sandbox.coordinator.group.streams.heartbeat import (
    HeartbeatResult,
    heartbeat,
    leave_for_a_while,
    leaving_member,
)
from eosctl.sandbox.coordinator.group.streams.rebalance import StreamsConfig, refresh_target, remove
from eosctl.sandbox.coordinator.group.streams.request import StreamsHeartbeat
from eosctl.sandbox.coordinator.group.streams.tasks import TaskSets
from eosctl.sandbox.coordinator.group.streams.topic_configuration import Status, configure_topics
from eosctl.sandbox.coordinator.group.streams.topology import InternalTopic
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.logging.streams_events import StreamsEvents
from eosctl.wire.error_codes import ErrorCode


class StreamsAnswer(NamedTuple):
    """The response to a heartbeat; on error only code and message are used.

    `missing_topics` are the internal topics that the broker creates before it responds.
    """

    error: ErrorCode
    message: str | None = None
    member_id: str = ""
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    acceptable_recovery_lag: int = -1
    task_offset_interval_ms: int = 0
    statuses: tuple[Status, ...] = ()
    tasks: TaskSets | None = None
    endpoint_epoch: int = 0
    endpoints: list[EndpointPartitions] | None = None
    missing_topics: tuple[InternalTopic, ...] = ()


StreamsDone = Callable[[StreamsAnswer], None]
_SESSION, _REBALANCE = "streams-session", "streams-rebalance"
_MEMBER_TIMERS = (_SESSION, _REBALANCE)
_FIRST_ASSIGNMENT = "streams-first-assignment"


class StreamsDriver:
    """Applies heartbeats and timers to streams groups."""

    def __init__(self, host: GroupHost, events: StreamsEvents) -> None:
        self._host = host
        self._events = events

    def heartbeat(self, shard: Shard, request: StreamsHeartbeat, done: StreamsDone) -> None:
        """Handle a heartbeat that `check_request` accepted."""
        try:
            group, conversion = self._streams_group(shard, request)
            if request.leaves:
                self._leave(shard, group, request, done)
            else:
                self._beat(shard, group, conversion, request, done)
        except RefusedError as refusal:
            done(StreamsAnswer(refusal.error, refusal.message))

    def loaded(self, shard: Shard, group: StreamsGroup) -> None:
        """Restart the session timers of a loaded group and resume its revocations."""
        config = self._config(group.group_id)
        for member in group.members.values():
            self._start_session(shard, group.group_id, member.member_id, config)
            if member.state is MemberState.UNREVOKED_TASKS:
                self._start_rebalance(shard, group.group_id, member)

    def _config(self, group_id: str) -> StreamsConfig:
        return read_streams_config(self._host, group_id)

    def _streams_group(
        self, shard: Shard, request: StreamsHeartbeat
    ) -> tuple[StreamsGroup | None, tuple[StoredRecord, ...]]:
        """Return the group and the records of its conversion; None if it does not exist yet.

        A member that joins replaces an empty classic group.
        """
        group = shard.groups.get(request.group_id)
        if isinstance(group, StreamsGroup):
            return group, ()
        if group is None and request.group_id not in shard.share_groups:
            if request.leaves:
                raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} not found.")
            return None, ()
        if request.joins and isinstance(group, ClassicGroup) and group.is_empty:
            return None, (group_tombstone(group.group_id),)
        raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} is not a streams group.")

    def _beat(
        self,
        shard: Shard,
        known: StreamsGroup | None,
        conversion: tuple[StoredRecord, ...],
        request: StreamsHeartbeat,
        done: StreamsDone,
    ) -> None:
        config, now_ms = self._config(request.group_id), self._host.runtime.now_ms()
        former = shard.groups.get(request.group_id)
        waiting = (request.group_id, _FIRST_ASSIGNMENT)
        result = heartbeat(known, request, self._host.metadata, config, now_ms, is_delayed=shard.has_timer(waiting))
        if conversion:
            shard.stop_timers_of(request.group_id)
        group, member = result.group, result.member
        shard.groups[group.group_id] = group
        self._events.heartbeat(shard.partition.partition, known, request, result)
        if result.delays_first_assignment and not shard.has_timer(waiting):
            call = partial(self._assign_first, shard, group.group_id)
            shard.start_timer(waiting, config.initial_rebalance_delay_ms, call)
        if known is not None:
            for replaced in known.members.keys() - group.members.keys():
                self._stop_timers(shard, group.group_id, replaced)
        self._start_session(shard, group.group_id, member.member_id, config)
        if member != (None if known is None else known.members.get(member.member_id)):
            self._start_rebalance(shard, group.group_id, member)
        restore = partial(self._restore, shard, group, former)
        answer = _answer(result, config)
        self._write(shard, (*conversion, *result.records), partial(_written, done, answer, restore))

    def _leave(self, shard: Shard, group: StreamsGroup | None, request: StreamsHeartbeat, done: StreamsDone) -> None:
        assert group is not None
        former = group
        if request.shuts_down and group.shutdown_member_id is None:
            group = replace(group, shutdown_member_id=request.member_id)
        member = leaving_member(group, request)
        answer = StreamsAnswer(ErrorCode.NONE, None, request.member_id, request.member_epoch)
        self._events.left(shard.partition.partition, group.group_id, request)
        if request.instance_id is not None and request.member_epoch == STATIC_LEAVE_EPOCH:
            away, records = leave_for_a_while(group, member)
            shard.groups[group.group_id] = away
            self._write(shard, records, partial(_written, done, answer, partial(self._restore, shard, away, former)))
        else:
            self._remove(shard, group, member.member_id, partial(_written, done, answer))

    def _remove(
        self,
        shard: Shard,
        group: StreamsGroup,
        member_id: str,
        done: Callable[[Callable[[], None], ErrorCode], None] = lambda restore, error: None,
    ) -> None:
        """Remove a member; `done` receives a function that reverts the change, and whether it was written."""
        self._stop_timers(shard, group.group_id, member_id)
        remaining, records = remove(group, member_id, self._config(group.group_id))
        shard.groups[group.group_id] = remaining
        self._write(shard, records, partial(done, partial(self._restore, shard, remaining, group)))

    def _assign_first(self, shard: Shard, group_id: str) -> None:
        """Assign the tasks to the members that joined during the initial rebalance delay."""
        group = shard.groups.get(group_id)
        if not isinstance(group, StreamsGroup) or group.is_empty or group.topology is None:
            return
        try:
            topology = configure_topics(group.topology, self._host.metadata)
            target = refresh_target(
                group, "", topology, self._config(group_id), self._host.runtime.now_ms(), is_delayed=False
            )
        except RefusedError:
            return  # The next heartbeat responds with the reason.
        shard.groups[group_id] = target.group
        self._events.assigned(shard.partition.partition, group, target.group)
        self._write(
            shard, target.records, partial(_revert_unless_written, partial(self._restore, shard, target.group, group))
        )

    def _write(self, shard: Shard, records: tuple[StoredRecord, ...], done: Callable[[ErrorCode], None]) -> None:
        if records:
            shard.append(records, lambda error, _offset: done(error), base_sequence=FIRST_SEQUENCE)
        else:
            done(ErrorCode.NONE)

    def _restore(
        self, shard: Shard, written: StreamsGroup, former: ClassicGroup | ConsumerGroup | StreamsGroup | None
    ) -> None:
        """Revert a change that could not be written, unless the group has changed since."""
        if shard.groups.get(written.group_id) is not written:
            return
        if former is None:
            del shard.groups[written.group_id]
        else:
            shard.groups[written.group_id] = former

    # --- timers -------------------------------------------------------------------------------------------------

    def _stop_timers(self, shard: Shard, group_id: str, member_id: str) -> None:
        for kind in _MEMBER_TIMERS:
            shard.stop_timer((group_id, kind, member_id))

    def _start_session(self, shard: Shard, group_id: str, member_id: str, config: StreamsConfig) -> None:
        fence = partial(self._fence, shard, group_id, member_id)
        shard.start_timer((group_id, _SESSION, member_id), config.session_timeout_ms, fence)

    def _start_rebalance(self, shard: Shard, group_id: str, member: StreamsMember) -> None:
        key = (group_id, _REBALANCE, member.member_id)
        if member.state is MemberState.UNREVOKED_TASKS:
            fence = partial(self._fence_if_stuck, shard, group_id, member.member_id, member.member_epoch)
            shard.start_timer(key, member.rebalance_timeout_ms, fence)
        else:
            shard.stop_timer(key)

    def _fence(self, shard: Shard, group_id: str, member_id: str) -> None:
        group = shard.groups.get(group_id)
        if isinstance(group, StreamsGroup) and member_id in group.members:
            self._events.session_expired(shard.partition.partition, group_id, member_id)
            self._remove(shard, group, member_id)

    def _fence_if_stuck(self, shard: Shard, group_id: str, member_id: str, member_epoch: int) -> None:
        group = shard.groups.get(group_id)
        member = group.members.get(member_id) if isinstance(group, StreamsGroup) else None
        if isinstance(group, StreamsGroup) and member is not None and member.member_epoch == member_epoch:
            self._events.stuck(shard.partition.partition, group_id, member)
            self._remove(shard, group, member_id)


def _answer(result: HeartbeatResult, config: StreamsConfig) -> StreamsAnswer:
    return StreamsAnswer(
        error=ErrorCode.NONE,
        message=None,
        member_id=result.member.member_id,
        member_epoch=result.member.member_epoch,
        heartbeat_interval_ms=config.heartbeat_interval_ms,
        acceptable_recovery_lag=config.acceptable_recovery_lag,
        task_offset_interval_ms=config.task_offset_interval_ms,
        statuses=result.statuses,
        tasks=result.tasks,
        endpoint_epoch=result.endpoint_epoch,
        endpoints=result.endpoints,
        missing_topics=result.missing_topics,
    )


def _written(done: StreamsDone, answer: StreamsAnswer, restore: Callable[[], None], error: ErrorCode) -> None:
    shown = classify_group_error(error, is_3_9=False)
    if shown is not ErrorCode.NONE:
        restore()
        answer = StreamsAnswer(shown, kafka_text(shown))
    done(answer)


def _revert_unless_written(restore: Callable[[], None], error: ErrorCode) -> None:
    if error is not ErrorCode.NONE:
        restore()
