"""The member that a heartbeat names, in groups whose coordinator assigns (KIP-848, KIP-1071)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

from eosctl.sandbox.coordinator.group.consumer.request import RefusedError
from eosctl.wire.error_codes import ErrorCode


class Identified(Protocol):
    """A member of a group."""

    @property
    def member_id(self) -> str:
        """Return its id."""


M = TypeVar("M", bound=Identified, covariant=True)


class Membership(Protocol[M]):
    """A group with dynamic and static members."""

    @property
    def group_id(self) -> str:
        """Return its id."""

    @property
    def members(self) -> Mapping[str, M]:
        """Return the members by id."""

    def static_member(self, instance_id: str) -> M | None:
        """Return the member with this instance id."""


def known_member(group: Membership[M], member_id: str) -> M:
    """Return the member with an id.

    Raises:
        RefusedError: UNKNOWN_MEMBER_ID.
    """
    member = group.members.get(member_id)
    if member is None:
        message = f"Member {member_id} is not a member of group {group.group_id}."
        raise RefusedError(ErrorCode.UNKNOWN_MEMBER_ID, message)
    return member


def known_static_member(group: Membership[M], member_id: str, instance_id: str) -> M:
    """Return the member with an instance id.

    Raises:
        RefusedError: UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID if the instance id has another member.
    """
    member = group.static_member(instance_id)
    if member is None:
        raise RefusedError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
    if member.member_id != member_id:
        message = f"Static member {member_id} with instance id {instance_id} was fenced by member {member.member_id}."
        raise RefusedError(ErrorCode.FENCED_INSTANCE_ID, message)
    return member


def refuse_owned_instance(member_id: str, instance_id: str, owner: Identified) -> RefusedError:
    """Return the refusal of a member whose instance id has another one: UNRELEASED_INSTANCE_ID."""
    message = (
        f"Static member {member_id} with instance id {instance_id} cannot join the group because "
        f"the instance id is owned by {owner.member_id} member."
    )
    return RefusedError(ErrorCode.UNRELEASED_INSTANCE_ID, message)
