"""StreamsGroupHeartbeat, the request of KIP-1071, as 4.3.1 and 4.4.0 handle it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.consumer.topics import metadata_hash
from eosctl.sandbox.coordinator.group.members import known_member, known_static_member, refuse_owned_instance
from eosctl.sandbox.coordinator.group.records import StoredRecord
from eosctl.sandbox.coordinator.group.streams.endpoints import EndpointPartitions, endpoint_partitions
from eosctl.sandbox.coordinator.group.streams.group import (
    JOIN_EPOCH,
    NO_TOPOLOGY_EPOCH,
    STATIC_LEAVE_EPOCH,
    StreamsGroup,
    StreamsMember,
    TaskOffsets,
)
from eosctl.sandbox.coordinator.group.streams.rebalance import StreamsConfig, refresh_target, replace_static
from eosctl.sandbox.coordinator.group.streams.reconcile import find_holders, reconcile
from eosctl.sandbox.coordinator.group.streams.request import StreamsHeartbeat
from eosctl.sandbox.coordinator.group.streams.streams_records import (
    current_record,
    epoch_record,
    member_record,
    topology_record,
)
from eosctl.sandbox.coordinator.group.streams.tasks import NO_TASK_SETS, TaskId, Tasks, TaskSets
from eosctl.sandbox.coordinator.group.streams.topic_configuration import (
    ConfiguredTopology,
    Status,
    StatusCode,
    configure_topics,
)
from eosctl.sandbox.coordinator.group.streams.topology import InternalTopic
from eosctl.sandbox.ports import MetadataView
from eosctl.wire.error_codes import ErrorCode


class HeartbeatResult(NamedTuple):
    """The group after a heartbeat, the records to write, and the response.

    `tasks` and `endpoints` are None if the response need not repeat them. `delays_first_assignment` is whether the
    group waits for more members now; `configured` is the topology if this heartbeat compared it with new topics.
    """

    group: StreamsGroup
    member: StreamsMember
    records: tuple[StoredRecord, ...]
    statuses: tuple[Status, ...]
    tasks: TaskSets | None
    endpoint_epoch: int
    endpoints: list[EndpointPartitions] | None
    missing_topics: tuple[InternalTopic, ...]
    delays_first_assignment: bool
    configured: ConfiguredTopology | None


def heartbeat(
    known_group: StreamsGroup | None,
    request: StreamsHeartbeat,
    metadata: MetadataView,
    config: StreamsConfig,
    now_ms: int,
    *,
    is_delayed: bool = False,
) -> HeartbeatResult:
    """Handle a member that joins or reports; bump the group epoch, assign, and reconcile as needed.

    `is_delayed` is whether the group still waits for its first members.

    Raises:
        RefusedError: With the code and the message of the response.
    """
    group = known_group
    if group is None:
        if not request.joins:
            raise RefusedError(ErrorCode.GROUP_ID_NOT_FOUND, f"Streams group {request.group_id} not found.")
        group = StreamsGroup(request.group_id)
    if request.joins:
        _check_size(group, request, config)
    was_empty = group.is_empty
    records: list[StoredRecord] = []
    group, known = _find_member(group, request, records)
    former = known if known is not None else StreamsMember(request.member_id)
    member = _updated(former, request, config)
    holders = find_holders(group.members.values())
    recompute = False
    if member != former:
        records.append(member_record(group.group_id, member))
        recompute = request.instance_id is None or _needs_assignment(former, member)
    group = _with_topology(group.with_member(member), request, records)
    assert group.topology is not None
    statuses = _stale_status(group, member)
    topic_hash = metadata_hash(metadata, group.topology.required_topics)
    is_new_topology = known_group is None or known_group.topology is None
    has_new_topics = topic_hash != group.metadata_hash
    configured = configure_topics(group.topology, metadata)
    validated_epoch = group.topology.epoch if configured.is_ready else NO_TOPOLOGY_EPOCH
    _check_tasks(configured, request)
    group = _with_offsets(group, request)
    recompute = (
        recompute
        or has_new_topics
        or validated_epoch != group.validated_topology_epoch
        or config.assignment_configs != group.assignment_configs
    )
    if recompute:
        group = replace(
            group,
            group_epoch=group.group_epoch + 1,
            metadata_hash=topic_hash,
            validated_topology_epoch=validated_epoch,
            assignment_configs=config.assignment_configs,
        )
        records.append(epoch_record(group))
    delays = was_empty and config.initial_rebalance_delay_ms > 0
    target = refresh_target(group, member.member_id, configured, config, now_ms, is_delayed=is_delayed or delays)
    records += target.records
    statuses += [target.delay] if target.delay is not None else []
    reconciled = member
    if not member.is_reconciled_to(target.epoch):
        reconciled = reconcile(
            member, target.tasks, target.epoch, holders, request.owned, is_before_4_4=config.is_before_4_4
        )
        if reconciled != member:
            records.append(current_record(group.group_id, reconciled))
    group = target.group.with_member(reconciled)
    if request.shuts_down and group.shutdown_member_id is None:
        group = replace(group, shutdown_member_id=request.member_id)
    has_new_tasks = reconciled.assigned != former.assigned
    group = _with_endpoint_epoch(group, request, former, reconciled, config, has_new_tasks=has_new_tasks)
    statuses += [] if configured.problem is None else [configured.problem]
    statuses += _shutdown_status(group) + _missing_tags(member, request, config)
    endpoints = None
    if group.endpoint_epoch != request.endpoint_epoch:
        endpoints = endpoint_partitions(
            group, member.member_id, configured, metadata, is_before_4_4=config.is_before_4_4
        )
    shown_epoch = group.endpoint_epoch
    if known_group is None:
        # Kafka forgets what is not in the log until the group is written for the first time.
        shown_epoch = 0
        group = replace(group, endpoint_epoch=0, shutdown_member_id=None, task_offsets={})
    return HeartbeatResult(
        group=group,
        member=reconciled,
        records=tuple(records),
        statuses=tuple(statuses),
        tasks=reconciled.assigned if request.joins or has_new_tasks else None,
        endpoint_epoch=shown_epoch,
        endpoints=endpoints,
        missing_topics=configured.missing,
        delays_first_assignment=delays,
        configured=configured if is_new_topology or has_new_topics else None,
    )


def leaving_member(group: StreamsGroup, request: StreamsHeartbeat) -> StreamsMember:
    """Return the member that leaves.

    Raises:
        RefusedError: With the code and the message of the response.
    """
    if request.instance_id is None:
        return known_member(group, request.member_id)
    return known_static_member(group, request.member_id, request.instance_id)


def leave_for_a_while(group: StreamsGroup, member: StreamsMember) -> tuple[StreamsGroup, tuple[StoredRecord, ...]]:
    """Keep a leaving static member for its session timeout; its active tasks count as assigned since epoch 0."""
    away = replace(
        member,
        member_epoch=STATIC_LEAVE_EPOCH,
        pending_revocation=NO_TASK_SETS,
        active_epochs=dict.fromkeys(member.assigned.active, 0),
    )
    return group.with_member(away), (current_record(group.group_id, away),)


def _check_size(group: StreamsGroup, request: StreamsHeartbeat, config: StreamsConfig) -> None:
    """Check that a joining member still fits; from 4.4, one that the group knows may always join again."""
    if len(group.members) < config.max_size:
        return
    if not config.is_before_4_4:
        replaces = request.instance_id is not None and group.static_member(request.instance_id) is not None
        if replaces or request.member_id in group.members:
            return
    message = f"The streams group has reached its maximum capacity of {config.max_size} members."
    raise RefusedError(ErrorCode.GROUP_MAX_SIZE_REACHED, message)


def _find_member(
    group: StreamsGroup, request: StreamsHeartbeat, records: list[StoredRecord]
) -> tuple[StreamsGroup, StreamsMember | None]:
    if request.instance_id is None:
        member = group.members.get(request.member_id)
        if member is None and request.joins:
            return group, None
        member = known_member(group, request.member_id)
        _check_epoch(member, request)
        return group, member
    if not request.joins:
        member = known_static_member(group, request.member_id, request.instance_id)
        _check_epoch(member, request)
        return group, member
    member = group.static_member(request.instance_id)
    if member is None:
        return group, group.members.get(request.member_id)
    if member.member_epoch != STATIC_LEAVE_EPOCH:
        raise refuse_owned_instance(request.member_id, request.instance_id, member)
    return replace_static(group, member, request.member_id, records)


def _check_epoch(member: StreamsMember, request: StreamsHeartbeat) -> None:
    """Fence an epoch that is not the member's.

    A member may always join again. Its previous epoch is accepted if the last response may have been lost.
    """
    if request.member_epoch in (JOIN_EPOCH, member.member_epoch):
        return
    is_behind = request.member_epoch < member.member_epoch
    owned = request.owned
    missed_answer = request.member_epoch == member.previous_member_epoch
    if is_behind and missed_answer and owned is not None and member.assigned.contains(owned):
        return
    message = (
        f"The streams group member has a {'smaller' if is_behind else 'greater'} member epoch "
        f"({request.member_epoch}) than the one known by the group coordinator ({member.member_epoch}). "
        "The member must abandon all its partitions and rejoin."
    )
    raise RefusedError(ErrorCode.FENCED_MEMBER_EPOCH, message)


def _updated(member: StreamsMember, request: StreamsHeartbeat, config: StreamsConfig) -> StreamsMember:
    drops_endpoint = request.joins and not config.is_before_4_4
    endpoint = request.user_endpoint
    return replace(
        member,
        instance_id=request.instance_id if request.instance_id is not None else member.instance_id,
        rack_id=request.rack_id if request.rack_id is not None else member.rack_id,
        rebalance_timeout_ms=(
            request.rebalance_timeout_ms if request.rebalance_timeout_ms != -1 else member.rebalance_timeout_ms
        ),
        topology_epoch=member.topology_epoch if request.topology is None else request.topology.epoch,
        client_id=request.client_id,
        client_host=request.client_host,
        process_id=request.process_id if request.process_id is not None else member.process_id,
        user_endpoint=endpoint if endpoint is not None or drops_endpoint else member.user_endpoint,
        client_tags=request.client_tags if request.client_tags is not None else member.client_tags,
    )


def _needs_assignment(former: StreamsMember, member: StreamsMember) -> bool:
    """Return whether a static member changed in a way that matters for the assignment."""

    def relevant(one: StreamsMember) -> tuple[object, ...]:
        return one.topology_epoch, one.rack_id, one.client_tags, one.process_id

    return relevant(former) != relevant(member)


def _with_topology(group: StreamsGroup, request: StreamsHeartbeat, records: list[StoredRecord]) -> StreamsGroup:
    """Set the topology that the first member sends; later ones must send the same, or an older one."""
    topology = request.topology
    if group.topology is None:
        if topology is None:
            raise RefusedError(
                ErrorCode.UNKNOWN_SERVER_ERROR, "The topology is null and the group topology is also null."
            )
        group = replace(group, topology=topology)
        records.append(topology_record(group))
    elif topology is not None and topology.epoch >= group.topology.epoch and not topology.is_same(group.topology):
        raise RefusedError(ErrorCode.INVALID_REQUEST, "Topology updates are not supported yet.")
    return group


def _stale_status(group: StreamsGroup, member: StreamsMember) -> list[Status]:
    assert group.topology is not None
    if member.topology_epoch >= group.topology.epoch:
        return []
    detail = (
        f"The member's topology epoch {member.topology_epoch} is behind the group's topology epoch "
        f"{group.topology.epoch}."
    )
    return [Status(StatusCode.STALE_TOPOLOGY, detail)]


def _check_tasks(topology: ConfiguredTopology, request: StreamsHeartbeat) -> None:
    if not topology.is_ready or topology.subtopologies is None:
        return
    for subtopology_id, partition in sorted(frozenset[TaskId]().union(*_reported(request))):
        part = topology.subtopologies.get(subtopology_id)
        if part is None:
            message = f"Subtopology {subtopology_id} does not exist in the topology."
            raise RefusedError(ErrorCode.INVALID_REQUEST, message)
        if not 0 <= partition < part.task_count:
            message = (
                f"Task {partition} for subtopology {subtopology_id} is invalid. Number of tasks for this subtopology: "
                f"{part.task_count}"
            )
            raise RefusedError(ErrorCode.INVALID_REQUEST, message)


def _reported(request: StreamsHeartbeat) -> list[Tasks]:
    return [tasks for tasks in (request.active, request.standby, request.warmup) if tasks is not None]


def _with_offsets(group: StreamsGroup, request: StreamsHeartbeat) -> StreamsGroup:
    """Keep the changelog offsets that the member reports."""
    if request.offsets is None and request.end_offsets is None:
        return group
    last = group.task_offsets.get(request.member_id, TaskOffsets())
    offsets = TaskOffsets(
        last.offsets if request.offsets is None else request.offsets,
        last.end_offsets if request.end_offsets is None else request.end_offsets,
    )
    return replace(group, task_offsets={**group.task_offsets, request.member_id: offsets})


def _with_endpoint_epoch(
    group: StreamsGroup,
    request: StreamsHeartbeat,
    former: StreamsMember,
    member: StreamsMember,
    config: StreamsConfig,
    *,
    has_new_tasks: bool,
) -> StreamsGroup:
    """Bump the epoch of the endpoint information when an endpoint, or the tasks behind one, change."""
    if config.is_before_4_4:
        changed = member.user_endpoint is not None and (request.joins or has_new_tasks)
    else:
        moved = member.user_endpoint != former.user_endpoint
        changed = moved or (has_new_tasks and member.user_endpoint is not None)
    return replace(group, endpoint_epoch=group.endpoint_epoch + 1) if changed else group


def _shutdown_status(group: StreamsGroup) -> list[Status]:
    if group.shutdown_member_id is None:
        return []
    detail = (
        f"Streams group member {group.shutdown_member_id} encountered a fatal error and requested a shutdown for the "
        "entire application."
    )
    return [Status(StatusCode.SHUTDOWN_APPLICATION, detail)]


def _missing_tags(member: StreamsMember, request: StreamsHeartbeat, config: StreamsConfig) -> list[Status]:
    """Report client tags that rack-aware standby assignment needs, to clients that know this status (KIP-1071)."""
    present: Mapping[str, str] = dict(member.client_tags)
    missing = [tag for tag in config.rack_tags if tag not in present]
    if not missing or request.api_version < 1:
        return []
    detail = (
        f"Missing required client tags for rack-aware standby assignment: [{', '.join(missing)}]. Configure them via "
        "'client.tag.<tagKey>' in your Streams config."
    )
    return [Status(StatusCode.MISSING_CLIENT_TAGS, detail)]
