"""AlterShareGroupOffsets (key 91, version 0; KIP-932).

- Sets the start offsets of an empty share group; an unknown group is created. NON_EMPTY_GROUP (68) with members.
- Unknown topics and partitions have their own error. The response waits until the new state is durable.
"""

from __future__ import annotations

from msgspec.structs import replace

from eosctl.sandbox.api.share_group_heartbeat import is_share_enabled
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.requests import find_named_shard
from eosctl.sandbox.coordinator.share.coordinator import StateResult
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)
from eosctl.wire.uuid import ZERO_UUID

UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def handle(broker: BrokerServices, context: RequestContext, request: AlterShareGroupOffsetsRequest) -> None:
    """Set the start offsets of a group."""
    error = ErrorCode.NONE if is_share_enabled(broker) else ErrorCode.UNSUPPORTED_VERSION
    shard = find_named_shard(broker.groups, request.group_id) if error is ErrorCode.NONE else error
    if isinstance(shard, ErrorCode):
        context.reply(AlterShareGroupOffsetsResponse(error_code=shard, error_message=kafka_text(shard)))
        return
    metadata = broker.metadata
    starts = {
        (topic_id, part.partition_index): part.start_offset
        for topic in request.topics
        if (topic_id := metadata.topic_id(topic.topic_name)) is not None
        for part in topic.partitions
        if 0 <= part.partition_index < metadata.partition_count(topic.topic_name)
    }

    def altered(results: dict[tuple[bytes, int], StateResult]) -> None:
        responses = [_topic(broker, topic, results) for topic in request.topics]
        context.reply(AlterShareGroupOffsetsResponse(responses=responses))

    try:
        broker.groups.share.alter_offsets(shard, request.group_id, starts, altered)
    except RefusedError as refusal:
        context.reply(AlterShareGroupOffsetsResponse(error_code=refusal.error, error_message=refusal.message))


def _topic(
    broker: BrokerServices,
    topic: AlterShareGroupOffsetsRequestTopic,
    results: dict[tuple[bytes, int], StateResult],
) -> AlterShareGroupOffsetsResponseTopic:
    topic_id = broker.metadata.topic_id(topic.topic_name) or ZERO_UUID
    absent = StateResult(UNKNOWN, kafka_text(UNKNOWN))
    found = [(part.partition_index, results.get((topic_id, part.partition_index), absent)) for part in topic.partitions]
    parts = [AlterShareGroupOffsetsResponsePartition(index, result.error, result.message) for index, result in found]
    return AlterShareGroupOffsetsResponseTopic(topic.topic_name, topic_id, parts)


DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def guard(access: Access, request: AlterShareGroupOffsetsRequest) -> None:
    """Require READ on the group and on each topic."""
    if not is_share_enabled(access.broker):
        access.proceed(request)
        return
    if not access.may_group(AclOperation.READ, request.group_id):
        access.reply(AlterShareGroupOffsetsResponse(error_code=DENIED, error_message=kafka_text(DENIED)))
        return
    allowed, denied = access.part(request.topics, lambda topic: access.may_topic(AclOperation.READ, topic.topic_name))
    refused = [
        AlterShareGroupOffsetsResponseTopic(
            topic.topic_name,
            access.broker.metadata.topic_id(topic.topic_name) or ZERO_UUID,
            [
                AlterShareGroupOffsetsResponsePartition(part.partition_index, TOPIC_DENIED, kafka_text(TOPIC_DENIED))
                for part in topic.partitions
            ],
        )
        for topic in denied
    ]
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, responses=[*response.responses, *refused])
    )
