"""Authorized operations as bit fields (KIP-430)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

NOT_ASKED = -2147483648


class AclOperation(IntEnum):
    """An operation of Kafka's authorizer."""

    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


def operations_field(operations: Iterable[AclOperation]) -> int:
    """Encode operations as one bit each."""
    return sum(1 << operation for operation in operations)


CLUSTER_OPERATIONS = operations_field(
    (
        AclOperation.CREATE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
        AclOperation.CLUSTER_ACTION,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
        AclOperation.IDEMPOTENT_WRITE,
    )
)
TOPIC_OPERATIONS = operations_field(
    (
        AclOperation.READ,
        AclOperation.WRITE,
        AclOperation.CREATE,
        AclOperation.DELETE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
    )
)
GROUP_OPERATIONS = operations_field((AclOperation.READ, AclOperation.DELETE, AclOperation.DESCRIBE))
