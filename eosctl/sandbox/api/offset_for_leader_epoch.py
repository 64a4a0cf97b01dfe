"""OffsetForLeaderEpoch (key 23, versions 2 to 4; 3.9 serves 0 to 4): the end of a leader epoch (KIP-101, KIP-320).

- Returns the largest known epoch at or below the requested one, and the offset after its last record.
- An unknown epoch, or -1, returns (-1, -1).
"""

from __future__ import annotations

from msgspec.structs import replace

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.replication.reading import check_leader_epoch
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)


def handle(broker: BrokerServices, context: RequestContext, request: OffsetForLeaderEpochRequest) -> None:
    """Look up every partition's epoch in the log that this broker leads."""
    topics = [
        OffsetForLeaderTopicResult(
            topic.topic, [_find_end_offset(broker, topic.topic, requested) for requested in topic.partitions]
        )
        for topic in request.topics
    ]
    context.reply(OffsetForLeaderEpochResponse(0, topics))


def _find_end_offset(broker: BrokerServices, topic: str, requested: OffsetForLeaderPartition) -> EpochEndOffset:
    partition = broker.replicas.leader(TopicPartition(topic, requested.partition))
    if isinstance(partition, ErrorCode):
        return EpochEndOffset(partition, requested.partition)
    error = check_leader_epoch(requested.current_leader_epoch, partition.leader_epoch)
    if error:
        return EpochEndOffset(error, requested.partition)
    epoch, end_offset = partition.log.epochs.end_offset_for(requested.leader_epoch, partition.log.end_offset)
    return EpochEndOffset(0, requested.partition, epoch, end_offset)


DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def guard(access: Access, request: OffsetForLeaderEpochRequest) -> None:
    """Require DESCRIBE on each topic, or CLUSTER_ACTION, which brokers have."""
    every = access.may_cluster(AclOperation.CLUSTER_ACTION)
    allowed, denied = access.part(
        request.topics, lambda topic: every or access.may_topic(AclOperation.DESCRIBE, topic.topic)
    )
    refused = [
        OffsetForLeaderTopicResult(
            topic.topic,
            [EpochEndOffset(DENIED, requested.partition) for requested in topic.partitions],
        )
        for topic in denied
    ]
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, topics=[*refused, *response.topics])
    )
