"""List, describe, delete, and expire groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.append_errors import classify_offset_error
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup, ClassicState
from eosctl.sandbox.coordinator.group.consumer.consumer_records import consumer_group_tombstones
from eosctl.sandbox.coordinator.group.consumer.group import ConsumerGroup
from eosctl.sandbox.coordinator.group.host import GroupHost
from eosctl.sandbox.coordinator.group.offset_rules import Group, is_expired
from eosctl.sandbox.coordinator.group.records import (
    FIRST_SEQUENCE,
    NO_SEQUENCE,
    StoredRecord,
    group_tombstone,
    offset_tombstone,
)
from eosctl.sandbox.coordinator.group.shard import Shard
from eosctl.sandbox.coordinator.group.share.group import PROTOCOL_TYPE, ShareGroup
from eosctl.sandbox.coordinator.group.streams.group import StreamsGroup
from eosctl.sandbox.coordinator.group.streams.streams_records import streams_group_tombstones
from eosctl.sandbox.coordinator.group.subscription import CONSUMER_PROTOCOL_TYPE
from eosctl.wire.error_codes import ErrorCode

CLASSIC_TYPE = "classic"
CONSUMER_TYPE = "consumer"
SHARE_TYPE = "share"
STREAMS_TYPE = "streams"


class GroupOverview(NamedTuple):
    """A group in a ListGroups response."""

    group_id: str
    protocol_type: str
    state: str
    group_type: str


def overview(group: Group) -> GroupOverview:
    """Return the ListGroups entry of a group."""
    if isinstance(group, ConsumerGroup):
        return GroupOverview(group.group_id, CONSUMER_PROTOCOL_TYPE, group.state, CONSUMER_TYPE)
    if isinstance(group, StreamsGroup):
        return GroupOverview(group.group_id, STREAMS_TYPE, group.state, STREAMS_TYPE)
    return GroupOverview(group.group_id, group.protocol_type or "", group.state.value, CLASSIC_TYPE)


def share_overview(group: ShareGroup) -> GroupOverview:
    """Return the ListGroups entry of a share group."""
    return GroupOverview(group.group_id, PROTOCOL_TYPE, group.state, SHARE_TYPE)


def list_groups(shards: Iterable[Shard], states: Sequence[str], types: Sequence[str]) -> list[GroupOverview]:
    """Return the groups that match the state and type filters; an empty filter matches all."""
    wanted_states = {state.lower() for state in states}
    wanted_types = {group_type.lower() for group_type in types}
    return [
        line
        for shard in shards
        for line in (*map(overview, shard.groups.values()), *map(share_overview, shard.share_groups.values()))
        if (not wanted_states or line.state.lower() in wanted_states)
        and (not wanted_types or line.group_type in wanted_types)
    ]


class GroupAdmin:
    """Deletes groups on request, and expires unused groups and offsets."""

    def __init__(self, host: GroupHost) -> None:
        self._host = host

    def delete(self, shard: Shard, group_id: str, done: Callable[[ErrorCode], None]) -> None:
        """Handle DeleteGroups for a group; only an empty group is deleted, with all its offsets."""
        group = shard.groups.get(group_id)
        if group is None:
            done(ErrorCode.GROUP_ID_NOT_FOUND)
            return
        if not group.is_empty:
            done(ErrorCode.NON_EMPTY_GROUP)
            return
        partitions = dict.fromkeys(shard.offsets.committed(group_id))
        pending = dict.fromkeys(shard.offsets.pending_partitions(group_id))
        if not self._host.emulation.is_3_9:  # 3.9 drops pending offsets without a tombstone.
            partitions |= pending
        tombstones = [offset_tombstone(group_id, partition) for partition in partitions]
        for partition in partitions | pending:
            shard.offsets.remove(group_id, partition)
        self._forget(shard, group, tombstones, done)

    def drop_if_unused(self, shard: Shard, group_id: str) -> None:
        """Delete a group that is empty and has no offsets."""
        group = shard.groups.get(group_id)
        if group is not None and group.is_empty and not shard.offsets.has_offsets(group_id):
            self._forget(shard, group, [])

    def expire(self, shard: Shard) -> None:
        """Delete expired offsets, and empty groups without offsets."""
        config, now_ms = self._host.config, self._host.runtime.now_ms()
        retention_ms = config.get_int("offsets.retention.minutes") * 60_000
        for group_id, group in list(shard.groups.items()):
            expired = [
                partition
                for partition, value in shard.offsets.committed(group_id).items()
                if is_expired(group, value, partition.topic, now_ms, retention_ms)
                and not shard.offsets.is_pending(group_id, partition)
            ]
            tombstones = [offset_tombstone(group_id, partition) for partition in expired]
            for partition in expired:
                shard.offsets.remove(group_id, partition)
            if group.is_empty and not shard.offsets.has_offsets(group_id):
                self._forget(shard, group, tombstones)
            elif tombstones:
                self._write(shard, tombstones, lambda error: None)

    def _forget(
        self,
        shard: Shard,
        group: Group,
        tombstones: list[StoredRecord],
        done: Callable[[ErrorCode], None] = lambda error: None,
    ) -> None:
        shard.stop_timers_of(group.group_id)
        del shard.groups[group.group_id]
        if isinstance(group, ConsumerGroup):
            tombstones += consumer_group_tombstones(group)
        elif isinstance(group, StreamsGroup):
            tombstones += streams_group_tombstones(group)
        elif group.generation_id > 0 or not self._host.emulation.is_3_9:
            tombstones.append(group_tombstone(group.group_id))
        if self._host.emulation.is_3_9:
            # 3.9 responds without waiting for its tombstones.
            if tombstones:
                self._write(shard, tombstones, lambda error: None)
            done(ErrorCode.NONE)
        else:
            self._write(shard, tombstones, done)

    def _write(self, shard: Shard, tombstones: list[StoredRecord], done: Callable[[ErrorCode], None]) -> None:
        is_3_9 = self._host.emulation.is_3_9
        shard.append(
            tombstones,
            lambda error, _offset: done(classify_offset_error(error, is_3_9)),
            base_sequence=NO_SEQUENCE if is_3_9 else FIRST_SEQUENCE,
        )


def describe_state(group: ClassicGroup) -> tuple[str, str, bool]:
    """Return a group's state and protocol for DescribeGroups, and whether its metadata is included.

    Only a stable group has a protocol and metadata.
    """
    stable = group.state is ClassicState.STABLE
    return group.state.value, (group.protocol_name or "") if stable else "", stable
