"""ShareGroupDescribe (key 77, version 1; KIP-932).

- With `share.version` 0, UNSUPPORTED_VERSION (35) for every group.
- An unknown group, or one of another type, gets GROUP_ID_NOT_FOUND (69) with a message.
"""

from __future__ import annotations

from msgspec.structs import replace

from eosctl.sandbox.api.share_group_heartbeat import is_share_enabled
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.consumer.consumer_records import group_by_topic
from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.requests import find_named_shard
from eosctl.sandbox.coordinator.group.share.assignor import NAME
from eosctl.sandbox.coordinator.group.share.group import ShareMember
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access, with_group_operations
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.share_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    TopicPartitions,
)


def handle(broker: BrokerServices, context: RequestContext, request: ShareGroupDescribeRequest) -> None:
    """Describe share groups."""
    groups = [_describe(broker, group_id) for group_id in request.group_ids]
    if request.include_authorized_operations:
        groups = with_group_operations(broker, context, groups)
    context.reply(ShareGroupDescribeResponse(groups=groups))


def _describe(broker: BrokerServices, group_id: str) -> DescribedGroup:
    if not is_share_enabled(broker):
        return DescribedGroup(ErrorCode.UNSUPPORTED_VERSION, group_id=group_id)
    shard = find_named_shard(broker.groups, group_id)
    if isinstance(shard, ErrorCode):
        return DescribedGroup(shard, group_id=group_id)
    try:
        group = broker.groups.share.find(shard, group_id)
    except RefusedError as refusal:
        return DescribedGroup(refusal.error, refusal.message, group_id)
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=NAME,
        members=[_member(broker, member) for member in group.members.values()],
    )


def _member(broker: BrokerServices, member: ShareMember) -> Member:
    topics = [
        TopicPartitions(topic_id, broker.metadata.topic_name(topic_id) or "", indexes)
        for topic_id, indexes in group_by_topic(member.assigned)
    ]
    return Member(
        member_id=member.member_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
        assignment=Assignment(topics),
    )


DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
HIDDEN_TOPICS = "The group has described topic(s) that the client is not authorized to describe."


def guard(access: Access, request: ShareGroupDescribeRequest) -> None:
    """Require DESCRIBE on each group, and on every topic of its members."""
    if not is_share_enabled(access.broker):
        access.proceed(request)
        return
    allowed, denied = access.part(request.group_ids, lambda group: access.may_group(AclOperation.DESCRIBE, group))
    refused = [DescribedGroup(DENIED, group_id=group) for group in denied]

    def shown(group: DescribedGroup) -> DescribedGroup:
        topics = {name for member in group.members for name in member.subscribed_topic_names} | {
            part.topic_name for member in group.members for part in member.assignment.topic_partitions
        }
        if all(access.may_topic(AclOperation.DESCRIBE, name) for name in topics):
            return group
        return DescribedGroup(TOPIC_DENIED, HIDDEN_TOPICS, group.group_id)

    access.proceed(
        replace(request, group_ids=allowed),
        lambda response: replace(response, groups=[*refused, *map(shown, response.groups)]),
    )
