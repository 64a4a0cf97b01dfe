"""The records of a KIP-848 group in `__consumer_offsets`, as 4.3.1 writes them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from eosctl.sandbox.coordinator.group.consumer.group import (
    Assignment,
    ClassicMembership,
    ConsumerGroup,
    ConsumerMember,
    MemberState,
    ResolvedRegex,
    TopicIdPartition,
)
from eosctl.sandbox.coordinator.group.records import StoredRecord, stored
from eosctl.wire.messages.internal.consumer_offsets import (
    consumer_group_current_member_assignment as current_assignment,
)
from eosctl.wire.messages.internal.consumer_offsets import consumer_group_member_metadata as member_metadata
from eosctl.wire.messages.internal.consumer_offsets import consumer_group_metadata as group_metadata
from eosctl.wire.messages.internal.consumer_offsets import consumer_group_partition_metadata as partition_metadata
from eosctl.wire.messages.internal.consumer_offsets import consumer_group_regular_expression as regular_expression
from eosctl.wire.messages.internal.consumer_offsets import consumer_group_target_assignment_member as target_member
from eosctl.wire.messages.internal.consumer_offsets import (
    consumer_group_target_assignment_metadata as target_metadata,
)

ConsumerRecordKey: TypeAlias = (
    current_assignment.ConsumerGroupCurrentMemberAssignmentKey
    | member_metadata.ConsumerGroupMemberMetadataKey
    | group_metadata.ConsumerGroupMetadataKey
    | partition_metadata.ConsumerGroupPartitionMetadataKey
    | regular_expression.ConsumerGroupRegularExpressionKey
    | target_member.ConsumerGroupTargetAssignmentMemberKey
    | target_metadata.ConsumerGroupTargetAssignmentMetadataKey
)


def group_by_topic(assignment: Assignment) -> list[tuple[bytes, list[int]]]:
    """Return (topic id, sorted partitions) pairs in topic id order, as messages contain an assignment."""
    by_topic: dict[bytes, list[int]] = defaultdict(list)
    for topic_id, partition in sorted(assignment):
        by_topic[topic_id].append(partition)
    return list(by_topic.items())


def member_record(group_id: str, member: ConsumerMember) -> StoredRecord:
    """Encode a member's subscription."""
    value = member_metadata.ConsumerGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=member.server_assignor,
        classic_member_metadata=None if member.classic is None else _encode_classic(member.classic),
    )
    return stored(member_metadata.ConsumerGroupMemberMetadataKey(group_id, member.member_id), value)


def epoch_record(group: ConsumerGroup) -> StoredRecord:
    """Encode the group's epoch and metadata hash."""
    value = group_metadata.ConsumerGroupMetadataValue(group.group_epoch, group.metadata_hash)
    return stored(group_metadata.ConsumerGroupMetadataKey(group.group_id), value)


def target_record(group_id: str, member_id: str, target: Assignment) -> StoredRecord:
    """Encode a member's target assignment."""
    topics = [target_member.TopicPartition(topic_id, indexes) for topic_id, indexes in group_by_topic(target)]
    value = target_member.ConsumerGroupTargetAssignmentMemberValue(topics)
    return stored(target_member.ConsumerGroupTargetAssignmentMemberKey(group_id, member_id), value)


def target_epoch_record(group: ConsumerGroup) -> StoredRecord:
    """Encode the epoch and time of the target assignment."""
    value = target_metadata.ConsumerGroupTargetAssignmentMetadataValue(
        group.assignment_epoch, group.assignment_timestamp_ms
    )
    return stored(target_metadata.ConsumerGroupTargetAssignmentMetadataKey(group.group_id), value)


def current_record(group_id: str, member: ConsumerMember) -> StoredRecord:
    """Encode a member's current assignment."""
    value = current_assignment.ConsumerGroupCurrentMemberAssignmentValue(
        member.member_epoch,
        member.previous_member_epoch,
        member.state,
        _current_topics(member.assigned, member.assignment_epochs),
        _current_topics(member.pending_revocation, member.assignment_epochs),
    )
    return stored(current_assignment.ConsumerGroupCurrentMemberAssignmentKey(group_id, member.member_id), value)


def regex_record(group_id: str, pattern: str, resolved: ResolvedRegex) -> StoredRecord:
    """Encode the topics that a pattern matched."""
    value = regular_expression.ConsumerGroupRegularExpressionValue(
        sorted(resolved.topics), resolved.version, resolved.timestamp_ms
    )
    return stored(regular_expression.ConsumerGroupRegularExpressionKey(group_id, pattern), value)


def regex_tombstone(group_id: str, pattern: str) -> StoredRecord:
    """Encode the removal of an unused pattern."""
    return stored(regular_expression.ConsumerGroupRegularExpressionKey(group_id, pattern))


def member_tombstones(group_id: str, member_id: str) -> list[StoredRecord]:
    """Encode the removal of a member: current assignment, target assignment, and subscription."""
    return [
        stored(current_assignment.ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id)),
        stored(target_member.ConsumerGroupTargetAssignmentMemberKey(group_id, member_id)),
        stored(member_metadata.ConsumerGroupMemberMetadataKey(group_id, member_id)),
    ]


def consumer_group_tombstones(group: ConsumerGroup) -> list[StoredRecord]:
    """Encode the removal of a group with its members."""
    name = group.group_id
    return [
        *(stored(current_assignment.ConsumerGroupCurrentMemberAssignmentKey(name, key)) for key in group.members),
        *(stored(target_member.ConsumerGroupTargetAssignmentMemberKey(name, key)) for key in group.members),
        stored(target_metadata.ConsumerGroupTargetAssignmentMetadataKey(name)),
        *(stored(member_metadata.ConsumerGroupMemberMetadataKey(name, key)) for key in group.members),
        *(regex_tombstone(name, pattern) for pattern in group.regexes),
        stored(partition_metadata.ConsumerGroupPartitionMetadataKey(name)),
        stored(group_metadata.ConsumerGroupMetadataKey(name)),
    ]


def replay_consumer_record(group: ConsumerGroup, key: ConsumerRecordKey, value: object | None) -> ConsumerGroup | None:
    """Return the group after one of its records; None if the record removes the group."""
    match key, value:
        case group_metadata.ConsumerGroupMetadataKey(), None:
            return None
        case group_metadata.ConsumerGroupMetadataKey(), group_metadata.ConsumerGroupMetadataValue() as found:
            return replace(group, group_epoch=found.epoch, metadata_hash=found.metadata_hash)
        case target_metadata.ConsumerGroupTargetAssignmentMetadataKey(), None:
            return replace(group, assignment_epoch=0, assignment_timestamp_ms=-1)
        case (
            target_metadata.ConsumerGroupTargetAssignmentMetadataKey(),
            target_metadata.ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch=epoch, assignment_timestamp=at),
        ):
            return replace(group, assignment_epoch=epoch, assignment_timestamp_ms=at)
        case target_member.ConsumerGroupTargetAssignmentMemberKey(member_id=member_id), _:
            targets = {member: target for member, target in group.targets.items() if member != member_id}
            if isinstance(value, target_member.ConsumerGroupTargetAssignmentMemberValue):
                targets[member_id] = _restore(value.topic_partitions)
            return replace(group, targets=targets)
        case regular_expression.ConsumerGroupRegularExpressionKey(regular_expression=pattern), _:
            regexes = {text: known for text, known in group.regexes.items() if text != pattern}
            if isinstance(value, regular_expression.ConsumerGroupRegularExpressionValue):
                regexes[pattern] = ResolvedRegex(frozenset(value.topics), value.version, value.timestamp)
            return replace(group, regexes=regexes)
        case member_metadata.ConsumerGroupMemberMetadataKey(member_id=member_id), _:
            return _replay_member(group, member_id, value)
        case current_assignment.ConsumerGroupCurrentMemberAssignmentKey(member_id=member_id), _:
            return _replay_current(group, member_id, value)
    return group


def _replay_member(group: ConsumerGroup, member_id: str, value: object) -> ConsumerGroup:
    if not isinstance(value, member_metadata.ConsumerGroupMemberMetadataValue):
        members = {key: member for key, member in group.members.items() if key != member_id}
        return replace(group, members=members)
    member = replace(
        group.members.get(member_id, ConsumerMember(member_id)),
        instance_id=value.instance_id,
        rack_id=value.rack_id,
        client_id=value.client_id,
        client_host=value.client_host,
        subscribed_topic_names=frozenset(value.subscribed_topic_names),
        subscribed_topic_regex=value.subscribed_topic_regex or "",
        rebalance_timeout_ms=value.rebalance_timeout_ms,
        server_assignor=value.server_assignor,
        classic=None if value.classic_member_metadata is None else _restore_classic(value.classic_member_metadata),
    )
    return group.with_member(member)


def _replay_current(group: ConsumerGroup, member_id: str, value: object) -> ConsumerGroup:
    member = group.members.get(member_id)
    if not isinstance(value, current_assignment.ConsumerGroupCurrentMemberAssignmentValue):
        return group if member is None else group.with_member(ConsumerMember(member_id))
    return group.with_member(
        replace(
            member or ConsumerMember(member_id),
            member_epoch=value.member_epoch,
            previous_member_epoch=value.previous_member_epoch,
            state=MemberState(value.state),
            assigned=_restore(value.assigned_partitions),
            pending_revocation=_restore(value.partitions_pending_revocation),
            assignment_epochs={
                **_restore_epochs(value.assigned_partitions, value.member_epoch),
                **_restore_epochs(value.partitions_pending_revocation, value.member_epoch),
            },
        )
    )


def _current_topics(
    assignment: Assignment, epochs: Mapping[TopicIdPartition, int]
) -> list[current_assignment.TopicPartitions]:
    return [
        current_assignment.TopicPartitions(
            topic_id, indexes, [epochs.get(TopicIdPartition(topic_id, index), 0) for index in indexes]
        )
        for topic_id, indexes in group_by_topic(assignment)
    ]


def _restore_epochs(
    topics: Iterable[current_assignment.TopicPartitions], member_epoch: int
) -> dict[TopicIdPartition, int]:
    """Return the assignment epochs of partitions; records before KIP-1251 lack them, so the member epoch is used."""
    return {
        TopicIdPartition(topic.topic_id, index): epoch
        for topic in topics
        for index, epoch in zip(
            topic.partitions, topic.assignment_epochs or [member_epoch] * len(topic.partitions), strict=False
        )
    }


def _encode_classic(classic: ClassicMembership) -> member_metadata.ClassicMemberMetadata:
    protocols = [member_metadata.ClassicProtocol(name, metadata) for name, metadata in classic.protocols]
    return member_metadata.ClassicMemberMetadata(classic.session_timeout_ms, protocols)


def _restore_classic(value: member_metadata.ClassicMemberMetadata) -> ClassicMembership:
    protocols = tuple((protocol.name, bytes(protocol.metadata)) for protocol in value.supported_protocols)
    return ClassicMembership(value.session_timeout_ms, protocols)


def _restore(topics: Iterable[current_assignment.TopicPartitions | target_member.TopicPartition]) -> Assignment:
    return frozenset(TopicIdPartition(topic.topic_id, index) for topic in topics for index in topic.partitions)
