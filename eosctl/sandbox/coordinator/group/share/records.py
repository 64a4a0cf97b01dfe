"""The records of a share group in `__consumer_offsets`, as 4.3.1 writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from eosctl.sandbox.coordinator.group.consumer.consumer_records import group_by_topic
from eosctl.sandbox.coordinator.group.consumer.group import Assignment, TopicIdPartition
from eosctl.sandbox.coordinator.group.records import StoredRecord, stored
from eosctl.sandbox.coordinator.group.share.group import (
    FIRST_GROUP_EPOCH,
    ShareGroup,
    ShareMember,
    StatePartitions,
    TopicPartitions,
)
from eosctl.wire.messages.internal.consumer_offsets import share_group_current_member_assignment as current_assignment
from eosctl.wire.messages.internal.consumer_offsets import share_group_member_metadata as member_metadata
from eosctl.wire.messages.internal.consumer_offsets import share_group_metadata as group_metadata
from eosctl.wire.messages.internal.consumer_offsets import share_group_state_partition_metadata as state_partitions
from eosctl.wire.messages.internal.consumer_offsets import share_group_target_assignment_member as target_member
from eosctl.wire.messages.internal.consumer_offsets import share_group_target_assignment_metadata as target_metadata

ShareRecordKey: TypeAlias = (
    current_assignment.ShareGroupCurrentMemberAssignmentKey
    | member_metadata.ShareGroupMemberMetadataKey
    | group_metadata.ShareGroupMetadataKey
    | state_partitions.ShareGroupStatePartitionMetadataKey
    | target_member.ShareGroupTargetAssignmentMemberKey
    | target_metadata.ShareGroupTargetAssignmentMetadataKey
)
STABLE = 0


def member_record(group_id: str, member: ShareMember) -> StoredRecord:
    """Encode a member's subscription."""
    value = member_metadata.ShareGroupMemberMetadataValue(
        member.rack_id, member.client_id, member.client_host, sorted(member.subscribed_topic_names)
    )
    return stored(member_metadata.ShareGroupMemberMetadataKey(group_id, member.member_id), value)


def epoch_record(group: ShareGroup) -> StoredRecord:
    """Encode the group's epoch and metadata hash."""
    value = group_metadata.ShareGroupMetadataValue(group.group_epoch, group.metadata_hash)
    return stored(group_metadata.ShareGroupMetadataKey(group.group_id), value)


def target_record(group_id: str, member_id: str, target: Assignment) -> StoredRecord:
    """Encode a member's target assignment."""
    topics = [target_member.TopicPartition(topic_id, indexes) for topic_id, indexes in group_by_topic(target)]
    value = target_member.ShareGroupTargetAssignmentMemberValue(topics)
    return stored(target_member.ShareGroupTargetAssignmentMemberKey(group_id, member_id), value)


def target_epoch_record(group: ShareGroup) -> StoredRecord:
    """Encode the epoch and time of the target assignment."""
    value = target_metadata.ShareGroupTargetAssignmentMetadataValue(
        group.assignment_epoch, group.assignment_timestamp_ms
    )
    return stored(target_metadata.ShareGroupTargetAssignmentMetadataKey(group.group_id), value)


def current_record(group_id: str, member: ShareMember) -> StoredRecord:
    """Encode a member's current assignment."""
    topics = [
        current_assignment.TopicPartitions(topic_id, indexes) for topic_id, indexes in group_by_topic(member.assigned)
    ]
    value = current_assignment.ShareGroupCurrentMemberAssignmentValue(
        member.member_epoch, member.previous_member_epoch, STABLE, topics
    )
    return stored(current_assignment.ShareGroupCurrentMemberAssignmentKey(group_id, member.member_id), value)


def states_record(group_id: str, states: StatePartitions) -> StoredRecord:
    """Encode the group's share-partitions."""
    value = state_partitions.ShareGroupStatePartitionMetadataValue(
        _encode_topics(states.initializing),
        _encode_topics(states.initialized),
        [state_partitions.TopicInfo(topic_id, name) for topic_id, name in states.deleting.items()],
    )
    return stored(state_partitions.ShareGroupStatePartitionMetadataKey(group_id), value)


def member_tombstones(group_id: str, member_id: str) -> list[StoredRecord]:
    """Encode the removal of a member: current assignment, target assignment, and subscription."""
    return [
        stored(current_assignment.ShareGroupCurrentMemberAssignmentKey(group_id, member_id)),
        stored(target_member.ShareGroupTargetAssignmentMemberKey(group_id, member_id)),
        stored(member_metadata.ShareGroupMemberMetadataKey(group_id, member_id)),
    ]


def share_group_tombstones(group_id: str) -> list[StoredRecord]:
    """Encode the removal of a group without members."""
    return [
        stored(target_metadata.ShareGroupTargetAssignmentMetadataKey(group_id)),
        stored(state_partitions.ShareGroupStatePartitionMetadataKey(group_id)),
        stored(group_metadata.ShareGroupMetadataKey(group_id)),
    ]


def replay_share_record(groups: dict[str, ShareGroup], key: ShareRecordKey, value: object | None, now_ms: int) -> None:
    """Apply a record; a tombstone of an unknown group has no effect.

    `now_ms` becomes the time of the requests for share-partitions, which records do not have.
    """
    known = groups.get(key.group_id)
    if known is None and value is None:
        return
    group = _replay(known or ShareGroup(key.group_id), key, value, now_ms)
    if group is None:
        groups.pop(key.group_id, None)
    else:
        groups[key.group_id] = group


def _replay(group: ShareGroup, key: ShareRecordKey, value: object | None, now_ms: int) -> ShareGroup | None:
    match key, value:
        case group_metadata.ShareGroupMetadataKey(), None:
            return None
        case group_metadata.ShareGroupMetadataKey(), group_metadata.ShareGroupMetadataValue() as found:
            return replace(group, group_epoch=found.epoch, metadata_hash=found.metadata_hash)
        case target_metadata.ShareGroupTargetAssignmentMetadataKey(), None:
            return replace(group, assignment_epoch=FIRST_GROUP_EPOCH, assignment_timestamp_ms=0)
        case (
            target_metadata.ShareGroupTargetAssignmentMetadataKey(),
            target_metadata.ShareGroupTargetAssignmentMetadataValue(assignment_epoch=epoch, assignment_timestamp=at),
        ):
            return replace(group, assignment_epoch=epoch, assignment_timestamp_ms=at)
        case target_member.ShareGroupTargetAssignmentMemberKey(member_id=member_id), _:
            targets = {member: target for member, target in group.targets.items() if member != member_id}
            if isinstance(value, target_member.ShareGroupTargetAssignmentMemberValue):
                targets[member_id] = _restore(value.topic_partitions)
            return replace(group, targets=targets)
        case state_partitions.ShareGroupStatePartitionMetadataKey(), _:
            return replace(group, states=_restore_states(value, now_ms))
        case member_metadata.ShareGroupMemberMetadataKey(member_id=member_id), _:
            return _replay_member(group, member_id, value)
        case current_assignment.ShareGroupCurrentMemberAssignmentKey(member_id=member_id), _:
            return _replay_current(group, member_id, value)
    return group


def _replay_member(group: ShareGroup, member_id: str, value: object) -> ShareGroup:
    if not isinstance(value, member_metadata.ShareGroupMemberMetadataValue):
        return replace(group, members={key: member for key, member in group.members.items() if key != member_id})
    member = replace(
        group.members.get(member_id, ShareMember(member_id)),
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        subscribed_topic_names=frozenset(value.subscribed_topic_names),
    )
    return group.with_member(member)


def _replay_current(group: ShareGroup, member_id: str, value: object) -> ShareGroup:
    member = group.members.get(member_id, ShareMember(member_id))
    if isinstance(value, current_assignment.ShareGroupCurrentMemberAssignmentValue):
        assigned = _restore(value.assigned_partitions)
        epochs = value.member_epoch, value.previous_member_epoch
    elif member_id in group.members:
        assigned, epochs = frozenset(), (LEFT_EPOCH, LEFT_EPOCH)
    else:
        return group
    return group.with_member(
        replace(member, member_epoch=epochs[0], previous_member_epoch=epochs[1], assigned=assigned)
    )


LEFT_EPOCH = -1


def _encode_topics(topics: Mapping[bytes, TopicPartitions]) -> list[state_partitions.TopicPartitionsInfo]:
    return [
        state_partitions.TopicPartitionsInfo(topic_id, topic.name, sorted(topic.partitions))
        for topic_id, topic in topics.items()
    ]


def _restore_states(value: object, now_ms: int) -> StatePartitions | None:
    if not isinstance(value, state_partitions.ShareGroupStatePartitionMetadataValue):
        return None

    def topics(infos: Iterable[state_partitions.TopicPartitionsInfo]) -> dict[bytes, TopicPartitions]:
        return {info.topic_id: TopicPartitions(info.topic_name, frozenset(info.partitions), now_ms) for info in infos}

    deleting = {info.topic_id: info.topic_name for info in value.deleting_topics}
    return StatePartitions(topics(value.initializing_topics), topics(value.initialized_topics), deleting)


def _restore(topics: Iterable[current_assignment.TopicPartitions | target_member.TopicPartition]) -> Assignment:
    return frozenset(TopicIdPartition(topic.topic_id, index) for topic in topics for index in topic.partitions)
