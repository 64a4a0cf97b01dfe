"""Online migration between classic and consumer groups, with all their members (KIP-848)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from eosctl.sandbox.coordinator.group.classic_group import (
    ClassicGroup,
    ClassicState,
    Member,
    MemberProtocol,
    compute_subscribed_topics,
    select_protocol,
)
from eosctl.sandbox.coordinator.group.consumer.consumer_records import (
    consumer_group_tombstones,
    current_record,
    epoch_record,
    member_record,
    target_epoch_record,
    target_record,
)
from eosctl.sandbox.coordinator.group.consumer.group import (
    NO_PARTITIONS,
    Assignment,
    ClassicMembership,
    ConsumerGroup,
    ConsumerMember,
    TopicIdPartition,
)
from eosctl.sandbox.coordinator.group.consumer.rebalance import ConsumerConfig
from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.consumer.topics import metadata_hash
from eosctl.sandbox.coordinator.group.records import StoredRecord, group_record, group_tombstone
from eosctl.sandbox.coordinator.group.subscription import CONSUMER_PROTOCOL_TYPE
from eosctl.sandbox.ports import MetadataView
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.errors import WireError
from eosctl.wire.internal.consumer_protocol import (
    ConsumerProtocolAssignment,
    decode_assignment,
    decode_subscription,
    encode_assignment,
)
from eosctl.wire.internal.versioned import read_prefix
from eosctl.wire.messages.internal.consumer_protocol.consumer_protocol_assignment import TopicPartition

LAST_ASSIGNMENT_VERSION = 3


def may_upgrade(group: ClassicGroup, config: ConsumerConfig) -> bool:
    """Return whether a member of the consumer protocol may upgrade this classic group."""
    return (
        config.migration_policy.allows_upgrade
        and group.protocol_type == CONSUMER_PROTOCOL_TYPE
        and len(group.members) <= config.max_size
    )


def may_downgrade(group: ConsumerGroup, leaving: Collection[str], config: ConsumerConfig) -> bool:
    """Return whether the group becomes classic without these members, i.e. all others use the classic protocol."""
    staying = [member for key, member in group.members.items() if key not in leaving]
    return (
        not any(group.members[member_id].uses_classic_protocol for member_id in leaving)
        and bool(staying)
        and all(member.uses_classic_protocol for member in staying)
        and config.migration_policy.allows_downgrade
        and len(staying) <= config.classic_max_size
    )


def upgrade(group: ClassicGroup, metadata: MetadataView) -> tuple[ConsumerGroup, tuple[StoredRecord, ...]]:
    """Convert a classic group to a consumer group: its generation becomes the epoch, its assignment the target.

    Raises:
        RefusedError: GROUP_ID_NOT_FOUND if a member's bytes are not in the format of ConsumerProtocol, or if a
            client-side assignor stored user data, which would be lost.
    """
    try:
        members = {member.member_id: _consumer_member(group, member, metadata) for member in group.members.values()}
    except WireError:
        message = (
            f"Cannot upgrade classic group {group.group_id} to consumer group because the embedded consumer protocol "
            "is malformed."
        )
        raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, message) from None
    upgraded = ConsumerGroup(
        group.group_id,
        group.generation_id,
        members=members,
        assignment_epoch=group.generation_id,
        assignment_timestamp_ms=0,
        targets={member_id: member.assigned for member_id, member in members.items()},
    )
    upgraded = upgraded.with_metadata_hash(metadata_hash(metadata, upgraded.subscribed_topics()))
    name = group.group_id
    return upgraded, (
        group_tombstone(name),
        *(member_record(name, member) for member in members.values()),
        epoch_record(upgraded),
        *(target_record(name, member_id, target) for member_id, target in upgraded.targets.items()),
        target_epoch_record(upgraded),
        *(current_record(name, member) for member in members.values()),
    )


def downgrade(
    group: ConsumerGroup, leaving: Collection[str], metadata: MetadataView, now_ms: int
) -> tuple[ClassicGroup, tuple[StoredRecord, ...]]:
    """Convert a consumer group to a stable classic group; epoch and target become generation and assignment."""
    members = {
        key: _classic_member(member, member.classic)
        for key, member in group.members.items()
        if key not in leaving and member.classic is not None
    }
    classic = ClassicGroup(
        group.group_id,
        ClassicState.STABLE,
        now_ms,
        group.group_epoch,
        CONSUMER_PROTOCOL_TYPE,
        leader_id=next(iter(members)),
        members=members,
    )
    classic = classic.with_protocol(select_protocol(classic))
    assigned = {key: group.targets.get(key, NO_PARTITIONS) for key in members}
    classic = classic.with_assignments(
        {
            key: serialize_assignment(member.metadata(classic.protocol_name or ""), assigned[key], metadata)
            for key, member in members.items()
        }
    )
    classic = classic.with_subscribed_topics(compute_subscribed_topics(classic))
    return classic, (*consumer_group_tombstones(group), group_record(classic))


def serialize_assignment(subscription: bytes, assignment: Assignment, metadata: MetadataView) -> bytes:
    """Encode an assignment for a member of the classic protocol, in the version of its subscription."""
    by_topic: dict[str, list[int]] = defaultdict(list)
    for topic_id, index in sorted(assignment):
        topic = metadata.topic_name(topic_id)
        if topic is not None:
            by_topic[topic].append(index)
    topics = [TopicPartition(topic, indexes) for topic, indexes in by_topic.items()]
    version = min(read_prefix(subscription, "version"), LAST_ASSIGNMENT_VERSION)
    return encode_assignment(ConsumerProtocolAssignment(topics, None), version)


def resolve_partitions(owned: Mapping[str, Collection[int]], metadata: MetadataView) -> Assignment:
    """Convert partitions with topic names to topic ids; omit unknown topics."""
    return frozenset(
        TopicIdPartition(topic_id, index)
        for topic, indexes in owned.items()
        if (topic_id := metadata.topic_id(topic)) is not None
        for index in indexes
    )


def _consumer_member(group: ClassicGroup, member: Member, metadata: MetadataView) -> ConsumerMember:
    assigned = NO_PARTITIONS
    if member.assignment:
        decoded = decode_assignment(member.assignment)
        if decoded.user_data:
            message = (
                f"Cannot upgrade classic group {group.group_id} to consumer group because an unsupported custom "
                "assignor is in use. Please refer to the documentation or switch to a default assignor before "
                "re-attempting the upgrade."
            )
            raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, message)
        by_topic = {topic.topic: topic.partitions for topic in decoded.assigned_partitions}
        assigned = resolve_partitions(by_topic, metadata)
    subscription = decode_subscription(member.metadata(group.protocol_name or ""))
    return ConsumerMember(
        member_id=member.member_id,
        instance_id=member.group_instance_id,
        rack_id=subscription.rack_id or None,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=frozenset(subscription.topics),
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        member_epoch=group.generation_id,
        previous_member_epoch=group.generation_id,
        assigned=assigned,
        assignment_epochs=dict.fromkeys(assigned, group.generation_id),
        classic=ClassicMembership(member.session_timeout_ms, member.protocols),
    )


def _classic_member(member: ConsumerMember, classic: ClassicMembership) -> Member:
    return Member(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        session_timeout_ms=classic.session_timeout_ms,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocols=tuple(MemberProtocol(name, metadata) for name, metadata in classic.protocols),
    )
