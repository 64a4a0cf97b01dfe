"""Which partitions are on their way to other replicas."""

from __future__ import annotations

from eosctl.sandbox.controller.controller import Controller
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)


def list_partition_reassignments(
    controller: Controller, context: RequestContext, request: ListPartitionReassignmentsRequest
) -> None:
    """Answer with the partitions that have replicas to add or to remove; unknown ones are left out, as by Kafka."""
    asked = None if request.topics is None else {topic.name: set(topic.partition_indexes) for topic in request.topics}
    topics = []
    for name, topic in controller.image.topics.items():
        ongoing = [
            OngoingPartitionReassignment(index, state.replicas, state.adding_replicas, state.removing_replicas)
            for index, state in sorted(topic.partitions.items())
            if (state.adding_replicas or state.removing_replicas) and (asked is None or index in asked.get(name, ()))
        ]
        if ongoing:
            topics.append(OngoingTopicReassignment(name, ongoing))
    context.reply(ListPartitionReassignmentsResponse(0, 0, None, topics))
