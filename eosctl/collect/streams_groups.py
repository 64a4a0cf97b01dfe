"""Streams groups (KIP-1071) from their coordinators: members, tasks, and topology; no group is joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from eosctl.collect.described import describe_groups
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.model.group_details import InternalTopic, StreamsTopology, Subtopology
from eosctl.model.snapshot import Group, GroupMember
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages import streams_group_describe as messages

STREAMS_GROUP: Final = "streams"


async def describe_streams_groups(reader: ReadOnly, broker_id: int, groups: Sequence[Group]) -> Probed[list[Group]]:
    """Describe streams groups, to which DescribeGroups answers GROUP_ID_NOT_FOUND."""
    streams = {group.group_id: group for group in groups if group.group_type == STREAMS_GROUP}

    def described(entry: Any, listed: Group) -> Group:
        topology = None if entry.topology is None else _topology(entry.topology)
        inputs = {} if topology is None else {part.subtopology_id: part.input_topics for part in topology.subtopologies}
        members = tuple(
            GroupMember(
                member.member_id,
                member.client_id,
                member.client_host,
                member.instance_id,
                tuple(
                    sorted(
                        TopicPartition(topic, index)
                        for task in member.assignment.active_tasks
                        for topic in inputs.get(task.subtopology_id, ())
                        for index in task.partitions
                    )
                ),
                topology_epoch=member.topology_epoch,
            )
            for member in entry.members
        )
        return replace(listed, state=entry.group_state, members=members, topology=topology)

    if not streams:
        return Probed([])
    request = messages.StreamsGroupDescribeRequest(group_ids=list(streams))
    return await describe_groups(reader, broker_id, ApiKey.STREAMS_GROUP_DESCRIBE, request, streams, described)


def _topology(topology: messages.Topology) -> StreamsTopology:
    return StreamsTopology(
        topology.epoch,
        tuple(
            Subtopology(
                part.subtopology_id,
                tuple(part.source_topics),
                _topics(part.repartition_source_topics),
                _topics(part.state_changelog_topics),
            )
            for part in topology.subtopologies or ()
        ),
    )


def _topics(topics: Sequence[messages.TopicInfo]) -> tuple[InternalTopic, ...]:
    return tuple(InternalTopic(topic.name, topic.partitions) for topic in topics)
