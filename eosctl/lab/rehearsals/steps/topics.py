"""Steps that create topics, copy records, and change ACLs."""

from __future__ import annotations

from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.destinations import Role
from eosctl.client.outcome import any_error, error_for_code
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.lab.rehearsals.clusters import RehearsalCluster, RehearsalClusters
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.create_acls import AclCreation, CreateAclsRequest
from eosctl.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest

_RESOURCES = {"topic": 2, "group": 3, "cluster": 4, "transactional-id": 5}
_OPERATIONS = {"read": 3, "write": 4, "describe": 8}
_ALLOW, _ANY = 3, 1
_PATTERNS = {"literal": 3, "prefixed": 4}


async def create_topic(
    cluster: RehearsalCluster, *, topic: str, partitions: int = 1, replicas: int = 0, name: str = "", value: str = ""
) -> None:
    """Create a topic, optionally with a setting."""
    settings = {name: value} if name else {}
    await ensure_topic(
        cluster.client, topic, partition_count=partitions, replica_count=replicas or None, settings=settings
    )


async def allow(
    cluster: RehearsalCluster, *, principal: str, resource: str, name: str, operation: str, pattern: str = "literal"
) -> None:
    """Add an ACL that allows an operation."""
    rule = AclCreation(
        resource_type=_RESOURCES[resource],
        resource_name=name,
        resource_pattern_type=_PATTERNS[pattern],
        principal=principal,
        host="*",
        operation=_OPERATIONS[operation],
        permission_type=_ALLOW,
    )
    answer = await cluster.client.request(Role.CONTROLLER, ApiKey.CREATE_ACLS, CreateAclsRequest([rule]))
    if code := any_error(answer):
        raise error_for_code(code, f"CreateAcls for {principal}")


async def revoke_all(cluster: RehearsalCluster, *, principal: str) -> None:
    """Delete all ACLs of a principal."""
    which = DeleteAclsFilter(
        resource_type_filter=_ANY,
        resource_name_filter=None,
        pattern_type_filter=_ANY,
        principal_filter=principal,
        host_filter=None,
        operation=_ANY,
        permission_type=_ANY,
    )
    answer = await cluster.client.request(Role.CONTROLLER, ApiKey.DELETE_ACLS, DeleteAclsRequest([which]))
    if code := any_error(answer):
        raise error_for_code(code, f"DeleteAcls of {principal}")


async def mirror(
    clusters: RehearsalClusters, *, source: str, target: str, topic: str = "orders", prefix: str = ""
) -> None:
    """Copy committed records from one cluster to another, as MirrorMaker with read_committed does."""
    here, there = clusters.named(source), clusters.named(target)
    reader = await Reader.open(here.client, [TopicPartition(topic, 0)], isolation=IsolationLevel.READ_COMMITTED)
    found = (await reader.drain(10_000)).get(TopicPartition(topic, 0), [])
    copy = f"{prefix}{topic}"
    await ensure_topic(there.client, copy)
    producer = TransactionalProducer(there.client, "mirror", now_ms=there.now_ms)
    await producer.init_transactions()
    if found:
        await producer.send(TopicPartition(copy, 0), [OutgoingRecord(r.key, r.value) for r in found])
        await producer.commit()
