"""A classic consumer group as an immutable value (KIP-62, KIP-345, KIP-394)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from eosctl.sandbox.coordinator.group.subscription import CONSUMER_PROTOCOL_TYPE, decode_subscribed_topics
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.internal.partitioner import java_hash_code

NO_MEMBERS: Mapping[str, Member] = MappingProxyType({})


class ClassicState(StrEnum):
    """The states of a classic group, named as on the wire."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


class MemberProtocol(NamedTuple):
    """An assignment protocol that a member supports."""

    name: str
    metadata: bytes


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a classic group; `group_instance_id` is None for a dynamic member."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str
    protocols: tuple[MemberProtocol, ...]
    assignment: bytes = b""
    is_awaiting_join: bool = False
    is_awaiting_sync: bool = False
    is_new: bool = False

    @property
    def is_static(self) -> bool:
        """Return whether the member is static, i.e. has an instance id (KIP-345)."""
        return self.group_instance_id is not None

    @property
    def holds_session(self) -> bool:
        """Return whether the member waits for the coordinator, so that an expired session does not remove it."""
        return not self.is_new and (self.is_awaiting_join or self.is_awaiting_sync)

    def metadata(self, protocol_name: str) -> bytes:
        """Return the member's metadata for a protocol; empty if it does not support it."""
        return next((protocol.metadata for protocol in self.protocols if protocol.name == protocol_name), b"")


class InitialDelay(NamedTuple):
    """The remaining initial rebalance delay (`group.initial.rebalance.delay.ms`)."""

    delay_ms: int
    remaining_ms: int


@dataclass(frozen=True, slots=True)
class ClassicGroup:
    """A classic group.

    `pending_members` have an assigned id that they have not used yet (KIP-394). `pending_sync_members` have not sent
    SyncGroup in this generation. `initial_delay` is set while a previously empty group waits for its first members.
    `subscribed_topics` is None if unknown, which counts as every topic.
    """

    group_id: str
    state: ClassicState = ClassicState.EMPTY
    state_timestamp_ms: int = -1
    generation_id: int = 0
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: str | None = None
    members: Mapping[str, Member] = field(default_factory=lambda: NO_MEMBERS)
    pending_members: frozenset[str] = frozenset()
    pending_sync_members: frozenset[str] = frozenset()
    initial_delay: InitialDelay | None = None
    new_member_added: bool = False
    subscribed_topics: frozenset[str] | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether the group has no members and is not rebalancing."""
        return self.state is ClassicState.EMPTY

    @property
    def awaiting_join_count(self) -> int:
        """Return the number of members with a held JoinGroup."""
        return sum(member.is_awaiting_join for member in self.members.values())

    @property
    def has_all_members_joined(self) -> bool:
        """Return whether all members have joined this rebalance."""
        return not self.pending_members and all(member.is_awaiting_join for member in self.members.values())

    @property
    def rebalance_timeout_ms(self) -> int:
        """Return the longest rebalance timeout of the members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def static_member_id(self, group_instance_id: str) -> str | None:
        """Return the member id of a static member."""
        for member in self.members.values():
            if member.group_instance_id == group_instance_id:
                return member.member_id
        return None

    def is_subscribed_to(self, topic: str) -> bool:
        """Return whether the members may consume this topic, so that its offsets are retained."""
        if self.protocol_type != CONSUMER_PROTOCOL_TYPE:
            return False
        return self.subscribed_topics is None or topic in self.subscribed_topics

    def with_member(self, member: Member) -> ClassicGroup:
        """Return the group with this member added or replaced."""
        return replace(self, members={**self.members, member.member_id: member})

    def with_protocol(self, protocol_name: str) -> ClassicGroup:
        """Return the group with the selected protocol."""
        return replace(self, protocol_name=protocol_name)

    def with_assignments(self, assignments: Mapping[str, bytes]) -> ClassicGroup:
        """Return the group with the assignment of each member, by member id."""
        members = {key: replace(member, assignment=assignments[key]) for key, member in self.members.items()}
        return replace(self, members=members)

    def with_subscribed_topics(self, topics: frozenset[str] | None) -> ClassicGroup:
        """Return the group with its members' subscriptions."""
        return replace(self, subscribed_topics=topics)

    def with_state(self, state: ClassicState, now_ms: int) -> ClassicGroup:
        """Return the group with another state, entered now."""
        return replace(self, state=state, state_timestamp_ms=now_ms)


def validate_member(group: ClassicGroup, member_id: str, group_instance_id: str | None) -> ErrorCode:
    """Check a member id and an instance id.

    The instance id is checked first: another member id for it is FENCED_INSTANCE_ID, an unknown one UNKNOWN_MEMBER_ID.
    """
    if group_instance_id is not None:
        current = group.static_member_id(group_instance_id)
        if current is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.NONE if current == member_id else ErrorCode.FENCED_INSTANCE_ID
    return ErrorCode.NONE if member_id in group.members else ErrorCode.UNKNOWN_MEMBER_ID


def supports_protocols(group: ClassicGroup, protocol_type: str, protocol_names: list[str]) -> bool:
    """Return whether a member with these protocols can join: all members must support a common protocol."""
    if group.is_empty:
        return bool(protocol_type) and bool(protocol_names)
    if protocol_type != group.protocol_type:
        return False
    return not group.members or not _common_protocols(group).isdisjoint(protocol_names)


def select_protocol(group: ClassicGroup) -> str:
    """Select the protocol of the next generation: each member votes for its first protocol that all support.

    Ties are resolved by the order of the `HashMap` in which Kafka counts the votes.
    """
    common = _common_protocols(group)
    votes = Counter(
        next(protocol.name for protocol in member.protocols if protocol.name in common)
        for member in group.members.values()
    )
    return min(votes, key=lambda name: (-votes[name], _bucket(name)))


def _bucket(name: str) -> int:
    """Return the bucket of a key in a `java.util.HashMap` with 16 buckets."""
    code = java_hash_code(name) & 0xFFFFFFFF
    return (code ^ code >> 16) & 15


def compute_subscribed_topics(group: ClassicGroup) -> frozenset[str] | None:
    """Return the topics of all members under the selected protocol; None if unknown."""
    if not group.members:
        return frozenset()
    if group.protocol_type != CONSUMER_PROTOCOL_TYPE or group.protocol_name is None:
        return None
    topics: set[str] = set()
    for member in group.members.values():
        subscribed = decode_subscribed_topics(member.metadata(group.protocol_name))
        if subscribed is None:
            return None
        topics |= subscribed
    return frozenset(topics)


def add_member(group: ClassicGroup, member: Member) -> ClassicGroup:
    """Add a member; the first member sets the protocol type and becomes the leader."""
    return replace(
        group.with_member(member),
        protocol_type=group.protocol_type if group.members else member.protocol_type,
        leader_id=group.leader_id if group.leader_id is not None else member.member_id,
        pending_members=group.pending_members - {member.member_id},
    )


def remove_member(group: ClassicGroup, member_id: str) -> ClassicGroup:
    """Remove a member or a pending id; the oldest remaining member replaces a removed leader."""
    members = {key: member for key, member in group.members.items() if key != member_id}
    leader_id = group.leader_id if group.leader_id != member_id else next(iter(members), None)
    return replace(
        group,
        members=members,
        leader_id=leader_id,
        pending_members=group.pending_members - {member_id},
        pending_sync_members=group.pending_sync_members - {member_id},
    )


def replace_static_member(group: ClassicGroup, old_member_id: str, new_member_id: str) -> ClassicGroup:
    """Replace a restarted static member's previous id; keep its assignment and leadership."""
    member = replace(
        group.members[old_member_id], member_id=new_member_id, is_awaiting_join=False, is_awaiting_sync=False
    )
    members = {
        (new_member_id if key == old_member_id else key): (member if key == old_member_id else other)
        for key, other in group.members.items()
    }
    return replace(
        group,
        members=members,
        leader_id=new_member_id if group.leader_id == old_member_id else group.leader_id,
        pending_sync_members=group.pending_sync_members - {old_member_id},
    )


def _common_protocols(group: ClassicGroup) -> set[str]:
    offers = [{protocol.name for protocol in member.protocols} for member in group.members.values()]
    return set.intersection(*offers) if offers else set()
