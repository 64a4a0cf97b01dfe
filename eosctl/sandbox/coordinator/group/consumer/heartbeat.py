"""ConsumerGroupHeartbeat, the request of KIP-848, as 4.3.1 and 4.4.0 handle it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.consumer.consumer_records import (
    current_record,
    epoch_record,
    member_record,
    member_tombstones,
    regex_tombstone,
    target_epoch_record,
)
from eosctl.sandbox.coordinator.group.consumer.group import (
    FIRST_GROUP_EPOCH,
    JOIN_EPOCH,
    NO_PARTITIONS,
    STATIC_LEAVE_EPOCH,
    Assignment,
    ConsumerGroup,
    ConsumerMember,
)
from eosctl.sandbox.coordinator.group.consumer.rebalance import (
    ConsumerConfig,
    check_size,
    drop_unused_regex,
    next_assignor,
    preferred_assignor,
    refresh_epoch,
    refresh_target,
    replace_static,
)
from eosctl.sandbox.coordinator.group.consumer.reconcile import reconcile
from eosctl.sandbox.coordinator.group.consumer.request import ConsumerHeartbeat, RefusedError, compile_pattern
from eosctl.sandbox.coordinator.group.consumer.topics import existing_partitions, metadata_hash
from eosctl.sandbox.coordinator.group.members import known_member, known_static_member, refuse_owned_instance
from eosctl.sandbox.coordinator.group.records import StoredRecord
from eosctl.sandbox.ports import MetadataView
from eosctl.wire.error_codes import ErrorCode


class HeartbeatResult(NamedTuple):
    """The group after a heartbeat, the records to write, and the response.

    `assignment` is None if the response need not repeat it. `new_regex` is a pattern to be resolved.
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
    """Handle a member that joins or reports; bump the group epoch, assign, and reconcile as needed.

    Raises:
        RefusedError: With the code and the message of the response.
    """
    joins = request.member_epoch == JOIN_EPOCH
    if group is None:
        if not joins:
            raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {request.group_id} not found.")
        group = ConsumerGroup(request.group_id, FIRST_GROUP_EPOCH)
    check_size(group, request.member_id, request.instance_id, config)
    records: list[StoredRecord] = []
    before = group
    group, known = _find_member(group, request, records)
    if request.subscribed_topic_regex:
        compile_pattern(request.subscribed_topic_regex)
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
        group = drop_unused_regex(group, former.subscribed_topic_regex, records)
    # From 4.4, the preference of another assignor leads to a rebalance of its own.
    assignor = next_assignor(before, former, member, config.assignors)
    prefers_other = not config.is_before_4_4 and assignor != preferred_assignor(before, config.assignors)
    bump = changed or (pattern_changed and not unresolved) or prefers_other
    group = refresh_epoch(group, metadata, bump, known is None and len(group.members) == 1, records)
    group = refresh_target(group, metadata, config, assignor, now_ms, records)
    reconciled = reconcile(
        member,
        group.targets.get(member.member_id, NO_PARTITIONS),
        group.assignment_epoch,
        existing_partitions(metadata, group.subscription_of(member)),
        group.owned_partitions(without=member.member_id),
        request.owned,
        changed or pattern_changed,
    )
    if reconciled != member or known is None:
        records.append(current_record(group.group_id, reconciled))
    sends_full_assignment = joins or request.is_full or reconciled.assigned != former.assigned
    return HeartbeatResult(
        group.with_member(reconciled),
        reconciled,
        tuple(records),
        reconciled.assigned if sends_full_assignment else None,
        member.subscribed_topic_regex if unresolved and pattern_changed else None,
    )


def leaving_member(group: ConsumerGroup | None, request: ConsumerHeartbeat) -> ConsumerMember:
    """Return the member that leaves.

    Raises:
        RefusedError: With the code and the message of the response.
    """
    if group is None:
        raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} not found.")
    if request.instance_id is None:
        return known_member(group, request.member_id)
    return known_static_member(group, request.member_id, request.instance_id)


def leave_for_a_while(group: ConsumerGroup, member: ConsumerMember) -> tuple[ConsumerGroup, tuple[StoredRecord, ...]]:
    """Keep a leaving static member for its session timeout; its partitions count as owned since epoch 0."""
    away = replace(
        member,
        member_epoch=STATIC_LEAVE_EPOCH,
        pending_revocation=NO_PARTITIONS,
        assignment_epochs=dict.fromkeys(member.assigned, 0),
    )
    return group.with_member(away), (current_record(group.group_id, away),)


def remove(
    group: ConsumerGroup, member_ids: Iterable[str], metadata: MetadataView, config: ConsumerConfig
) -> tuple[ConsumerGroup, tuple[StoredRecord, ...]]:
    """Remove members and bump the group epoch.

    From 4.4, an empty group has an empty target of its epoch: the next member is assigned without delay.
    """
    remaining, records = group, []
    for member_id in member_ids:
        remaining = remaining.without_member(member_id)
        records += member_tombstones(group.group_id, member_id)
    records += [
        regex_tombstone(group.group_id, pattern) for pattern in group.regexes if pattern not in remaining.regexes
    ]
    remaining = replace(
        remaining,
        group_epoch=group.group_epoch + 1,
        metadata_hash=metadata_hash(metadata, remaining.subscribed_topics()),
    )
    records.append(epoch_record(remaining))
    if remaining.is_empty and not config.is_before_4_4:
        remaining = replace(remaining, assignment_epoch=remaining.group_epoch, assignment_timestamp_ms=0)
        records.append(target_epoch_record(remaining))
    return remaining, tuple(records)


def _find_member(
    group: ConsumerGroup, request: ConsumerHeartbeat, records: list[StoredRecord]
) -> tuple[ConsumerGroup, ConsumerMember | None]:
    joins = request.member_epoch == JOIN_EPOCH
    if request.instance_id is None:
        member = group.members.get(request.member_id)
        if member is None and joins:
            return group, None
        member = known_member(group, request.member_id)
        _check_epoch(member, request)
        return group, member
    if not joins:
        member = known_static_member(group, request.member_id, request.instance_id)
        _check_epoch(member, request)
        return group, member
    member = group.static_member(request.instance_id)
    if member is None:
        return group, None
    if not member.uses_classic_protocol and member.member_epoch != STATIC_LEAVE_EPOCH:
        raise refuse_owned_instance(request.member_id, request.instance_id, member)
    return replace_static(group, member, request.member_id, records)


def _check_epoch(member: ConsumerMember, request: ConsumerHeartbeat) -> None:
    """Fence an epoch that is not the member's.

    A member may always join again (KIP-848). Its previous epoch is accepted if the last response may have been lost.
    """
    if request.member_epoch in (JOIN_EPOCH, member.member_epoch):
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
        classic=None,
    )
