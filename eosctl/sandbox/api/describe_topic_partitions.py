"""DescribeTopicPartitions (key 75, version 0): topics in pages, with eligible leader replicas (KIP-966).

- Topics are sorted by name; without names, all authorized topics are returned.
- `responsePartitionLimit` (at most `max.request.partition.size.limit`) limits the response; the cursor is the next
  position, which may be a topic that does not exist.
- A cursor must be on one of the requested topics.
- Without a cursor, an empty name is UNKNOWN_SERVER_ERROR for all topics, as in Kafka.
"""

from __future__ import annotations

from eosctl.sandbox.api.metadata import describe_partition, is_internal
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.controller.topics import topic_name_problem
from eosctl.sandbox.metadata.image import PartitionState, TopicState
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import may, operations_of
from eosctl.sandbox.security.acls import ResourceType
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)

DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def handle(broker: BrokerServices, context: RequestContext, request: DescribeTopicPartitionsRequest) -> None:
    """Describe the topics that the principal may describe, from the cursor until the limit is reached."""
    cursor = request.cursor
    first_name = "" if cursor is None else cursor.topic_name
    requested = {topic.name for topic in request.topics}
    names = {name for name in requested or broker.metadata.topics if name >= first_name}
    if cursor is not None and (cursor.partition_index < 0 or cursor.topic_name not in names):
        context.reply(_refuse(request, ErrorCode.INVALID_REQUEST))
        return
    allowed = sorted(names)
    if broker.authorizer is not None:
        allowed = [name for name in allowed if may(broker, context, AclOperation.DESCRIBE, ResourceType.TOPIC, name)]
    if cursor is None and "" in allowed:
        context.reply(_refuse(request, ErrorCode.UNKNOWN_SERVER_ERROR))
        return
    topics, next_cursor = _page(broker, context, request, allowed)
    denied = [DescribeTopicPartitionsResponseTopic(DENIED, name) for name in sorted(requested & names - set(allowed))]
    context.reply(DescribeTopicPartitionsResponse(0, [*topics, *denied], next_cursor))


def _refuse(request: DescribeTopicPartitionsRequest, error: ErrorCode) -> DescribeTopicPartitionsResponse:
    names = dict.fromkeys(topic.name for topic in request.topics)
    return DescribeTopicPartitionsResponse(0, [DescribeTopicPartitionsResponseTopic(error, name) for name in names])


def _page(
    broker: BrokerServices, context: RequestContext, request: DescribeTopicPartitionsRequest, names: list[str]
) -> tuple[list[DescribeTopicPartitionsResponseTopic], Cursor | None]:
    """Return the described topics and the next position; topics that do not exist do not count towards the limit."""
    cursor = request.cursor
    left = max(1, min(request.response_partition_limit, broker.config.get_int("max.request.partition.size.limit")))
    topics: list[DescribeTopicPartitionsResponseTopic] = []
    for name in names:
        if not left:
            return topics, Cursor(name, 0)
        state = broker.metadata.topics.get(name)
        if state is None:
            problem = topic_name_problem(name) is not None
            error = ErrorCode.INVALID_TOPIC_EXCEPTION if problem else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            operations = operations_of(broker, context, ResourceType.TOPIC, name)
            topics.append(DescribeTopicPartitionsResponseTopic(error, name, topic_authorized_operations=operations))
            continue
        first = cursor.partition_index if cursor is not None and cursor.topic_name == name else 0
        indexes = [index for index in sorted(state.partitions) if index >= first]
        topics.append(_describe(broker, context, state, indexes[:left]))
        if len(indexes) > left:
            return topics, Cursor(name, indexes[left])
        left -= len(indexes)
    return topics, None


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
