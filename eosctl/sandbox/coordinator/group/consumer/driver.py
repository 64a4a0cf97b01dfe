"""Apply the rules of KIP-848 groups; own their timers and records."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.append_errors import classify_group_error
from eosctl.sandbox.coordinator.group.classic_driver import ClassicDriver
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup
from eosctl.sandbox.coordinator.group.consumer.consumer_records import epoch_record, regex_record
from eosctl.sandbox.coordinator.group.consumer.group import (
    JOIN_EPOCH,
    STATIC_LEAVE_EPOCH,
    Assignment,
    ConsumerGroup,
    ConsumerMember,
    MemberState,
    ResolvedRegex,
)
from eosctl.sandbox.coordinator.group.consumer.heartbeat import (
    HeartbeatResult,
    heartbeat,
    leave_for_a_while,
    leaving_member,
    remove,
)
from eosctl.sandbox.coordinator.group.consumer.migration import downgrade, may_downgrade, may_upgrade, upgrade
from eosctl.sandbox.coordinator.group.consumer.rebalance import ConsumerConfig, MigrationPolicy
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
from eosctl.sandbox.coordinator.group.streams.group import StreamsGroup
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.group_settings import ASSIGNMENT_INTERVAL, HEARTBEAT_INTERVAL, SESSION_TIMEOUT, group_int
from eosctl.sandbox.logging.group_events import GroupEvents
from eosctl.wire.error_codes import ErrorCode


class HeartbeatAnswer(NamedTuple):
    """The response to a heartbeat; on error only code and message are used."""

    error: ErrorCode
    message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Assignment | None = None


HeartbeatDone = Callable[[HeartbeatAnswer], None]
SESSION = "consumer-session"
JOIN, SYNC = "classic-join", "classic-sync"
_REBALANCE = "consumer-rebalance"
MEMBER_TIMERS = (SESSION, JOIN, SYNC, _REBALANCE)
_REGEX = "consumer-regex"


def read_consumer_config(host: GroupHost, group_id: str = "") -> ConsumerConfig:
    """Read the settings of consumer groups; a group's own override the broker's."""
    config = host.config
    own = host.metadata.group_settings(group_id)
    return ConsumerConfig(
        session_timeout_ms=group_int(own, SESSION_TIMEOUT, config.get_int),
        heartbeat_interval_ms=group_int(own, HEARTBEAT_INTERVAL, config.get_int),
        assignment_interval_ms=group_int(own, ASSIGNMENT_INTERVAL, config.get_int),
        max_size=config.get_int("group.consumer.max.size"),
        assignors=tuple(name.strip() for name in config.get_str("group.consumer.assignors").split(",")),
        migration_policy=MigrationPolicy(config.get_str("group.consumer.migration.policy").lower()),
        classic_max_size=config.get_int("group.max.size"),
        is_before_4_4=host.emulation.is_before_4_4,
    )


class ConsumerDriver:
    """Applies heartbeats and timers to consumer groups."""

    def __init__(self, host: GroupHost, events: GroupEvents, classic: ClassicDriver) -> None:
        self._host = host
        self._events = events
        self._classic = classic

    def heartbeat(self, shard: Shard, request: ConsumerHeartbeat, done: HeartbeatDone) -> None:
        """Handle a heartbeat that `check_request` accepted."""
        try:
            self._heartbeat(shard, request, done)
        except RefusedError as refusal:
            done(HeartbeatAnswer(refusal.error, refusal.message))

    def check(self, request: ConsumerHeartbeat) -> None:
        """Check the parts of a request that do not depend on a group.

        Raises:
            RefusedError: With the code and the message of the response.
        """
        check_request(request, read_consumer_config(self._host).assignors)

    def loaded(self, shard: Shard, group: ConsumerGroup) -> None:
        """Restart the session timers of a loaded group and resume its revocations."""
        for member in group.members.values():
            self.start_session(shard, group.group_id, member)
            self._start_rebalance(shard, group.group_id, member)
            if member.subscribed_topic_regex:
                self._resolve_soon(shard, group.group_id)

    def _heartbeat(self, shard: Shard, request: ConsumerHeartbeat, done: HeartbeatDone) -> None:
        config, now_ms = read_consumer_config(self._host, request.group_id), self._host.runtime.now_ms()
        former = shard.groups.get(request.group_id)
        known, conversion = self._consumer_group(former, request, config)
        if request.leaves:
            self._leave(shard, known, request, done)
            return
        result = heartbeat(known, request, self._host.metadata, config, now_ms)
        if isinstance(former, ClassicGroup):
            shard.stop_timers_of(request.group_id)
        self._keep(shard, result)
        if isinstance(former, ClassicGroup) and known is not None:
            for member in known.members.values():
                self.start_session(shard, known.group_id, member)
            self._events.upgraded(shard.partition.partition, known.group_id)
            self._classic.send_back(shard, former)
        answer = HeartbeatAnswer(
            error=ErrorCode.NONE,
            message=None,
            member_id=result.member.member_id,
            member_epoch=result.member.member_epoch,
            heartbeat_interval_ms=config.heartbeat_interval_ms,
            assignment=result.assignment,
        )
        restore = partial(self.restore, shard, result.group, former)
        self.write(shard, (*conversion, *result.records), partial(self._written, done, answer, restore))

    def _consumer_group(
        self,
        group: ClassicGroup | ConsumerGroup | StreamsGroup | None,
        request: ConsumerHeartbeat,
        config: ConsumerConfig,
    ) -> tuple[ConsumerGroup | None, tuple[StoredRecord, ...]]:
        """Return the group as a consumer group and the records of its conversion; None if it does not exist yet."""
        if group is None or isinstance(group, ConsumerGroup):
            return group, ()
        if request.member_epoch == JOIN_EPOCH and isinstance(group, ClassicGroup):
            if group.is_empty:
                return None, (group_tombstone(group.group_id),)
            if may_upgrade(group, config):
                return upgrade(group, self._host.metadata)
        raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group.group_id} is not a consumer group.")

    def _leave(
        self, shard: Shard, group: ConsumerGroup | None, request: ConsumerHeartbeat, done: HeartbeatDone
    ) -> None:
        member = leaving_member(group, request)
        assert group is not None
        answer = HeartbeatAnswer(ErrorCode.NONE, None, member.member_id, request.member_epoch)
        if request.member_epoch == STATIC_LEAVE_EPOCH:
            away, records = leave_for_a_while(group, member)
            shard.groups[group.group_id] = away
            self._start_rebalance(shard, group.group_id, away.members[member.member_id])
            restore = partial(self.restore, shard, away, group)
            self.write(shard, records, partial(self._written, done, answer, restore))
            return
        self.remove_members(shard, group, [member.member_id], partial(self._written, done, answer))

    def remove_members(
        self,
        shard: Shard,
        group: ConsumerGroup,
        member_ids: Collection[str],
        done: Callable[[Callable[[], None], ErrorCode], None] = lambda restore, error: None,
    ) -> None:
        """Remove members. If all remaining members use the classic protocol, convert the group to a classic group.

        `done` receives a function that reverts the change, and whether the records were written.
        """
        for member_id in member_ids:
            for kind in MEMBER_TIMERS:
                shard.stop_timer((group.group_id, kind, member_id))
        if may_downgrade(group, member_ids, read_consumer_config(self._host)):
            now_ms = self._host.runtime.now_ms()
            classic, records = downgrade(group, member_ids, self._host.metadata, now_ms)
            self.become_classic(shard, group, classic, records, True, done)
            return
        remaining, records = remove(group, member_ids, self._host.metadata, read_consumer_config(self._host))
        shard.groups[group.group_id] = remaining
        self.write(shard, records, partial(done, partial(self.restore, shard, remaining, group)))

    def become_classic(
        self,
        shard: Shard,
        former: ConsumerGroup,
        group: ClassicGroup,
        records: tuple[StoredRecord, ...],
        rebalances: bool,
        done: Callable[[Callable[[], None], ErrorCode], None],
    ) -> None:
        """Convert a group to a classic group, and write the records of the conversion."""
        shard.stop_timers_of(group.group_id)
        self._events.downgraded(shard.partition.partition, group, rebalances)
        self._classic.adopt(shard, group, rebalances)
        written = shard.groups[group.group_id]
        self.write(shard, records, partial(done, partial(self.restore, shard, written, former)))

    def _keep(self, shard: Shard, result: HeartbeatResult) -> None:
        group, member = result.group, result.member
        shard.groups[group.group_id] = group
        self.start_session(shard, group.group_id, member)
        self._start_rebalance(shard, group.group_id, member)
        if result.new_regex is not None:
            self._resolve_soon(shard, group.group_id)

    def write(self, shard: Shard, records: tuple[StoredRecord, ...], done: Callable[[ErrorCode], None]) -> None:
        """Append records, if any; `done` is called when they are replicated."""
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
        done(answer if shown is ErrorCode.NONE else HeartbeatAnswer(shown, kafka_text(shown)))

    def restore(
        self,
        shard: Shard,
        written: ConsumerGroup | ClassicGroup | StreamsGroup,
        former: ConsumerGroup | ClassicGroup | StreamsGroup | None,
    ) -> None:
        """Revert a change that could not be written, unless the group has changed since."""
        if shard.groups.get(written.group_id) is not written:
            return
        if former is None:
            del shard.groups[written.group_id]
        elif isinstance(former, ClassicGroup):
            shard.stop_timers_of(written.group_id)
            self._classic.adopt(shard, former, rebalances=False)
        else:
            shard.groups[written.group_id] = former

    def start_session(self, shard: Shard, group_id: str, member: ConsumerMember) -> None:
        """Start or restart a member's session; a classic member has a session timeout of its own."""
        classic = member.classic
        timeout_ms = read_consumer_config(self._host, group_id).session_timeout_ms
        if classic is not None:
            timeout_ms = classic.session_timeout_ms
        self.fence_after(shard, group_id, member.member_id, SESSION, timeout_ms, "the member session expired.")

    def fence_after(self, shard: Shard, group_id: str, member_id: str, kind: str, timeout_ms: int, reason: str) -> None:
        """Start or restart a timer that removes the member; `kind` is one of `MEMBER_TIMERS`."""
        fence = partial(self._fence, shard, group_id, member_id, reason)
        shard.start_timer((group_id, kind, member_id), timeout_ms, fence)

    def _start_rebalance(self, shard: Shard, group_id: str, member: ConsumerMember) -> None:
        key = (group_id, _REBALANCE, member.member_id)
        if member.uses_classic_protocol or member.state is not MemberState.UNREVOKED_PARTITIONS:
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
        self._events.member_fenced(shard.partition.partition, group_id, member_id, reason)
        self.remove_members(shard, group, [member_id])

    def _resolve_soon(self, shard: Shard, group_id: str) -> None:
        """Resolve patterns after the heartbeat, as Kafka's background thread does, and again at intervals."""
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
        self.write(shard, tuple(records), lambda error: None)
        interval_ms = self._host.config.get_int("group.consumer.regex.refresh.interval.ms")
        shard.start_timer((group_id, _REGEX), interval_ms, partial(self._resolve, shard, group_id))
