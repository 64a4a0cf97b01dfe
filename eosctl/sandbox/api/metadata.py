"""Metadata (key 3, versions 0 to 13): brokers, topics, and leaders.

KIP-4, KIP-430 (authorized operations), KIP-516 (topic ids), KIP-1102 (rebootstrap).

- In version 0, an empty list means all topics; later, null means all topics and an empty list none.
- A missing topic is created when the client allows it and `auto.create.topics.enable` is set.
- `controllerId` is a live broker, as in KRaft clusters: clients reach the controller through brokers.
"""

from __future__ import annotations

from msgspec.structs import replace

from eosctl.sandbox.authorization import OPERATIONS_NOT_REQUESTED, AclOperation
from eosctl.sandbox.broker.services import INTERNAL_TOPICS, BrokerServices
from eosctl.sandbox.controller.topics import topic_name_problem
from eosctl.sandbox.metadata.image import PartitionState, TopicState, directory_of
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access, cluster_operations, operations_of
from eosctl.sandbox.security.acls import ResourceType
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.create_topics import CreatableTopic
from eosctl.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from eosctl.wire.uuid import ZERO_UUID

FIRST_BY_ID = 12  # First version with topic ids in requests.


def handle(broker: BrokerServices, context: RequestContext, request: MetadataRequest) -> None:
    """Describe the cluster and the requested topics."""
    version = context.api_version
    if version < FIRST_BY_ID and any(
        topic.name is None or topic.topic_id != ZERO_UUID for topic in request.topics or ()
    ):
        context.reply(_refuse_topics(request, ErrorCode.INVALID_REQUEST))
        return
    if any(topic.name is None and topic.topic_id == ZERO_UUID for topic in request.topics or ()):
        context.reply(_refuse_topics(request, ErrorCode.UNKNOWN_SERVER_ERROR))
        return
    if request.topics is None or (version == 0 and not request.topics):
        topics = [_describe(broker, context, topic) for topic in broker.metadata.topics.values()]
    else:
        topics = _requested_topics(broker, context, request)
    if request.include_topic_authorized_operations:
        topics = [
            topic
            if topic.name is None
            else replace(
                topic, topic_authorized_operations=operations_of(broker, context, ResourceType.TOPIC, topic.name)
            )
            for topic in topics
        ]
    context.reply(
        MetadataResponse(
            throttle_time_ms=0,
            brokers=alive_brokers(broker, context.listener),
            cluster_id=broker.cluster_id,
            controller_id=controller_id(broker),
            topics=topics,
            cluster_authorized_operations=cluster_operations(broker, context)
            if request.include_cluster_authorized_operations
            else OPERATIONS_NOT_REQUESTED,
        )
    )


def _refuse_topics(request: MetadataRequest, error: ErrorCode) -> MetadataResponse:
    """Reject ids in versions 10 and 11, which ignore them, and topics without name and id."""
    topics = [MetadataResponseTopic(error, topic.name or "", topic.topic_id) for topic in request.topics or ()]
    return MetadataResponse(topics=topics)


def alive_brokers(broker: BrokerServices, listener: str) -> list[MetadataResponseBroker]:
    """Return the brokers that serve this listener."""
    found = []
    for state in broker.metadata.active_brokers():
        address = broker.endpoint_of(state.broker_id, listener)
        if address is not None:
            found.append(MetadataResponseBroker(state.broker_id, address.host, address.port, address.rack))
    return found


def controller_id(broker: BrokerServices) -> int:
    """Return the broker reported as controller: a random live one."""
    alive = broker.metadata.active_brokers()
    return broker.runtime.random.choice(alive).broker_id if alive else -1


def _requested_topics(
    broker: BrokerServices, context: RequestContext, request: MetadataRequest
) -> list[MetadataResponseTopic]:
    by_id = any(requested.topic_id != ZERO_UUID for requested in request.topics or ())  # Names are ignored then.
    named = [] if by_id else [topic.name for topic in request.topics or () if topic.name is not None]
    topics = []
    may_create = request.allow_auto_topic_creation and broker.config.get_bool("auto.create.topics.enable")
    to_create: list[CreatableTopic] = []
    for name in dict.fromkeys(named):
        state = broker.metadata.topics.get(name)
        if state is not None:
            topics.append(_describe(broker, context, state))
        elif topic_name_problem(name) is not None:
            topics.append(MetadataResponseTopic(ErrorCode.INVALID_TOPIC_EXCEPTION, name))
        else:
            topics.append(MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name))
            if may_create and name in INTERNAL_TOPICS:
                broker.ensure_internal_topic(name)
            elif may_create:
                to_create.append(CreatableTopic(name, -1, -1))
    broker.create_topics(to_create, context.envelope)
    for requested in request.topics or ():
        if requested.topic_id != ZERO_UUID:
            state = broker.metadata.topics_by_id.get(requested.topic_id)
            if state is not None:
                topics.append(_describe(broker, context, state))
            else:
                topics.append(MetadataResponseTopic(ErrorCode.UNKNOWN_TOPIC_ID, None, requested.topic_id))
    return topics


def is_internal(topic: str) -> bool:
    """Return whether Kafka marks a topic as internal."""
    return topic in INTERNAL_TOPICS


def _describe(broker: BrokerServices, context: RequestContext, topic: TopicState) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        0,
        topic.name,
        topic.topic_id if context.api_version >= 10 else ZERO_UUID,
        is_internal(topic.name),
        [
            describe_partition(broker, context.listener, index, state)
            for index, state in sorted(topic.partitions.items())
        ],
    )


def describe_partition(
    broker: BrokerServices, listener: str, index: int, state: PartitionState
) -> MetadataResponsePartition:
    """Describe a partition as a broker's metadata cache does."""
    offline = offline_replicas(broker, state)
    leader, error = state.leader, ErrorCode.NONE
    if leader < 0 or broker.endpoint_of(leader, listener) is None:
        error = ErrorCode.LEADER_NOT_AVAILABLE
        leader = -1
    return MetadataResponsePartition(
        error_code=error,
        partition_index=index,
        leader_id=leader,
        leader_epoch=state.leader_epoch,
        replica_nodes=state.replicas,
        isr_nodes=state.isr,
        offline_replicas=offline,
    )


def offline_replicas(broker: BrokerServices, state: PartitionState) -> list[int]:
    """Return the replicas on brokers that do not serve and in failed log directories."""
    brokers = broker.metadata.brokers
    return [
        replica
        for replica in state.replicas
        if replica not in brokers
        or brokers[replica].fenced
        or not brokers[replica].has_directory(directory_of(state, replica))
    ]


DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def guard(access: Access, request: MetadataRequest) -> None:
    """Require DESCRIBE on each topic, and CREATE to create one; omit unauthorized topics from a list of all."""
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
        MetadataResponseTopic(DENIED, topic.name, topic.topic_id if topic.name is None else ZERO_UUID)
        for topic in [*hidden, *not_created]
    ]
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, topics=[*response.topics, *refused])
    )


def _would_create(access: Access, request: MetadataRequest, topic: MetadataRequestTopic) -> bool:
    return (
        request.allow_auto_topic_creation
        and topic.name is not None
        and topic.name not in access.broker.metadata.topics
        and access.broker.config.get_bool("auto.create.topics.enable")
    )


def _may_create(access: Access, topic: MetadataRequestTopic) -> bool:
    return access.may_cluster(AclOperation.CREATE) or access.may_topic(AclOperation.CREATE, topic.name)
