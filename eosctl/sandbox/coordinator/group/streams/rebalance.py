"""Changes of a streams group's membership: new epochs, new targets, and replaced static members."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.records import StoredRecord
from eosctl.sandbox.coordinator.group.streams.group import StreamsGroup, StreamsMember
from eosctl.sandbox.coordinator.group.streams.java_collections import hash_order
from eosctl.sandbox.coordinator.group.streams.sticky_assignor import (
    MemberSpec,
    NoCapacityError,
    StickyAssignor,
    SubtopologySpec,
)
from eosctl.sandbox.coordinator.group.streams.streams_records import (
    current_record,
    epoch_record,
    member_record,
    member_tombstones,
    target_epoch_record,
    target_record,
)
from eosctl.sandbox.coordinator.group.streams.tasks import NO_TASK_SETS, TaskSets
from eosctl.sandbox.coordinator.group.streams.topic_configuration import ConfiguredTopology, Status, StatusCode
from eosctl.wire.error_codes import ErrorCode

STANDBY_REPLICAS = "num.standby.replicas"
RACK_TAGS = "rack.aware.assignment.tags"


class StreamsConfig(NamedTuple):
    """Limits, intervals, and assignment settings of a streams group, and whether the rules before 4.4 apply."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    assignment_interval_ms: int = 1_000
    initial_rebalance_delay_ms: int = 3_000
    standby_count: int = 0
    max_size: int = 2**31 - 1
    rack_tags: tuple[str, ...] = ()
    task_offset_interval_ms: int = 0
    acceptable_recovery_lag: int = 0
    is_before_4_4: bool = False

    @property
    def assignment_configs(self) -> dict[str, str]:
        """Return the settings whose change leads to a new assignment, as the log contains them."""
        tags = {RACK_TAGS: ",".join(self.rack_tags)} if self.rack_tags else {}
        return {STANDBY_REPLICAS: str(self.standby_count), **tags}


class Target(NamedTuple):
    """The group with the target assignment that a heartbeat reconciles its member to.

    `epoch` and `tasks` are those of the last target if a new one has to wait; `delay` reports that.
    """

    group: StreamsGroup
    epoch: int
    tasks: TaskSets
    records: tuple[StoredRecord, ...] = ()
    delay: Status | None = None


def refresh_target(
    group: StreamsGroup,
    member_id: str,
    topology: ConfiguredTopology,
    config: StreamsConfig,
    now_ms: int,
    *,
    is_delayed: bool,
) -> Target:
    """Compute a new target if the group has a new epoch, at most once per assignment interval.

    `is_delayed` is whether the group still waits for its first members. Without a valid topology the target is empty.

    Raises:
        RefusedError: UNKNOWN_SERVER_ERROR, if tasks cannot be assigned.
    """
    if is_delayed:
        delay = Status(
            StatusCode.ASSIGNMENT_DELAYED, "Assignment delayed due to the configured initial rebalance delay."
        )
        return Target(group, group.assignment_epoch, NO_TASK_SETS, delay=delay)
    last = Target(group, group.assignment_epoch, group.targets.get(member_id, NO_TASK_SETS))
    if group.assignment_epoch >= group.group_epoch:
        return last
    waits = bool(group.assignment_timestamp_ms) and (
        now_ms < group.assignment_timestamp_ms + config.assignment_interval_ms
    )
    if waits:
        delay = Status(StatusCode.ASSIGNMENT_DELAYED, "Assignment delayed due to the configured assignment interval.")
        return last._replace(delay=delay)
    targets = _assign(group, topology, config)
    records = [
        target_record(group.group_id, member, targets[member])
        for member in hash_order(targets)
        if targets[member] != group.targets.get(member)
    ]
    group = replace(group, targets=targets, assignment_epoch=group.group_epoch, assignment_timestamp_ms=now_ms)
    records.append(target_epoch_record(group))
    return Target(group, group.assignment_epoch, targets.get(member_id, NO_TASK_SETS), tuple(records))


def _assign(group: StreamsGroup, topology: ConfiguredTopology, config: StreamsConfig) -> Mapping[str, TaskSets]:
    """Return the target of each member; 4.3 keeps former targets in place, 4.4 the tasks that members have."""
    if not topology.is_ready or topology.subtopologies is None:
        return dict.fromkeys(group.members, NO_TASK_SETS)
    members = {
        member_id: MemberSpec(
            member.process_id,
            group.targets.get(member_id, NO_TASK_SETS) if config.is_before_4_4 else member.assigned,
            group.task_offsets[member_id].offsets if member_id in group.task_offsets else {},
        )
        for member_id, member in group.members.items()
    }
    subtopologies = [
        SubtopologySpec(subtopology_id, part.task_count, part.is_stateful)
        for subtopology_id, part in topology.subtopologies.items()
    ]
    standby_count = int(group.assignment_configs.get(STANDBY_REPLICAS, "0"))
    try:
        return StickyAssignor(members, subtopologies, standby_count, is_before_4_4=config.is_before_4_4).assign()
    except NoCapacityError as error:
        message = f"Failed to compute a new target assignment for epoch {group.group_epoch}: {error}"
        raise RefusedError(ErrorCode.UNKNOWN_SERVER_ERROR, message) from error


def replace_static(
    group: StreamsGroup, former: StreamsMember, member_id: str, records: list[StoredRecord]
) -> tuple[StreamsGroup, StreamsMember]:
    """Replace a static member's id; keep its metadata, its tasks, and its target."""
    member = replace(former, member_id=member_id, member_epoch=0, previous_member_epoch=0)
    target = group.targets.get(former.member_id, NO_TASK_SETS)
    records += member_tombstones(group.group_id, former.member_id)
    records.append(member_record(group.group_id, member))
    records.append(target_record(group.group_id, member_id, target))
    records.append(current_record(group.group_id, member))
    group = group.without_member(former.member_id).with_member(member)
    return replace(group, targets={**group.targets, member_id: target}), member


def remove(group: StreamsGroup, member_id: str, config: StreamsConfig) -> tuple[StreamsGroup, tuple[StoredRecord, ...]]:
    """Remove a member and bump the group epoch.

    From 4.4, an empty group has an empty target of its epoch: the next member is assigned without delay.
    """
    remaining = replace(group.without_member(member_id), group_epoch=group.group_epoch + 1)
    records = [*member_tombstones(group.group_id, member_id), epoch_record(remaining)]
    if remaining.is_empty and not config.is_before_4_4:
        remaining = replace(remaining, assignment_epoch=remaining.group_epoch, assignment_timestamp_ms=0)
        records.append(target_epoch_record(remaining))
    return remaining, tuple(records)
