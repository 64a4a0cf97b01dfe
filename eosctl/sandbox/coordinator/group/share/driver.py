"""Apply the rules of share groups; own their timers, their records, and the requests for the state of partitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.append_errors import classify_group_error
from eosctl.sandbox.coordinator.group.consumer.group import Assignment
from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.host import GroupHost
from eosctl.sandbox.coordinator.group.records import FIRST_SEQUENCE, StoredRecord
from eosctl.sandbox.coordinator.group.shard import Shard
from eosctl.sandbox.coordinator.group.share.group import LEAVE_EPOCH, ShareGroup, TopicPartitions
from eosctl.sandbox.coordinator.group.share.heartbeat import ShareConfig, ShareHeartbeat, heartbeat, remove
from eosctl.sandbox.coordinator.group.share.initialization import (
    begin_deletion,
    begin_topic_deletion,
    combine,
    confirm,
    end_deletion,
    forget_deleted,
    request,
    withdraw,
)
from eosctl.sandbox.coordinator.group.share.records import share_group_tombstones, states_record
from eosctl.sandbox.coordinator.share.coordinator import StateResult
from eosctl.sandbox.coordinator.share.persister import StatePersister
from eosctl.sandbox.coordinator.share.state import NO_OFFSET, SharePartitionKey
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.group_settings import group_int
from eosctl.sandbox.logging.group_events import GroupEvents
from eosctl.sandbox.turns import gather
from eosctl.wire.error_codes import ErrorCode

SESSION = "share-session"


class ShareAnswer(NamedTuple):
    """The response to a heartbeat; on error only code and message are used."""

    error: ErrorCode
    message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Assignment | None = None


Written = Callable[[ErrorCode], None]


def read_share_config(host: GroupHost, group_id: str) -> ShareConfig:
    """Read the settings of share groups; a group's own override the broker's."""
    config, own = host.config, host.metadata.group_settings(group_id)
    return ShareConfig(
        session_timeout_ms=group_int(own, "share.session.timeout.ms", config.get_int),
        heartbeat_interval_ms=group_int(own, "share.heartbeat.interval.ms", config.get_int),
        assignment_interval_ms=group_int(own, "share.assignment.interval.ms", config.get_int),
        max_size=config.get_int("group.share.max.size"),
        initialize_retry_interval_ms=config.get_int("group.share.initialize.retry.interval.ms"),
    )


class ShareDriver:
    """Applies heartbeats, timers, and administration to the share groups of a broker's shards."""

    def __init__(self, host: GroupHost, states: StatePersister | None, events: GroupEvents) -> None:
        self._host = host
        self._states = states
        self._events = events

    # --- members ----------------------------------------------------------------------------------------------------

    def heartbeat(self, shard: Shard, beat: ShareHeartbeat, done: Callable[[ShareAnswer], None]) -> None:
        """Handle a heartbeat without a problem of its own."""
        try:
            if beat.member_epoch == LEAVE_EPOCH:
                self._leave(shard, beat, done)
            else:
                self._join_or_report(shard, beat, done)
        except RefusedError as refusal:
            done(ShareAnswer(refusal.error, refusal.message))

    def find(self, shard: Shard, group_id: str) -> ShareGroup:
        """Return a share group.

        Raises:
            RefusedError: GROUP_ID_NOT_FOUND.
        """
        group = shard.share_groups.get(group_id)
        if group is None:
            known = group_id in shard.groups
            reason = "is not a share group" if known else "not found"
            raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {reason}.")
        return group

    def loaded(self, shard: Shard) -> None:
        """Restart the sessions of the members of loaded groups."""
        for group in shard.share_groups.values():
            for member_id in group.members:
                self._start_session(shard, group.group_id, member_id)

    def _join_or_report(self, shard: Shard, beat: ShareHeartbeat, done: Callable[[ShareAnswer], None]) -> None:
        if beat.group_id in shard.groups:
            text = f"Group {beat.group_id} is not a share group."
            raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, text)
        config, now_ms = read_share_config(self._host, beat.group_id), self._host.runtime.now_ms()
        former = shard.share_groups.get(beat.group_id)
        result = heartbeat(former, beat, self._host.metadata, config, now_ms)
        self._start_session(shard, beat.group_id, beat.member_id)
        answer = ShareAnswer(
            error=ErrorCode.NONE,
            member_id=result.member.member_id,
            member_epoch=result.member.member_epoch,
            heartbeat_interval_ms=config.heartbeat_interval_ms,
            assignment=result.assignment,
        )

        def written(error: ErrorCode) -> None:
            if error is not ErrorCode.NONE:
                done(ShareAnswer(error, kafka_text(error)))
                return
            done(answer)
            if result.to_initialize:
                epoch = result.group.group_epoch
                call = partial(self._initialize, shard, beat.group_id, epoch, result.to_initialize)
                self._host.runtime.call_soon(call)

        self.write(shard, result.group, former, result.records, written)

    def _leave(self, shard: Shard, beat: ShareHeartbeat, done: Callable[[ShareAnswer], None]) -> None:
        group = self.find(shard, beat.group_id)
        answer = ShareAnswer(ErrorCode.NONE, None, beat.member_id, beat.member_epoch)

        def written(error: ErrorCode) -> None:
            done(answer if error is ErrorCode.NONE else ShareAnswer(error, kafka_text(error)))

        self._remove(shard, group, beat.member_id, written)

    def _remove(self, shard: Shard, group: ShareGroup, member_id: str, written: Written) -> None:
        left, records = remove(group, member_id, self._host.metadata, is_before_4_4=self._host.emulation.is_before_4_4)
        shard.stop_timer((group.group_id, SESSION, member_id))
        self.write(shard, left, group, records, written)

    def _start_session(self, shard: Shard, group_id: str, member_id: str) -> None:
        timeout_ms = read_share_config(self._host, group_id).session_timeout_ms
        shard.start_timer((group_id, SESSION, member_id), timeout_ms, partial(self._fence, shard, group_id, member_id))

    def _fence(self, shard: Shard, group_id: str, member_id: str) -> None:
        group = shard.share_groups.get(group_id)
        if group is not None and member_id in group.members:
            self._events.member_fenced(shard.partition.partition, group_id, member_id, "the member session expired.")
            self._remove(shard, group, member_id, lambda error: None)

    # --- the state of share-partitions ------------------------------------------------------------------------------

    def _initialize(
        self, shard: Shard, group_id: str, state_epoch: int, wanted: Mapping[bytes, TopicPartitions]
    ) -> None:
        starts = {(topic_id, index): NO_OFFSET for topic_id, topic in wanted.items() for index in topic.partitions}
        self.initialize(shard, group_id, state_epoch, starts, wanted, lambda results: None)

    def initialize(
        self,
        shard: Shard,
        group_id: str,
        state_epoch: int,
        starts: Mapping[tuple[bytes, int], int],
        wanted: Mapping[bytes, TopicPartitions],
        done: Callable[[dict[tuple[bytes, int], StateResult]], None],
    ) -> None:
        """Begin the state of partitions at their start offsets; then they can be assigned.

        `done` receives the result of each. If one fails, all of them are requested again later.
        """
        parts = sorted(starts)

        def begin(part: tuple[bytes, int], answered: Callable[[StateResult], None]) -> None:
            assert self._states is not None
            self._states.initialize(SharePartitionKey(group_id, *part), state_epoch, starts[part], answered)

        def initialized(results: list[StateResult]) -> None:
            group = shard.share_groups.get(group_id)
            found = dict(zip(parts, results, strict=True))
            if shard.is_closed or group is None:
                done(found)
                return
            failed = any(result.error is not ErrorCode.NONE for result in results)
            after = withdraw(group, wanted) if failed else confirm(group, wanted)
            assert after.states is not None
            record = states_record(group_id, after.states)
            self.write(shard, after, group, (record,), lambda error: done(found))

        gather(self._host.runtime, parts, begin, initialized)

    def delete_states(
        self, group_id: str, wanted: Mapping[bytes, TopicPartitions], done: Callable[[ErrorCode], None]
    ) -> None:
        """Remove the state of partitions; `done` receives the first error."""
        parts = sorted((topic_id, index) for topic_id, topic in wanted.items() for index in topic.partitions)

        def delete(part: tuple[bytes, int], answered: Callable[[StateResult], None]) -> None:
            assert self._states is not None
            self._states.delete(SharePartitionKey(group_id, *part), answered)

        def deleted(results: list[StateResult]) -> None:
            done(next((result.error for result in results if result.error is not ErrorCode.NONE), ErrorCode.NONE))

        gather(self._host.runtime, parts, delete, deleted)

    def topics_deleted(self, shard: Shard, topic_ids: list[bytes]) -> None:
        """Forget the share-partitions of deleted topics."""
        for group in list(shard.share_groups.values()):
            after = forget_deleted(group, topic_ids)
            if after is not group and after.states is not None:
                record = states_record(group.group_id, after.states)
                self.write(shard, after, group, (record,), lambda error: None)

    # --- administration ---------------------------------------------------------------------------------------------

    def delete(self, shard: Shard, group_id: str, done: Callable[[ErrorCode], None]) -> None:
        """Handle DeleteGroups for a share group: delete its state, then the group."""
        group = shard.share_groups[group_id]
        if not group.is_empty:
            done(ErrorCode.NON_EMPTY_GROUP)
            return
        if group.states is None:
            self._forget(shard, group_id, done)
            return
        deleting, wanted = begin_deletion(group, self._host.metadata)
        assert deleting.states is not None

        def deleted(error: ErrorCode) -> None:
            if error is ErrorCode.NONE:
                self._forget(shard, group_id, done)
            else:
                done(error)

        def written(error: ErrorCode) -> None:
            if error is ErrorCode.NONE:
                self.delete_states(group_id, wanted, deleted)
            else:
                done(error)

        self.write(shard, deleting, group, (states_record(group_id, deleting.states),), written)

    def alter_offsets(
        self,
        shard: Shard,
        group_id: str,
        starts: Mapping[tuple[bytes, int], int],
        done: Callable[[dict[tuple[bytes, int], StateResult]], None],
    ) -> None:
        """Set the start offsets of an empty group, which is created if it does not exist.

        Raises:
            RefusedError: The group has members or another type.
        """
        former = shard.share_groups.get(group_id)
        if former is None and group_id in shard.groups:
            raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")
        group = former or ShareGroup(group_id)
        _check_empty(group)
        now_ms, metadata = self._host.runtime.now_ms(), self._host.metadata
        wanted: dict[bytes, TopicPartitions] = {}
        for topic_id, index in starts:
            part = TopicPartitions(metadata.topic_name(topic_id) or "", frozenset({index}), now_ms)
            wanted = combine(wanted, {topic_id: part})
        if not wanted:
            done({})
            return
        requested = request(group, wanted)
        assert requested.states is not None

        def written(error: ErrorCode) -> None:
            if error is ErrorCode.NONE:
                self.initialize(shard, group_id, requested.group_epoch, starts, wanted, done)
            else:
                done(dict.fromkeys(starts, StateResult(error, kafka_text(error))))

        self.write(shard, requested, former, (states_record(group_id, requested.states),), written)

    def delete_offsets(
        self,
        shard: Shard,
        group_id: str,
        topic_ids: Sequence[bytes],
        done: Callable[[Mapping[bytes, ErrorCode]], None],
    ) -> None:
        """Delete the state of topics of an empty group; `done` receives the error of each topic with state.

        Raises:
            RefusedError: The group has members, does not exist, or has another type.
        """
        group = self.find(shard, group_id)
        _check_empty(group)
        deleting, wanted = begin_topic_deletion(group, topic_ids, self._host.metadata)
        if not wanted or deleting.states is None:
            done({})
            return

        def delete(topic_id: bytes, answered: Callable[[ErrorCode], None]) -> None:
            self.delete_states(group_id, {topic_id: wanted[topic_id]}, answered)

        def deleted(errors: list[ErrorCode]) -> None:
            found = dict(zip(wanted, errors, strict=True))
            present = shard.share_groups.get(group_id)
            gone = [topic_id for topic_id, error in found.items() if error is ErrorCode.NONE]
            if shard.is_closed or present is None or not gone:
                done(found)
                return
            after = end_deletion(present, gone)
            assert after.states is not None
            record = states_record(group_id, after.states)
            self.write(shard, after, present, (record,), lambda error: done(found))

        def written(error: ErrorCode) -> None:
            if error is ErrorCode.NONE:
                gather(self._host.runtime, list(wanted), delete, deleted)
            else:
                done(dict.fromkeys(wanted, error))

        self.write(shard, deleting, group, (states_record(group_id, deleting.states),), written)

    def _forget(self, shard: Shard, group_id: str, done: Callable[[ErrorCode], None]) -> None:
        group = shard.share_groups.get(group_id)
        if shard.is_closed or group is None:
            done(ErrorCode.NOT_COORDINATOR if shard.is_closed else ErrorCode.GROUP_ID_NOT_FOUND)
        elif not group.is_empty:
            done(ErrorCode.NON_EMPTY_GROUP)
        else:
            shard.stop_timers_of(group_id)
            self.write(shard, None, group, tuple(share_group_tombstones(group_id)), done)

    def write(
        self,
        shard: Shard,
        group: ShareGroup | None,
        former: ShareGroup | None,
        records: tuple[StoredRecord, ...],
        done: Written,
    ) -> None:
        """Replace a group and append its records; `done` is called when they are replicated.

        A group that could not be written is reverted, unless it has changed since.
        """
        group_id = group.group_id if group is not None else former.group_id if former is not None else ""
        _put(shard, group_id, group)
        if not records:
            done(ErrorCode.NONE)
            return

        def appended(error: ErrorCode, _offset: int) -> None:
            shown = classify_group_error(error, is_3_9=False)
            if shown is not ErrorCode.NONE and shard.share_groups.get(group_id) is group:
                _put(shard, group_id, former)
            done(shown)

        shard.append(records, appended, base_sequence=FIRST_SEQUENCE)


def _check_empty(group: ShareGroup) -> None:
    if not group.is_empty:
        raise RefusedError(ErrorCode.NON_EMPTY_GROUP, kafka_text(ErrorCode.NON_EMPTY_GROUP))


def _put(shard: Shard, group_id: str, group: ShareGroup | None) -> None:
    if group is None:
        shard.share_groups.pop(group_id, None)
    else:
        shard.share_groups[group_id] = group
