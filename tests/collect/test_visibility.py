"""What lists may hide from a principal, by the answers to requests that name topics, ids, and groups."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Any

import pytest

from eosctl.collect.access_rules import collect_access_rules
from eosctl.collect.reader import ReadOnly
from eosctl.collect.visibility import collect_visibility
from eosctl.errors import ClusterUnreachable, UnsupportedByBroker
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import describe_acls, describe_groups, describe_transactions, metadata
from tests.collect.conftest import ScriptedCluster

ALL = frozenset({EvidenceKind.TRANSACTIONS, EvidenceKind.GROUPS})
ALL_TOPIC_OPERATIONS, DESCRIBE = 3576, 1 << 8
EVERYTHING = ("",)
REFUSED = describe_acls.DescribeAclsResponse(0, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
TOPIC, GROUP, TRANSACTIONAL_ID = 2, 3, 5
LITERAL, PREFIXED = 3, 4


def rules(*resources: tuple[int, str, int]) -> describe_acls.DescribeAclsResponse:
    entry = describe_acls.AclDescription("User:someone", "*", 8, 2)
    return describe_acls.DescribeAclsResponse(
        resources=[describe_acls.DescribeAclsResource(*resource, [entry]) for resource in resources]
    )


def serve(
    cluster: ScriptedCluster,
    acls: Any,
    *,
    topics: Collection[str] = (),
    ids: Collection[str] = (),
    groups: Collection[str] = (),
    hidden: Collection[str] = (),
    operations: int = DESCRIBE,
) -> None:
    """Answer as a broker does to a principal that may see names with these beginnings, but not the hidden ones."""

    def may(name: str, seen: Collection[str]) -> bool:
        return name.startswith(tuple(seen)) and not name.startswith(tuple(hidden) or "\0")

    def describe_topic(name: str) -> metadata.MetadataResponseTopic:
        if not may(name, topics):
            return metadata.MetadataResponseTopic(ErrorCode.TOPIC_AUTHORIZATION_FAILED, name)
        missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return metadata.MetadataResponseTopic(missing, name, topic_authorized_operations=operations)

    def describe_id(name: str) -> describe_transactions.TransactionState:
        denied = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        return describe_transactions.TransactionState(16 if may(name, ids) else denied, name)

    def describe_group(name: str) -> describe_groups.DescribedGroup:
        denied = ErrorCode.GROUP_AUTHORIZATION_FAILED
        return describe_groups.DescribedGroup(16 if may(name, groups) else denied, None, name)

    def to_metadata(request: metadata.MetadataRequest) -> metadata.MetadataResponse:
        assert not request.allow_auto_topic_creation
        named = [topic.name for topic in request.topics or () if topic.name is not None]
        return metadata.MetadataResponse(topics=[describe_topic(name) for name in named])

    cluster.on(1, ApiKey.DESCRIBE_ACLS, acls)
    cluster.on(1, ApiKey.METADATA, to_metadata)
    cluster.on(
        1,
        ApiKey.DESCRIBE_TRANSACTIONS,
        lambda request: describe_transactions.DescribeTransactionsResponse(
            transaction_states=[describe_id(name) for name in request.transactional_ids]
        ),
    )
    cluster.on(
        1,
        ApiKey.DESCRIBE_GROUPS,
        lambda request: describe_groups.DescribeGroupsResponse(groups=[describe_group(n) for n in request.groups]),
    )


def look(cluster: ScriptedCluster, seen: Collection[str] = ()) -> dict[EvidenceKind, EvidenceGap]:
    async def collect() -> tuple[EvidenceGap, ...]:
        reader = ReadOnly(cluster)
        return await collect_visibility(reader, ALL, await collect_access_rules(reader), seen, lambda: "-random")

    return {gap.kind: gap for gap in asyncio.run(collect())}


def test_without_an_authorizer_one_request_is_enough(cluster: ScriptedCluster) -> None:
    serve(cluster, describe_acls.DescribeAclsResponse(0, ErrorCode.SECURITY_DISABLED))
    assert look(cluster) == {}
    assert [key for _, key, _ in cluster.asked] == [ApiKey.DESCRIBE_ACLS]


def test_nothing_is_visible(cluster: ScriptedCluster) -> None:
    serve(cluster, REFUSED)
    found = look(cluster)
    assert set(found) == {EvidenceKind.TOPICS, EvidenceKind.TRANSACTIONS, EvidenceKind.GROUPS}
    assert {gap.reason for gap in found.values()} == {GapReason.HIDDEN}
    assert "transactional id '*'; eosctl check acl doctor" in found[EvidenceKind.TRANSACTIONS].next_step


@pytest.mark.parametrize("missing", ["topics", "ids", "groups"])
def test_each_list_stands_for_itself(missing: str, cluster: ScriptedCluster) -> None:
    serve(cluster, REFUSED, **{kind: EVERYTHING for kind in ("topics", "ids", "groups") if kind != missing})
    kinds = {"topics": EvidenceKind.TOPICS, "ids": EvidenceKind.TRANSACTIONS, "groups": EvidenceKind.GROUPS}
    assert set(look(cluster)) == {kinds[missing]}


def test_describe_on_all_names_shows_everything(cluster: ScriptedCluster) -> None:
    serve(cluster, REFUSED, topics=EVERYTHING, ids=EVERYTHING, groups=EVERYTHING)
    assert look(cluster) == {}


def test_names_without_rules_open_to_everyone_prove_nothing(cluster: ScriptedCluster) -> None:
    # allow.everyone.if.no.acl.found: a random name may be seen, the ids that have rules may not.
    everything = {"topics": EVERYTHING, "ids": EVERYTHING, "groups": EVERYTHING}
    serve(cluster, REFUSED, **everything, operations=ALL_TOPIC_OPERATIONS)
    found = look(cluster)
    assert set(found) == {EvidenceKind.TOPICS, EvidenceKind.TRANSACTIONS, EvidenceKind.GROUPS}
    assert "on the cluster" in found[EvidenceKind.TRANSACTIONS].next_step
    serve(cluster, rules(), **everything, operations=ALL_TOPIC_OPERATIONS)
    assert look(cluster) == {}


def test_describe_on_the_cluster_lists_every_group(cluster: ScriptedCluster) -> None:
    serve(cluster, rules(), topics=EVERYTHING, ids=EVERYTHING)
    assert look(cluster) == {}


@pytest.mark.parametrize(
    ("resource", "hidden", "kind", "subject"),
    [
        ((TOPIC, "secrets", LITERAL), "secrets", EvidenceKind.TOPICS, "secrets"),
        ((TRANSACTIONAL_ID, "payments-", PREFIXED), "payments-", EvidenceKind.TRANSACTIONS, "payments-*"),
        ((TRANSACTIONAL_ID, "payments", LITERAL), "payments", EvidenceKind.TRANSACTIONS, "payments"),
    ],
)
def test_a_rule_that_denies_is_found_by_its_own_name(
    resource: tuple[int, str, int], hidden: str, kind: EvidenceKind, subject: str, cluster: ScriptedCluster
) -> None:
    serve(cluster, rules(resource), topics=EVERYTHING, ids=EVERYTHING, hidden=[hidden])
    assert {kind: gap.subject for kind, gap in look(cluster).items()} == {kind: subject}
    # The same rule for another principal, which it does not restrict.
    serve(cluster, rules(resource), topics=EVERYTHING, ids=EVERYTHING)
    assert look(cluster) == {}


def test_internal_topics_are_asked_for_by_name(cluster: ScriptedCluster) -> None:
    serve(cluster, REFUSED, topics=EVERYTHING, ids=EVERYTHING, groups=EVERYTHING, hidden=["__transaction_state"])
    assert look(cluster)[EvidenceKind.TOPICS].subject == "__transaction_state"


def test_a_topic_that_was_listed_needs_no_question(cluster: ScriptedCluster) -> None:
    serve(cluster, rules((TOPIC, "orders", LITERAL)), topics=EVERYTHING, ids=EVERYTHING)
    look(cluster, ["orders"])
    (request,) = [message for _, key, message in cluster.asked if key is ApiKey.METADATA]
    assert "orders" not in [topic.name for topic in request.topics]


def test_a_request_that_fails_hides_what_it_would_have_shown(cluster: ScriptedCluster) -> None:
    answers: list[tuple[Callable[[Any], Any], set[EvidenceKind]]] = [
        (lambda request: UnsupportedByBroker("before Kafka 3.0"), set()),
        (lambda request: ClusterUnreachable("gone"), {EvidenceKind.TRANSACTIONS}),
    ]
    for reply, kinds in answers:
        serve(cluster, rules(), topics=EVERYTHING)
        cluster.on(1, ApiKey.DESCRIBE_TRANSACTIONS, reply)
        assert set(look(cluster)) == kinds


def test_brokers_without_acls_are_not_asked_to_create_topics(cluster: ScriptedCluster) -> None:
    serve(cluster, lambda request: UnsupportedByBroker("before Kafka 0.11"), groups=EVERYTHING, ids=EVERYTHING)
    assert look(cluster) == {}
    assert ApiKey.METADATA not in [key for _, key, _ in cluster.asked]
