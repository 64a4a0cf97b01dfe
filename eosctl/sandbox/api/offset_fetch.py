"""OffsetFetch (key 9, versions 1 to 10; 3.9 serves 0 to 9; KIP-88, KIP-320, KIP-447, KIP-709, KIP-848).

- Null topics (from version 2) request all offsets of the group; unknown groups and partitions have offset -1.
- With `require_stable` (from version 7), an offset of an open transaction gets UNSTABLE_OFFSET_COMMIT (88) and -1.
- From version 8, several groups; version 9 checks the member epoch of a consumer group; version 10 uses topic ids.
- Below version 2, the group's error is set on each partition; version 0 (ZooKeeper) is rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import NamedTuple

from msgspec.structs import replace

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.offset_manager import FetchedOffset
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access
from eosctl.sandbox.turns import gather
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from eosctl.wire.uuid import ZERO_UUID

_GROUP_ERROR_VERSION = 2
_GROUPS_VERSION = 8
_TOPIC_ID_VERSION = 10
_NO_OFFSET = -1


class _Fetched(NamedTuple):
    """The result for one group of the request."""

    request: OffsetFetchRequestGroup
    error: ErrorCode
    offsets: Sequence[FetchedOffset]


def handle(broker: BrokerServices, context: RequestContext, request: OffsetFetchRequest) -> None:
    """Return the committed offsets of groups."""
    if context.api_version >= _GROUPS_VERSION:
        if not request.groups and broker.emulation.is_3_9:
            return  # Given no groups, 3.9 never responds.
        groups = list(request.groups)
    else:
        topics = request.topics
        groups = [
            OffsetFetchRequestGroup(
                request.group_id,
                topics=None
                if topics is None
                else [
                    OffsetFetchRequestTopics(topic.name, partition_indexes=topic.partition_indexes) for topic in topics
                ],
            )
        ]

    def reply(found: list[_Fetched]) -> None:
        if context.api_version >= _GROUPS_VERSION:
            answers = [_group(broker, fetched, context.api_version) for fetched in found]
            context.reply(OffsetFetchResponse(groups=answers))
        else:
            context.reply(_single_group(broker, found[0], context.api_version))

    gather(broker.runtime, groups, partial(_fetch, broker, context, request.require_stable), reply)


def _fetch(
    broker: BrokerServices,
    context: RequestContext,
    require_stable: bool,
    group: OffsetFetchRequestGroup,
    done: Callable[[_Fetched], None],
) -> None:
    shard = broker.groups.find_shard(group.group_id)
    if context.api_version == 0:
        shard = ErrorCode.UNSUPPORTED_VERSION
    if isinstance(shard, ErrorCode):
        done(_Fetched(group, shard, ()))
        return
    partitions = None
    if group.topics is not None:
        partitions = [
            TopicPartition(name, index)
            for name, topic in ((_name(broker, context, topic), topic) for topic in group.topics)
            for index in topic.partition_indexes
            if name is not None
        ]
        if broker.emulation.is_3_9:
            partitions = list(dict.fromkeys(partitions))
    broker.groups.offsets.fetch(
        shard,
        group.group_id,
        partitions,
        require_stable,
        group.member_id,
        group.member_epoch,
        lambda error, offsets: done(_Fetched(group, error, offsets)),
    )


def _name(broker: BrokerServices, context: RequestContext, topic: OffsetFetchRequestTopics) -> str | None:
    if context.api_version < _TOPIC_ID_VERSION:
        return topic.name
    name: str | None = broker.metadata.topic_name(topic.topic_id)
    return name


def _by_topic(offsets: Sequence[FetchedOffset]) -> list[tuple[str, list[FetchedOffset]]]:
    ordered = sorted(offsets, key=lambda fetched: fetched.partition)
    return [(topic, list(of_topic)) for topic, of_topic in groupby(ordered, lambda fetched: fetched.partition.topic)]


def _topics_without_partitions(broker: BrokerServices, fetched: _Fetched) -> list[OffsetFetchRequestTopics]:
    """Return the topics requested without partitions: 4.x returns them unchanged, 3.9 omits them."""
    if broker.emulation.is_3_9 or fetched.error is not ErrorCode.NONE:
        return []
    return [topic for topic in fetched.request.topics or () if not topic.partition_indexes]


def _fields(fetched: FetchedOffset) -> tuple[int, int, int, str, ErrorCode]:
    committed, index = fetched.committed, fetched.partition.partition
    if committed is None:
        return index, _NO_OFFSET, -1, "", fetched.error
    return index, committed.offset, committed.leader_epoch, committed.metadata, fetched.error


def _group(broker: BrokerServices, fetched: _Fetched, version: int) -> OffsetFetchResponseGroup:
    topics = [
        OffsetFetchResponseTopics(
            topic,
            broker.metadata.topic_id(topic) or ZERO_UUID,
            [OffsetFetchResponsePartitions(*_fields(entry)) for entry in of_topic],
        )
        for topic, of_topic in _by_topic(fetched.offsets)
    ]
    topics += [
        OffsetFetchResponseTopics(topic.name, topic.topic_id) for topic in _topics_without_partitions(broker, fetched)
    ]
    if version >= _TOPIC_ID_VERSION and fetched.error is ErrorCode.NONE:
        topics += _unknown_ids(broker, fetched.request)
    return OffsetFetchResponseGroup(fetched.request.group_id, topics, fetched.error)


def _unknown_ids(broker: BrokerServices, request: OffsetFetchRequestGroup) -> list[OffsetFetchResponseTopics]:
    unknown = [
        topic
        for topic in request.topics or ()
        if topic.partition_indexes and broker.metadata.topic_name(topic.topic_id) is None
    ]
    return [
        OffsetFetchResponseTopics(
            "",
            topic.topic_id,
            [
                OffsetFetchResponsePartitions(index, _NO_OFFSET, -1, "", ErrorCode.UNKNOWN_TOPIC_ID)
                for index in topic.partition_indexes
            ],
        )
        for topic in unknown
    ]


def _single_group(broker: BrokerServices, fetched: _Fetched, version: int) -> OffsetFetchResponse:
    offsets = fetched.offsets
    if fetched.error is not ErrorCode.NONE and version < _GROUP_ERROR_VERSION:
        offsets = [
            FetchedOffset(TopicPartition(topic.name, index), None, fetched.error)
            for topic in fetched.request.topics or ()
            for index in topic.partition_indexes
        ]
    topics = [
        OffsetFetchResponseTopic(topic, [OffsetFetchResponsePartition(*_fields(entry)) for entry in of_topic])
        for topic, of_topic in _by_topic(offsets)
    ]
    topics += [OffsetFetchResponseTopic(topic.name) for topic in _topics_without_partitions(broker, fetched)]
    return OffsetFetchResponse(topics=topics, error_code=fetched.error)


DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
FIRST_GROUPS_VERSION = 8
FIRST_GROUP_ERROR_VERSION = 2
FIRST_TOPIC_ID_VERSION = 10


def guard(access: Access, request: OffsetFetchRequest) -> None:
    """Require DESCRIBE on each group and each topic; a request for all topics returns the authorized ones."""
    if access.context.api_version >= FIRST_GROUPS_VERSION:
        _fetch_of_groups(access, request)
    elif not access.may_group(AclOperation.DESCRIBE, request.group_id):
        access.reply(_no_offsets(access, request))
    elif request.topics is None:
        access.proceed(
            request,
            lambda response: replace(
                response,
                topics=[topic for topic in response.topics if access.may_topic(AclOperation.DESCRIBE, topic.name)],
            ),
        )
    else:
        allowed, denied = access.part(request.topics, lambda topic: access.may_topic(AclOperation.DESCRIBE, topic.name))
        refused = [
            OffsetFetchResponseTopic(
                topic.name,
                [OffsetFetchResponsePartition(index, -1, -1, "", TOPIC_DENIED) for index in topic.partition_indexes],
            )
            for topic in denied
        ]
        access.proceed(
            replace(request, topics=allowed), lambda response: replace(response, topics=[*refused, *response.topics])
        )


def _no_offsets(access: Access, request: OffsetFetchRequest) -> OffsetFetchResponse:
    if access.context.api_version >= FIRST_GROUP_ERROR_VERSION:
        return OffsetFetchResponse(error_code=DENIED)
    return OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(
                topic.name,
                [OffsetFetchResponsePartition(index, -1, -1, "", DENIED) for index in topic.partition_indexes],
            )
            for topic in request.topics or ()
        ]
    )


def _fetch_of_groups(access: Access, request: OffsetFetchRequest) -> None:
    groups: list[OffsetFetchRequestGroup] = []
    refused: list[OffsetFetchResponseGroup] = []
    hidden: dict[str, list[OffsetFetchResponseTopics]] = {}
    for group in request.groups:
        if not access.may_group(AclOperation.DESCRIBE, group.group_id):
            refused.append(OffsetFetchResponseGroup(group.group_id, (), DENIED))
        elif group.topics is None:
            groups.append(group)
        else:
            allowed, denied = access.part(
                group.topics,
                lambda topic: access.may_topic(
                    AclOperation.DESCRIBE, access.topic_name(topic.name, topic.topic_id, FIRST_TOPIC_ID_VERSION)
                ),
            )
            groups.append(replace(group, topics=allowed))
            hidden[group.group_id] = [
                OffsetFetchResponseTopics(
                    topic.name,
                    topic.topic_id,
                    [
                        OffsetFetchResponsePartitions(index, -1, -1, "", TOPIC_DENIED)
                        for index in topic.partition_indexes
                    ],
                )
                for topic in denied
            ]

    def shown(group: OffsetFetchResponseGroup) -> OffsetFetchResponseGroup:
        if group.error_code:
            return group
        if group.group_id in hidden:
            return replace(group, topics=[*hidden[group.group_id], *group.topics])
        return replace(
            group, topics=[topic for topic in group.topics if access.may_topic(AclOperation.DESCRIBE, topic.name)]
        )

    if not groups:
        access.reply(OffsetFetchResponse(groups=refused))
        return
    access.proceed(
        replace(request, groups=groups),
        lambda response: replace(response, groups=[*map(shown, response.groups), *refused]),
    )
