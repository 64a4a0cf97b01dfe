"""ShareGroupHeartbeat (KIP-932), as 4.3.1 handles it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.consumer.group import NO_PARTITIONS, Assignment, TopicIdPartition
from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.consumer.topics import metadata_hash
from eosctl.sandbox.coordinator.group.records import StoredRecord
from eosctl.sandbox.coordinator.group.share.assignor import assign_simple
from eosctl.sandbox.coordinator.group.share.group import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    ShareGroup,
    ShareMember,
    TopicPartitions,
)
from eosctl.sandbox.coordinator.group.share.initialization import (
    is_assignment_pending,
    partitions_to_initialize,
    request,
)
from eosctl.sandbox.coordinator.group.share.records import (
    current_record,
    epoch_record,
    member_record,
    member_tombstones,
    states_record,
    target_epoch_record,
    target_record,
)
from eosctl.sandbox.ports import MetadataView
from eosctl.wire.error_codes import ErrorCode


class ShareConfig(NamedTuple):
    """Limits and intervals of share groups (`group.share.*`, and a group's own `share.*`)."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int
    max_size: int
    initialize_retry_interval_ms: int


class ShareHeartbeat(NamedTuple):
    """A heartbeat; None means unchanged since the last one."""

    group_id: str
    member_id: str
    member_epoch: int
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: frozenset[str] | None


class ShareHeartbeatResult(NamedTuple):
    """The group after a heartbeat, the records to write, the response, and the state to initialize.

    `assignment` is None if the response need not repeat it.
    """

    group: ShareGroup
    member: ShareMember
    records: tuple[StoredRecord, ...]
    assignment: Assignment | None
    to_initialize: Mapping[bytes, TopicPartitions]


def request_problem(heartbeat: ShareHeartbeat) -> str | None:
    """Return the problem of a request that does not depend on a group; None if it is valid."""
    if not heartbeat.group_id:
        return "GroupId can't be empty."
    if heartbeat.rack_id == "":
        return "RackId can't be empty."
    if heartbeat.member_epoch < LEAVE_EPOCH:
        return "MemberEpoch is invalid."
    if heartbeat.member_epoch == JOIN_EPOCH and not heartbeat.subscribed_topic_names:
        return "SubscribedTopicNames must be set in first request."
    return None


def heartbeat(
    group: ShareGroup | None, beat: ShareHeartbeat, metadata: MetadataView, config: ShareConfig, now_ms: int
) -> ShareHeartbeatResult:
    """Handle a member that joins or reports; bump the group epoch and assign as needed.

    Raises:
        RefusedError: With the code and the message of the response.
    """
    joins = beat.member_epoch == JOIN_EPOCH
    if group is None:
        if not joins:
            raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, f"Share group {beat.group_id} not found.")
        group = ShareGroup(beat.group_id)
    if len(group.members) >= config.max_size and beat.member_id not in group.members:
        text = f"The share group has reached its maximum capacity of {config.max_size} members."
        raise RefusedError(ErrorCode.GROUP_MAX_SIZE_REACHED, text)
    former = group.members.get(beat.member_id)
    if former is None and not joins:
        raise unknown_member(group, beat.member_id)
    if former is not None:
        _check_epoch(former, beat.member_epoch)
    records: list[StoredRecord] = []
    before = former or ShareMember(beat.member_id)
    names = beat.subscribed_topic_names
    member = replace(
        before,
        rack_id=beat.rack_id if beat.rack_id is not None else before.rack_id,
        client_id=beat.client_id,
        client_host=beat.client_host,
        subscribed_topic_names=before.subscribed_topic_names if names is None else names,
    )
    if former is None or member != former:
        records.append(member_record(group.group_id, member))
    bump = member.subscribed_topic_names != before.subscribed_topic_names
    if group.assignment_epoch >= group.group_epoch:
        bump = bump or is_assignment_pending(group)
    group = group.with_member(member)
    topics = metadata_hash(metadata, group.subscribed_topics())
    bump = bump or topics != group.metadata_hash
    if bump:
        group = replace(group, group_epoch=group.group_epoch + 1, metadata_hash=topics)
        records.append(epoch_record(group))
    group = _refresh_target(group, metadata, config, now_ms, records)
    reconciled = _reconcile(group, member, metadata, bump)
    if reconciled != member:
        records.append(current_record(group.group_id, reconciled))
    group = group.with_member(reconciled)
    wanted = partitions_to_initialize(group, metadata, config.initialize_retry_interval_ms, now_ms)
    if wanted:
        group = request(group, wanted)
        assert group.states is not None
        records.append(states_record(group.group_id, group.states))
    shows = joins or names is not None or reconciled.assigned != before.assigned
    return ShareHeartbeatResult(group, reconciled, tuple(records), reconciled.assigned if shows else None, wanted)


def remove(
    group: ShareGroup, member_id: str, metadata: MetadataView, *, is_before_4_4: bool
) -> tuple[ShareGroup, tuple[StoredRecord, ...]]:
    """Remove a member and bump the group epoch; from 4.4, an empty group has an empty target of its epoch.

    Raises:
        RefusedError: UNKNOWN_MEMBER_ID.
    """
    if member_id not in group.members:
        raise unknown_member(group, member_id)
    left = group.without_member(member_id)
    left = replace(
        left,
        group_epoch=group.group_epoch + 1,
        metadata_hash=metadata_hash(metadata, left.subscribed_topics()),
    )
    records = [*member_tombstones(group.group_id, member_id), epoch_record(left)]
    if left.is_empty and not is_before_4_4:
        left = replace(left, assignment_epoch=left.group_epoch, assignment_timestamp_ms=0)
        records.append(target_epoch_record(left))
    return left, tuple(records)


def unknown_member(group: ShareGroup, member_id: str) -> RefusedError:
    """Return the error for a member that the group does not have."""
    text = f"Member {member_id} is not a member of group {group.group_id}."
    return RefusedError(ErrorCode.UNKNOWN_MEMBER_ID, text)


def _check_epoch(member: ShareMember, epoch: int) -> None:
    """Fence an epoch that is neither the member's nor its previous one; a member may always join again."""
    known = f"than the one known by the group coordinator ({member.member_epoch})"
    rejoin = "The member must abandon all its partitions and rejoin."
    if epoch > member.member_epoch:
        text = f"The share group member has a greater member epoch ({epoch}) {known}. {rejoin}"
        raise RefusedError(ErrorCode.FENCED_MEMBER_EPOCH, text)
    if epoch not in (JOIN_EPOCH, member.member_epoch, member.previous_member_epoch):
        text = (
            f"The share group member has a smaller member epoch ({epoch}) {known}, and it does not match the previous "
            f"member epoch ({member.previous_member_epoch}). {rejoin}"
        )
        raise RefusedError(ErrorCode.FENCED_MEMBER_EPOCH, text)


def _refresh_target(
    group: ShareGroup, metadata: MetadataView, config: ShareConfig, now_ms: int, records: list[StoredRecord]
) -> ShareGroup:
    """Compute a new target if the group has a new epoch, at most once per assignment interval."""
    waits = group.assignment_timestamp_ms and now_ms < group.assignment_timestamp_ms + config.assignment_interval_ms
    if group.assignment_epoch >= group.group_epoch or waits:
        return group
    subscriptions = {key: member.subscribed_topic_names for key, member in group.members.items()}
    partitions = {
        topic.name: [TopicIdPartition(topic_id, index) for index in sorted(topic.partitions)]
        for topic_id, topic in group.initialized.items()
        if metadata.topic_id(topic.name) == topic_id
    }
    targets = assign_simple(subscriptions, partitions, group.targets)
    records += [
        target_record(group.group_id, member_id, target)
        for member_id, target in targets.items()
        if group.targets.get(member_id) != target
    ]
    group = replace(group, targets=targets, assignment_epoch=group.group_epoch, assignment_timestamp_ms=now_ms)
    records.append(target_epoch_record(group))
    return group


def _reconcile(group: ShareGroup, member: ShareMember, metadata: MetadataView, bump: bool) -> ShareMember:
    if member.member_epoch == group.assignment_epoch and not bump:
        return member
    subscribed = {metadata.topic_id(name) for name in member.subscribed_topic_names}
    target = group.targets.get(member.member_id, NO_PARTITIONS)
    assigned = frozenset(part for part in target if part.topic_id in subscribed)
    if member.member_epoch == group.assignment_epoch:
        return replace(member, assigned=assigned)
    return replace(
        member,
        member_epoch=group.assignment_epoch,
        previous_member_epoch=member.member_epoch,
        assigned=assigned,
    )
