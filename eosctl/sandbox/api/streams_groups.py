"""Streams groups (KIP-1071), which the sandbox lacks: requests are rejected as a 4.3 broker without such groups does.

- With `streams.version` 0, every request gets UNSUPPORTED_VERSION.
- From 1 on, invalid heartbeats get Kafka's errors; leaving or describing a group finds none. Joining gets
  UNSUPPORTED_VERSION.
- From 4.4 on, a topology is described to a plugin of the broker, which the sandbox lacks.
"""

from __future__ import annotations

from collections.abc import Mapping

from eosctl.sandbox.api.share_groups import absence
from eosctl.sandbox.broker.routes import Handler
from eosctl.sandbox.broker.services import BrokerServices
from eosctl.sandbox.ports import RequestContext
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.streams_group_describe import (
    DescribedGroup,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from eosctl.wire.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from eosctl.wire.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest,
    StreamsGroupTopologyDescriptionUpdateResponse,
)

FEATURE = "streams.version"
JOIN_EPOCH, LEAVE_EPOCH, LEAVE_STATIC_EPOCH = 0, -1, -2
UNSET = -1
OFF = ErrorCode.UNSUPPORTED_VERSION


def _is_on(broker: BrokerServices) -> bool:
    return broker.metadata.finalized_feature(FEATURE) > 0


def _heartbeat(broker: BrokerServices, context: RequestContext, request: StreamsGroupHeartbeatRequest) -> None:
    error, text = OFF, None
    if _is_on(broker):
        if (problem := heartbeat_problem(request)) is not None:
            error, text = ErrorCode.INVALID_REQUEST, problem
        elif (problem := topology_problem(request)) is not None:
            error, text = ErrorCode.STREAMS_INVALID_TOPOLOGY, problem
        elif request.member_epoch != JOIN_EPOCH:
            error, text = absence(broker, request.group_id, "streams")
            if request.member_epoch > JOIN_EPOCH and not broker.emulation.is_before_4_4 and text:
                text = text.replace("Group ", "Streams group ", 1)
    context.reply(StreamsGroupHeartbeatResponse(error_code=error, error_message=text, status=()))


def heartbeat_problem(request: StreamsGroupHeartbeatRequest) -> str | None:
    """Return the problem of a request that does not depend on a group; None if it is valid."""
    if request.instance_id is not None:
        return "Static membership is not yet supported."
    subtopologies = () if request.topology is None else request.topology.subtopologies
    if any(part.source_topic_regex for part in subtopologies or ()):
        return "Regular expressions for source topics are not supported yet."
    for name, value in (("MemberId", request.member_id), ("GroupId", request.group_id), ("RackId", request.rack_id)):
        if value == "":
            return f"{name} can't be empty."
    if request.member_epoch == JOIN_EPOCH:
        return _joining_problem(request)
    if request.member_epoch == LEAVE_STATIC_EPOCH:
        return "InstanceId can't be null."
    if request.member_epoch < LEAVE_STATIC_EPOCH:
        return f"MemberEpoch is {request.member_epoch}, but must be greater than or equal to {LEAVE_STATIC_EPOCH}."
    if request.topology is not None:
        return "Topology can only be provided when (re-)joining."
    return None


def _joining_problem(request: StreamsGroupHeartbeatRequest) -> str | None:
    if request.rebalance_timeout_ms == UNSET:
        return "RebalanceTimeoutMs must be provided in first request."
    if request.topology is None:
        return "Topology must be non-null when (re-)joining."
    tasks = (
        ("ActiveTasks", request.active_tasks),
        ("StandbyTasks", request.standby_tasks),
        ("WarmupTasks", request.warmup_tasks),
    )
    for name, given in tasks:
        if given is None or given:
            return f"{name} must be empty when (re-)joining."
    return None


def topology_problem(request: StreamsGroupHeartbeatRequest) -> str | None:
    """Return why a member's topology is invalid; None if it is valid."""
    if request.topology is None:
        return None
    for part in request.topology.subtopologies or ():
        if not part.source_topics and not part.repartition_source_topics:
            return f"No source topics found for subtopology {part.subtopology_id}"
    return None


def _describe(broker: BrokerServices, context: RequestContext, request: StreamsGroupDescribeRequest) -> None:
    if _is_on(broker):
        groups = [DescribedGroup(*absence(broker, group_id, "streams"), group_id) for group_id in request.group_ids]
    else:
        groups = [DescribedGroup(OFF, None, group_id) for group_id in request.group_ids]
    context.reply(StreamsGroupDescribeResponse(0, groups))


def _update_topology(
    broker: BrokerServices, context: RequestContext, request: StreamsGroupTopologyDescriptionUpdateRequest
) -> None:
    text = "The broker has no streams group topology description plugin configured."
    context.reply(StreamsGroupTopologyDescriptionUpdateResponse(0, OFF, text))


HANDLERS: Mapping[int, Handler] = {
    ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE: _update_topology,
    ApiKey.STREAMS_GROUP_HEARTBEAT: _heartbeat,
    ApiKey.STREAMS_GROUP_DESCRIBE: _describe,
}
