"""ACLs as values: matching, filters, and validation (KIP-11, KIP-290)."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from eosctl.sandbox.authorization import AclOperation

WILDCARD = "*"
CLUSTER_NAME = "kafka-cluster"
ANY_PRINCIPAL = "User:*"
ANY_CODE = 1


class ResourceType(IntEnum):
    """The resource type of an ACL, numbered as in the protocol."""

    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(IntEnum):
    """The pattern type of an ACL's name; MATCH exists only in filters."""

    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Permission(IntEnum):
    """Whether an entry allows or denies."""

    DENY = 2
    ALLOW = 3


class Acl(NamedTuple):
    """An access control entry."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission: int

    @property
    def is_pattern(self) -> bool:
        """Return whether a field has a value that is valid only in filters."""
        return ANY_CODE in (self.resource_type, self.operation, self.permission) or self.pattern_type in (
            PatternType.ANY,
            PatternType.MATCH,
        )


# A request has thousands of filters, and each is compared with them.
_RESOURCE_CODES: Final = frozenset({ANY_CODE, *map(int, ResourceType)})
_PATTERN_CODES: Final = frozenset(map(int, PatternType))
_OPERATION_CODES: Final = frozenset({ANY_CODE, *map(int, AclOperation)})
_PERMISSION_CODES: Final = frozenset({ANY_CODE, *map(int, Permission)})


class AclFilter(NamedTuple):
    """Selects ACLs; None and the ANY codes match everything."""

    resource_type: int
    resource_name: str | None
    pattern_type: int
    principal: str | None
    host: str | None
    operation: int
    permission: int

    def selects(self, acl: Acl) -> bool:
        """Return whether the filter matches an ACL (`AclBindingFilter.matches`)."""
        return (
            self.resource_type in (ANY_CODE, acl.resource_type)
            and self._selects_name(acl)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self.operation in (ANY_CODE, acl.operation)
            and self.permission in (ANY_CODE, acl.permission)
        )

    def _selects_name(self, acl: Acl) -> bool:
        if self.pattern_type not in (PatternType.ANY, PatternType.MATCH, acl.pattern_type):
            return False
        if self.resource_name is None:
            return True
        if self.pattern_type == PatternType.MATCH:
            return covers(acl, self.resource_name)
        return acl.resource_name == self.resource_name

    @property
    def has_unknown_code(self) -> bool:
        """Return whether a field has a code that no release defines."""
        return (
            self.resource_type not in _RESOURCE_CODES
            or self.pattern_type not in _PATTERN_CODES
            or self.operation not in _OPERATION_CODES
            or self.permission not in _PERMISSION_CODES
        )


def covers(acl: Acl, resource_name: str) -> bool:
    """Return whether an ACL's name pattern matches a resource name; resource types are compared elsewhere."""
    if acl.pattern_type == PatternType.PREFIXED:
        return resource_name.startswith(acl.resource_name)
    return acl.resource_name in (resource_name, WILDCARD)


#: Supported operations by resource type (AclEntry.supportedOperations).
SUPPORTED: dict[int, frozenset[int]] = {
    ResourceType.TOPIC: frozenset(
        {
            AclOperation.READ,
            AclOperation.WRITE,
            AclOperation.CREATE,
            AclOperation.DESCRIBE,
            AclOperation.DELETE,
            AclOperation.ALTER,
            AclOperation.DESCRIBE_CONFIGS,
            AclOperation.ALTER_CONFIGS,
        }
    ),
    ResourceType.GROUP: frozenset(
        {
            AclOperation.READ,
            AclOperation.DESCRIBE,
            AclOperation.DELETE,
            AclOperation.DESCRIBE_CONFIGS,
            AclOperation.ALTER_CONFIGS,
        }
    ),
    ResourceType.CLUSTER: frozenset(
        {
            AclOperation.CREATE,
            AclOperation.CLUSTER_ACTION,
            AclOperation.DESCRIBE_CONFIGS,
            AclOperation.ALTER_CONFIGS,
            AclOperation.IDEMPOTENT_WRITE,
            AclOperation.ALTER,
            AclOperation.DESCRIBE,
        }
    ),
    ResourceType.TRANSACTIONAL_ID: frozenset(
        {AclOperation.DESCRIBE, AclOperation.WRITE, AclOperation.TWO_PHASE_COMMIT}
    ),
    ResourceType.DELEGATION_TOKEN: frozenset({AclOperation.DESCRIBE}),
    ResourceType.USER: frozenset({AclOperation.CREATE_TOKENS, AclOperation.DESCRIBE_TOKENS}),
}


def authorized_operations(resource_type: int, allowed: frozenset[int], release: str) -> int:
    """Encode the operations of a principal as the bit field of KIP-430."""
    supported = SUPPORTED[resource_type]
    if release == "3.9":
        supported -= {AclOperation.TWO_PHASE_COMMIT}
    return sum(1 << operation for operation in supported & allowed)
