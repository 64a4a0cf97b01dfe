"""Members of a consumer group that use the classic protocol: JoinGroup, SyncGroup, Heartbeat, and LeaveGroup.

Their generation is their member epoch. Unlike in a classic group, no member waits for the others: each gets an
immediate response, receives its assignment with SyncGroup, and learns from a heartbeat that it must join again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.classic_effects import JoinResult, SyncResult
from eosctl.sandbox.coordinator.group.classic_group import ClassicGroup
from eosctl.sandbox.coordinator.group.classic_join import JoinRequest
from eosctl.sandbox.coordinator.group.classic_sync import LeavingMember, SyncRequest
from eosctl.sandbox.coordinator.group.consumer.consumer_records import current_record, member_record
from eosctl.sandbox.coordinator.group.consumer.group import (
    NO_PARTITIONS,
    ClassicMembership,
    ConsumerGroup,
    ConsumerMember,
    MemberState,
)
from eosctl.sandbox.coordinator.group.consumer.migration import (
    downgrade,
    resolve_partitions,
    serialize_assignment,
)
from eosctl.sandbox.coordinator.group.consumer.rebalance import (
    ConsumerConfig,
    check_size,
    drop_unused_regex,
    next_assignor,
    refresh_epoch,
    refresh_target,
    replace_static,
)
from eosctl.sandbox.coordinator.group.consumer.reconcile import reconcile
from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.consumer.topics import existing_partitions
from eosctl.sandbox.coordinator.group.records import StoredRecord
from eosctl.sandbox.coordinator.group.subscription import CONSUMER_PROTOCOL_TYPE
from eosctl.sandbox.ports import MetadataView
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.errors import WireError
from eosctl.wire.internal.consumer_protocol import ConsumerProtocolSubscription, decode_subscription


class ClassicJoin(NamedTuple):
    """The group after a JoinGroup, the records to write, and the response.

    The group is classic if the last member of the new protocol was replaced; `rebalances` is whether its members must
    then join again.
    """

    group: ConsumerGroup | ClassicGroup
    member: ConsumerMember
    records: tuple[StoredRecord, ...]
    result: JoinResult
    rebalances: bool = False


def check_join(group: ConsumerGroup, request: JoinRequest, config: ConsumerConfig) -> None:
    """Check the group's size and whether all classic members support a common protocol.

    Raises:
        RefusedError: GROUP_MAX_SIZE_REACHED or INCONSISTENT_GROUP_PROTOCOL.
    """
    check_size(group, request.member_id, request.group_instance_id, config)
    offers = [{name for name, _ in member.classic.protocols} for member in group.members.values() if member.classic]
    known = any(all(protocol.name in offer for offer in offers) for protocol in request.protocols)
    if request.protocol_type != CONSUMER_PROTOCOL_TYPE or not known:
        message = f"Member {request.member_id}'s protocols are not supported."
        raise RefusedError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, message)


def join(
    group: ConsumerGroup,
    request: JoinRequest,
    new_member_id: str,
    metadata: MetadataView,
    config: ConsumerConfig,
    now_ms: int,
) -> ClassicJoin:
    """Add a member that `check_join` accepted; `new_member_id` is for a member without an id.

    Raises:
        RefusedError: UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID; INCONSISTENT_GROUP_PROTOCOL for an unreadable
            subscription (before 4.4, UNKNOWN_SERVER_ERROR).
    """
    subscription = _read_subscription(request, config)
    replaced = None if request.group_instance_id is None else group.static_member(request.group_instance_id)
    downgrades = replaced is not None and _leaves_classic_only(group, replaced, config)
    records: list[StoredRecord] = []
    before = group
    group, known = _find_member(group, request, new_member_id, records)
    former = known if known is not None else ConsumerMember(request.member_id or new_member_id)
    member = _updated(former, request, subscription)
    if known is None or member != former:
        records.append(member_record(group.group_id, member))
    group = drop_unused_regex(group.with_member(member), former.subscribed_topic_regex, records)
    changed = (
        member.subscribed_topic_names != former.subscribed_topic_names
        or member.subscribed_topic_regex != former.subscribed_topic_regex
    )
    group = refresh_epoch(group, metadata, changed, False, records)
    bumped = group.group_epoch != before.group_epoch
    if not downgrades:
        assignor = next_assignor(before, former, member, config.assignors)
        group = refresh_target(group, metadata, config, assignor, now_ms, records)
    if not (downgrades and bumped):
        reconciled = reconcile(
            member,
            group.targets.get(member.member_id, NO_PARTITIONS),
            group.assignment_epoch,
            existing_partitions(metadata, group.subscription_of(member)),
            group.owned_partitions(without=member.member_id),
            resolve_partitions({owned.topic: owned.partitions for owned in subscription.owned_partitions}, metadata),
            changed,
        )
        if reconciled != member or known is None:
            records.append(current_record(group.group_id, reconciled))
        member = reconciled
    group = group.with_member(member)
    protocol_name = request.protocols[0].name
    result = JoinResult(ErrorCode.NONE, member.member_id, member.member_epoch, CONSUMER_PROTOCOL_TYPE, protocol_name)
    if not downgrades:
        return ClassicJoin(group, member, tuple(records), result)
    classic, conversion = downgrade(replace(group, group_epoch=before.group_epoch), (), metadata, now_ms)
    return ClassicJoin(classic, member, (*records, *conversion), result, bumped)


def sync(group: ConsumerGroup, request: SyncRequest, metadata: MetadataView) -> SyncResult:
    """Return a member's assignment, or make it join again.

    Raises:
        RefusedError: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION, INCONSISTENT_GROUP_PROTOCOL, or
            REBALANCE_IN_PROGRESS if the group has changed.
    """
    member, classic = _find_classic(group, request.member_id, request.group_instance_id, request.generation_id)
    name, subscription = classic.protocols[0]
    if request.protocol_type not in (None, CONSUMER_PROTOCOL_TYPE) or request.protocol_name not in (None, name):
        message = f"The protocol of member {member.member_id} is not the one returned in the join response."
        raise RefusedError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, message)
    if group.group_epoch > member.member_epoch and member.state is not MemberState.UNREVOKED_PARTITIONS:
        message = f"A new rebalance is triggered in group {group.group_id}."
        raise RefusedError(ErrorCode.REBALANCE_IN_PROGRESS, message)
    assignment = serialize_assignment(subscription, member.assigned, metadata)
    return SyncResult(ErrorCode.NONE, request.protocol_type, request.protocol_name, assignment)


def heartbeat(
    group: ConsumerGroup, member_id: str, group_instance_id: str | None, generation_id: int
) -> tuple[ErrorCode, ConsumerMember]:
    """Return NONE, or REBALANCE_IN_PROGRESS if the member must join to update its assignment.

    Raises:
        RefusedError: UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, or ILLEGAL_GENERATION.
    """
    member, _ = _find_classic(group, member_id, group_instance_id, generation_id)
    must_join = (
        member.member_epoch < group.group_epoch
        or member.state is MemberState.UNREVOKED_PARTITIONS
        or (member.state is MemberState.UNRELEASED_PARTITIONS and not _waits_for_others(group, member))
    )
    return (ErrorCode.REBALANCE_IN_PROGRESS if must_join else ErrorCode.NONE), member


def find_leaving(group: ConsumerGroup, leaving: LeavingMember) -> ConsumerMember:
    """Return the leaving member of either protocol; a static one may be identified by its instance id alone.

    Raises:
        RefusedError: UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID.
    """
    member_id = leaving.member_id
    if not member_id and leaving.group_instance_id is not None:
        known = group.static_member(leaving.group_instance_id)
        member_id = known.member_id if known is not None else ""
    return _find(group, member_id, leaving.group_instance_id)


def _find(group: ConsumerGroup, member_id: str, group_instance_id: str | None) -> ConsumerMember:
    member = group.members.get(member_id) if group_instance_id is None else group.static_member(group_instance_id)
    if member is not None and member.member_id != member_id:
        message = f"Static member {member_id} was fenced by member {member.member_id}."
        raise RefusedError(ErrorCode.FENCED_INSTANCE_ID, message)
    if member is None:
        message = f"Member {member_id} is not a member of group {group.group_id}."
        raise RefusedError(ErrorCode.UNKNOWN_MEMBER_ID, message)
    return member


def _find_classic(
    group: ConsumerGroup, member_id: str, group_instance_id: str | None, generation_id: int
) -> tuple[ConsumerMember, ClassicMembership]:
    member = _find(group, member_id, group_instance_id)
    if member.classic is None:
        message = f"Member {member_id} does not use the classic protocol."
        raise RefusedError(ErrorCode.UNKNOWN_MEMBER_ID, message)
    if member.member_epoch != generation_id:
        message = f"The generation id {generation_id} is not the member epoch {member.member_epoch} of {member_id}."
        raise RefusedError(ErrorCode.ILLEGAL_GENERATION, message)
    return member, member.classic


def _find_member(
    group: ConsumerGroup, request: JoinRequest, new_member_id: str, records: list[StoredRecord]
) -> tuple[ConsumerGroup, ConsumerMember | None]:
    if request.group_instance_id is None:
        return group, group.members.get(request.member_id)
    known = group.static_member(request.group_instance_id)
    if not request.member_id:
        return (group, None) if known is None else replace_static(group, known, new_member_id, records)
    if known is None:
        message = f"Instance id {request.group_instance_id} is unknown."
        raise RefusedError(ErrorCode.UNKNOWN_MEMBER_ID, message)
    if known.member_id != request.member_id:
        message = f"Static member {request.member_id} was fenced by member {known.member_id}."
        raise RefusedError(ErrorCode.FENCED_INSTANCE_ID, message)
    return group, known


def _read_subscription(request: JoinRequest, config: ConsumerConfig) -> ConsumerProtocolSubscription:
    try:
        return decode_subscription(request.protocols[0].metadata)
    except WireError:
        message = "Malformed embedded consumer protocol in subscription deserialization."
        error = ErrorCode.UNKNOWN_SERVER_ERROR if config.is_before_4_4 else ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        raise RefusedError(error, message) from None


def _updated(
    member: ConsumerMember, request: JoinRequest, subscription: ConsumerProtocolSubscription
) -> ConsumerMember:
    return replace(
        member,
        instance_id=request.group_instance_id if request.group_instance_id is not None else member.instance_id,
        rack_id=subscription.rack_id or member.rack_id,
        rebalance_timeout_ms=(
            request.rebalance_timeout_ms if request.rebalance_timeout_ms != -1 else member.rebalance_timeout_ms
        ),
        client_id=request.client_id,
        client_host=request.client_host,
        subscribed_topic_names=frozenset(subscription.topics),
        subscribed_topic_regex="",
        classic=ClassicMembership(
            request.session_timeout_ms, tuple((protocol.name, protocol.metadata) for protocol in request.protocols)
        ),
    )


def _leaves_classic_only(group: ConsumerGroup, replaced: ConsumerMember, config: ConsumerConfig) -> bool:
    others = [member for member in group.members.values() if member is not replaced]
    return (
        not replaced.uses_classic_protocol
        and all(member.uses_classic_protocol for member in others)
        and config.migration_policy.allows_downgrade
        and len(group.members) <= config.classic_max_size
    )


def _waits_for_others(group: ConsumerGroup, member: ConsumerMember) -> bool:
    missing = group.targets.get(member.member_id, NO_PARTITIONS) - member.assigned
    return not missing.isdisjoint(group.owned_partitions(without=member.member_id))


def leave_errors(group: ConsumerGroup, leaving: Sequence[LeavingMember]) -> tuple[list[ErrorCode], list[str]]:
    """Return the code of each leaving member, and the ids of the removed members."""
    errors: list[ErrorCode] = []
    gone: dict[str, None] = {}
    for member in leaving:
        try:
            gone[find_leaving(group, member).member_id] = None
            errors.append(ErrorCode.NONE)
        except RefusedError as refusal:
            errors.append(refusal.error)
    return errors, list(gone)
