"""OffsetDelete (key 47, version 0; KIP-496).

- Unknown partitions get UNKNOWN_TOPIC_OR_PARTITION (3), topics with active subscriptions GROUP_SUBSCRIBED_TO_TOPIC
  (86).
- An unknown group gets GROUP_ID_NOT_FOUND (69), an active group that is not of type consumer NON_EMPTY_GROUP (68).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.requests import find_named_shard, partition_exists
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)


def handle(broker: BrokerServices, context: RequestContext, request: OffsetDeleteRequest) -> None:
    """Delete committed offsets."""
    wanted = [
        TopicPartition(topic.name, entry.partition_index) for topic in request.topics for entry in topic.partitions
    ]
    existing = [partition for partition in wanted if partition_exists(broker.metadata, partition)]

    def _answered(topic: OffsetDeleteRequestTopic) -> Iterable[OffsetDeleteRequestPartition]:
        if broker.emulation.is_3_9:  # Keep one result for each partition.
            return {entry.partition_index: entry for entry in topic.partitions}.values()
        return topic.partitions

    def reply(error: ErrorCode, errors: Mapping[TopicPartition, ErrorCode]) -> None:
        if error is not ErrorCode.NONE:
            context.reply(OffsetDeleteResponse(error_code=error))
            return
        missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        topics = [
            OffsetDeleteResponseTopic(
                topic.name,
                [
                    OffsetDeleteResponsePartition(
                        entry.partition_index, errors.get(TopicPartition(topic.name, entry.partition_index), missing)
                    )
                    for entry in _answered(topic)
                ],
            )
            for topic in request.topics
        ]
        context.reply(OffsetDeleteResponse(topics=topics))

    shard = find_named_shard(broker.groups, request.group_id)
    if isinstance(shard, ErrorCode):
        reply(shard, {})
    elif existing or broker.emulation.is_3_9:
        broker.groups.offsets.delete(shard, request.group_id, existing, reply)
        if existing and broker.emulation.is_3_9:
            # 3.9 calls `GroupMetadataManager.cleanupGroupMetadata` after each removal of offsets.
            broker.groups.admin.drop_if_unused(shard, request.group_id)
    else:
        reply(ErrorCode.NONE, {})


DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def guard(access: Access, request: OffsetDeleteRequest) -> None:
    """Require DELETE on the group and READ on each topic."""
    if not access.may_group(AclOperation.DELETE, request.group_id):
        access.reply(OffsetDeleteResponse(DENIED))
        return
    allowed, denied = access.part(request.topics, lambda topic: access.may_topic(AclOperation.READ, topic.name))
    refused = [
        OffsetDeleteResponseTopic(
            topic.name,
            [OffsetDeleteResponsePartition(one.partition_index, TOPIC_DENIED) for one in topic.partitions],
        )
        for topic in denied
    ]

    def amend(response: OffsetDeleteResponse) -> OffsetDeleteResponse:
        return response if response.error_code else replace(response, topics=[*refused, *response.topics])

    access.proceed(replace(request, topics=allowed), amend)
