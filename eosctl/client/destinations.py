"""Where a request goes: a broker by id, or whoever plays a part right now."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Final, NamedTuple, TypeAlias

from eosctl.model.transaction import TopicPartition
from eosctl.wire.error_codes import ErrorCode


class CoordinatorKind(IntEnum):
    """The key types of FindCoordinator."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


class CoordinatorOf(NamedTuple):
    """The broker that coordinates one group or one transactional id."""

    kind: CoordinatorKind
    key: str

    def __str__(self) -> str:
        return f"the coordinator of {self.kind.name.lower()} {self.key}"


class Role(Enum):
    """A broker that is named by what it does."""

    ANY = "any broker"
    CONTROLLER = "the controller"

    def __str__(self) -> str:
        return str(self.value)


Destination: TypeAlias = int | TopicPartition | CoordinatorOf | Role
"""A node id, a partition (its leader), a coordinator, or a role."""


def group_coordinator(group_id: str) -> CoordinatorOf:
    """Return the destination of requests about a group."""
    return CoordinatorOf(CoordinatorKind.GROUP, group_id)


def transaction_coordinator(transactional_id: str) -> CoordinatorOf:
    """Return the destination of requests about a transactional id."""
    return CoordinatorOf(CoordinatorKind.TRANSACTION, transactional_id)


# BROKER_NOT_AVAILABLE stands for a broker that could not be connected to: nothing was sent.
_NOT_REACHED: Final = frozenset({ErrorCode.BROKER_NOT_AVAILABLE})
_MOVED_COORDINATOR: Final = _NOT_REACHED | {
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
}
_MOVED_LEADER: Final = _NOT_REACHED | {
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
}
_MOVED_CONTROLLER: Final = _NOT_REACHED | {ErrorCode.NOT_CONTROLLER}


def moved_codes(destination: Destination) -> frozenset[ErrorCode]:
    """Return the error codes that say: somebody else plays that part now, or nobody for a moment."""
    match destination:
        case CoordinatorOf():
            return _MOVED_COORDINATOR
        case TopicPartition():
            return _MOVED_LEADER
        case Role.CONTROLLER:
            return _MOVED_CONTROLLER
        case _:
            return frozenset()
