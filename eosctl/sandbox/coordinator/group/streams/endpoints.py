"""The topic partitions behind the endpoints of instances, for interactive queries (`EndpointToPartitionsManager`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.streams.group import Endpoint, StreamsGroup, StreamsMember
from eosctl.sandbox.coordinator.group.streams.java_collections import hash_order
from eosctl.sandbox.coordinator.group.streams.tasks import Tasks, group_by_subtopology
from eosctl.sandbox.coordinator.group.streams.topic_configuration import ConfiguredSubtopology, ConfiguredTopology
from eosctl.sandbox.ports import MetadataView

TopicPartitions = list[tuple[str, list[int]]]


class EndpointPartitions(NamedTuple):
    """The input partitions of an instance's member, by role of their tasks."""

    endpoint: Endpoint
    active: TopicPartitions
    standby: TopicPartitions


def endpoint_partitions(
    group: StreamsGroup, member_id: str, topology: ConfiguredTopology, metadata: MetadataView, *, is_before_4_4: bool
) -> list[EndpointPartitions]:
    """Return the partitions of every member with an endpoint; those of the requesting member come last.

    4.3 leaves out warmup tasks.
    """
    if topology.subtopologies is None:
        return []
    others = [other for other in hash_order(group.members) if other != member_id]
    return [
        _of_member(member, endpoint, topology.subtopologies, metadata, is_before_4_4=is_before_4_4)
        for member in (group.members[each] for each in (*others, member_id))
        if (endpoint := member.user_endpoint) is not None
    ]


def _of_member(
    member: StreamsMember,
    endpoint: Endpoint,
    subtopologies: Mapping[str, ConfiguredSubtopology],
    metadata: MetadataView,
    *,
    is_before_4_4: bool,
) -> EndpointPartitions:
    assigned = member.assigned
    replicas = assigned.standby if is_before_4_4 else assigned.standby | assigned.warmup
    return EndpointPartitions(
        endpoint,
        _partitions(assigned.active, subtopologies, metadata),
        _partitions(replicas, subtopologies, metadata),
    )


def _partitions(
    tasks: Tasks, subtopologies: Mapping[str, ConfiguredSubtopology], metadata: MetadataView
) -> TopicPartitions:
    found = []
    for subtopology_id, indexes in group_by_subtopology(tasks):
        for topic in subtopologies[subtopology_id].input_topics:
            present = [index for index in indexes if index < metadata.partition_count(topic)]
            if present:
                found.append((topic, present))
    return found
