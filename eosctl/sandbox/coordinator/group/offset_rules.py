"""Validation of offset commits, fetches, and deletions, and expiration of offsets."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup, ClassicState, validate_member
from eosctl.sandbox.coordinator.group.consumer.group import ConsumerGroup, ConsumerMember, TopicIdPartition
from eosctl.sandbox.coordinator.group.offset_store import CommittedOffset
from eosctl.sandbox.coordinator.group.streams.group import StreamsGroup, StreamsMember
from eosctl.sandbox.coordinator.group.subscription import CONSUMER_PROTOCOL_TYPE
from eosctl.wire.error_codes import ErrorCode

Group = ClassicGroup | ConsumerGroup | StreamsGroup
Partitions = Mapping[TopicPartition, TopicIdPartition]
"""The partitions of a commit, by name and by topic id."""
NO_PARTITIONS: Partitions = MappingProxyType({})
MEMBER_EPOCH_VERSION = 9
"""First version of OffsetCommit and OffsetFetch with member epochs (KIP-848)."""
TRANSACTIONAL_MEMBER_EPOCH_VERSION = 6
"""First version of TxnOffsetCommit with them (KIP-1319)."""


class Committer(NamedTuple):
    """The sender of a commit: a member with its generation (or member epoch), or none (-1)."""

    member_id: str
    group_instance_id: str | None
    generation_id: int
    api_version: int


def validate_commit(
    group: Group | None, committer: Committer, is_3_9: bool, partitions: Partitions = NO_PARTITIONS
) -> ErrorCode:
    """Validate an OffsetCommit; without a generation, an unknown group is created."""
    if group is None:
        if committer.generation_id < 0:
            return ErrorCode.NONE
        if is_3_9 or committer.api_version < MEMBER_EPOCH_VERSION:
            return ErrorCode.ILLEGAL_GENERATION
        return ErrorCode.GROUP_ID_NOT_FOUND
    if isinstance(group, ConsumerGroup):
        return _validate_consumer_commit(group, committer, partitions)
    if isinstance(group, StreamsGroup):
        return _validate_streams_commit(group, committer, partitions)
    error = _validate_classic(group, committer)
    if error is not ErrorCode.NONE:
        return error
    if _is_unfenced(committer) and not group.is_empty:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if group.state is ClassicState.COMPLETING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def validate_transactional_commit(
    group: Group | None, committer: Committer, is_3_9: bool, partitions: Partitions = NO_PARTITIONS
) -> ErrorCode:
    """Validate a TxnOffsetCommit (KIP-447); a producer that names no member always passes.

    3.9 creates the group before it checks the generation, so an unknown group gets UNKNOWN_MEMBER_ID.
    """
    has_epochs = committer.api_version >= TRANSACTIONAL_MEMBER_EPOCH_VERSION
    if group is None:
        if committer.generation_id < 0:
            return ErrorCode.NONE
        if has_epochs:
            return ErrorCode.GROUP_ID_NOT_FOUND
        return ErrorCode.UNKNOWN_MEMBER_ID if is_3_9 else ErrorCode.ILLEGAL_GENERATION
    if _is_unfenced(committer):
        return ErrorCode.NONE
    if not isinstance(group, ClassicGroup):
        if committer.generation_id < 0 and group.is_empty:
            return ErrorCode.NONE
        error = _validate_epoch_of_commit(group, committer, partitions)
        if error is ErrorCode.STALE_MEMBER_EPOCH and not has_epochs:
            return ErrorCode.ILLEGAL_GENERATION
        return error
    return _validate_classic(group, committer)


def validate_fetch(group: Group | None, member_id: str | None, member_epoch: int) -> ErrorCode:
    """Validate an OffsetFetch 9+ of a member with an epoch; all others are allowed."""
    if group is None or isinstance(group, ClassicGroup) or (member_id is None and member_epoch < 0):
        return ErrorCode.NONE
    return _validate_member_epoch(group, member_id or "", member_epoch)


def validate_offset_delete(group: Group | None) -> ErrorCode:
    """Validate an OffsetDelete: the subscriptions of an active group must be known."""
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if not isinstance(group, ClassicGroup) or group.is_empty or group.protocol_type == CONSUMER_PROTOCOL_TYPE:
        return ErrorCode.NONE
    return ErrorCode.NON_EMPTY_GROUP


def is_expired(group: Group, offset: CommittedOffset, topic: str, now_ms: int, retention_ms: int) -> bool:
    """Return whether an offset has exceeded `offsets.retention.minutes` (KIP-211, KIP-496).

    The retention starts when a group with subscriptions became empty. It starts with the commit for topics that a
    stable group no longer subscribes to, and for groups that never had members.
    """
    since_ms = _retention_start_ms(group, offset, topic)
    if since_ms is None:
        return False
    if offset.expire_timestamp_ms >= 0:
        return now_ms >= offset.expire_timestamp_ms
    return now_ms - since_ms >= retention_ms


def _retention_start_ms(group: Group, offset: CommittedOffset, topic: str) -> int | None:
    if not isinstance(group, ClassicGroup):
        return None if group.is_subscribed_to(topic) else offset.commit_timestamp_ms
    if group.protocol_type is None:
        return offset.commit_timestamp_ms
    if group.is_empty:
        return group.state_timestamp_ms if group.state_timestamp_ms >= 0 else offset.commit_timestamp_ms
    stable_consumers = group.protocol_type == CONSUMER_PROTOCOL_TYPE and group.state is ClassicState.STABLE
    if stable_consumers and group.subscribed_topics is not None and topic not in group.subscribed_topics:
        return offset.commit_timestamp_ms
    return None


def _is_unfenced(committer: Committer) -> bool:
    anonymous = not committer.member_id and committer.group_instance_id is None
    return committer.generation_id < 0 and anonymous


def _validate_classic(group: ClassicGroup, committer: Committer) -> ErrorCode:
    if group.state is ClassicState.DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if _is_unfenced(committer) or (committer.generation_id < 0 and group.is_empty):
        return ErrorCode.NONE
    error = validate_member(group, committer.member_id, committer.group_instance_id)
    if error is ErrorCode.NONE and committer.generation_id != group.generation_id:
        return ErrorCode.ILLEGAL_GENERATION
    return error


def _validate_consumer_commit(group: ConsumerGroup, committer: Committer, partitions: Partitions) -> ErrorCode:
    if committer.generation_id < 0 and not group.members:
        return ErrorCode.NONE
    member = group.members.get(committer.member_id)
    has_member_epochs = committer.api_version >= MEMBER_EPOCH_VERSION
    if member is not None and not member.uses_classic_protocol and not has_member_epochs:
        return ErrorCode.UNSUPPORTED_VERSION
    return _validate_epoch_of_commit(group, committer, partitions)


def _validate_streams_commit(group: StreamsGroup, committer: Committer, partitions: Partitions) -> ErrorCode:
    if committer.generation_id < 0 and group.is_empty:
        return ErrorCode.NONE
    if committer.member_id in group.members and committer.api_version < MEMBER_EPOCH_VERSION:
        return ErrorCode.UNSUPPORTED_VERSION
    return _validate_epoch_of_commit(group, committer, partitions)


def _validate_epoch_of_commit(
    group: ConsumerGroup | StreamsGroup, committer: Committer, partitions: Partitions
) -> ErrorCode:
    member = group.members.get(committer.member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if isinstance(member, ConsumerMember):
        is_valid = member.may_commit_at(committer.generation_id, partitions.values())
    else:
        assert isinstance(group, StreamsGroup)
        is_valid = group.may_commit_at(member, committer.generation_id, partitions)
    return ErrorCode.NONE if is_valid else _stale(member)


def _validate_member_epoch(group: ConsumerGroup | StreamsGroup, member_id: str, member_epoch: int) -> ErrorCode:
    member = group.members.get(member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return ErrorCode.NONE if member_epoch == member.member_epoch else _stale(member)


def _stale(member: ConsumerMember | StreamsMember) -> ErrorCode:
    is_classic = isinstance(member, ConsumerMember) and member.uses_classic_protocol
    return ErrorCode.ILLEGAL_GENERATION if is_classic else ErrorCode.STALE_MEMBER_EPOCH
