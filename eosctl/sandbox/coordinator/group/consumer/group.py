"""A KIP-848 consumer group as an immutable value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
STATIC_LEAVE_EPOCH = -2
FIRST_GROUP_EPOCH = 1
"""The epoch of a group before its first subscription, so the first member joins with epoch 2."""


class TopicIdPartition(NamedTuple):
    """A partition of a topic id; `topic_id` is 16 bytes."""

    topic_id: bytes
    partition: int


Assignment = frozenset[TopicIdPartition]
NO_PARTITIONS: Assignment = frozenset()


class MemberState(IntEnum):
    """A member's state on its way to the target assignment, as stored in the log."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    UNRELEASED_PARTITIONS = 2


class ClassicMembership(NamedTuple):
    """The JoinGroup data of a member that uses the classic protocol; its protocols as (name, metadata)."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True)
class ConsumerMember:
    """A member; `subscribed_topic_regex` is empty without a pattern, `server_assignor` None without a preference.

    `assignment_epochs` has the member epoch at which each owned or revoked partition was assigned (KIP-1251). `classic`
    is None for a member that uses the protocol of KIP-848.
    """

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: frozenset[str] = frozenset()
    subscribed_topic_regex: str = ""
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = None
    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: MemberState = MemberState.STABLE
    assigned: Assignment = NO_PARTITIONS
    pending_revocation: Assignment = NO_PARTITIONS
    assignment_epochs: Mapping[TopicIdPartition, int] = field(default_factory=lambda: MappingProxyType({}))
    classic: ClassicMembership | None = None

    @property
    def uses_classic_protocol(self) -> bool:
        """Return whether the member uses JoinGroup, SyncGroup, and Heartbeat."""
        return self.classic is not None

    def with_assignment_epochs(self, former: ConsumerMember) -> ConsumerMember:
        """Return the member with the epochs of its partitions; partitions that it did not own get a new epoch."""
        kept = (self.assigned & former.assigned) | self.pending_revocation
        epochs = {
            partition: former.assignment_epochs.get(partition, self.member_epoch)
            if partition in kept
            else self.member_epoch
            for partition in self.assigned | self.pending_revocation
        }
        return self if epochs == self.assignment_epochs else replace(self, assignment_epochs=epochs)

    def at_epoch(self, member_epoch: int) -> ConsumerMember:
        """Return the member with an epoch; the previous epoch is kept, since a response may have been lost."""
        return replace(self, member_epoch=member_epoch, previous_member_epoch=self.member_epoch)

    def may_commit_at(self, member_epoch: int, partitions: Iterable[TopicIdPartition]) -> bool:
        """Return whether a commit's epoch is valid: current, or not older than these assignments (KIP-1251)."""
        if member_epoch == self.member_epoch:
            return True
        since = [self.assignment_epochs.get(partition, self.member_epoch) for partition in partitions]
        return member_epoch < self.member_epoch and all(epoch <= member_epoch for epoch in since)

    def is_reconciled_to(self, assignment_epoch: int) -> bool:
        """Return whether the member has adopted the target assignment of this epoch."""
        return self.state is MemberState.STABLE and self.member_epoch == assignment_epoch


class ResolvedRegex(NamedTuple):
    """The topics that a pattern matched; `version` is the metadata offset, `timestamp_ms` the time of resolution."""

    topics: frozenset[str]
    version: int
    timestamp_ms: int


@dataclass(frozen=True, slots=True)
class ConsumerGroup:
    """A consumer group: its epoch, its members, and their target assignment.

    `assignment_timestamp_ms` is -1 before the first assignment.
    """

    group_id: str
    group_epoch: int = 0
    metadata_hash: int = 0
    members: Mapping[str, ConsumerMember] = field(default_factory=lambda: MappingProxyType({}))
    assignment_epoch: int = 0
    assignment_timestamp_ms: int = -1
    targets: Mapping[str, Assignment] = field(default_factory=lambda: MappingProxyType({}))
    regexes: Mapping[str, ResolvedRegex] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_empty(self) -> bool:
        """Return whether the group has no members."""
        return not self.members

    @property
    def state(self) -> str:
        """Return the group's state, named as on the wire."""
        if not self.members:
            return "Empty"
        if self.group_epoch > self.assignment_epoch:
            return "Assigning"
        if all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values()):
            return "Stable"
        return "Reconciling"

    def static_member(self, instance_id: str) -> ConsumerMember | None:
        """Return the member with this instance id."""
        return next((member for member in self.members.values() if member.instance_id == instance_id), None)

    def subscription_of(self, member: ConsumerMember) -> frozenset[str]:
        """Return the topics that the member subscribes to, by name or by resolved pattern."""
        resolved = self.regexes.get(member.subscribed_topic_regex)
        return member.subscribed_topic_names | (resolved.topics if resolved is not None else frozenset())

    def subscribed_topics(self) -> frozenset[str]:
        """Return the topics of all members."""
        names = {member.subscribed_topic_names for member in self.members.values()}
        patterns = {member.subscribed_topic_regex for member in self.members.values()}
        return frozenset().union(*names, *(self.regexes[one].topics for one in patterns if one in self.regexes))

    def is_subscribed_to(self, topic: str) -> bool:
        """Return whether a member subscribes to the topic."""
        return any(topic in self.subscription_of(member) for member in self.members.values())

    def owned_partitions(self, without: str) -> Assignment:
        """Return the partitions that other members own or have not revoked yet."""
        return frozenset().union(
            *(
                member.assigned | member.pending_revocation if member.pending_revocation else member.assigned
                for member in self.members.values()
                if member.member_id != without
            )
        )

    def with_member(self, member: ConsumerMember) -> ConsumerGroup:
        """Return the group with this member added or replaced."""
        return replace(self, members={**self.members, member.member_id: member})

    def with_metadata_hash(self, metadata_hash: int) -> ConsumerGroup:
        """Return the group with a new metadata hash."""
        return replace(self, metadata_hash=metadata_hash)

    def without_member(self, member_id: str) -> ConsumerGroup:
        """Return the group without a member, its target, and its pattern if unused."""
        members = {key: member for key, member in self.members.items() if key != member_id}
        patterns = {member.subscribed_topic_regex for member in members.values()}
        return replace(
            self,
            members=members,
            targets={key: target for key, target in self.targets.items() if key != member_id},
            regexes={pattern: resolved for pattern, resolved in self.regexes.items() if pattern in patterns},
        )
