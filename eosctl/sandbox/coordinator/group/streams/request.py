"""The StreamsGroupHeartbeat request, and its validation independent of a group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.sandbox.coordinator.group.streams.group import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    Endpoint,
)
from eosctl.sandbox.coordinator.group.streams.tasks import TaskId, Tasks, TaskSets
from eosctl.sandbox.coordinator.group.streams.topology import Topology
from eosctl.wire.error_codes import ErrorCode

UNSET = -1


class StreamsHeartbeat(NamedTuple):
    """A heartbeat; None means unchanged since the last one."""

    group_id: str
    member_id: str
    member_epoch: int
    endpoint_epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = UNSET
    client_id: str = ""
    client_host: str = ""
    topology: Topology | None = None
    active: Tasks | None = None
    standby: Tasks | None = None
    warmup: Tasks | None = None
    process_id: str | None = None
    user_endpoint: Endpoint | None = None
    client_tags: tuple[tuple[str, str], ...] | None = None
    offsets: Mapping[TaskId, int] | None = None
    end_offsets: Mapping[TaskId, int] | None = None
    shuts_down: bool = False
    api_version: int = 0

    @property
    def joins(self) -> bool:
        """Return whether the member joins or joins again."""
        return self.member_epoch == JOIN_EPOCH

    @property
    def leaves(self) -> bool:
        """Return whether the member leaves."""
        return self.member_epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH)

    @property
    def owned(self) -> TaskSets | None:
        """Return the tasks that the member reports as its own; None if it does not report them."""
        if self.active is None or self.standby is None or self.warmup is None:
            return None
        return TaskSets(self.active, self.standby, self.warmup)


def check_request(request: StreamsHeartbeat, *, is_before_4_4: bool) -> None:
    """Check the parts of a request that do not depend on a group; 4.3 lacks static members, offsets, and warmup tasks.

    Raises:
        RefusedError: INVALID_REQUEST or STREAMS_INVALID_TOPOLOGY, with Kafka's message.
    """
    if is_before_4_4:
        _require(request.instance_id is None, "Static membership is not yet supported.")
        _require(request.offsets is None, "TaskOffsets are not supported yet.")
        _require(request.end_offsets is None, "TaskEndOffsets are not supported yet.")
        _require(not request.warmup, "WarmupTasks are not supported yet.")
    parts = () if request.topology is None else request.topology.subtopologies
    _require(
        not any(part.source_topic_regex for part in parts),
        "Regular expressions for source topics are not supported yet.",
    )
    for name, value in (
        ("MemberId", request.member_id),
        ("GroupId", request.group_id),
        ("InstanceId", request.instance_id),
        ("RackId", request.rack_id),
    ):
        _require(value is None or bool(value.strip()), f"{name} can't be empty.")
    if request.joins:
        _check_join(request)
    elif request.member_epoch == STATIC_LEAVE_EPOCH:
        _require(request.instance_id is not None, "InstanceId can't be null.")
    _require(
        request.member_epoch >= STATIC_LEAVE_EPOCH,
        f"MemberEpoch is {request.member_epoch}, but must be greater than or equal to {STATIC_LEAVE_EPOCH}.",
    )
    given = [tasks is not None for tasks in (request.active, request.standby, request.warmup)]
    _require(all(given) or not any(given), "If one task-type is non-null, all must be non-null.")
    if not request.joins:
        _require(request.topology is None, "Topology can only be provided when (re-)joining.")


def _check_join(request: StreamsHeartbeat) -> None:
    _require(request.rebalance_timeout_ms != UNSET, "RebalanceTimeoutMs must be provided in first request.")
    for name, tasks in (("Active", request.active), ("Standby", request.standby), ("Warmup", request.warmup)):
        _require(tasks is not None and not tasks, f"{name}Tasks must be empty when (re-)joining.")
    _require(request.topology is not None, "Topology must be non-null when (re-)joining.")
    assert request.topology is not None
    for part in request.topology.subtopologies:
        for topic in part.state_changelog_topics:
            if topic.partition_count:
                text = (
                    f"Changelog topic {topic.name} must have an undefined partition count, but it is set to "
                    f"{topic.partition_count}."
                )
                raise RefusedError(ErrorCode.STREAMS_INVALID_TOPOLOGY, text)


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise RefusedError(ErrorCode.INVALID_REQUEST, message)
