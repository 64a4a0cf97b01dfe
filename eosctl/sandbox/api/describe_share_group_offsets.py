"""DescribeShareGroupOffsets (key 90, versions 0 and 1; KIP-932, KIP-1226).

- The start offset of each share-partition is read from the share coordinator; -1 if it is unknown. It is the one of the
  last durable change, so the lag also counts the records that are done beyond it.
- The lag (version 1) is the number of records to the end of the partition that are not done; -1 without a start offset.
- Null topics request all share-partitions of the group.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec.structs import replace

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.api.share_group_heartbeat import is_share_enabled
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.share.coordinator import StateResult
from eosctl.sandbox.coordinator.share.state import NO_COUNT, NO_OFFSET, SharePartitionKey
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.sandbox.turns import gather
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from eosctl.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from eosctl.wire.uuid import ZERO_UUID

LIST_OFFSETS_VERSION = 7
LATEST = -1
NO_LAG = -1
Wanted = tuple[str, int]
PartitionDone = Callable[[DescribeShareGroupOffsetsResponsePartition], None]


def handle(broker: BrokerServices, context: RequestContext, request: DescribeShareGroupOffsetsRequest) -> None:
    """Describe the share-partitions of groups."""

    def reply(groups: list[DescribeShareGroupOffsetsResponseGroup]) -> None:
        context.reply(DescribeShareGroupOffsetsResponse(groups=groups))

    gather(broker.runtime, list(request.groups), partial(_describe, broker), reply)


def _describe(
    broker: BrokerServices,
    group: DescribeShareGroupOffsetsRequestGroup,
    done: Callable[[DescribeShareGroupOffsetsResponseGroup], None],
) -> None:
    if not is_share_enabled(broker):
        error = ErrorCode.UNSUPPORTED_VERSION
        done(DescribeShareGroupOffsetsResponseGroup(group.group_id, error_code=error))
        return
    wanted = _wanted(broker, group)
    if wanted and not group.group_id:
        wanted = ErrorCode.UNKNOWN_SERVER_ERROR  # The share coordinator refuses a group without a name.
    if isinstance(wanted, ErrorCode):
        done(DescribeShareGroupOffsetsResponseGroup(group.group_id, (), wanted, kafka_text(wanted)))
        return

    def described(partitions: list[DescribeShareGroupOffsetsResponsePartition]) -> None:
        topics: dict[str, list[DescribeShareGroupOffsetsResponsePartition]] = {}
        for (name, _), data in zip(wanted, partitions, strict=True):
            topics.setdefault(name, []).append(data)
        shown = [
            DescribeShareGroupOffsetsResponseTopic(name, broker.metadata.topic_id(name) or ZERO_UUID, data)
            for name, data in topics.items()
        ]
        done(DescribeShareGroupOffsetsResponseGroup(group.group_id, shown))

    gather(broker.runtime, wanted, partial(_describe_partition, broker, group.group_id), described)


def _wanted(broker: BrokerServices, group: DescribeShareGroupOffsetsRequestGroup) -> list[Wanted] | ErrorCode:
    if group.topics is not None:
        return [(topic.topic_name, index) for topic in group.topics for index in topic.partitions]
    shard = broker.groups.find_shard(group.group_id)
    if isinstance(shard, ErrorCode):
        return shard
    known = shard.share_groups.get(group.group_id)
    return [
        (name, index)
        for topic_id, topic in ({} if known is None else known.initialized).items()
        if (name := broker.metadata.topic_name(topic_id)) is not None
        for index in sorted(topic.partitions)
    ]


def _describe_partition(broker: BrokerServices, group_id: str, wanted: Wanted, done: PartitionDone) -> None:
    name, index = wanted
    topic_id = broker.metadata.topic_id(name)
    if topic_id is None:
        done(DescribeShareGroupOffsetsResponsePartition(index, NO_OFFSET))
        return

    def summarized(result: StateResult) -> None:
        state = result.state
        start, count = state.start_offset, state.delivery_complete_count
        if result.error is not ErrorCode.NONE:
            done(DescribeShareGroupOffsetsResponsePartition(index, NO_OFFSET))
            return
        if start == NO_OFFSET or count == NO_COUNT:
            done(DescribeShareGroupOffsetsResponsePartition(index, start, state.leader_epoch, NO_LAG))
            return

        def answered(response: Any | None) -> None:
            found = None if response is None else response.topics[0].partitions[0]
            error = ErrorCode.NETWORK_EXCEPTION if found is None else ErrorCode(found.error_code)
            if found is None or error is not ErrorCode.NONE:
                text = kafka_text(error)
                done(DescribeShareGroupOffsetsResponsePartition(index, error_code=error, error_message=text))
            else:
                lag = found.offset - start - count
                done(DescribeShareGroupOffsetsResponsePartition(index, start, state.leader_epoch, lag))

        _ask_end_offset(broker, TopicPartition(name, index), answered)

    broker.share_states.summarize(SharePartitionKey(group_id, topic_id, index), 0, summarized)


def _ask_end_offset(broker: BrokerServices, partition: TopicPartition, answered: Callable[[Any | None], None]) -> None:
    leadership = broker.metadata.leadership(partition)
    if leadership is None or leadership.leader_id < 0:
        answered(None)
        return
    topic = ListOffsetsTopic(partition.topic, [ListOffsetsPartition(partition.partition, timestamp=LATEST)])
    request = ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=[topic])
    broker.channel.send(leadership.leader_id, ApiKey.LIST_OFFSETS, LIST_OFFSETS_VERSION, request, answered)


DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def guard(access: Access, request: DescribeShareGroupOffsetsRequest) -> None:
    """Require DESCRIBE on each group; topics without DESCRIBE are refused, or left out if all were requested."""
    allowed, denied = access.part(request.groups, lambda group: access.may_group(AclOperation.DESCRIBE, group.group_id))
    refused = [DescribeShareGroupOffsetsResponseGroup(group.group_id, error_code=DENIED) for group in denied]
    hidden: dict[str, list[DescribeShareGroupOffsetsResponseTopic]] = {}
    groups = []
    for group in allowed:
        topics, unseen = access.part(
            group.topics or (), lambda topic: access.may_topic(AclOperation.DESCRIBE, topic.topic_name)
        )
        groups.append(group if group.topics is None else replace(group, topics=topics))
        hidden[group.group_id] = [
            DescribeShareGroupOffsetsResponseTopic(
                topic.topic_name,
                partitions=[
                    DescribeShareGroupOffsetsResponsePartition(
                        index, NO_OFFSET, error_code=TOPIC_DENIED, error_message=kafka_text(TOPIC_DENIED)
                    )
                    for index in topic.partitions
                ],
            )
            for topic in unseen
        ]

    def shown(group: DescribeShareGroupOffsetsResponseGroup) -> DescribeShareGroupOffsetsResponseGroup:
        seen = [topic for topic in group.topics if access.may_topic(AclOperation.DESCRIBE, topic.topic_name)]
        return replace(group, topics=[*seen, *hidden.get(group.group_id, ())])

    access.proceed(
        replace(request, groups=groups),
        lambda response: replace(response, groups=[*map(shown, response.groups), *refused]),
    )
