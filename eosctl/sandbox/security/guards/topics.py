"""Guards of topics: seeing, creating, growing and deleting them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.security.access import Access, Guard
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import create_partitions, create_topics, delete_topics, describe_topic_partitions, metadata
from eosctl.wire.uuid import ZERO_UUID

DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
FAILED = "Authorization failed."


def guard_metadata(access: Access, request: metadata.MetadataRequest) -> None:
    """Ask for DESCRIBE on each topic, and for CREATE where one would be created; unseen topics are left out of all."""
    if request.topics is None or (access.context.api_version == 0 and not request.topics):
        access.proceed(
            request,
            lambda response: replace(
                response,
                topics=[topic for topic in response.topics if access.may_topic(AclOperation.DESCRIBE, topic.name)],
            ),
        )
        return
    seen, hidden = access.part(
        request.topics,
        lambda topic: access.may_topic(
            AclOperation.DESCRIBE,
            access.broker.metadata.topic_name(topic.topic_id) if topic.name is None else topic.name,
        ),
    )
    allowed, not_created = access.part(
        seen, lambda topic: not _would_create(access, request, topic) or _may_create(access, topic)
    )
    refused = [
        metadata.MetadataResponseTopic(DENIED, topic.name, topic.topic_id if topic.name is None else ZERO_UUID)
        for topic in [*hidden, *not_created]
    ]
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, topics=[*response.topics, *refused])
    )


def _would_create(access: Access, request: metadata.MetadataRequest, topic: metadata.MetadataRequestTopic) -> bool:
    return (
        request.allow_auto_topic_creation
        and topic.name is not None
        and topic.name not in access.broker.metadata.topics
        and access.broker.config.get_bool("auto.create.topics.enable")
    )


def _may_create(access: Access, topic: metadata.MetadataRequestTopic) -> bool:
    return access.may_cluster(AclOperation.CREATE) or access.may_topic(AclOperation.CREATE, topic.name)


def guard_topic_partitions(access: Access, request: describe_topic_partitions.DescribeTopicPartitionsRequest) -> None:
    """Ask for DESCRIBE on each topic; without names, describe those that may be seen."""
    names = [topic.name for topic in request.topics]
    allowed, denied = access.part(
        names or access.broker.metadata.topics, lambda name: access.may_topic(AclOperation.DESCRIBE, name)
    )
    refused = [describe_topic_partitions.DescribeTopicPartitionsResponseTopic(DENIED, name) for name in denied if names]
    if not allowed:
        access.reply(describe_topic_partitions.DescribeTopicPartitionsResponse(0, refused))
        return
    access.proceed(
        replace(request, topics=[describe_topic_partitions.TopicRequest(name) for name in allowed]),
        lambda response: replace(response, topics=[*refused, *response.topics]),
    )


def guard_create(access: Access, request: create_topics.CreateTopicsRequest) -> None:
    """Ask for CREATE on the cluster or on each topic; who may not see the settings is not told them."""
    everywhere = access.may_cluster(AclOperation.CREATE)
    allowed, denied = access.part(
        request.topics, lambda topic: everywhere or access.may_topic(AclOperation.CREATE, topic.name)
    )
    refused = [create_topics.CreatableTopicResult(topic.name, ZERO_UUID, DENIED, FAILED) for topic in denied]

    def amend(response: create_topics.CreateTopicsResponse) -> create_topics.CreateTopicsResponse:
        return replace(response, topics=[*(_without_settings(access, topic) for topic in response.topics), *refused])

    access.proceed(replace(request, topics=allowed), amend)


def _without_settings(access: Access, topic: create_topics.CreatableTopicResult) -> create_topics.CreatableTopicResult:
    if topic.error_code or access.may_topic(AclOperation.DESCRIBE_CONFIGS, topic.name):
        return topic
    return replace(topic, num_partitions=-1, replication_factor=-1, configs=None, topic_config_error_code=DENIED)


def guard_grow(access: Access, request: create_partitions.CreatePartitionsRequest) -> None:
    """Ask for ALTER on each topic."""
    allowed, denied = access.part(request.topics, lambda topic: access.may_topic(AclOperation.ALTER, topic.name))
    refused = [create_partitions.CreatePartitionsTopicResult(topic.name, DENIED) for topic in denied]
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, results=[*refused, *response.results])
    )


def guard_delete(access: Access, request: delete_topics.DeleteTopicsRequest) -> None:
    """Ask for DESCRIBE and DELETE on each topic; an id is not given a name for those who may not see it."""
    refused: list[delete_topics.DeletableTopicResult] = []
    names = []
    for name in request.topic_names:
        if _may_delete(access, name):
            names.append(name)
        else:
            refused.append(delete_topics.DeletableTopicResult(name, ZERO_UUID, DENIED, FAILED))
    topics = []
    for topic in request.topics:
        known = access.broker.metadata.topic_name(topic.topic_id) if topic.name is None else topic.name
        if _may_delete(access, known):
            topics.append(topic)
        else:
            seen = topic.name is not None or access.may_topic(AclOperation.DESCRIBE, known)
            told = known if seen else None
            refused.append(delete_topics.DeletableTopicResult(told, topic.topic_id, DENIED, FAILED))
    access.proceed(
        replace(request, topic_names=names, topics=topics),
        lambda response: replace(response, responses=[*response.responses, *refused]),
    )


def _may_delete(access: Access, name: str | None) -> bool:
    if access.may_cluster(AclOperation.DELETE) or access.may_topic(AclOperation.DELETE, name):
        return True
    # Those who may see that there is no such topic are told so.
    return name not in access.broker.metadata.topics and access.may_topic(AclOperation.DESCRIBE, name)


GUARDS: Mapping[int, Guard] = {
    ApiKey.METADATA: guard_metadata,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: guard_topic_partitions,
    ApiKey.CREATE_TOPICS: guard_create,
    ApiKey.CREATE_PARTITIONS: guard_grow,
    ApiKey.DELETE_TOPICS: guard_delete,
}
