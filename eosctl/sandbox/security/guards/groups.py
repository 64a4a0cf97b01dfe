"""Guards of groups and of their offsets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.kafka_texts import kafka_text
from eosctl.sandbox.security.access import Access, Guard
from eosctl.sandbox.security.acls import ResourceType
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import (
    consumer_group_describe,
    consumer_group_heartbeat,
    delete_groups,
    describe_groups,
    find_coordinator,
    heartbeat,
    join_group,
    leave_group,
    list_groups,
    offset_commit,
    offset_delete,
    offset_fetch,
    sync_group,
)

DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
FIRST_KEYS_VERSION = 4
FIRST_GROUPS_VERSION = 8
FIRST_GROUP_ERROR_VERSION = 2
FIRST_TOPIC_ID_VERSION = 10
HIDDEN_TOPICS = "The group has described topic(s) that the client is not authorized to describe."

_KEY_TYPES = {
    0: (ResourceType.GROUP, DENIED),
    1: (ResourceType.TRANSACTIONAL_ID, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
}


def guard_coordinator(access: Access, request: find_coordinator.FindCoordinatorRequest) -> None:
    """Ask for DESCRIBE on each group or transactional id."""
    if request.key_type not in _KEY_TYPES:
        access.proceed(request)
        return
    kind, error = _KEY_TYPES[request.key_type]
    if access.context.api_version < FIRST_KEYS_VERSION:
        if access.may(AclOperation.DESCRIBE, kind, request.key):
            access.proceed(request)
        else:
            answer = find_coordinator.FindCoordinatorResponse(
                error_code=error, error_message=kafka_text(error), node_id=-1, port=-1
            )
            access.reply(answer)
        return
    allowed, denied = access.part(request.coordinator_keys, lambda key: access.may(AclOperation.DESCRIBE, kind, key))
    refused = [find_coordinator.Coordinator(key, -1, "", -1, error, "") for key in denied]
    access.proceed(
        replace(request, coordinator_keys=allowed),
        lambda response: replace(response, coordinators=[*response.coordinators, *refused]),
    )


def _member_of(response: Any) -> Guard:
    """Ask for READ on the group; ``response`` refuses."""

    def guard(access: Access, request: Any) -> None:
        if access.may_group(AclOperation.READ, request.group_id):
            access.proceed(request)
        else:
            access.reply(response)

    return guard


def guard_consumer_heartbeat(access: Access, request: consumer_group_heartbeat.ConsumerGroupHeartbeatRequest) -> None:
    """Ask for READ on the group and for DESCRIBE on every topic that is subscribed to by name."""
    error = None
    if not access.may_group(AclOperation.READ, request.group_id):
        error = DENIED
    elif not all(access.may_topic(AclOperation.DESCRIBE, name) for name in request.subscribed_topic_names or ()):
        error = TOPIC_DENIED
    if error is None:
        access.proceed(request)
    else:
        access.reply(consumer_group_heartbeat.ConsumerGroupHeartbeatResponse(0, error, kafka_text(error)))


def guard_describe(access: Access, request: describe_groups.DescribeGroupsRequest) -> None:
    """Ask for DESCRIBE on each group."""
    allowed, denied = access.part(request.groups, lambda group: access.may_group(AclOperation.DESCRIBE, group))
    refused = [describe_groups.DescribedGroup(DENIED, None, group) for group in denied]
    access.proceed(
        replace(request, groups=allowed), lambda response: replace(response, groups=[*refused, *response.groups])
    )


def guard_describe_consumers(access: Access, request: consumer_group_describe.ConsumerGroupDescribeRequest) -> None:
    """Ask for DESCRIBE on each group, and on every topic that its members have."""
    allowed, denied = access.part(request.group_ids, lambda group: access.may_group(AclOperation.DESCRIBE, group))
    refused = [consumer_group_describe.DescribedGroup(DENIED, kafka_text(DENIED), group) for group in denied]

    def shown(group: consumer_group_describe.DescribedGroup) -> consumer_group_describe.DescribedGroup:
        topics = {name for member in group.members for name in member.subscribed_topic_names} | {
            part.topic_name
            for member in group.members
            for assignment in (member.assignment, member.target_assignment)
            for part in assignment.topic_partitions
        }
        if all(access.may_topic(AclOperation.DESCRIBE, name) for name in topics):
            return group
        return consumer_group_describe.DescribedGroup(TOPIC_DENIED, HIDDEN_TOPICS, group.group_id)

    access.proceed(
        replace(request, group_ids=allowed),
        lambda response: replace(response, groups=[*refused, *map(shown, response.groups)]),
    )


def guard_list(access: Access, request: list_groups.ListGroupsRequest) -> None:
    """Show all groups to those who may DESCRIBE the cluster, to others those that they may DESCRIBE."""
    if access.may_cluster(AclOperation.DESCRIBE):
        access.proceed(request)
        return
    access.proceed(
        request,
        lambda response: replace(
            response,
            groups=[group for group in response.groups if access.may_group(AclOperation.DESCRIBE, group.group_id)],
        ),
    )


def guard_delete(access: Access, request: delete_groups.DeleteGroupsRequest) -> None:
    """Ask for DELETE on each group."""
    allowed, denied = access.part(request.groups_names, lambda group: access.may_group(AclOperation.DELETE, group))
    refused = [delete_groups.DeletableGroupResult(group, DENIED) for group in denied]
    access.proceed(
        replace(request, groups_names=allowed),
        lambda response: replace(response, results=[*response.results, *refused]),
    )


def guard_offset_delete(access: Access, request: offset_delete.OffsetDeleteRequest) -> None:
    """Ask for DELETE on the group and for READ on each topic."""
    if not access.may_group(AclOperation.DELETE, request.group_id):
        access.reply(offset_delete.OffsetDeleteResponse(DENIED))
        return
    allowed, denied = access.part(request.topics, lambda topic: access.may_topic(AclOperation.READ, topic.name))
    refused = [
        offset_delete.OffsetDeleteResponseTopic(
            topic.name,
            [
                offset_delete.OffsetDeleteResponsePartition(one.partition_index, TOPIC_DENIED)
                for one in topic.partitions
            ],
        )
        for topic in denied
    ]

    def amend(response: offset_delete.OffsetDeleteResponse) -> offset_delete.OffsetDeleteResponse:
        return response if response.error_code else replace(response, topics=[*refused, *response.topics])

    access.proceed(replace(request, topics=allowed), amend)


def guard_offset_commit(access: Access, request: offset_commit.OffsetCommitRequest) -> None:
    """Ask for READ on the group and on each topic."""
    error, denied = DENIED, list(request.topics)
    allowed: list[offset_commit.OffsetCommitRequestTopic] = []
    if access.may_group(AclOperation.READ, request.group_id):
        error = TOPIC_DENIED
        allowed, denied = access.part(
            request.topics,
            lambda topic: access.may_topic(
                AclOperation.READ, access.topic_name(topic.name, topic.topic_id, FIRST_TOPIC_ID_VERSION)
            ),
        )
    refused = [
        offset_commit.OffsetCommitResponseTopic(
            topic.name,
            topic.topic_id,
            [offset_commit.OffsetCommitResponsePartition(one.partition_index, error) for one in topic.partitions],
        )
        for topic in denied
    ]
    if denied and not allowed:
        access.reply(offset_commit.OffsetCommitResponse(topics=refused))
        return
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, topics=[*refused, *response.topics])
    )


def guard_offset_fetch(access: Access, request: offset_fetch.OffsetFetchRequest) -> None:
    """Ask for DESCRIBE on each group and each topic; offsets of all topics are shown of those that may be seen."""
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
            offset_fetch.OffsetFetchResponseTopic(
                topic.name,
                [
                    offset_fetch.OffsetFetchResponsePartition(index, -1, -1, "", TOPIC_DENIED)
                    for index in topic.partition_indexes
                ],
            )
            for topic in denied
        ]
        access.proceed(
            replace(request, topics=allowed), lambda response: replace(response, topics=[*refused, *response.topics])
        )


def _no_offsets(access: Access, request: offset_fetch.OffsetFetchRequest) -> offset_fetch.OffsetFetchResponse:
    if access.context.api_version >= FIRST_GROUP_ERROR_VERSION:
        return offset_fetch.OffsetFetchResponse(error_code=DENIED)
    return offset_fetch.OffsetFetchResponse(
        topics=[
            offset_fetch.OffsetFetchResponseTopic(
                topic.name,
                [
                    offset_fetch.OffsetFetchResponsePartition(index, -1, -1, "", DENIED)
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics or ()
        ]
    )


def _fetch_of_groups(access: Access, request: offset_fetch.OffsetFetchRequest) -> None:
    groups: list[offset_fetch.OffsetFetchRequestGroup] = []
    refused: list[offset_fetch.OffsetFetchResponseGroup] = []
    hidden: dict[str, list[offset_fetch.OffsetFetchResponseTopics]] = {}
    for group in request.groups:
        if not access.may_group(AclOperation.DESCRIBE, group.group_id):
            refused.append(offset_fetch.OffsetFetchResponseGroup(group.group_id, (), DENIED))
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
                offset_fetch.OffsetFetchResponseTopics(
                    topic.name,
                    topic.topic_id,
                    [
                        offset_fetch.OffsetFetchResponsePartitions(index, -1, -1, "", TOPIC_DENIED)
                        for index in topic.partition_indexes
                    ],
                )
                for topic in denied
            ]

    def shown(group: offset_fetch.OffsetFetchResponseGroup) -> offset_fetch.OffsetFetchResponseGroup:
        if group.error_code:
            return group
        if group.group_id in hidden:
            return replace(group, topics=[*hidden[group.group_id], *group.topics])
        return replace(
            group, topics=[topic for topic in group.topics if access.may_topic(AclOperation.DESCRIBE, topic.name)]
        )

    if not groups:
        access.reply(offset_fetch.OffsetFetchResponse(groups=refused))
        return
    access.proceed(
        replace(request, groups=groups),
        lambda response: replace(response, groups=[*map(shown, response.groups), *refused]),
    )


GUARDS: Mapping[int, Guard] = {
    ApiKey.FIND_COORDINATOR: guard_coordinator,
    ApiKey.JOIN_GROUP: _member_of(join_group.JoinGroupResponse(error_code=DENIED)),
    ApiKey.SYNC_GROUP: _member_of(sync_group.SyncGroupResponse(error_code=DENIED)),
    ApiKey.HEARTBEAT: _member_of(heartbeat.HeartbeatResponse(error_code=DENIED)),
    ApiKey.LEAVE_GROUP: _member_of(leave_group.LeaveGroupResponse(error_code=DENIED)),
    ApiKey.CONSUMER_GROUP_HEARTBEAT: guard_consumer_heartbeat,
    ApiKey.DESCRIBE_GROUPS: guard_describe,
    ApiKey.CONSUMER_GROUP_DESCRIBE: guard_describe_consumers,
    ApiKey.LIST_GROUPS: guard_list,
    ApiKey.DELETE_GROUPS: guard_delete,
    ApiKey.OFFSET_DELETE: guard_offset_delete,
    ApiKey.OFFSET_COMMIT: guard_offset_commit,
    ApiKey.OFFSET_FETCH: guard_offset_fetch,
}
