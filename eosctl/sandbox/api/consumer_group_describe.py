"""ConsumerGroupDescribe (key 69, versions 0 to 1; KIP-848, KIP-1099).

- An unknown or classic group gets GROUP_ID_NOT_FOUND (69) with a message.
- 3.9 returns UNSUPPORTED_VERSION (35).
"""

from __future__ import annotations

from msgspec.structs import replace

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.consumer import group as values
from eosctl.sandbox.coordinator.group.consumer.consumer_records import group_by_topic
from eosctl.sandbox.coordinator.group.consumer.driver import read_consumer_config
from eosctl.sandbox.coordinator.group.consumer.rebalance import preferred_assignor
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access, with_group_operations
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.consumer_group_describe import (
    Assignment,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)

_CLASSIC_MEMBER, _CONSUMER_MEMBER = 0, 1


def handle(broker: BrokerServices, context: RequestContext, request: ConsumerGroupDescribeRequest) -> None:
    """Describe groups of the consumer protocol."""
    groups = [_describe(broker, group_id) for group_id in request.group_ids]
    if request.include_authorized_operations:
        groups = with_group_operations(broker, context, groups)
    context.reply(ConsumerGroupDescribeResponse(groups=groups))


def _describe(broker: BrokerServices, group_id: str) -> DescribedGroup:
    if broker.emulation.is_3_9:
        return DescribedGroup(ErrorCode.UNSUPPORTED_VERSION, group_id=group_id)
    shard = broker.groups.find_shard(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
    if isinstance(shard, ErrorCode):
        return DescribedGroup(shard, group_id=group_id)
    group = shard.groups.get(group_id)
    if not isinstance(group, values.ConsumerGroup):
        reason = "not found" if group is None and group_id not in shard.share_groups else "is not a consumer group"
        return DescribedGroup(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {reason}.", group_id)
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=preferred_assignor(group, read_consumer_config(broker).assignors),
        members=[
            Member(
                member_id=member.member_id,
                instance_id=member.instance_id,
                rack_id=member.rack_id,
                member_epoch=member.member_epoch,
                client_id=member.client_id,
                client_host=member.client_host,
                subscribed_topic_names=sorted(member.subscribed_topic_names),
                subscribed_topic_regex=member.subscribed_topic_regex,
                assignment=_assignment(broker, member.assigned | member.pending_revocation),
                target_assignment=_assignment(broker, group.targets.get(member.member_id, values.NO_PARTITIONS)),
                member_type=_CLASSIC_MEMBER if member.uses_classic_protocol else _CONSUMER_MEMBER,
            )
            for member in group.members.values()
        ],
    )


def _assignment(broker: BrokerServices, assignment: values.Assignment) -> Assignment:
    return Assignment(
        [
            TopicPartitions(topic_id, broker.metadata.topic_name(topic_id) or "", indexes)
            for topic_id, indexes in group_by_topic(assignment)
        ]
    )


DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
HIDDEN_TOPICS = "The group has described topic(s) that the client is not authorized to describe."


def guard(access: Access, request: ConsumerGroupDescribeRequest) -> None:
    """Require DESCRIBE on each group, and on every topic of its members."""
    allowed, denied = access.part(request.group_ids, lambda group: access.may_group(AclOperation.DESCRIBE, group))
    refused = [DescribedGroup(DENIED, kafka_text(DENIED), group) for group in denied]

    def shown(group: DescribedGroup) -> DescribedGroup:
        topics = {name for member in group.members for name in member.subscribed_topic_names} | {
            part.topic_name
            for member in group.members
            for assignment in (member.assignment, member.target_assignment)
            for part in assignment.topic_partitions
        }
        if all(access.may_topic(AclOperation.DESCRIBE, name) for name in topics):
            return group
        return DescribedGroup(TOPIC_DENIED, HIDDEN_TOPICS, group.group_id)

    access.proceed(
        replace(request, group_ids=allowed),
        lambda response: replace(response, groups=[*refused, *map(shown, response.groups)]),
    )
