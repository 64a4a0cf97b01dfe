"""What a cluster keeps beside its topics: access rules, log directories, the replicas of its metadata log."""

from __future__ import annotations

import msgspec


class AccessRule(msgspec.Struct, frozen=True):
    """One ACL; the words are Kafka's own (`TransactionalId`, `Literal`, `Write`, `Allow`)."""

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
    """Every ACL of a cluster; `enabled` is False where no authorizer judges requests."""

    enabled: bool
    rules: tuple[AccessRule, ...] = ()


class LogDirectory(msgspec.Struct, frozen=True):
    """A directory in which a broker keeps logs.

    `error` is Kafka's error name, empty when it is well. `total_bytes` and `usable_bytes` are those of its volume; -1
    before Kafka 3.3, which does not tell.
    """

    broker_id: int
    path: str
    error: str = ""
    total_bytes: int = -1
    usable_bytes: int = -1
    log_bytes: int = 0


class QuorumReplica(msgspec.Struct, frozen=True):
    """A replica of the metadata log as the quorum's leader sees it.

    `last_caught_up_ms` is the leader's clock; None if the leader does not tell.
    """

    replica_id: int
    log_end_offset: int
    last_caught_up_ms: int | None = None
