"""StreamsGroupDescribe (key 89, version 0, and 1 on 4.4; KIP-1071).

- An unknown group or one of another type gets GROUP_ID_NOT_FOUND (69) with a message.
- With `streams.version` 0, every group gets UNSUPPORTED_VERSION (35).
- From 4.4, version 1 adds the assignor's name; the sandbox has no plugin with descriptions of topologies.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from eosctl.sandbox.api.streams_group_heartbeat import FEATURE
from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.coordinator.group.streams import group as values
from eosctl.sandbox.coordinator.group.streams.java_collections import hash_order
from eosctl.sandbox.coordinator.group.streams.tasks import NO_TASK_SETS, TaskId, TaskSets, group_by_subtopology
from eosctl.sandbox.coordinator.group.streams.topic_configuration import ConfiguredSubtopology, configure_topics
from eosctl.sandbox.coordinator.group.streams.topology import InternalTopic, Subtopology
from eosctl.sandbox.ports import MetadataView, RequestContext
from eosctl.sandbox.security.access import Access, with_group_operations
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import streams_group_describe as messages

_ASSIGNOR = "sticky"


def handle(broker: BrokerServices, context: RequestContext, request: messages.StreamsGroupDescribeRequest) -> None:
    """Describe streams groups."""
    groups = [_describe(broker, group_id) for group_id in request.group_ids]
    if request.include_authorized_operations:
        groups = with_group_operations(broker, context, groups)
    context.reply(messages.StreamsGroupDescribeResponse(groups=groups))


def _describe(broker: BrokerServices, group_id: str) -> messages.DescribedGroup:
    if not broker.metadata.finalized_feature(FEATURE):
        return messages.DescribedGroup(ErrorCode.UNSUPPORTED_VERSION, group_id=group_id)
    shard = broker.groups.find_shard(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
    if isinstance(shard, ErrorCode):
        return messages.DescribedGroup(shard, group_id=group_id)
    group = shard.groups.get(group_id)
    if not isinstance(group, values.StreamsGroup):
        is_absent = group is None and group_id not in shard.share_groups
        reason = "not found" if is_absent else "is not a streams group"
        return messages.DescribedGroup(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {reason}.", group_id)
    return messages.DescribedGroup(
        group_id=group_id,
        group_state=group.state,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        topology=_topology(group, broker.metadata),
        members=[_member(group, group.members[member_id]) for member_id in hash_order(group.members)],
        assignor_name=None if broker.emulation.is_before_4_4 else _ASSIGNOR,
    )


def _topology(group: values.StreamsGroup, metadata: MetadataView) -> messages.Topology | None:
    """Return the topology; its internal topics have partition counts once a heartbeat has found all topics."""
    topology = group.topology
    if topology is None:
        return None
    configured = configure_topics(topology, metadata)
    was_valid = group.validated_topology_epoch == topology.epoch
    if was_valid and configured.is_ready and configured.subtopologies is not None:
        parts = [_part(part_id, part) for part_id, part in configured.subtopologies.items()]
    else:
        parts = [_part(part.subtopology_id, part) for part in sorted(topology.subtopologies)]
    return messages.Topology(topology.epoch, parts)


def _part(part_id: str, part: Subtopology | ConfiguredSubtopology) -> messages.Subtopology:
    return messages.Subtopology(
        part_id,
        sorted(part.source_topics),
        sorted(part.repartition_sink_topics),
        _topics(part.state_changelog_topics),
        _topics(part.repartition_source_topics),
    )


def _topics(topics: Sequence[InternalTopic]) -> list[messages.TopicInfo]:
    return [
        messages.TopicInfo(
            topic.name,
            topic.partition_count,
            topic.replication_factor,
            [messages.KeyValue(key, value) for key, value in topic.configs],
        )
        for topic in sorted(topics)
    ]


def _member(group: values.StreamsGroup, member: values.StreamsMember) -> messages.Member:
    endpoint = member.user_endpoint
    reported = group.task_offsets.get(member.member_id, values.TaskOffsets())
    return messages.Member(
        member_id=member.member_id,
        member_epoch=member.member_epoch,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=None if endpoint is None else messages.Endpoint(*endpoint),
        client_tags=[messages.KeyValue(key, value) for key, value in member.client_tags],
        task_offsets=_offsets(sorted(reported.offsets.items())),
        task_end_offsets=_offsets(sorted(reported.end_offsets.items())),
        assignment=_assignment(member.assigned),
        target_assignment=_assignment(group.targets.get(member.member_id, NO_TASK_SETS)),
    )


def _offsets(offsets: Sequence[tuple[TaskId, int]]) -> list[messages.TaskOffset]:
    return [messages.TaskOffset(part, index, offset) for (part, index), offset in offsets]


def _assignment(tasks: TaskSets) -> messages.Assignment:
    return messages.Assignment(*([messages.TaskIds(*part) for part in group_by_subtopology(role)] for role in tasks))


DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
HIDDEN_TOPICS = "The described group uses topics that the client is not authorized to describe."


def guard(access: Access, request: messages.StreamsGroupDescribeRequest) -> None:
    """Require DESCRIBE on each group, and on every topic of its topology."""
    allowed, denied = access.part(request.group_ids, lambda group: access.may_group(AclOperation.DESCRIBE, group))
    refused = [messages.DescribedGroup(DENIED, None, group) for group in denied]

    def shown(group: messages.DescribedGroup) -> messages.DescribedGroup:
        parts = (group.topology.subtopologies or ()) if group.topology is not None else ()
        topics = {
            name
            for part in parts
            for name in (
                *part.source_topics,
                *part.repartition_sink_topics,
                *(topic.name for topic in (*part.repartition_source_topics, *part.state_changelog_topics)),
            )
        }
        if all(access.may_topic(AclOperation.DESCRIBE, name) for name in topics):
            return group
        return messages.DescribedGroup(TOPIC_DENIED, HIDDEN_TOPICS, group.group_id)

    access.proceed(
        replace(request, group_ids=allowed),
        lambda response: replace(response, groups=[*refused, *map(shown, response.groups)]),
    )
