"""DescribeTopicPartitions (key 75, version 0): topics in pages, with eligible leader replicas (KIP-966).

- Topics are sorted by name; without names, all topics are returned.
- `responsePartitionLimit` (at most `max.request.partition.size.limit`) limits the response; the cursor is the next
  position.
"""

from __future__ import annotations

from msgspec.structs import replace

from eosctl.sandbox.api.metadata import describe_partition, is_internal
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.controller.topics import topic_name_problem
from eosctl.sandbox.metadata.image import PartitionState, TopicState
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access, operations_of
from eosctl.sandbox.security.acls import ResourceType
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
    TopicRequest,
)

Partitions = list[DescribeTopicPartitionsResponsePartition]


def handle(broker: BrokerServices, context: RequestContext, request: DescribeTopicPartitionsRequest) -> None:
    """Describe topics from the cursor until the limit is reached."""
    cursor = request.cursor
    if cursor is not None and cursor.partition_index < 0:
        context.reply(_refuse_cursor(request))
        return
    names = sorted({topic.name for topic in request.topics} or broker.metadata.topics.keys())
    if cursor is not None:
        names = [name for name in names if name >= cursor.topic_name]
    left = max(1, min(request.response_partition_limit, broker.config.get_int("max.request.partition.size.limit")))
    topics: list[DescribeTopicPartitionsResponseTopic] = []
    next_cursor = None
    unknown = []
    for name in names:
        state = broker.metadata.topics.get(name)
        if state is None:
            problem = topic_name_problem(name) is not None
            error = ErrorCode.INVALID_TOPIC_EXCEPTION if problem else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            operations = operations_of(broker, context, ResourceType.TOPIC, name)
            unknown.append(DescribeTopicPartitionsResponseTopic(error, name, topic_authorized_operations=operations))
            continue
        if not left:
            next_cursor = Cursor(name, 0)
            break
        first = cursor.partition_index if cursor is not None and cursor.topic_name == name else 0
        indexes = [index for index in sorted(state.partitions) if index >= first]
        topics.append(_describe(broker, context, state, indexes[:left]))
        if len(indexes) > left:
            next_cursor = Cursor(name, indexes[left])
            break
        left -= len(indexes)
    context.reply(DescribeTopicPartitionsResponse(0, [*unknown, *topics], next_cursor))


def _refuse_cursor(request: DescribeTopicPartitionsRequest) -> DescribeTopicPartitionsResponse:
    error = ErrorCode.INVALID_REQUEST
    return DescribeTopicPartitionsResponse(
        0, [DescribeTopicPartitionsResponseTopic(error, topic.name) for topic in request.topics], None
    )


def _describe(
    broker: BrokerServices, context: RequestContext, topic: TopicState, indexes: list[int]
) -> DescribeTopicPartitionsResponseTopic:
    partitions = [_partition(broker, context.listener, index, topic.partitions[index]) for index in indexes]
    operations = operations_of(broker, context, ResourceType.TOPIC, topic.name)
    return DescribeTopicPartitionsResponseTopic(
        error_code=0,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=is_internal(topic.name),
        partitions=partitions,
        topic_authorized_operations=operations,
    )


def _partition(
    broker: BrokerServices, listener: str, index: int, state: PartitionState
) -> DescribeTopicPartitionsResponsePartition:
    shown = describe_partition(broker, listener, index, state)
    return DescribeTopicPartitionsResponsePartition(
        error_code=shown.error_code,
        partition_index=index,
        leader_id=shown.leader_id,
        leader_epoch=shown.leader_epoch,
        replica_nodes=shown.replica_nodes,
        isr_nodes=shown.isr_nodes,
        eligible_leader_replicas=state.eligible_leader_replicas,
        last_known_elr=state.last_known_elr,
        offline_replicas=shown.offline_replicas,
    )


DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def guard(access: Access, request: DescribeTopicPartitionsRequest) -> None:
    """Require DESCRIBE on each topic; without names, describe the authorized topics."""
    names = [topic.name for topic in request.topics]
    allowed, denied = access.part(
        names or access.broker.metadata.topics, lambda name: access.may_topic(AclOperation.DESCRIBE, name)
    )
    refused = [DescribeTopicPartitionsResponseTopic(DENIED, name) for name in denied if names]
    if not allowed:
        access.reply(DescribeTopicPartitionsResponse(0, refused))
        return
    access.proceed(
        replace(request, topics=[TopicRequest(name) for name in allowed]),
        lambda response: replace(response, topics=[*refused, *response.topics]),
    )
