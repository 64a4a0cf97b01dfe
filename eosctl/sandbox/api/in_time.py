"""Administrative requests with a time of their own: the controller does not begin what is late already (KIP-500)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import (
    alter_partition_reassignments,
    create_partitions,
    create_topics,
    delete_topics,
    elect_leaders,
)
from eosctl.wire.uuid import ZERO_UUID

LATE = ErrorCode.REQUEST_TIMED_OUT


def forward_in_time(broker: BrokerServices, context: RequestContext, request: Any) -> None:
    """Let the controller answer, unless the request has no time at all."""
    if request.timeout_ms > 0:
        broker.forward(context, request, request.timeout_ms)
    else:
        context.reply(_LATE[context.api_key](request))


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


_LATE: Mapping[int, Callable[[Any], Any]] = {
    ApiKey.CREATE_TOPICS: _late_creation,
    ApiKey.CREATE_PARTITIONS: _late_growth,
    ApiKey.DELETE_TOPICS: _late_deletion,
    ApiKey.ELECT_LEADERS: _late_election,
    ApiKey.ALTER_PARTITION_REASSIGNMENTS: _late_reassignment,
}
