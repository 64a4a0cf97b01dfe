"""Guards of the records: writing, reading, deleting, and looking where they are.

Fetch is not here: a session outlives its requests, so the fetch itself asks at every partition.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.kafka_texts import kafka_text
from eosctl.sandbox.security.access import Access, Guard
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import delete_records, describe_producers, list_offsets, offset_for_leader_epoch, produce
from eosctl.wire.records.header import TRANSACTIONAL

FIRST_TOPIC_ID_VERSION = 13
ATTRIBUTES_AT = 21  # in a record batch of magic 2: two bytes
DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def guard_produce(access: Access, request: produce.ProduceRequest) -> None:
    """Ask for WRITE on the transactional id of transactional batches, and on each topic."""
    error = DENIED
    allowed, denied = access.part(
        request.topic_data,
        lambda topic: access.may_topic(
            AclOperation.WRITE, access.topic_name(topic.name, topic.topic_id, FIRST_TOPIC_ID_VERSION)
        ),
    )
    if _is_transactional(request) and not (
        request.transactional_id is not None and access.may_transact(AclOperation.WRITE, request.transactional_id)
    ):
        error, allowed, denied = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, [], list(request.topic_data)
    if not denied:
        access.proceed(request)
        return
    refused = [
        produce.TopicProduceResponse(
            topic.name,
            topic.topic_id,
            [produce.PartitionProduceResponse(data.index, error, -1) for data in topic.partition_data],
        )
        for topic in denied
    ]
    if not allowed:
        access.reply(produce.ProduceResponse(refused) if request.acks else None)
        return
    access.proceed(
        replace(request, topic_data=allowed),
        lambda response: replace(response, responses=[*refused, *response.responses]),
    )


def _is_transactional(request: produce.ProduceRequest) -> bool:
    return any(
        data.records is not None
        and len(data.records) > ATTRIBUTES_AT + 1
        and (data.records[ATTRIBUTES_AT] << 8 | data.records[ATTRIBUTES_AT + 1]) & TRANSACTIONAL
        for topic in request.topic_data
        for data in topic.partition_data
    )


def guard_list_offsets(access: Access, request: list_offsets.ListOffsetsRequest) -> None:
    """Ask for DESCRIBE on each topic."""
    allowed, denied = access.part(request.topics, lambda topic: access.may_topic(AclOperation.DESCRIBE, topic.name))
    refused = [
        list_offsets.ListOffsetsTopicResponse(
            topic.name,
            [list_offsets.ListOffsetsPartitionResponse(asked.partition_index, DENIED) for asked in topic.partitions],
        )
        for topic in denied
    ]
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, topics=[*refused, *response.topics])
    )


def guard_leader_epochs(access: Access, request: offset_for_leader_epoch.OffsetForLeaderEpochRequest) -> None:
    """Ask for DESCRIBE on each topic, or for CLUSTER_ACTION, which brokers have."""
    every = access.may_cluster(AclOperation.CLUSTER_ACTION)
    allowed, denied = access.part(
        request.topics, lambda topic: every or access.may_topic(AclOperation.DESCRIBE, topic.topic)
    )
    refused = [
        offset_for_leader_epoch.OffsetForLeaderTopicResult(
            topic.topic,
            [offset_for_leader_epoch.EpochEndOffset(DENIED, asked.partition) for asked in topic.partitions],
        )
        for topic in denied
    ]
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, topics=[*refused, *response.topics])
    )


def guard_delete_records(access: Access, request: delete_records.DeleteRecordsRequest) -> None:
    """Ask for DELETE on each topic."""
    allowed, denied = access.part(request.topics, lambda topic: access.may_topic(AclOperation.DELETE, topic.name))
    refused = [
        delete_records.DeleteRecordsTopicResult(
            topic.name,
            [
                delete_records.DeleteRecordsPartitionResult(asked.partition_index, -1, DENIED)
                for asked in topic.partitions
            ],
        )
        for topic in denied
    ]
    if denied and not allowed:
        access.reply(delete_records.DeleteRecordsResponse(0, refused))
        return
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, topics=[*refused, *response.topics])
    )


def guard_producers(access: Access, request: describe_producers.DescribeProducersRequest) -> None:
    """Ask for READ on each topic."""
    allowed, denied = access.part(request.topics, lambda topic: access.may_topic(AclOperation.READ, topic.name))
    refused = [
        describe_producers.TopicResponse(
            topic.name,
            [
                describe_producers.PartitionResponse(index, DENIED, kafka_text(DENIED))
                for index in topic.partition_indexes
            ],
        )
        for topic in denied
    ]
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, topics=[*refused, *response.topics])
    )


GUARDS: Mapping[int, Guard] = {
    ApiKey.PRODUCE: guard_produce,
    ApiKey.LIST_OFFSETS: guard_list_offsets,
    ApiKey.OFFSET_FOR_LEADER_EPOCH: guard_leader_epochs,
    ApiKey.DELETE_RECORDS: guard_delete_records,
    ApiKey.DESCRIBE_PRODUCERS: guard_producers,
}
