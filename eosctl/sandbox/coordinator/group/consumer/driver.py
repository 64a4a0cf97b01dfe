"""Run the rules of KIP-848 groups: keep the groups, their timers and their records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.append_errors import classify_group_error
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup
from eosctl.sandbox.coordinator.group.consumer.consumer_records import epoch_record, regex_record
from eosctl.sandbox.coordinator.group.consumer.group import (
    STATIC_LEAVE_EPOCH,
    Assignment,
    ConsumerGroup,
    ConsumerMember,
    MemberState,
    ResolvedRegex,
)
from eosctl.sandbox.coordinator.group.consumer.heartbeat import (
    ConsumerConfig,
    HeartbeatResult,
    heartbeat,
    leave,
    remove,
)
from eosctl.sandbox.coordinator.group.consumer.request import (
    ConsumerHeartbeat,
    RefusedError,
    check_request,
    compile_pattern,
)
from eosctl.sandbox.coordinator.group.consumer.topics import metadata_hash
from eosctl.sandbox.coordinator.group.host import GroupHost
from eosctl.sandbox.coordinator.group.records import FIRST_SEQUENCE, StoredRecord, group_tombstone
from eosctl.sandbox.coordinator.group.shard import Shard
from eosctl.sandbox.logging.group_events import GroupEvents
from eosctl.wire.error_codes import ErrorCode


class HeartbeatAnswer(NamedTuple):
    """The answer to a heartbeat; on error only code and message count."""

    error: ErrorCode
    message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Assignment | None = None


HeartbeatDone = Callable[[HeartbeatAnswer], None]
_SESSION = "consumer-session"
_REBALANCE = "consumer-rebalance"
_REGEX = "consumer-regex"


def read_consumer_config(host: GroupHost) -> ConsumerConfig:
    """Read the settings of consumer groups."""
    config = host.config
    return ConsumerConfig(
        config.get_int("group.consumer.session.timeout.ms"),
        config.get_int("group.consumer.heartbeat.interval.ms"),
        config.get_int("group.consumer.assignment.interval.ms"),
        config.get_int("group.consumer.max.size"),
        tuple(name.strip() for name in config.get_str("group.consumer.assignors").split(",")),
    )


class ConsumerDriver:
    """Applies heartbeats and timers to consumer groups."""

    def __init__(self, host: GroupHost, events: GroupEvents) -> None:
        self._host = host
        self._events = events

    def heartbeat(self, shard: Shard, request: ConsumerHeartbeat, done: HeartbeatDone) -> None:
        """Handle a heartbeat that :func:`check_request` accepted."""
        try:
            self._heartbeat(shard, request, done)
        except RefusedError as refusal:
            done(HeartbeatAnswer(refusal.error, refusal.message))

    def check(self, request: ConsumerHeartbeat) -> None:
        """Check what needs no group.

        Raises:
            RefusedError: With the code and the text of the answer.
        """
        check_request(request, read_consumer_config(self._host).assignors)

    def loaded(self, shard: Shard, group: ConsumerGroup) -> None:
        """Give the members of a group just loaded a whole session, and resume their revocations."""
        for member in group.members.values():
            self._start_session(shard, group.group_id, member.member_id)
            self._start_rebalance(shard, group.group_id, member)
            if member.subscribed_topic_regex:
                self._resolve_soon(shard, group.group_id)

    def _heartbeat(self, shard: Shard, request: ConsumerHeartbeat, done: HeartbeatDone) -> None:
        config, now_ms = read_consumer_config(self._host), self._host.runtime.now_ms()
        tombstones: tuple[StoredRecord, ...] = ()
        known = shard.groups.get(request.group_id)
        if isinstance(known, ClassicGroup):
            if not known.is_empty or request.leaves or request.member_epoch != 0:
                message = f"Group {request.group_id} is not a consumer group."
                raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, message)
            tombstones = (group_tombstone(request.group_id),)
            shard.stop_timers_of(request.group_id)
            known = None
        if request.leaves:
            result = leave(known, request, self._host.metadata)
        else:
            result = heartbeat(known, request, self._host.metadata, config, now_ms)
        self._keep(shard, request, result)
        restore = partial(self._restore, shard, result.group, known)
        if request.leaves:
            answer = HeartbeatAnswer(ErrorCode.NONE, None, result.member.member_id, request.member_epoch)
        else:
            answer = HeartbeatAnswer(
                ErrorCode.NONE,
                None,
                result.member.member_id,
                result.member.member_epoch,
                config.heartbeat_interval_ms,
                result.assignment,
            )
        self._write(shard, (*tombstones, *result.records), partial(self._written, done, answer, restore))

    def _keep(self, shard: Shard, request: ConsumerHeartbeat, result: HeartbeatResult) -> None:
        group, member = result.group, result.member
        shard.groups[group.group_id] = group
        if request.leaves and request.member_epoch != STATIC_LEAVE_EPOCH:
            shard.stop_timer((group.group_id, _SESSION, member.member_id))
            shard.stop_timer((group.group_id, _REBALANCE, member.member_id))
            return
        if not request.leaves:
            self._start_session(shard, group.group_id, member.member_id)
        self._start_rebalance(shard, group.group_id, member)
        if result.new_regex is not None:
            self._resolve_soon(shard, group.group_id)

    def _write(self, shard: Shard, records: tuple[StoredRecord, ...], done: Callable[[ErrorCode], None]) -> None:
        if records:
            shard.append(records, lambda error, _offset: done(error), base_sequence=FIRST_SEQUENCE)
        else:
            done(ErrorCode.NONE)

    def _written(
        self, done: HeartbeatDone, answer: HeartbeatAnswer, restore: Callable[[], None], error: ErrorCode
    ) -> None:
        shown = classify_group_error(error, is_3_9=False)
        if shown is not ErrorCode.NONE:
            restore()
        done(answer if shown is ErrorCode.NONE else HeartbeatAnswer(shown, shown.message))

    def _restore(self, shard: Shard, written: ConsumerGroup, former: ConsumerGroup | None) -> None:
        """Take back what could not be written, unless the group has moved on."""
        if shard.groups.get(written.group_id) is not written:
            return
        if former is None:
            del shard.groups[written.group_id]
        else:
            shard.groups[written.group_id] = former

    def _start_session(self, shard: Shard, group_id: str, member_id: str) -> None:
        timeout_ms = read_consumer_config(self._host).session_timeout_ms
        fence = partial(self._fence, shard, group_id, member_id, "the member session expired.")
        shard.start_timer((group_id, _SESSION, member_id), timeout_ms, fence)

    def _start_rebalance(self, shard: Shard, group_id: str, member: ConsumerMember) -> None:
        key = (group_id, _REBALANCE, member.member_id)
        if member.state is not MemberState.UNREVOKED_PARTITIONS:
            shard.stop_timer(key)
        elif not shard.has_timer(key):
            fence = partial(self._fence_if_stuck, shard, group_id, member.member_id, member.member_epoch)
            shard.start_timer(key, member.rebalance_timeout_ms, fence)

    def _fence_if_stuck(self, shard: Shard, group_id: str, member_id: str, member_epoch: int) -> None:
        group = shard.groups.get(group_id)
        member = group.members.get(member_id) if isinstance(group, ConsumerGroup) else None
        if member is not None and member.member_epoch == member_epoch:
            limit_ms = member.rebalance_timeout_ms
            reason = f"it failed to transition from epoch {member_epoch} within {limit_ms}ms."
            self._fence(shard, group_id, member_id, reason)

    def _fence(self, shard: Shard, group_id: str, member_id: str, reason: str) -> None:
        group = shard.groups.get(group_id)
        if not isinstance(group, ConsumerGroup) or member_id not in group.members:
            return
        shard.stop_timer((group_id, _SESSION, member_id))
        shard.stop_timer((group_id, _REBALANCE, member_id))
        self._events.member_fenced(shard.partition.partition, group_id, member_id, reason)
        remaining, records = remove(group, member_id, self._host.metadata)
        shard.groups[group_id] = remaining
        self._write(shard, records, lambda error: None)

    def _resolve_soon(self, shard: Shard, group_id: str) -> None:
        """Resolve patterns outside of the heartbeat, as Kafka's background thread does, and again at intervals."""
        self._host.runtime.call_soon(partial(self._resolve, shard, group_id))

    def _resolve(self, shard: Shard, group_id: str) -> None:
        group = shard.groups.get(group_id)
        if shard.is_closed or not isinstance(group, ConsumerGroup):
            return
        patterns = {member.subscribed_topic_regex for member in group.members.values()} - {""}
        if not patterns:
            return
        now_ms, topics = self._host.runtime.now_ms(), self._host.metadata.topics
        resolved = {
            pattern: ResolvedRegex(frozenset(filter(compile_pattern(pattern).fullmatch, topics)), 0, now_ms)
            for pattern in patterns
        }
        records = [regex_record(group_id, pattern, regex) for pattern, regex in resolved.items()]
        changed = {key: regex.topics for key, regex in resolved.items()} != {
            key: regex.topics for key, regex in group.regexes.items()
        }
        group = replace(group, regexes=resolved)
        if changed:
            topic_hash = metadata_hash(self._host.metadata, group.subscribed_topics())
            group = replace(group, group_epoch=group.group_epoch + 1, metadata_hash=topic_hash)
            records.append(epoch_record(group))
        shard.groups[group_id] = group
        self._write(shard, tuple(records), lambda error: None)
        interval_ms = self._host.config.get_int("group.consumer.regex.refresh.interval.ms")
        shard.start_timer((group_id, _REGEX), interval_ms, partial(self._resolve, shard, group_id))
