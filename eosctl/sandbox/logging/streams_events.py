"""Log lines of a group coordinator about streams groups, derived from the group before and after a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eosctl.sandbox.coordinator.group.streams.group import StreamsGroup, StreamsMember
from eosctl.sandbox.coordinator.group.streams.heartbeat import HeartbeatResult
from eosctl.sandbox.coordinator.group.streams.request import StreamsHeartbeat
from eosctl.sandbox.coordinator.group.streams.tasks import TaskId, TaskSets
from eosctl.sandbox.coordinator.group.streams.topic_configuration import ConfiguredTopology, StatusCode
from eosctl.sandbox.logging.event_log import INFO, WARN, EventLog
from eosctl.sandbox.ports import CONSUMER_OFFSETS_TOPIC

_LOGGER: Final = "org.apache.kafka.coordinator.group.GroupMetadataManager"


class StreamsEvents:
    """Log lines of a broker's group coordinator about streams groups."""

    def __init__(self, log: EventLog, broker_id: int) -> None:
        self._log = log
        self._broker_id = broker_id

    def heartbeat(
        self, index: int, known: StreamsGroup | None, request: StreamsHeartbeat, result: HeartbeatResult
    ) -> None:
        """Log the changes that a heartbeat made: a new member, a topology, a new epoch, an assignment, new tasks."""
        group, member = result.group, result.member
        about = f"[GroupId {group.group_id}][MemberId {member.member_id}]"
        former = None if known is None else known.members.get(member.member_id)
        if request.joins:
            instance = (
                f"Static member {member.member_id} with instance id {member.instance_id} joins the streams group."
            )
            self._about(
                index, f"{about} {'Member joins the streams group.' if member.instance_id is None else instance}"
            )
        if (known is None or known.topology is None) and group.topology is not None:
            self._about(index, f"{about} Member initialized the topology with epoch {group.topology.epoch}")
        if result.configured is not None:
            self._configured(index, about, group, result.configured)
        if group.group_epoch > (0 if known is None else known.group_epoch):
            self._about(
                index,
                f"{about} Bumped streams group epoch to {group.group_epoch} with metadata hash {group.metadata_hash} "
                f"and validated topic epoch {group.validated_topology_epoch}.",
            )
        self.assigned(index, known, group)
        if member.member_epoch > 0 and (former is None or former.member_epoch != member.member_epoch):
            self._about(
                index,
                f"{about} Member's new assignment state: epoch={member.member_epoch}, "
                f"previousEpoch={member.previous_member_epoch}, state={member.state.name}, "
                f"assignedTasks={_render(member.assigned, member.active_epochs)} and "
                f"tasksPendingRevocation={_render(member.pending_revocation, member.active_epochs)}.",
            )

    def _configured(self, index: int, about: str, group: StreamsGroup, topology: ConfiguredTopology) -> None:
        self._about(index, f"{about} Configuring the topology {topology.epoch}")
        problem = topology.problem
        if problem is None:
            text = f"Valid topic configuration found in 0ms, topology epoch {topology.epoch} is now initialized."
            self._about(index, f"{about} {text}")
        elif problem.code is StatusCode.MISSING_INTERNAL_TOPICS:
            names = problem.detail.removeprefix("Internal topics are missing: ")
            text = "Valid topic configuration found in 0ms, but internal topics are missing for topology epoch"
            self._about(index, f"{about} {text} {topology.epoch}: {names}")
        else:
            text = f"Topic configuration failed for topology epoch {topology.epoch} in 0ms: {problem.detail}"
            self._about(index, f"{about} {text}", level=WARN)

    def assigned(self, index: int, known: StreamsGroup | None, group: StreamsGroup) -> None:
        """Log that a new target assignment was computed."""
        if (known is None or known.assignment_epoch < group.assignment_epoch) and group.assignment_timestamp_ms:
            self._about(
                index,
                f"[GroupId {group.group_id}] Computed a new target assignment for epoch {group.assignment_epoch} "
                "with 'sticky' assignor in 0ms.",
            )

    def left(self, index: int, group_id: str, request: StreamsHeartbeat) -> None:
        """Log that a member left, for its session timeout or permanently."""
        about, name = f"[GroupId {group_id}][MemberId {request.member_id}]", request.member_id
        if request.instance_id is None:
            self._about(index, f"{about} Member {name} left the streams group.")
            return
        how = "temporarily left" if request.member_epoch < -1 else "left"
        self._about(
            index, f"{about} Static member {name} with instance id {request.instance_id} {how} the streams group."
        )

    def session_expired(self, index: int, group_id: str, member_id: str) -> None:
        """Log that the session of a member expired."""
        text = f"Streams member {member_id} fenced from the group because the member session expired.."
        self._about(index, f"[GroupId {group_id}] {text}")

    def stuck(self, index: int, group_id: str, member: StreamsMember) -> None:
        """Log that a member did not revoke its tasks in time."""
        text = (
            f"Member {member.member_id} fenced from the group because it failed to transition from epoch "
            f"{member.member_epoch} within {member.rebalance_timeout_ms}ms."
        )
        self._about(index, f"[GroupId {group_id}] {text}")

    def _about(self, index: int, text: str, *, level: str = INFO) -> None:
        prefix = f"[GroupCoordinator id={self._broker_id} topic={CONSUMER_OFFSETS_TOPIC} partition={index}]"
        self._log.write(_LOGGER, f"{prefix} {text}", level=level)


def _render(tasks: TaskSets, epochs: Mapping[TaskId, int]) -> str:
    """Render tasks as Kafka prints a `TasksTupleWithEpochs`."""
    active = ", ".join(f"{part}-{index}@{epochs.get(TaskId(part, index), 0)}" for part, index in sorted(tasks.active))
    standby, warmup = (
        ", ".join(f"{part}-{index}" for part, index in sorted(role)) for role in (tasks.standby, tasks.warmup)
    )
    return f"(active=[{active}], standby=[{standby}], warmup=[{warmup}])"
