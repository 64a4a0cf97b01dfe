"""Kafka's `StandardAuthorizer`: decisions from the ACLs of the metadata log.

- A super user may do everything. DENY overrides ALLOW.
- READ, WRITE, DELETE, and ALTER imply DESCRIBE; ALTER_CONFIGS implies DESCRIBE_CONFIGS. DENY implies nothing.
- A resource with any matching ACL requires an ALLOW; one without is open only with `allow.everyone.if.no.acl.found`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from eosctl.sandbox.authorization import AclOperation
from eosctl.sandbox.security.acls import ANY_PRINCIPAL, WILDCARD, Acl, PatternType, Permission, covers
from eosctl.sandbox.security.protocol import STANDARD_AUTHORIZER
from eosctl.sandbox.settings import InvalidSetting

if TYPE_CHECKING:
    from eosctl.sandbox.broker.config import NodeConfig
    from eosctl.sandbox.metadata.image import ClusterImage
    from eosctl.wire.internal.metadata import AccessControlEntryRecord

_IMPLYING: Mapping[int, frozenset[int]] = {
    AclOperation.DESCRIBE: frozenset(
        {
            AclOperation.DESCRIBE,
            AclOperation.READ,
            AclOperation.WRITE,
            AclOperation.DELETE,
            AclOperation.ALTER,
        }
    ),
    AclOperation.DESCRIBE_CONFIGS: frozenset({AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS}),
}


class Authorizer:
    """The authorizer of a broker; its ACLs are replaced when the metadata log changes."""

    def __init__(self, super_users: frozenset[str], *, allow_without_acl: bool) -> None:
        self._super_users = super_users
        self._allow_without_acl = allow_without_acl
        self._by_type: dict[int, list[Acl]] = {}

    def replace(self, entries: Mapping[bytes, AccessControlEntryRecord]) -> None:
        """Replace all ACLs."""
        by_type: dict[int, list[Acl]] = {}
        for record in entries.values():
            by_type.setdefault(record.resource_type, []).append(acl_of(record))
        self._by_type = by_type

    def allows(self, principal: str, host: str, operation: int, resource_type: int, name: str) -> bool:
        """Decide an operation on a resource (`StandardAuthorizerData.authorize`)."""
        if principal in self._super_users:
            return True
        allowed = closed = False
        for acl in self._by_type.get(resource_type, ()):
            if not covers(acl, name):
                continue
            closed = True
            if _concerns(acl, principal, host, operation):
                if acl.permission == Permission.DENY:
                    return False
                allowed = True
        return allowed or (self._allow_without_acl and not closed)

    def allows_somewhere(self, principal: str, host: str, operation: int, resource_type: int) -> bool:
        """Decide whether a principal may do this on at least one resource (`Authorizer.authorizeByResourceType`)."""
        # Any name: allowed for super users, and for everyone if no ACL matches.
        if self.allows(principal, host, operation, resource_type, "hardcode"):
            return True
        concerned = list(self._exactly(principal, host, operation, resource_type))
        denied = [acl for acl in concerned if acl.permission == Permission.DENY]
        if any(acl.pattern_type == PatternType.LITERAL and acl.resource_name == WILDCARD for acl in denied):
            return False
        return any(not _is_dominated(acl, denied) for acl in concerned if acl.permission == Permission.ALLOW)

    def _exactly(self, principal: str, host: str, operation: int, resource_type: int) -> Iterator[Acl]:
        for acl in self._by_type.get(resource_type, ()):
            if (
                acl.host in (WILDCARD, host)
                and acl.principal in (ANY_PRINCIPAL, principal)
                and acl.operation in (AclOperation.ALL, operation)
            ):
                yield acl


def _is_dominated(allowed: Acl, denied: list[Acl]) -> bool:
    if allowed.pattern_type == PatternType.LITERAL and allowed.resource_name == WILDCARD:
        return False
    for acl in denied:
        if acl.pattern_type == PatternType.PREFIXED:
            if allowed.resource_name.startswith(acl.resource_name):
                return True
        elif allowed.pattern_type == PatternType.LITERAL and acl.resource_name == allowed.resource_name:
            return True
    return False


def _concerns(acl: Acl, principal: str, host: str, operation: int) -> bool:
    if acl.principal not in (principal, ANY_PRINCIPAL) or acl.host not in (host, WILDCARD):
        return False
    if acl.operation in (AclOperation.ALL, operation):
        return True
    return acl.permission == Permission.ALLOW and acl.operation in _IMPLYING.get(operation, ())


def acl_of(record: AccessControlEntryRecord) -> Acl:
    """Return the ACL of a metadata record."""
    return Acl(
        resource_type=record.resource_type,
        resource_name=record.resource_name,
        pattern_type=record.pattern_type,
        principal=record.principal,
        host=record.host,
        operation=record.operation,
        permission=record.permission_type,
    )


def authorizer_of(config: NodeConfig, image: ClusterImage) -> Authorizer | None:
    """Return the configured authorizer, or None.

    Raises:
        InvalidSetting: The sandbox does not have the class.
    """
    name = config.get_str("authorizer.class.name")
    if not name:
        return None
    if name != STANDARD_AUTHORIZER:
        raise InvalidSetting(f"authorizer.class.name {name} is not {STANDARD_AUTHORIZER}, the only one of the sandbox")
    users = config.static.get("super.users", "")
    authorizer = Authorizer(
        frozenset(user.strip() for user in users.split(";") if user.strip()),
        allow_without_acl=config.static.get("allow.everyone.if.no.acl.found", "").strip().lower() == "true",
    )
    authorizer.replace(image.acls)
    return authorizer
