"""DescribeProducers (key 61, version 0; KIP-664).

- Any replica responds. Partitions hosted elsewhere are NOT_LEADER_OR_FOLLOWER (6), unknown ones
  UNKNOWN_TOPIC_OR_PARTITION (3).
- All producers in the partition's state are returned, with or without an open transaction.
"""

from __future__ import annotations

from msgspec.structs import replace

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.controller.topics import topic_name_problem
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)


def handle(broker: BrokerServices, context: RequestContext, request: DescribeProducersRequest) -> None:
    """Describe the producers of each partition."""
    context.reply(
        DescribeProducersResponse(
            topics=[
                TopicResponse(topic.name, [_partition(broker, topic.name, index) for index in topic.partition_indexes])
                for topic in request.topics
            ]
        )
    )


def _partition(broker: BrokerServices, topic: str, index: int) -> PartitionResponse:
    problem = topic_name_problem(topic)
    if problem is not None:
        return PartitionResponse(index, ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")
    if not broker.metadata.partition_count(topic):
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return PartitionResponse(index, error, kafka_text(error))
    producers = broker.replicas.active_producers(TopicPartition(topic, index))
    if isinstance(producers, ErrorCode):
        return PartitionResponse(index, producers)
    return PartitionResponse(
        index,
        ErrorCode.NONE,
        None,
        [
            ProducerState(
                producer_id=producer.producer_id,
                producer_epoch=producer.producer_epoch,
                last_sequence=producer.last_sequence,
                last_timestamp=producer.last_timestamp_ms,
                coordinator_epoch=producer.coordinator_epoch,
                current_txn_start_offset=-1
                if producer.current_txn_start_offset is None
                else producer.current_txn_start_offset,
            )
            for producer in producers
        ],
    )


DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def guard(access: Access, request: DescribeProducersRequest) -> None:
    """Require READ on each topic."""
    allowed, denied = access.part(request.topics, lambda topic: access.may_topic(AclOperation.READ, topic.name))
    refused = [
        TopicResponse(
            topic.name,
            [PartitionResponse(index, DENIED, kafka_text(DENIED)) for index in topic.partition_indexes],
        )
        for topic in denied
    ]
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, topics=[*refused, *response.topics])
    )
