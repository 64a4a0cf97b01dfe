"""Access lists, and requests whose answers depend on them, asked of a sandbox and of a real broker alike.

Every request leaves the cluster as it was, whether it is allowed or not: changes are validated only, or name what is
not there. A cluster must know the users ``admin``, who may do everything, and ``alice``, whom the entries are about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec.structs import astuple

from eosctl.sandbox.authorization import AclOperation as Op
from eosctl.sandbox.security.acls import CLUSTER_NAME, Acl, PatternType, Permission, ResourceType
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.create_acls import AclCreation, CreateAclsRequest
from eosctl.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from eosctl.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from eosctl.wire.messages.describe_acls import DescribeAclsRequest
from eosctl.wire.messages.find_coordinator import FindCoordinatorRequest
from eosctl.wire.messages.init_producer_id import InitProducerIdRequest
from eosctl.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.sandbox.security.probe import GROUP, TOPICS, TRANSACTIONAL_ID, USER
from tests.sandbox.security.probes_of_groups import group_probes, transaction_probes
from tests.sandbox.security.probes_of_the_cluster import cluster_probes, settings_probes
from tests.sandbox.security.probes_of_topics import topic_probes
from tests.sandbox.security.wire_client import WireClient

Ask = Callable[[int, int, Any], Any]
Answers = dict[str, list[str]]


def rule(
    kind: ResourceType,
    name: str,
    operation: Op,
    permission: Permission = Permission.ALLOW,
    pattern: PatternType = PatternType.LITERAL,
    principal: str = USER,
    host: str = "*",
) -> Acl:
    """Write an entry, by default one that allows alice something."""
    return Acl(kind, name, pattern, principal, host, operation, permission)


def _all(kind: ResourceType, name: str, *operations: Op) -> dict[str, list[Acl]]:
    return {f"{kind.name} {name} {operation.name}": [rule(kind, name, operation)] for operation in operations}


T, G, C, X = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER, ResourceType.TRANSACTIONAL_ID
DENY, PREFIXED = Permission.DENY, PatternType.PREFIXED
EVERYTHING = [rule(kind, "*", Op.ALL) for kind in (T, G, X)] + [rule(C, CLUSTER_NAME, Op.ALL)]

#: Entries by name; each set is tried alone.
ACL_SETS: Mapping[str, list[Acl]] = {
    "nothing": [],
    "everything": EVERYTHING,
    **_all(T, "orders", Op.READ, Op.WRITE, Op.CREATE, Op.DELETE, Op.ALTER, Op.DESCRIBE),
    **_all(T, "orders", Op.DESCRIBE_CONFIGS, Op.ALTER_CONFIGS, Op.ALL),
    **_all(G, GROUP, Op.READ, Op.DELETE, Op.DESCRIBE, Op.DESCRIBE_CONFIGS, Op.ALTER_CONFIGS),
    **_all(X, TRANSACTIONAL_ID, Op.WRITE, Op.DESCRIBE, Op.TWO_PHASE_COMMIT),
    **_all(C, CLUSTER_NAME, Op.CREATE, Op.ALTER, Op.DESCRIBE, Op.CLUSTER_ACTION),
    **_all(C, CLUSTER_NAME, Op.DESCRIBE_CONFIGS, Op.ALTER_CONFIGS, Op.IDEMPOTENT_WRITE),
    "a prefix": [rule(T, "ord", Op.READ, pattern=PREFIXED), rule(G, "ap", Op.READ, pattern=PREFIXED)],
    "a prefix that does not match": [rule(T, "order-", Op.ALL, pattern=PREFIXED)],
    "for everybody": [rule(T, "*", Op.WRITE, principal="User:*")],
    "for another user": [rule(T, "*", Op.ALL, principal="User:bob")],
    "from another host": [rule(T, "*", Op.ALL, host="192.0.2.1")],
    "from this host": [rule(T, "*", Op.READ, host="127.0.0.1")],
    "describing denied, reading allowed": [*EVERYTHING, rule(T, "orders", Op.DESCRIBE, DENY)],
    "reading denied": [*EVERYTHING, rule(T, "orders", Op.READ, DENY)],
    "all denied below a prefix": [*EVERYTHING, rule(T, "ord", Op.ALL, DENY, PREFIXED)],
    "writing denied everywhere": [*EVERYTHING, rule(T, "*", Op.WRITE, DENY), rule(C, CLUSTER_NAME, Op.ALL, DENY)],
    "writing allowed below a denied prefix": [rule(T, "orders", Op.WRITE), rule(T, "ord", Op.WRITE, DENY, PREFIXED)],
    "writing allowed to one, denied to another": [rule(T, "orders", Op.WRITE), rule(T, "payments", Op.WRITE, DENY)],
    "writing allowed by a longer prefix": [
        rule(T, "orders-", Op.WRITE, pattern=PREFIXED),
        rule(T, "orders", Op.WRITE, DENY),
    ],
    "the group denied": [*EVERYTHING, rule(G, GROUP, Op.ALL, DENY)],
    "the id denied": [*EVERYTHING, rule(X, TRANSACTIONAL_ID, Op.ALL, DENY)],
    "the cluster denied": [*EVERYTHING, rule(C, CLUSTER_NAME, Op.ALL, DENY)],
    "settings of the cluster denied": [*EVERYTHING, rule(C, CLUSTER_NAME, Op.DESCRIBE_CONFIGS, DENY)],
}


def collect_answers(bootstrap: str, passwords: Mapping[str, str]) -> Answers:
    """Try every request with every set of entries, and reduce the answers to what rights decide."""
    answers: Answers = {}
    with WireClient(bootstrap) as admin:
        admin.log_in("admin", passwords["admin"])
        _prepare(admin.ask)
        for name, acls in ACL_SETS.items():
            replace_acls(admin.ask, acls)
            with WireClient(bootstrap) as alice:
                alice.log_in("alice", passwords["alice"])
                for probe in (
                    *topic_probes(),
                    *group_probes(),
                    *transaction_probes(),
                    *settings_probes(),
                    *cluster_probes(),
                ):
                    answers[f"{name}: {probe.name}"] = verdict(alice.ask(probe.api_key, probe.version, probe.message))
    return answers


def _prepare(ask: Ask) -> None:
    topics = [CreatableTopic(name, 1, 1, (), [CreatableTopicConfig("retention.ms", "-1")]) for name in TOPICS]
    created = ask(ApiKey.CREATE_TOPICS, 5, CreateTopicsRequest(topics, 30_000))
    assert not any(topic.error_code for topic in created.topics), created
    for key_type, key in ((0, GROUP), (1, TRANSACTIONAL_ID)):
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
        while ask(ApiKey.FIND_COORDINATOR, 4, request).coordinators[0].error_code:
            pass  # its topic is being created
    while ask(ApiKey.INIT_PRODUCER_ID, 4, InitProducerIdRequest(TRANSACTIONAL_ID, 60_000)).error_code:
        pass  # the coordinator is loading
    for name in TOPICS:
        while ask(ApiKey.METADATA, 9, MetadataRequest([MetadataRequestTopic(name=name)], False)).topics[0].error_code:
            pass  # the broker follows the controller


def replace_acls(ask: Ask, acls: list[Acl]) -> None:
    """Make these the only entries, and return when the broker decides by them."""
    everything = (1, None, 1, None, None, 1, 1)
    deleted = ask(ApiKey.DELETE_ACLS, 3, DeleteAclsRequest([DeleteAclsFilter(*everything)]))
    assert not deleted.filter_results[0].error_code, deleted
    if acls:
        created = ask(ApiKey.CREATE_ACLS, 3, CreateAclsRequest([AclCreation(*acl) for acl in acls]))
        assert not any(result.error_code for result in created.results), created
    while set(known_acls(ask)) != set(acls):
        pass  # the broker follows the controller


def known_acls(ask: Ask) -> list[Acl]:
    """List the entries that a broker decides by."""
    answer = ask(ApiKey.DESCRIBE_ACLS, 3, DescribeAclsRequest(1, None, 1, None, None, 1, 1))
    return [
        Acl(found.resource_type, found.resource_name, found.pattern_type, *astuple(entry))
        for found in answer.resources
        for entry in found.acls
    ]


def verdict(response: Any) -> list[str]:
    """Reduce an answer to what rights decide: error codes, permitted operations, and which things are shown."""
    if response is None:
        return ["closed"]
    return sorted(_described(response, ""))


def _described(value: Any, path: str) -> Iterator[str]:
    if hasattr(value, "__struct_fields__"):
        name = next((str(getattr(value, key)) for key in _NAMES if getattr(value, key, None)), "")
        for key in value.__struct_fields__:
            inner = getattr(value, key)
            where = f"{path}{'[' + name + ']' if name else ''}.{key}"
            if key.endswith(("error_code", "authorized_operations")):
                yield f"{where}={int(inner)}"
            elif isinstance(inner, list | tuple):
                yield from _described(inner, where)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _described(one, path)


_NAMES = ("topic", "name", "topic_name", "key", "group_id", "transactional_id", "resource_name", "user")
