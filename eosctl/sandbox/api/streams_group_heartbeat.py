"""StreamsGroupHeartbeat (key 88, version 0, and 1 on 4.4; KIP-1071).

- 3.9 lacks this API; with `streams.version` 0 it gets UNSUPPORTED_VERSION (35).
- An error response contains only code and message.
- Internal topics of the topology that are missing are created; the response reports them as missing until they exist.
- From 4.4, a version 1 response may request a description of the topology for a plugin, which the sandbox lacks.
"""

from __future__ import annotations

from collections.abc import Sequence

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.controller.topics import topic_name_problem
from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.requests import java_address
from eosctl.sandbox.coordinator.group.streams.config import read_streams_config
from eosctl.sandbox.coordinator.group.streams.driver import StreamsAnswer
from eosctl.sandbox.coordinator.group.streams.endpoints import TopicPartitions
from eosctl.sandbox.coordinator.group.streams.group import Endpoint
from eosctl.sandbox.coordinator.group.streams.request import StreamsHeartbeat, check_request
from eosctl.sandbox.coordinator.group.streams.tasks import TaskId, Tasks, group_by_subtopology
from eosctl.sandbox.coordinator.group.streams.topic_configuration import Status
from eosctl.sandbox.coordinator.group.streams.topic_creator import with_detail
from eosctl.sandbox.coordinator.group.streams.topology import InternalTopic, read_topology
from eosctl.sandbox.error_messages import kafka_text
from eosctl.sandbox.ports import RequestContext
from eosctl.sandbox.security.access import Access, may
from eosctl.sandbox.security.acls import CLUSTER_NAME, ResourceType
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import streams_group_heartbeat as messages

FEATURE = "streams.version"
FIRST_LAG_VERSION = 1
_INTERNAL_TOPICS = ("__consumer_offsets", "__transaction_state", "__share_group_state")


def handle(broker: BrokerServices, context: RequestContext, request: messages.StreamsGroupHeartbeatRequest) -> None:
    """Handle a member that joins, reports, or leaves."""

    def refuse(error: ErrorCode, message: str | None) -> None:
        context.reply(_render(StreamsAnswer(error, message), context.api_version))

    def reply(answer: StreamsAnswer) -> None:
        if answer.missing_topics:
            answer = answer._replace(statuses=_create_topics(broker, context, request.group_id, answer))
        context.reply(_render(answer, context.api_version))

    if not broker.metadata.finalized_feature(FEATURE):
        refuse(ErrorCode.UNSUPPORTED_VERSION, None)
        return
    if (problem := topic_problem(request)) is not None:
        refuse(ErrorCode.STREAMS_INVALID_TOPOLOGY, problem)
        return
    try:
        heartbeat = _read(context, request)
        check_request(heartbeat, is_before_4_4=broker.emulation.is_before_4_4)
    except RefusedError as refusal:
        refuse(refusal.error, refusal.message)
        return
    shard = broker.groups.find_shard(request.group_id)
    if isinstance(shard, ErrorCode):
        refuse(shard, kafka_text(shard))
    else:
        broker.groups.streams.heartbeat(shard, heartbeat, reply)


def topics_of(request: messages.StreamsGroupHeartbeatRequest) -> list[str]:
    """Return the distinct topics of the topology in a request."""
    parts = () if request.topology is None else request.topology.subtopologies
    names = [
        name
        for part in parts
        for name in (
            *part.source_topics,
            *part.repartition_sink_topics,
            *(topic.name for topic in part.repartition_source_topics),
            *(topic.name for topic in part.state_changelog_topics),
        )
    ]
    return list(dict.fromkeys(names))


def topic_problem(request: messages.StreamsGroupHeartbeatRequest) -> str | None:
    """Return why a topology must not use its topics; None if it may."""
    names = topics_of(request)
    if internal := [name for name in names if name in _INTERNAL_TOPICS]:
        return f"Use of Kafka internal topics {','.join(internal)} in a Kafka Streams topology is prohibited."
    if invalid := [name for name in names if topic_name_problem(name) is not None]:
        return f"Topic names {','.join(invalid)} are not valid topic names."
    return None


def _create_topics(
    broker: BrokerServices, context: RequestContext, group_id: str, answer: StreamsAnswer
) -> tuple[Status, ...]:
    """Create the missing topics if the principal may; return the statuses with what prevents it."""
    refused = _refused_topics(broker, context, answer.missing_topics)
    if refused:
        return with_detail(answer.statuses, f"; Unauthorized to CREATE on topics {', '.join(refused)}.")
    interval_ms = read_streams_config(broker, group_id).heartbeat_interval_ms
    broker.streams_topics.create(answer.missing_topics, 2 * interval_ms)
    return broker.streams_topics.with_errors(answer.statuses, answer.missing_topics)


def _refused_topics(broker: BrokerServices, context: RequestContext, topics: Sequence[InternalTopic]) -> list[str]:
    if may(broker, context, AclOperation.CREATE, ResourceType.CLUSTER, CLUSTER_NAME):
        return []
    return [
        topic.name for topic in topics if not may(broker, context, AclOperation.CREATE, ResourceType.TOPIC, topic.name)
    ]


def _read(context: RequestContext, request: messages.StreamsGroupHeartbeatRequest) -> StreamsHeartbeat:
    endpoint, tags = request.user_endpoint, request.client_tags
    return StreamsHeartbeat(
        group_id=request.group_id,
        member_id=request.member_id,
        member_epoch=request.member_epoch,
        endpoint_epoch=request.endpoint_information_epoch,
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        client_id=context.client_id or "",
        client_host=java_address(context.client_host),
        topology=None if request.topology is None else read_topology(request.topology),
        active=_read_tasks(request.active_tasks),
        standby=_read_tasks(request.standby_tasks),
        warmup=_read_tasks(request.warmup_tasks),
        process_id=request.process_id,
        user_endpoint=None if endpoint is None else Endpoint(endpoint.host, endpoint.port),
        client_tags=None if tags is None else tuple(sorted((tag.key, tag.value) for tag in tags)),
        offsets=_read_offsets(request.task_offsets),
        end_offsets=_read_offsets(request.task_end_offsets),
        shuts_down=request.shutdown_application,
        api_version=context.api_version,
    )


def _read_tasks(tasks: Sequence[messages.TaskIds] | None) -> Tasks | None:
    if tasks is None:
        return None
    return frozenset(TaskId(part.subtopology_id, index) for part in tasks for index in part.partitions)


def _read_offsets(offsets: Sequence[messages.TaskOffset] | None) -> dict[TaskId, int] | None:
    if offsets is None:
        return None
    found: dict[TaskId, int] = {}
    for entry in offsets:
        task = TaskId(entry.subtopology_id, entry.partition)
        if task in found:
            message = (
                f"Task offsets contain a duplicate entry for subtopology {task.subtopology_id} and partition "
                f"{task.partition}."
            )
            raise RefusedError(ErrorCode.INVALID_REQUEST, message)
        found[task] = entry.offset
    return found


def _render(answer: StreamsAnswer, version: int) -> messages.StreamsGroupHeartbeatResponse:
    tasks = answer.tasks
    return messages.StreamsGroupHeartbeatResponse(
        error_code=answer.error,
        error_message=answer.message,
        member_id=answer.member_id,
        member_epoch=answer.member_epoch,
        heartbeat_interval_ms=answer.heartbeat_interval_ms,
        acceptable_recovery_lag_long=answer.acceptable_recovery_lag if version >= FIRST_LAG_VERSION else -1,
        task_offset_interval_ms=answer.task_offset_interval_ms,
        status=[messages.Status(*status) for status in answer.statuses],
        active_tasks=None if tasks is None else _render_tasks(tasks.active),
        standby_tasks=None if tasks is None else _render_tasks(tasks.standby),
        warmup_tasks=None if tasks is None else _render_tasks(tasks.warmup),
        endpoint_information_epoch=answer.endpoint_epoch,
        partitions_by_user_endpoint=None
        if answer.endpoints is None
        else [
            messages.EndpointToPartitions(
                messages.Endpoint(*each.endpoint), _render_partitions(each.active), _render_partitions(each.standby)
            )
            for each in answer.endpoints
        ],
    )


def _render_tasks(tasks: Tasks) -> list[messages.TaskIds]:
    return [messages.TaskIds(*part) for part in group_by_subtopology(tasks)]


def _render_partitions(partitions: TopicPartitions) -> list[messages.TopicPartition]:
    return [messages.TopicPartition(*topic) for topic in partitions]


DENIED = ErrorCode.GROUP_AUTHORIZATION_FAILED
TOPIC_DENIED = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def guard(access: Access, request: messages.StreamsGroupHeartbeatRequest) -> None:
    """Require READ on the group and DESCRIBE on every topic of the topology."""
    if not access.may_group(AclOperation.READ, request.group_id):
        error, text = DENIED, kafka_text(DENIED)
    elif topic_problem(request) is None and not all(
        access.may_topic(AclOperation.DESCRIBE, name) for name in topics_of(request)
    ):
        error, text = TOPIC_DENIED, None
    else:
        access.proceed(request)
        return
    access.reply(messages.StreamsGroupHeartbeatResponse(error_code=error, error_message=text, status=()))
