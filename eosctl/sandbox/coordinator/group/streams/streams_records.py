"""The records of a streams group in `__consumer_offsets`, as 4.3.1 and 4.4.0 write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from eosctl.sandbox.coordinator.group.records import StoredRecord, stored
from eosctl.sandbox.coordinator.group.streams.group import (
    FIRST_GROUP_EPOCH,
    Endpoint,
    MemberState,
    StreamsGroup,
    StreamsMember,
)
from eosctl.sandbox.coordinator.group.streams.java_collections import hash_order
from eosctl.sandbox.coordinator.group.streams.tasks import TaskId, Tasks, TaskSets, group_by_subtopology
from eosctl.sandbox.coordinator.group.streams.topology import encode_topology, read_topology
from eosctl.wire.messages.internal.consumer_offsets import (
    streams_group_current_member_assignment as current_assignment,
)
from eosctl.wire.messages.internal.consumer_offsets import streams_group_member_metadata as member_metadata
from eosctl.wire.messages.internal.consumer_offsets import streams_group_metadata as group_metadata
from eosctl.wire.messages.internal.consumer_offsets import streams_group_target_assignment_member as target_member
from eosctl.wire.messages.internal.consumer_offsets import (
    streams_group_target_assignment_metadata as target_metadata,
)
from eosctl.wire.messages.internal.consumer_offsets import streams_group_topology as group_topology

StreamsRecordKey: TypeAlias = (
    current_assignment.StreamsGroupCurrentMemberAssignmentKey
    | member_metadata.StreamsGroupMemberMetadataKey
    | group_metadata.StreamsGroupMetadataKey
    | target_member.StreamsGroupTargetAssignmentMemberKey
    | target_metadata.StreamsGroupTargetAssignmentMetadataKey
    | group_topology.StreamsGroupTopologyKey
)

_STATES = {state.value: state for state in MemberState}


def member_record(group_id: str, member: StreamsMember) -> StoredRecord:
    """Encode a member's metadata."""
    endpoint = member.user_endpoint
    value = member_metadata.StreamsGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=None if endpoint is None else member_metadata.Endpoint(*endpoint),
        client_tags=[member_metadata.KeyValue(key, tag) for key, tag in member.client_tags],
    )
    return stored(member_metadata.StreamsGroupMemberMetadataKey(group_id, member.member_id), value)


def epoch_record(group: StreamsGroup) -> StoredRecord:
    """Encode the group's epoch with the metadata and settings that it covers."""
    configs = [group_metadata.LastAssignmentConfig(*config) for config in sorted(group.assignment_configs.items())]
    value = group_metadata.StreamsGroupMetadataValue(
        group.group_epoch, group.metadata_hash, group.validated_topology_epoch, configs
    )
    return stored(group_metadata.StreamsGroupMetadataKey(group.group_id), value)


def topology_record(group: StreamsGroup) -> StoredRecord:
    """Encode the group's topology."""
    assert group.topology is not None
    return stored(group_topology.StreamsGroupTopologyKey(group.group_id), encode_topology(group.topology))


def target_record(group_id: str, member_id: str, target: TaskSets) -> StoredRecord:
    """Encode a member's target assignment."""
    active, standby, warmup = (
        [target_member.TaskIds(*tasks) for tasks in group_by_subtopology(role)] for role in target
    )
    value = target_member.StreamsGroupTargetAssignmentMemberValue(active, standby, warmup)
    return stored(target_member.StreamsGroupTargetAssignmentMemberKey(group_id, member_id), value)


def target_epoch_record(group: StreamsGroup) -> StoredRecord:
    """Encode the epoch and time of the target assignment."""
    value = target_metadata.StreamsGroupTargetAssignmentMetadataValue(
        group.assignment_epoch, group.assignment_timestamp_ms
    )
    return stored(target_metadata.StreamsGroupTargetAssignmentMetadataKey(group.group_id), value)


def current_record(group_id: str, member: StreamsMember) -> StoredRecord:
    """Encode a member's current assignment; active tasks have the epochs of their assignment."""
    assigned, pending = member.assigned, member.pending_revocation
    value = current_assignment.StreamsGroupCurrentMemberAssignmentValue(
        member_epoch=member.member_epoch,
        previous_member_epoch=member.previous_member_epoch,
        state=member.state,
        active_tasks=_with_epochs(assigned.active, member.active_epochs),
        standby_tasks=_without_epochs(assigned.standby),
        warmup_tasks=_without_epochs(assigned.warmup),
        active_tasks_pending_revocation=_with_epochs(pending.active, member.active_epochs),
        standby_tasks_pending_revocation=_without_epochs(pending.standby),
        warmup_tasks_pending_revocation=_without_epochs(pending.warmup),
    )
    return stored(current_assignment.StreamsGroupCurrentMemberAssignmentKey(group_id, member.member_id), value)


def member_tombstones(group_id: str, member_id: str) -> list[StoredRecord]:
    """Encode the removal of a member: current assignment, target assignment, and metadata."""
    return [
        stored(current_assignment.StreamsGroupCurrentMemberAssignmentKey(group_id, member_id)),
        stored(target_member.StreamsGroupTargetAssignmentMemberKey(group_id, member_id)),
        stored(member_metadata.StreamsGroupMemberMetadataKey(group_id, member_id)),
    ]


def streams_group_tombstones(group: StreamsGroup) -> list[StoredRecord]:
    """Encode the removal of a group with its members."""
    name, members = group.group_id, hash_order(group.members)
    return [
        *(stored(current_assignment.StreamsGroupCurrentMemberAssignmentKey(name, key)) for key in members),
        *(stored(target_member.StreamsGroupTargetAssignmentMemberKey(name, key)) for key in members),
        stored(target_metadata.StreamsGroupTargetAssignmentMetadataKey(name)),
        *(stored(member_metadata.StreamsGroupMemberMetadataKey(name, key)) for key in members),
        stored(group_metadata.StreamsGroupMetadataKey(name)),
        stored(group_topology.StreamsGroupTopologyKey(name)),
    ]


def replay_streams_record(group: StreamsGroup, key: StreamsRecordKey, value: object | None) -> StreamsGroup | None:
    """Return the group after one of its records; None if the record removes the group."""
    match key, value:
        case group_metadata.StreamsGroupMetadataKey(), None:
            return None
        case group_metadata.StreamsGroupMetadataKey(), group_metadata.StreamsGroupMetadataValue() as found:
            return replace(
                group,
                group_epoch=found.epoch,
                metadata_hash=found.metadata_hash,
                validated_topology_epoch=found.validated_topology_epoch,
                assignment_configs={config.key: config.value for config in found.last_assignment_configs or ()},
            )
        case target_metadata.StreamsGroupTargetAssignmentMetadataKey(), None:
            return replace(group, assignment_epoch=FIRST_GROUP_EPOCH, assignment_timestamp_ms=0)
        case (
            target_metadata.StreamsGroupTargetAssignmentMetadataKey(),
            target_metadata.StreamsGroupTargetAssignmentMetadataValue(assignment_epoch=epoch, assignment_timestamp=at),
        ):
            return replace(group, assignment_epoch=epoch, assignment_timestamp_ms=at)
        case target_member.StreamsGroupTargetAssignmentMemberKey(member_id=member_id), _:
            targets = {member: target for member, target in group.targets.items() if member != member_id}
            if isinstance(value, target_member.StreamsGroupTargetAssignmentMemberValue):
                roles = (value.active_tasks, value.standby_tasks, value.warmup_tasks)
                targets[member_id] = TaskSets(*map(_restore, roles))
            return replace(group, targets=targets)
        case group_topology.StreamsGroupTopologyKey(), _:
            if isinstance(value, group_topology.StreamsGroupTopologyValue):
                return replace(group, topology=read_topology(value))
            return replace(group, topology=None)
        case member_metadata.StreamsGroupMemberMetadataKey(member_id=member_id), _:
            return _replay_member(group, member_id, value)
        case current_assignment.StreamsGroupCurrentMemberAssignmentKey(member_id=member_id), _:
            return _replay_current(group, member_id, value)
    return group


def _replay_member(group: StreamsGroup, member_id: str, value: object) -> StreamsGroup:
    if not isinstance(value, member_metadata.StreamsGroupMemberMetadataValue):
        return group.without_member(member_id)
    endpoint = value.user_endpoint
    return group.with_member(
        replace(
            group.members.get(member_id, StreamsMember(member_id)),
            instance_id=value.instance_id,
            rack_id=value.rack_id,
            client_id=value.client_id,
            client_host=value.client_host,
            rebalance_timeout_ms=value.rebalance_timeout_ms,
            topology_epoch=value.topology_epoch,
            process_id=value.process_id,
            user_endpoint=None if endpoint is None else Endpoint(endpoint.host, endpoint.port),
            client_tags=tuple((tag.key, tag.value) for tag in value.client_tags),
        )
    )


def _replay_current(group: StreamsGroup, member_id: str, value: object) -> StreamsGroup:
    member = group.members.get(member_id, StreamsMember(member_id))
    if not isinstance(value, current_assignment.StreamsGroupCurrentMemberAssignmentValue):
        return group.with_member(StreamsMember(member_id)) if member_id in group.members else group
    pending = (
        value.active_tasks_pending_revocation,
        value.standby_tasks_pending_revocation,
        value.warmup_tasks_pending_revocation,
    )
    return group.with_member(
        replace(
            member,
            member_epoch=value.member_epoch,
            previous_member_epoch=value.previous_member_epoch,
            state=_STATES.get(value.state, MemberState.UNKNOWN),
            assigned=TaskSets(*map(_restore, (value.active_tasks, value.standby_tasks, value.warmup_tasks))),
            pending_revocation=TaskSets(*map(_restore, pending)),
            active_epochs=_restore_epochs(
                [*value.active_tasks, *value.active_tasks_pending_revocation], value.member_epoch
            ),
        )
    )


def _with_epochs(tasks: Tasks, epochs: Mapping[TaskId, int]) -> list[current_assignment.TaskIds]:
    return [
        current_assignment.TaskIds(part, indexes, [epochs.get(TaskId(part, index), 0) for index in indexes])
        for part, indexes in group_by_subtopology(tasks)
    ]


def _without_epochs(tasks: Tasks) -> list[current_assignment.TaskIds]:
    return [current_assignment.TaskIds(part, indexes) for part, indexes in group_by_subtopology(tasks)]


def _restore(parts: Sequence[current_assignment.TaskIds] | Sequence[target_member.TaskIds]) -> Tasks:
    return frozenset(TaskId(part.subtopology_id, index) for part in parts for index in part.partitions)


def _restore_epochs(parts: Sequence[current_assignment.TaskIds], member_epoch: int) -> dict[TaskId, int]:
    """Return the assignment epochs of tasks; records without them mean the member epoch."""
    return {
        TaskId(part.subtopology_id, index): epoch
        for part in parts
        for index, epoch in zip(
            part.partitions, part.assignment_epochs or [member_epoch] * len(part.partitions), strict=False
        )
    }
