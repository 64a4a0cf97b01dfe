"""The minimal ACLs of an application, each with the requests that fail without it.

According to Kafka's authorizer, WRITE and READ imply DESCRIBE, so DESCRIBE is never required here. A transactional
producer needs no permission on the cluster. An idempotent one needed IdempotentWrite before Kafka 2.8 (KIP-679), and
since then WRITE on any topic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from eosctl.model.access import ApplicationKind, Name, NeededRule, RuleState
from eosctl.model.cluster_state import AccessRule, AccessRules

CLUSTER: Final = "kafka-cluster"
IDEMPOTENT_WRITE_UNTIL: Final = (2, 7)
IMPLYING: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"Describe": ("Read", "Write", "Delete", "Alter"), "DescribeConfigs": ("AlterConfigs",)}
)
"""The operations of Kafka's authorizer that imply another one."""


TRANSACTIONAL: Final = (ApplicationKind.PRODUCER, ApplicationKind.PROCESSOR, ApplicationKind.STREAMS)
READING: Final = (ApplicationKind.CONSUMER, ApplicationKind.PROCESSOR, ApplicationKind.STREAMS)
_INTERNAL: Final = {
    "Create": ("CreateTopics",),
    "Read": ("Fetch",),
    "Write": ("AddPartitionsToTxn", "Produce"),
    "Delete": ("DeleteRecords",),
}


class Application(msgspec.Struct, frozen=True):
    """An application with its resources. A `release` of None is the newest.

    `internal` are the topics that Kafka Streams creates for itself.
    """

    kind: ApplicationKind
    principal: str
    transactional_id: Name | None = None
    group: Name | None = None
    reads: tuple[Name, ...] = ()
    writes: tuple[Name, ...] = ()
    release: tuple[int, int] | None = None
    internal: Name | None = None


def streams_application(
    principal: str, application_id: str, reads: tuple[Name, ...], writes: tuple[Name, ...]
) -> Application:
    """Return an exactly-once Kafka Streams application: its id is its group and the prefix of its other names."""
    own = Name(f"{application_id}-", prefixed=True)
    return Application(
        kind=ApplicationKind.STREAMS,
        principal=principal,
        transactional_id=own,
        group=Name(application_id),
        reads=reads,
        writes=writes,
        internal=own,
    )


def plan_access(application: Application) -> tuple[NeededRule, ...]:
    """Return the minimal ACLs of an application.

    A processor (consume, transform, produce, offsets within the transaction) needs those of a transactional producer
    and of a consumer; its group's READ is also for TxnOffsetCommit. Kafka Streams needs the same, and creates, reads,
    writes, and truncates its own topics; without DELETE it runs, but its repartition topics grow without bound.
    """
    return tuple(_rules(application))


def _rules(application: Application) -> Iterator[NeededRule]:
    kind = application.kind
    if kind in TRANSACTIONAL and application.transactional_id is not None:
        yield NeededRule(
            "TransactionalId",
            application.transactional_id,
            "Write",
            ("FindCoordinator", "InitProducerId", "AddPartitionsToTxn", "Produce", "EndTxn"),
            "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
        )
    if kind is not ApplicationKind.CONSUMER:
        for name in application.writes:
            requests: tuple[str, ...] = ("Metadata", "AddPartitionsToTxn", "Produce")
            if kind is ApplicationKind.IDEMPOTENT_PRODUCER:
                requests = ("Metadata", "InitProducerId", "Produce")
            yield NeededRule("Topic", name, "Write", requests, "TOPIC_AUTHORIZATION_FAILED")
    release = application.release
    if kind is ApplicationKind.IDEMPOTENT_PRODUCER and release is not None and release <= IDEMPOTENT_WRITE_UNTIL:
        yield NeededRule(
            "Cluster", Name(CLUSTER), "IdempotentWrite", ("InitProducerId",), "CLUSTER_AUTHORIZATION_FAILED"
        )
    if kind in READING:
        commits = "OffsetCommit" if kind is ApplicationKind.CONSUMER else "TxnOffsetCommit"
        for name in application.reads:
            yield NeededRule("Topic", name, "Read", ("Metadata", "Fetch", commits), "TOPIC_AUTHORIZATION_FAILED")
        if application.group is not None:
            joining = ("FindCoordinator", "JoinGroup", "OffsetFetch", commits)
            yield NeededRule("Group", application.group, "Read", joining, "GROUP_AUTHORIZATION_FAILED")
    if application.internal is not None:
        for operation, requests in _INTERNAL.items():
            yield NeededRule("Topic", application.internal, operation, requests, "TOPIC_AUTHORIZATION_FAILED")


def state_of(needed: NeededRule, principal: str, rules: Sequence[AccessRule]) -> RuleState:
    """Return whether ACLs allow a needed operation, from every host.

    A denial of any name with a needed prefix, or of any host, counts, since its requests fail.
    """
    concerned = [
        rule for rule in rules if rule.principal in (principal, "User:*") and rule.resource_type == needed.resource_type
    ]
    implied = (operation for operation, implying in IMPLYING.items() if needed.operation in implying)
    denying = ("All", needed.operation, *implied)
    allowing = ("All", needed.operation, *IMPLYING.get(needed.operation, ()))
    if any(
        rule.permission == "Deny" and rule.operation in denying and _touches(rule, needed.name) for rule in concerned
    ):
        return RuleState.DENIED
    for rule in concerned:
        allows = rule.permission == "Allow" and rule.operation in allowing and rule.host == "*"
        if allows and _includes(rule, needed.name):
            return RuleState.PRESENT
    return RuleState.MISSING


def states_of(needed: Sequence[NeededRule], principal: str, found: AccessRules | None) -> tuple[RuleState | None, ...]:
    """Return the state of each needed ACL; None if the cluster's ACLs are unknown, or it has no authorizer."""
    if found is None or not found.enabled:
        return tuple(None for _ in needed)
    return tuple(state_of(one, principal, found.rules) for one in needed)


def _includes(rule: AccessRule, name: Name) -> bool:
    """Return whether a rule covers all resources of a name; a literal `orders-*` names one odd resource."""
    if rule.pattern_type == "Prefixed":
        return name.text.startswith(rule.resource_name)
    return rule.resource_name == "*" or (not name.prefixed and rule.resource_name == name.text)


def _touches(rule: AccessRule, name: Name) -> bool:
    return _includes(rule, name) or (name.prefixed and rule.resource_name.startswith(name.text))
