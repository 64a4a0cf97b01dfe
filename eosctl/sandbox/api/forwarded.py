"""APIs that a broker forwards to the active controller, with their timeouts.

A request that is already past its own timeout is not started (KIP-500). Differences from Kafka:

- CreateTopics: a broker may learn of the topic shortly after the response, as in Kafka.
- DeleteTopics: `delete.topic.enable=false` is ignored.
- AlterPartitionReassignments: `allowReplicationFactorChange` false (version 1) is not enforced.
- UnregisterBroker: a running broker registers again immediately.
- IncrementalAlterConfigs: unknown broker settings are stored, as for plugins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Protocol, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from eosctl.sandbox.api.config_admin import forward_changes
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.routes import Handler
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access, Guard, config_denial, needs_cluster
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import (
    alter_client_quotas,
    alter_configs,
    alter_partition_reassignments,
    alter_user_scram_credentials,
    create_partitions,
    create_topics,
    delete_topics,
    elect_leaders,
    incremental_alter_configs,
    list_partition_reassignments,
    unregister_broker,
    unregister_controller,
    update_features,
)
from eosctl.wire.uuid import ZERO_UUID

TIMEOUT_MS: Final = 30_000
LATE = ErrorCode.REQUEST_TIMED_OUT
DENIED = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
TEXT = kafka_text(DENIED)
TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
FAILED = "Authorization failed."


class _Timed(Protocol):
    """A request with a timeout of its own."""

    @property
    def timeout_ms(self) -> int: ...


_Request = TypeVar("_Request", bound=_Timed)
_ConfigsRequest: TypeAlias = (
    alter_configs.AlterConfigsRequest | incremental_alter_configs.IncrementalAlterConfigsRequest
)
_Refusal: TypeAlias = Callable[[ErrorCode, str | None, int, str], Struct]


def _forward(broker: BrokerServices, context: RequestContext, request: Struct) -> None:
    broker.forward(context, request, TIMEOUT_MS)


def _forward_for_its_time(broker: BrokerServices, context: RequestContext, request: _Timed) -> None:
    broker.forward(context, request, request.timeout_ms)


def _forward_in_time(late: Callable[[_Request], Struct]) -> Handler:
    """Return a handler that responds with `late` when the request's timeout is 0 or less."""

    def handle(broker: BrokerServices, context: RequestContext, request: _Request) -> None:
        if request.timeout_ms > 0:
            broker.forward(context, request, request.timeout_ms)
        else:
            context.reply(late(request))

    return handle


def _forward_configs(build: _Refusal) -> Handler:
    """Return a handler that forwards all resources except loggers and other brokers."""

    def handle(broker: BrokerServices, context: RequestContext, request: _ConfigsRequest) -> None:
        forward_changes(broker, context, request, build)

    return handle


def _late_creation(request: create_topics.CreateTopicsRequest) -> create_topics.CreateTopicsResponse:
    return create_topics.CreateTopicsResponse(
        0,
        [
            create_topics.CreatableTopicResult(
                name=topic.name,
                topic_id=ZERO_UUID,
                error_code=LATE,
                error_message=None,
                num_partitions=-1,
                replication_factor=-1,
                configs=(),
            )
            for topic in request.topics
        ],
    )


def _late_growth(request: create_partitions.CreatePartitionsRequest) -> create_partitions.CreatePartitionsResponse:
    results = [create_partitions.CreatePartitionsTopicResult(topic.name, LATE) for topic in request.topics]
    return create_partitions.CreatePartitionsResponse(0, results)


def _late_deletion(request: delete_topics.DeleteTopicsRequest) -> delete_topics.DeleteTopicsResponse:
    wanted: list[tuple[str | None, bytes]] = [(name, ZERO_UUID) for name in request.topic_names]
    wanted += [(topic.name, topic.topic_id) for topic in request.topics]
    return delete_topics.DeleteTopicsResponse(
        0, [delete_topics.DeletableTopicResult(name, topic_id, LATE) for name, topic_id in dict.fromkeys(wanted)]
    )


def _late_election(request: elect_leaders.ElectLeadersRequest) -> elect_leaders.ElectLeadersResponse:
    results = [
        elect_leaders.ReplicaElectionResult(
            topic.topic, [elect_leaders.PartitionResult(index, LATE, None) for index in topic.partitions]
        )
        for topic in request.topic_partitions or ()
    ]
    return elect_leaders.ElectLeadersResponse(0, LATE, results)


def _late_reassignment(
    request: alter_partition_reassignments.AlterPartitionReassignmentsRequest,
) -> alter_partition_reassignments.AlterPartitionReassignmentsResponse:
    answer = alter_partition_reassignments.ReassignablePartitionResponse
    responses = [
        alter_partition_reassignments.ReassignableTopicResponse(
            topic.name, [answer(partition.partition_index, LATE, None) for partition in topic.partitions]
        )
        for topic in request.topics
    ]
    return alter_partition_reassignments.AlterPartitionReassignmentsResponse(0, True, LATE, None, responses)


HANDLERS: Final[Mapping[int, Handler]] = {
    ApiKey.CREATE_TOPICS: _forward_in_time(_late_creation),
    ApiKey.DELETE_TOPICS: _forward_in_time(_late_deletion),
    ApiKey.CREATE_PARTITIONS: _forward_in_time(_late_growth),
    ApiKey.ELECT_LEADERS: _forward_in_time(_late_election),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: _forward_in_time(_late_reassignment),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: _forward_for_its_time,
    ApiKey.UPDATE_FEATURES: _forward_for_its_time,
    ApiKey.ALTER_CONFIGS: _forward_configs(alter_configs.AlterConfigsResourceResponse),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _forward_configs(incremental_alter_configs.AlterConfigsResourceResponse),
    ApiKey.ALTER_CLIENT_QUOTAS: _forward,
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: _forward,
    ApiKey.UNREGISTER_BROKER: _forward,
    ApiKey.UNREGISTER_CONTROLLER: _forward,
}


def _guard_creation(access: Access, request: create_topics.CreateTopicsRequest) -> None:
    """Require CREATE on the cluster or on each topic; hide the settings without DESCRIBE_CONFIGS."""
    everywhere = access.may_cluster(AclOperation.CREATE)
    allowed, denied = access.part(
        request.topics, lambda topic: everywhere or access.may_topic(AclOperation.CREATE, topic.name)
    )
    refused = [create_topics.CreatableTopicResult(topic.name, ZERO_UUID, TOPIC_DENIED, FAILED) for topic in denied]

    def amend(response: create_topics.CreateTopicsResponse) -> create_topics.CreateTopicsResponse:
        return replace(response, topics=[*(_without_settings(access, topic) for topic in response.topics), *refused])

    access.proceed(replace(request, topics=allowed), amend)


def _without_settings(access: Access, topic: create_topics.CreatableTopicResult) -> create_topics.CreatableTopicResult:
    if topic.error_code or access.may_topic(AclOperation.DESCRIBE_CONFIGS, topic.name):
        return topic
    return replace(topic, num_partitions=-1, replication_factor=-1, configs=None, topic_config_error_code=TOPIC_DENIED)


def _guard_growth(access: Access, request: create_partitions.CreatePartitionsRequest) -> None:
    """Require ALTER on each topic."""
    allowed, denied = access.part(request.topics, lambda topic: access.may_topic(AclOperation.ALTER, topic.name))
    refused = [create_partitions.CreatePartitionsTopicResult(topic.name, TOPIC_DENIED) for topic in denied]
    access.proceed(
        replace(request, topics=allowed), lambda response: replace(response, results=[*refused, *response.results])
    )


def _guard_deletion(access: Access, request: delete_topics.DeleteTopicsRequest) -> None:
    """Require DESCRIBE and DELETE on each topic; do not resolve an id without DESCRIBE."""
    refused: list[delete_topics.DeletableTopicResult] = []
    names = []
    for name in request.topic_names:
        if _may_delete(access, name):
            names.append(name)
        else:
            refused.append(delete_topics.DeletableTopicResult(name, ZERO_UUID, TOPIC_DENIED, FAILED))
    topics = []
    for topic in request.topics:
        known = access.broker.metadata.topic_name(topic.topic_id) if topic.name is None else topic.name
        if _may_delete(access, known):
            topics.append(topic)
        else:
            seen = topic.name is not None or access.may_topic(AclOperation.DESCRIBE, known)
            shown_name = known if seen else None
            refused.append(delete_topics.DeletableTopicResult(shown_name, topic.topic_id, TOPIC_DENIED, FAILED))
    access.proceed(
        replace(request, topic_names=names, topics=topics),
        lambda response: replace(response, responses=[*response.responses, *refused]),
    )


def _may_delete(access: Access, name: str | None) -> bool:
    if access.may_cluster(AclOperation.DELETE) or access.may_topic(AclOperation.DELETE, name):
        return True
    # Only principals with DESCRIBE receive the error for a missing topic.
    return name not in access.broker.metadata.topics and access.may_topic(AclOperation.DESCRIBE, name)


def _guard_change(refusal: _Refusal) -> Guard:
    """Return a guard that forwards the authorized resources and adds the others to the response."""

    def guard(access: Access, request: _ConfigsRequest) -> None:
        allowed, refused = [], []
        for resource in request.resources:
            kind, name = resource.resource_type, resource.resource_name
            error = config_denial(access, AclOperation.ALTER_CONFIGS, kind, name)
            if error is None:
                allowed.append(resource)
            else:
                refused.append(refusal(error, kafka_text(error), kind, name))
        access.proceed(
            replace(request, resources=allowed),
            lambda response: replace(response, responses=[*response.responses, *refused]),
        )

    return guard


def _refuse_reassignment(
    request: alter_partition_reassignments.AlterPartitionReassignmentsRequest,
) -> alter_partition_reassignments.AlterPartitionReassignmentsResponse:
    topics = [
        alter_partition_reassignments.ReassignableTopicResponse(
            topic.name,
            [
                alter_partition_reassignments.ReassignablePartitionResponse(one.partition_index, DENIED, TEXT)
                for one in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return alter_partition_reassignments.AlterPartitionReassignmentsResponse(
        error_code=DENIED, error_message=TEXT, responses=topics
    )


def _refuse_election(request: elect_leaders.ElectLeadersRequest) -> elect_leaders.ElectLeadersResponse:
    topics = [
        elect_leaders.ReplicaElectionResult(
            topic.topic, [elect_leaders.PartitionResult(index, DENIED, TEXT) for index in topic.partitions]
        )
        for topic in request.topic_partitions or ()
    ]
    return elect_leaders.ElectLeadersResponse(0, DENIED, topics)


def _refuse_quotas(
    request: alter_client_quotas.AlterClientQuotasRequest,
) -> alter_client_quotas.AlterClientQuotasResponse:
    return alter_client_quotas.AlterClientQuotasResponse(
        0,
        [
            alter_client_quotas.ResponseEntryData(
                DENIED,
                TEXT,
                [alter_client_quotas.EntityData(part.entity_type, part.entity_name) for part in entry.entity],
            )
            for entry in request.entries
        ],
    )


def _refuse_scram(
    request: alter_user_scram_credentials.AlterUserScramCredentialsRequest,
) -> alter_user_scram_credentials.AlterUserScramCredentialsResponse:
    users = dict.fromkeys([*(one.name for one in request.deletions), *(one.name for one in request.upsertions)])
    return alter_user_scram_credentials.AlterUserScramCredentialsResponse(
        0, [alter_user_scram_credentials.AlterUserScramCredentialsResult(user, DENIED, TEXT) for user in users]
    )


#: The permissions that Kafka's `ControllerApis` requires.
GUARDS: Final[Mapping[int, Guard]] = {
    ApiKey.CREATE_TOPICS: _guard_creation,
    ApiKey.DELETE_TOPICS: _guard_deletion,
    ApiKey.CREATE_PARTITIONS: _guard_growth,
    ApiKey.ELECT_LEADERS: needs_cluster(AclOperation.ALTER, _refuse_election),
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: needs_cluster(AclOperation.ALTER, _refuse_reassignment),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: needs_cluster(
        AclOperation.DESCRIBE,
        lambda _: list_partition_reassignments.ListPartitionReassignmentsResponse(0, DENIED, TEXT),
    ),
    ApiKey.UPDATE_FEATURES: needs_cluster(
        AclOperation.ALTER, lambda _: update_features.UpdateFeaturesResponse(0, DENIED, TEXT)
    ),
    ApiKey.ALTER_CONFIGS: _guard_change(alter_configs.AlterConfigsResourceResponse),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: _guard_change(incremental_alter_configs.AlterConfigsResourceResponse),
    ApiKey.ALTER_CLIENT_QUOTAS: needs_cluster(AclOperation.ALTER_CONFIGS, _refuse_quotas),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: needs_cluster(AclOperation.ALTER, _refuse_scram),
    ApiKey.UNREGISTER_BROKER: needs_cluster(
        AclOperation.ALTER, lambda _: unregister_broker.UnregisterBrokerResponse(0, DENIED, TEXT)
    ),
    ApiKey.UNREGISTER_CONTROLLER: needs_cluster(
        AclOperation.ALTER, lambda _: unregister_controller.UnregisterControllerResponse(0, DENIED, TEXT)
    ),
}
