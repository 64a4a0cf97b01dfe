"""A share group as an immutable value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.consumer.group import NO_PARTITIONS, Assignment

JOIN_EPOCH, LEAVE_EPOCH = 0, -1
FIRST_GROUP_EPOCH = 1
PROTOCOL_TYPE = "share"


@dataclass(frozen=True, slots=True)
class ShareMember:
    """A member; `assigned` are the partitions that it fetches, which it may share with others."""

    member_id: str
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: frozenset[str] = frozenset()
    member_epoch: int = 0
    previous_member_epoch: int = 0
    assigned: Assignment = NO_PARTITIONS


class TopicPartitions(NamedTuple):
    """Partitions of a topic whose state exists or is requested; `since_ms` is the time of the request."""

    name: str
    partitions: frozenset[int]
    since_ms: int = -1


@dataclass(frozen=True, slots=True)
class StatePartitions:
    """The share-partitions of a group, by topic id: requested, existing, and being deleted (topic names)."""

    initializing: Mapping[bytes, TopicPartitions] = field(default_factory=lambda: MappingProxyType({}))
    initialized: Mapping[bytes, TopicPartitions] = field(default_factory=lambda: MappingProxyType({}))
    deleting: Mapping[bytes, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class ShareGroup:
    """A share group: its epoch, its members, their target assignment, and its share-partitions.

    `assignment_timestamp_ms` is 0 before the first assignment; `states` is None before a partition was requested.
    """

    group_id: str
    group_epoch: int = FIRST_GROUP_EPOCH
    metadata_hash: int = 0
    members: Mapping[str, ShareMember] = field(default_factory=lambda: MappingProxyType({}))
    assignment_epoch: int = FIRST_GROUP_EPOCH
    assignment_timestamp_ms: int = 0
    targets: Mapping[str, Assignment] = field(default_factory=lambda: MappingProxyType({}))
    states: StatePartitions | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether the group has no members."""
        return not self.members

    @property
    def state(self) -> str:
        """Return the group's state, named as on the wire."""
        return "Stable" if self.members else "Empty"

    def subscribed_topics(self) -> frozenset[str]:
        """Return the topics of all members."""
        return frozenset().union(*(member.subscribed_topic_names for member in self.members.values()))

    def with_member(self, member: ShareMember) -> ShareGroup:
        """Return the group with this member added or replaced."""
        return replace(self, members={**self.members, member.member_id: member})

    def without_member(self, member_id: str) -> ShareGroup:
        """Return the group without a member and its target."""
        return replace(
            self,
            members={key: member for key, member in self.members.items() if key != member_id},
            targets={key: target for key, target in self.targets.items() if key != member_id},
        )

    @property
    def initialized(self) -> Mapping[bytes, TopicPartitions]:
        """Return the share-partitions whose state exists."""
        return {} if self.states is None else self.states.initialized
