"""Destinations of requests: a broker by id, or the broker that currently has a role."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Final, NamedTuple, TypeAlias

from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode

FORWARDED: Final = frozenset({ApiKey.DESCRIBE_QUORUM, ApiKey.LIST_PARTITION_REASSIGNMENTS})
"""The read requests that brokers forward to the controller (KIP-590): without an answer, it is the controller that is
silent, and the broker answers nothing else on that connection until then."""


class CoordinatorKind(IntEnum):
    """The key types of FindCoordinator."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


class CoordinatorOf(NamedTuple):
    """The coordinator of a group or a transactional id."""

    kind: CoordinatorKind
    key: str

    def __str__(self) -> str:
        return f"the coordinator of {self.kind.name.lower()} {self.key}"


class Role(Enum):
    """A broker, identified by its role."""

    ANY = "any broker"
    CONTROLLER = "the controller"

    def __str__(self) -> str:
        return str(self.value)


Destination: TypeAlias = int | TopicPartition | CoordinatorOf | Role
"""A node id, a partition (its leader), a coordinator, or a role."""


def group_coordinator(group_id: str) -> CoordinatorOf:
    """Return the destination of requests for a group."""
    return CoordinatorOf(CoordinatorKind.GROUP, group_id)


def transaction_coordinator(transactional_id: str) -> CoordinatorOf:
    """Return the destination of requests for a transactional id."""
    return CoordinatorOf(CoordinatorKind.TRANSACTION, transactional_id)


# The broker has moved to another address (KIP-1242): nothing was sent.
_OTHER_ADDRESS: Final = frozenset({ErrorCode.REBOOTSTRAP_REQUIRED})
# BROKER_NOT_AVAILABLE is a failed connection attempt: nothing was sent.
_NOT_REACHED: Final = _OTHER_ADDRESS | {ErrorCode.BROKER_NOT_AVAILABLE}
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
    """Return the error codes that mean that the destination has moved or is temporarily unavailable."""
    match destination:
        case CoordinatorOf():
            return _MOVED_COORDINATOR
        case TopicPartition():
            return _MOVED_LEADER
        case Role.CONTROLLER:
            return _MOVED_CONTROLLER
        case _:
            return _OTHER_ADDRESS
