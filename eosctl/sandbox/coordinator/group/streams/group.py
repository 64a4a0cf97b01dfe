"""A streams group (KIP-1071) as an immutable value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.coordinator.group.streams.tasks import NO_TASK_SETS, TaskId, TaskSets
from eosctl.sandbox.coordinator.group.streams.topology import Topology

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
STATIC_LEAVE_EPOCH = -2
FIRST_GROUP_EPOCH = 1
"""The epoch of a group before its first member, and of its empty first target."""
NO_TOPOLOGY_EPOCH = -1


class MemberState(IntEnum):
    """A member's state on its way to the target assignment, as stored in the log."""

    STABLE = 1
    UNREVOKED_TASKS = 2
    UNRELEASED_TASKS = 3
    UNKNOWN = 127


class Endpoint(NamedTuple):
    """The address at which an instance answers interactive queries."""

    host: str
    port: int


class TaskOffsets(NamedTuple):
    """The changelog offsets that a member last reported: restored, and at the end of the changelogs."""

    offsets: Mapping[TaskId, int] = MappingProxyType({})
    end_offsets: Mapping[TaskId, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class StreamsMember:
    """A member: one stream thread of the instance with `process_id`.

    `active_epochs` has the member epoch at which each active task, assigned or being revoked, was assigned.
    """

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topology_epoch: int = -1
    process_id: str = ""
    user_endpoint: Endpoint | None = None
    client_tags: tuple[tuple[str, str], ...] = ()
    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: MemberState = MemberState.STABLE
    assigned: TaskSets = NO_TASK_SETS
    pending_revocation: TaskSets = NO_TASK_SETS
    active_epochs: Mapping[TaskId, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def held(self) -> TaskSets:
        """Return the tasks that are assigned or not revoked yet."""
        assigned, pending = self.assigned, self.pending_revocation
        return TaskSets(
            assigned.active | pending.active, assigned.standby | pending.standby, assigned.warmup | pending.warmup
        )

    def is_reconciled_to(self, assignment_epoch: int) -> bool:
        """Return whether the member has adopted the target assignment of this epoch."""
        return self.state is MemberState.STABLE and self.member_epoch == assignment_epoch


@dataclass(frozen=True, slots=True)
class StreamsGroup:
    """A streams group: its epoch, topology, and members, and their target assignment.

    `assignment_timestamp_ms` is 0 before the first assignment. `endpoint_epoch`, `shutdown_member_id`, and
    `task_offsets` are not in the log, so they are lost when the coordinator moves, as on a real broker.
    """

    group_id: str
    group_epoch: int = FIRST_GROUP_EPOCH
    metadata_hash: int = 0
    validated_topology_epoch: int = NO_TOPOLOGY_EPOCH
    topology: Topology | None = None
    members: Mapping[str, StreamsMember] = field(default_factory=lambda: MappingProxyType({}))
    assignment_epoch: int = FIRST_GROUP_EPOCH
    assignment_timestamp_ms: int = 0
    targets: Mapping[str, TaskSets] = field(default_factory=lambda: MappingProxyType({}))
    assignment_configs: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    endpoint_epoch: int = 0
    shutdown_member_id: str | None = None
    task_offsets: Mapping[str, TaskOffsets] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_empty(self) -> bool:
        """Return whether the group has no members."""
        return not self.members

    @property
    def state(self) -> str:
        """Return the group's state, named as on the wire."""
        if not self.members:
            return "Empty"
        if self.topology is None or self.topology.epoch != self.validated_topology_epoch:
            return "NotReady"
        if self.group_epoch > self.assignment_epoch:
            return "Assigning"
        if all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values()):
            return "Stable"
        return "Reconciling"

    def static_member(self, instance_id: str) -> StreamsMember | None:
        """Return the member with this instance id."""
        return next((member for member in self.members.values() if member.instance_id == instance_id), None)

    def is_subscribed_to(self, topic: str) -> bool:
        """Return whether a live group reads the topic."""
        return bool(self.members) and self.topology is not None and self.topology.subtopology_of(topic) is not None

    def may_commit_at(self, member: StreamsMember, member_epoch: int, partitions: Iterable[TopicPartition]) -> bool:
        """Return whether a commit's epoch is valid: current, or not older than these partitions' tasks."""
        if member_epoch == member.member_epoch:
            return True
        if member_epoch > member.member_epoch or self.topology is None:
            return False
        for topic, partition in partitions:
            subtopology_id = self.topology.subtopology_of(topic)
            since = None if subtopology_id is None else member.active_epochs.get(TaskId(subtopology_id, partition))
            if since is None or member_epoch < since:
                return False
        return True

    def with_member(self, member: StreamsMember) -> StreamsGroup:
        """Return the group with this member added or replaced."""
        return replace(self, members={**self.members, member.member_id: member})

    def without_member(self, member_id: str) -> StreamsGroup:
        """Return the group without a member, its target, and its offsets; an empty group forgets a shutdown."""
        members = {key: member for key, member in self.members.items() if key != member_id}
        return replace(
            self,
            members=members,
            targets={key: target for key, target in self.targets.items() if key != member_id},
            task_offsets={key: offsets for key, offsets in self.task_offsets.items() if key != member_id},
            shutdown_member_id=self.shutdown_member_id if members else None,
        )
