"""ListOffsets (key 2, versions 1 to 11; 3.9 serves 0 to 9): offsets by timestamp or by named position.

KIP-98 (isolation level), KIP-320 (leader epochs), KIP-734 (max timestamp, version 7), KIP-405/KIP-1005 (tiered storage
positions, versions 8 and 9).

- -1 latest (last stable offset at isolation level 1), -2 earliest, -3 max timestamp, -4 earliest local, -5 last tiered.
- Other negative values, or values that the request's version does not have, are UNSUPPORTED_VERSION.
- A partition listed twice is INVALID_REQUEST; an invalid isolation level fails as in Kafka.
- Offsets at or above the reader's bound are not returned.
- A new leader whose high watermark is below the start of its epoch cannot determine the readable range: consumers get
  OFFSET_NOT_AVAILABLE (LEADER_NOT_AVAILABLE below version 5; KIP-207).
"""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.replication.reading import check_leader_epoch, upper_bound
from eosctl.sandbox.security.access import Access
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

READ_UNCOMMITTED, READ_COMMITTED = 0, 1
LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -1, -2, -3, -4, -5, -6
_FIRST_VERSION = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}


def handle(broker: BrokerServices, context: RequestContext, request: ListOffsetsRequest) -> None:
    """Look up every partition in the log that this broker leads."""
    version = context.api_version
    topics = []
    for topic in request.topics:
        given = Counter(partition.partition_index for partition in topic.partitions)
        answers = [
            ListOffsetsPartitionResponse(requested.partition_index, ErrorCode.UNKNOWN_SERVER_ERROR)
            if request.isolation_level not in (READ_UNCOMMITTED, READ_COMMITTED)
            else ListOffsetsPartitionResponse(requested.partition_index, ErrorCode.INVALID_REQUEST)
            if given[requested.partition_index] > 1
            else _list(broker, version, request, topic.name, requested)
            for requested in topic.partitions
        ]
        if not broker.emulation.is_3_9:  # 4.x keeps one result for each partition.
            answers = list({answer.partition_index: answer for answer in answers}.values())
        topics.append(ListOffsetsTopicResponse(topic.name, answers))
    context.reply(ListOffsetsResponse(0, topics))


def _list(
    broker: BrokerServices, version: int, request: ListOffsetsRequest, topic: str, requested: ListOffsetsPartition
) -> ListOffsetsPartitionResponse:
    index, timestamp = requested.partition_index, requested.timestamp
    if timestamp < EARLIEST_PENDING_UPLOAD or version < _FIRST_VERSION.get(timestamp, 0):
        return ListOffsetsPartitionResponse(index, ErrorCode.UNSUPPORTED_VERSION)
    partition = broker.replicas.leader(TopicPartition(topic, index))
    if isinstance(partition, ErrorCode):
        return ListOffsetsPartitionResponse(index, partition)
    error = check_leader_epoch(requested.current_leader_epoch, partition.leader_epoch)
    if error:
        return ListOffsetsPartitionResponse(index, error)
    bound = upper_bound(partition, request.isolation_level, request.replica_id)
    found_time, offset, epoch = _find(partition, timestamp, bound)
    if _is_undecided(partition, timestamp, offset) and request.replica_id < 0:
        late = ErrorCode.OFFSET_NOT_AVAILABLE if version >= 5 else ErrorCode.LEADER_NOT_AVAILABLE
        return ListOffsetsPartitionResponse(index, late)
    if version == 0:
        return ListOffsetsPartitionResponse(index, 0, [offset] if offset >= 0 else [])
    return ListOffsetsPartitionResponse(
        partition_index=index,
        error_code=0,
        old_style_offsets=(),
        timestamp=found_time,
        offset=offset,
        leader_epoch=epoch,
    )


def _is_undecided(partition: Partition, timestamp: int, offset: int) -> bool:
    """Return whether the result depends on offsets that a new leader cannot confirm yet."""
    if partition.leader_start_offset <= partition.log.high_watermark or timestamp in (EARLIEST, EARLIEST_LOCAL):
        return False
    return timestamp == LATEST or offset < 0


def _find(partition: Partition, timestamp: int, bound: int) -> tuple[int, int, int]:
    """Return (timestamp, offset, leader epoch); -1 each without a result."""
    log = partition.log
    if timestamp == LATEST:
        return -1, bound, partition.leader_epoch
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        epoch = log.epochs.epoch_for_offset(log.start_offset)
        return -1, log.start_offset, epoch if epoch >= 0 else partition.leader_epoch
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return -1, -1, -1
    found = log.store.offset_of_max_timestamp() if timestamp == MAX_TIMESTAMP else log.store.offset_for_time(timestamp)
    if found is None or found.offset >= bound:
        return -1, -1, -1
    return found.timestamp, found.offset, found.leader_epoch


DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def guard(access: Access, request: ListOffsetsRequest) -> None:
    """Require DESCRIBE on each topic."""
    allowed, denied = access.part(request.topics, lambda topic: access.may_topic(AclOperation.DESCRIBE, topic.name))
    refused = [
        ListOffsetsTopicResponse(
            topic.name,
            [ListOffsetsPartitionResponse(requested.partition_index, DENIED) for requested in topic.partitions],
        )
        for topic in denied
    ]
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, topics=[*refused, *response.topics])
    )
