"""The operations of Kafka's authorizer."""

from __future__ import annotations

from enum import IntEnum

OPERATIONS_NOT_REQUESTED = -2147483648


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
