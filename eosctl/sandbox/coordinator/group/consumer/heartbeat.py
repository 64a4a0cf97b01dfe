"""ConsumerGroupHeartbeat: the one request of KIP-848, as 4.3.1 answers it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.consumer.assignors import ASSIGNORS
from eosctl.sandbox.coordinator.group.consumer.consumer_records import (
    current_record,
    epoch_record,
    member_record,
    member_tombstones,
    regex_tombstone,
    target_epoch_record,
    target_record,
)
from eosctl.sandbox.coordinator.group.consumer.group import (
    FIRST_GROUP_EPOCH,
    JOIN_EPOCH,
    NO_PARTITIONS,
    STATIC_LEAVE_EPOCH,
    Assignment,
    ConsumerGroup,
    ConsumerMember,
    MemberState,
)
from eosctl.sandbox.coordinator.group.consumer.reconcile import reconcile
from eosctl.sandbox.coordinator.group.consumer.request import ConsumerHeartbeat, RefusedError
from eosctl.sandbox.coordinator.group.consumer.topics import existing_partitions, metadata_hash, partitions_of
from eosctl.sandbox.coordinator.group.records import StoredRecord
from eosctl.sandbox.ports import MetadataView
from eosctl.wire.error_codes import ErrorCode


class ConsumerConfig(NamedTuple):
    """Limits and intervals of consumer groups (``group.consumer.*``)."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    assignment_interval_ms: int
    max_size: int
    assignors: tuple[str, ...]


class HeartbeatResult(NamedTuple):
    """The group after a heartbeat, what to write, and what to answer.

    ``assignment`` is None when the answer need not repeat it. ``new_regex`` is a pattern still to be resolved.
    """

    group: ConsumerGroup
    member: ConsumerMember
    records: tuple[StoredRecord, ...]
    assignment: Assignment | None
    new_regex: str | None = None


def heartbeat(
    group: ConsumerGroup | None,
    request: ConsumerHeartbeat,
    metadata: MetadataView,
    config: ConsumerConfig,
    now_ms: int,
) -> HeartbeatResult:
    """Let a member join or report; bump the group, assign and reconcile as needed.

    Raises:
        RefusedError: With the code and the text of the answer.
    """
    joins = request.member_epoch == JOIN_EPOCH
    if group is None:
        if not joins:
            raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {request.group_id} not found.")
        group = ConsumerGroup(request.group_id, FIRST_GROUP_EPOCH)
    if len(group.members) >= config.max_size and request.member_id not in group.members:
        message = f"The consumer group has reached its maximum capacity of {config.max_size} members."
        raise RefusedError(ErrorCode.GROUP_MAX_SIZE_REACHED, message)
    records: list[StoredRecord] = []
    group, known = _find_member(group, request, records)
    former = known if known is not None else ConsumerMember(request.member_id)
    member = _updated(former, request)
    renamed = known is None or member != former
    if renamed:
        records.append(member_record(group.group_id, member))
    group = group.with_member(member)
    changed = member.subscribed_topic_names != former.subscribed_topic_names
    unresolved = bool(member.subscribed_topic_regex) and member.subscribed_topic_regex not in group.regexes
    pattern_changed = member.subscribed_topic_regex != former.subscribed_topic_regex
    if pattern_changed:
        group = _drop_unused_regex(group, former.subscribed_topic_regex, records)
    bump = changed or (pattern_changed and not unresolved)
    group = _refresh_epoch(group, metadata, bump, known is None and len(group.members) == 1, records)
    group = _refresh_target(group, metadata, config, now_ms, records)
    reconciled = reconcile(
        member,
        group.targets.get(member.member_id, NO_PARTITIONS),
        group.assignment_epoch,
        existing_partitions(metadata, group.subscription_of(member)),
        group.owned_partitions(besides=member.member_id),
        request.owned,
        changed or pattern_changed,
    )
    if reconciled != member or known is None:
        records.append(current_record(group.group_id, reconciled))
    tells_all = joins or request.is_full or reconciled.assigned != former.assigned
    return HeartbeatResult(
        group.with_member(reconciled),
        reconciled,
        tuple(records),
        reconciled.assigned if tells_all else None,
        member.subscribed_topic_regex if unresolved and pattern_changed else None,
    )


def leave(group: ConsumerGroup | None, request: ConsumerHeartbeat, metadata: MetadataView) -> HeartbeatResult:
    """Let a member go: for good (-1), or a static one for its session's time (-2).

    Raises:
        RefusedError: With the code and the text of the answer.
    """
    if group is None:
        raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {request.group_id} not found.")
    if request.instance_id is None:
        member = _known_member(group, request.member_id)
    else:
        member = _known_static_member(group, request.member_id, request.instance_id)
    if request.member_epoch == STATIC_LEAVE_EPOCH:
        away = replace(member.at_epoch(STATIC_LEAVE_EPOCH), state=MemberState.STABLE, pending_revocation=NO_PARTITIONS)
        return HeartbeatResult(group.with_member(away), away, (current_record(group.group_id, away),), None)
    remaining, records = remove(group, member.member_id, metadata)
    return HeartbeatResult(remaining, replace(member, member_epoch=request.member_epoch), records, None)


def remove(
    group: ConsumerGroup, member_id: str, metadata: MetadataView
) -> tuple[ConsumerGroup, tuple[StoredRecord, ...]]:
    """Take a member out of the group, which therefore gets a new epoch."""
    remaining = group.without_member(member_id)
    records = member_tombstones(group.group_id, member_id)
    records += [
        regex_tombstone(group.group_id, pattern) for pattern in group.regexes if pattern not in remaining.regexes
    ]
    remaining = replace(
        remaining,
        group_epoch=group.group_epoch + 1,
        metadata_hash=metadata_hash(metadata, remaining.subscribed_topics()),
    )
    return remaining, (*records, epoch_record(remaining))


def _find_member(
    group: ConsumerGroup, request: ConsumerHeartbeat, records: list[StoredRecord]
) -> tuple[ConsumerGroup, ConsumerMember | None]:
    joins = request.member_epoch == JOIN_EPOCH
    if request.instance_id is None:
        member = group.members.get(request.member_id)
        if member is None and joins:
            return group, None
        member = _known_member(group, request.member_id)
        _check_epoch(member, request)
        return group, member
    if not joins:
        member = _known_static_member(group, request.member_id, request.instance_id)
        _check_epoch(member, request)
        return group, member
    member = group.static_member(request.instance_id)
    if member is None:
        return group, None
    if member.member_id == request.member_id and member.member_epoch != STATIC_LEAVE_EPOCH:
        _check_epoch(member, request)
        return group, member
    if member.member_epoch != STATIC_LEAVE_EPOCH:
        message = (
            f"Static member {request.member_id} with instance id {request.instance_id} cannot join the group because "
            f"the instance id is owned by {member.member_id} member."
        )
        raise RefusedError(ErrorCode.UNRELEASED_INSTANCE_ID, message)
    return _replace_static(group, member, request.member_id, records)


def _replace_static(
    group: ConsumerGroup, former: ConsumerMember, member_id: str, records: list[StoredRecord]
) -> tuple[ConsumerGroup, ConsumerMember]:
    member = replace(former, member_id=member_id, member_epoch=0, previous_member_epoch=0)
    target = group.targets.get(former.member_id, NO_PARTITIONS)
    records += member_tombstones(group.group_id, former.member_id)
    records.append(member_record(group.group_id, member))
    records.append(target_record(group.group_id, member_id, target))
    records.append(current_record(group.group_id, member))
    regexes = group.regexes
    group = replace(group.without_member(former.member_id).with_member(member), regexes=regexes)
    return replace(group, targets={**group.targets, member_id: target}), member


def _known_member(group: ConsumerGroup, member_id: str) -> ConsumerMember:
    member = group.members.get(member_id)
    if member is None:
        message = f"Member {member_id} is not a member of group {group.group_id}."
        raise RefusedError(ErrorCode.UNKNOWN_MEMBER_ID, message)
    return member


def _known_static_member(group: ConsumerGroup, member_id: str, instance_id: str) -> ConsumerMember:
    member = group.static_member(instance_id)
    if member is None:
        raise RefusedError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if member.member_id != member_id:
        message = f"Static member {member_id} with instance id {instance_id} was fenced by member {member.member_id}."
        raise RefusedError(ErrorCode.FENCED_INSTANCE_ID, message)
    return member


def _check_epoch(member: ConsumerMember, request: ConsumerHeartbeat) -> None:
    """Fence an epoch that is not the member's; its previous one passes when the last answer may have got lost."""
    if request.member_epoch == member.member_epoch:
        return
    is_behind = request.member_epoch < member.member_epoch
    missed_answer = request.member_epoch == member.previous_member_epoch
    if is_behind and missed_answer and request.owned is not None and request.owned <= member.assigned:
        return
    message = (
        f"The consumer group member has a {'smaller' if is_behind else 'greater'} member epoch "
        f"({request.member_epoch}) than the one known by the group coordinator ({member.member_epoch}). "
        "The member must abandon all its partitions and rejoin."
    )
    raise RefusedError(ErrorCode.FENCED_MEMBER_EPOCH, message)


def _updated(member: ConsumerMember, request: ConsumerHeartbeat) -> ConsumerMember:
    names, pattern = request.subscribed_topic_names, request.subscribed_topic_regex
    return replace(
        member,
        instance_id=request.instance_id if request.instance_id is not None else member.instance_id,
        rack_id=request.rack_id if request.rack_id is not None else member.rack_id,
        client_id=request.client_id,
        client_host=request.client_host,
        rebalance_timeout_ms=(
            request.rebalance_timeout_ms if request.rebalance_timeout_ms != -1 else member.rebalance_timeout_ms
        ),
        server_assignor=request.server_assignor if request.server_assignor is not None else member.server_assignor,
        subscribed_topic_names=member.subscribed_topic_names if names is None else names,
        subscribed_topic_regex=member.subscribed_topic_regex if pattern is None else pattern,
    )


def _drop_unused_regex(group: ConsumerGroup, pattern: str, records: list[StoredRecord]) -> ConsumerGroup:
    used = any(member.subscribed_topic_regex == pattern for member in group.members.values())
    if not pattern or used or pattern not in group.regexes:
        return group
    records.append(regex_tombstone(group.group_id, pattern))
    return replace(group, regexes={key: value for key, value in group.regexes.items() if key != pattern})


def _refresh_epoch(
    group: ConsumerGroup, metadata: MetadataView, bump: bool, is_first: bool, records: list[StoredRecord]
) -> ConsumerGroup:
    topics = metadata_hash(metadata, group.subscribed_topics())
    if bump or topics != group.metadata_hash:
        group = replace(group, group_epoch=group.group_epoch + 1, metadata_hash=topics)
    elif not is_first:
        return group
    records.append(epoch_record(group))
    return group


def _refresh_target(
    group: ConsumerGroup, metadata: MetadataView, config: ConsumerConfig, now_ms: int, records: list[StoredRecord]
) -> ConsumerGroup:
    """Compute a new target when the group has a new epoch, at most once in the assignment interval (KIP-1263)."""
    waits = group.assignment_epoch > 0 and now_ms < group.assignment_timestamp_ms + config.assignment_interval_ms
    if group.group_epoch <= group.assignment_epoch or waits:
        return group
    subscriptions = {key: group.subscription_of(member) for key, member in group.members.items()}
    partitions = {topic: partitions_of(metadata, topic) for topic in group.subscribed_topics()}
    targets = ASSIGNORS[preferred_assignor(group, config.assignors)](subscriptions, partitions, group.targets)
    records += [
        target_record(group.group_id, member_id, target) for member_id, target in _changed(targets, group.targets)
    ]
    group = replace(group, targets=targets, assignment_epoch=group.group_epoch, assignment_timestamp_ms=now_ms)
    records.append(target_epoch_record(group))
    return group


def _changed(targets: Mapping[str, Assignment], former: Mapping[str, Assignment]) -> Iterable[tuple[str, Assignment]]:
    return ((member_id, target) for member_id, target in targets.items() if former.get(member_id) != target)


def preferred_assignor(group: ConsumerGroup, assignors: tuple[str, ...]) -> str:
    """Return the assignor that most members ask for, the first configured one when none does."""
    wishes = [member.server_assignor for member in group.members.values() if member.server_assignor]
    return max(wishes, key=lambda wish: (wishes.count(wish), wish)) if wishes else assignors[0]
