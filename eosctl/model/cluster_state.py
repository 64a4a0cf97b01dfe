"""State of a cluster other than topics: ACLs, log directories, and replicas of the metadata log."""

from __future__ import annotations

import msgspec


class AccessRule(msgspec.Struct, frozen=True):
    """An ACL, in Kafka's own terms (`TransactionalId`, `Literal`, `Write`, `Allow`)."""

    principal: str
    host: str
    resource_type: str
    resource_name: str
    pattern_type: str
    operation: str
    permission: str

    def covers(self, resource_type: str, name: str) -> bool:
        """Return whether the rule's pattern matches a resource, as Kafka's authorizer matches it."""
        if self.resource_type != resource_type:
            return False
        if self.pattern_type == "Prefixed":
            return name.startswith(self.resource_name)
        return self.resource_name in ("*", name)


class AccessRules(msgspec.Struct, frozen=True):
    """Every ACL of a cluster; `enabled` is False without an authorizer."""

    enabled: bool
    rules: tuple[AccessRule, ...] = ()


class LogDirectory(msgspec.Struct, frozen=True):
    """A log directory of a broker.

    `error` is Kafka's error name, empty without an error. `total_bytes` and `usable_bytes` are those of its volume; -1
    before Kafka 3.3, which does not report them.
    """

    broker_id: int
    path: str
    error: str = ""
    total_bytes: int = -1
    usable_bytes: int = -1
    log_bytes: int = 0


class QuorumReplica(msgspec.Struct, frozen=True):
    """A replica of the metadata log, as the quorum's leader reports it.

    `last_caught_up_ms` is the leader's clock; None if unknown.
    """

    replica_id: int
    log_end_offset: int
    last_caught_up_ms: int | None = None
