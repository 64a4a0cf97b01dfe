"""APIs that a broker only forwards to the active controller, with the time that each of them has.

A request with a time of its own is not begun when it is late already (KIP-500). What differs from Kafka:

- CreateTopics: a broker may learn of the topic a moment after the answer, as in Kafka.
- DeleteTopics: ``delete.topic.enable=false`` is not obeyed.
- AlterPartitionReassignments: ``allowReplicationFactorChange`` false (version 1) is not enforced.
- AlterClientQuotas: quotas are kept and described, and no client is throttled.
- UnregisterBroker: a broker that still runs registers again immediately.
- IncrementalAlterConfigs: unknown broker settings are kept, as for plugins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from eosctl.sandbox.api.own_node import forward_changes
from eosctl.sandbox.broker.served import Handler
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import (
    alter_configs,
    alter_partition_reassignments,
    create_partitions,
    create_topics,
    delete_topics,
    elect_leaders,
    incremental_alter_configs,
)
from eosctl.wire.uuid import ZERO_UUID

TIMEOUT_MS: Final = 30_000
LATE = ErrorCode.REQUEST_TIMED_OUT


def _forward(broker: BrokerServices, context: RequestContext, request: Any) -> None:
    broker.forward(context, request, TIMEOUT_MS)


def _forward_for_its_time(broker: BrokerServices, context: RequestContext, request: Any) -> None:
    broker.forward(context, request, request.timeout_ms)


def _forward_in_time(late: Callable[[Any], Any]) -> Handler:
    """Return a handler that answers with ``late`` when the request has no time at all."""

    def handle(broker: BrokerServices, context: RequestContext, request: Any) -> None:
        if request.timeout_ms > 0:
            broker.forward(context, request, request.timeout_ms)
        else:
            context.reply(late(request))

    return handle


def _forward_configs(refusal: Callable[..., Any]) -> Handler:
    """Return a handler that forwards what is not another broker's."""

    def handle(broker: BrokerServices, context: RequestContext, request: Any) -> None:
        forward_changes(broker, context, request, refusal)

    return handle


def _late_creation(request: create_topics.CreateTopicsRequest) -> Any:
    return create_topics.CreateTopicsResponse(
        0,
        [create_topics.CreatableTopicResult(topic.name, ZERO_UUID, LATE, None, -1, -1, ()) for topic in request.topics],
    )


def _late_growth(request: create_partitions.CreatePartitionsRequest) -> Any:
    results = [create_partitions.CreatePartitionsTopicResult(topic.name, LATE) for topic in request.topics]
    return create_partitions.CreatePartitionsResponse(0, results)


def _late_deletion(request: delete_topics.DeleteTopicsRequest) -> Any:
    wanted: list[tuple[str | None, bytes]] = [(name, ZERO_UUID) for name in request.topic_names]
    wanted += [(topic.name, topic.topic_id) for topic in request.topics]
    return delete_topics.DeleteTopicsResponse(
        0, [delete_topics.DeletableTopicResult(name, topic_id, LATE) for name, topic_id in dict.fromkeys(wanted)]
    )


def _late_election(request: elect_leaders.ElectLeadersRequest) -> Any:
    results = [
        elect_leaders.ReplicaElectionResult(
            topic.topic, [elect_leaders.PartitionResult(index, LATE, None) for index in topic.partitions]
        )
        for topic in request.topic_partitions or ()
    ]
    return elect_leaders.ElectLeadersResponse(0, LATE, results)


def _late_reassignment(request: alter_partition_reassignments.AlterPartitionReassignmentsRequest) -> Any:
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
}
