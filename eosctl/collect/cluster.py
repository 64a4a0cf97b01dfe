"""Brokers, features, topics, partitions, reassignments, and quotas: what any broker answers of the cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from eosctl.collect.answered import left_out, unanswered
from eosctl.collect.reader import Probed, ReadOnly, attempt, gap_from_code
from eosctl.errors import ClusterUnreachable
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.model.snapshot import ApiRange, Broker, ClientQuota, FeatureLevel, PartitionInfo, Reassignment, Topic
from eosctl.model.transaction import TopicPartition, Transaction
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import api_versions, describe_cluster, list_partition_reassignments, metadata
from eosctl.wire.messages.describe_client_quotas import DescribeClientQuotasRequest, EntryData
from eosctl.wire.request import Answer, Request
from eosctl.wire.uuid import render_uuid

REASSIGNMENTS_TIMEOUT_MS: Final = 5_000


class ClusterShape(NamedTuple):
    """The cluster's brokers and topics, before settings and offsets are collected."""

    cluster_id: str
    controller_id: int | None
    brokers: tuple[Broker, ...]
    topics: tuple[Topic, ...]


async def collect_shape(reader: ReadOnly, node_id: int | None = None) -> Probed[ClusterShape]:
    """Fetch brokers and topics, from any broker or from the given one, without creating topics.

    Raises:
        EosctlError: No broker responded, or the response lists no broker; nothing can be collected without metadata.
    """
    request = metadata.MetadataRequest(topics=None, allow_auto_topic_creation=False)
    answer = await _ask(reader, node_id, ApiKey.METADATA, request)
    topics, gaps = reader.derived(answer, lambda: _topics(answer.topics))
    if not answer.brokers:  # At least the broker that answers is one.
        raise ClusterUnreachable(
            "The cluster's metadata lists no brokers, so nothing can be read.",
            "A broker that has just started answers like this, or a proxy drops parts of responses.",
            "Run the command again; if it persists, connect to the brokers directly.",
        )
    brokers = tuple(
        Broker(broker.node_id, broker.host, broker.port, broker.rack)
        for broker in sorted(answer.brokers, key=lambda b: b.node_id)
    )
    shape = ClusterShape(
        answer.cluster_id or "",
        answer.controller_id if answer.controller_id >= 0 else None,
        brokers,
        tuple(sorted(topics, key=lambda t: t.name)),
    )
    return Probed(shape, tuple(gaps))


async def _ask(reader: ReadOnly, node_id: int | None, api_key: ApiKey, request: Request[Answer]) -> Answer:
    if node_id is None:
        return await reader.request_any(api_key, request)
    return await reader.request(node_id, api_key, request)


async def collect_topics_of_transactions(
    reader: ReadOnly, topics: Sequence[Topic], transactions: Sequence[Transaction]
) -> Probed[tuple[Topic, ...]]:
    """Return the topics with those that open transactions wrote to and the first metadata did not contain.

    A transaction's coordinator is asked, because it knew each topic when the producer added the partition. So a topic
    that is still missing was deleted, not created in the meantime.
    """
    known = {topic.name for topic in topics}
    missing: dict[int, set[str]] = {}
    for transaction in transactions:
        named = {partition.topic for partition in transaction.partitions} - known
        if named:
            missing.setdefault(transaction.coordinator_id, set()).update(named)
    added: dict[str, Topic] = {}
    gaps: list[EvidenceGap] = []
    for broker_id, names in sorted(missing.items()):
        request = metadata.MetadataRequest(
            topics=[metadata.MetadataRequestTopic(name=name) for name in sorted(names)], allow_auto_topic_creation=False
        )
        answer, lost = await attempt(
            EvidenceKind.TOPICS, "", partial(reader.request, broker_id, ApiKey.METADATA, request)
        )
        gaps += (replace(gap, subject=name) for name in sorted(names) for gap in lost)
        if answer is not None:
            found, refused = _topics(
                topic for topic in answer.topics if topic.error_code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            )
            added |= {topic.name: topic for topic in found}
            gaps += refused
            gaps += unanswered(EvidenceKind.TOPICS, sorted(names), {topic.name for topic in answer.topics})
    return Probed(tuple(sorted((*topics, *added.values()), key=lambda topic: topic.name)), tuple(gaps))


def _topics(described: Iterable[metadata.MetadataResponseTopic]) -> tuple[list[Topic], list[EvidenceGap]]:
    gaps: list[EvidenceGap] = []
    topics: list[Topic] = []
    for topic in described:
        name = topic.name or render_uuid(topic.topic_id)
        if topic.error_code != ErrorCode.NONE:
            gaps.append(gap_from_code(EvidenceKind.TOPICS, name, topic.error_code))
            continue
        if not topic.partitions:  # Every topic has at least one.
            gaps.append(left_out(EvidenceKind.TOPICS, f"partitions of {name}"))
        partitions = sorted((_partition(name, p) for p in topic.partitions), key=lambda p: p.partition)
        topics.append(Topic(name, render_uuid(topic.topic_id), topic.is_internal, tuple(partitions)))
    return topics, gaps


def _partition(topic: str, partition: Any) -> PartitionInfo:
    return PartitionInfo(
        partition=TopicPartition(topic, partition.partition_index),
        leader_id=partition.leader_id if partition.leader_id >= 0 else None,
        leader_epoch=partition.leader_epoch,
        replicas=tuple(partition.replica_nodes),
        isr=tuple(partition.isr_nodes),
        offline_replicas=tuple(partition.offline_replicas),
    )


async def collect_fenced(reader: ReadOnly, brokers: Sequence[Broker], node_id: int | None = None) -> tuple[Broker, ...]:
    """Add the registered but fenced brokers (DescribeCluster 2, Kafka 4.0); none on older clusters."""
    request = describe_cluster.DescribeClusterRequest(include_fenced_brokers=True)
    answer, _ = await attempt(
        EvidenceKind.CLUSTER,
        "fenced brokers",
        lambda: _ask(reader, node_id, ApiKey.DESCRIBE_CLUSTER, request),
    )
    known = {broker.node_id: broker for broker in brokers}
    for broker in () if answer is None else answer.brokers:
        if broker.is_fenced:
            shown = known.get(broker.broker_id, Broker(broker.broker_id, broker.host, broker.port, broker.rack))
            known[broker.broker_id] = replace(shown, fenced=True)
    return tuple(known[node_id] for node_id in sorted(known))


class BrokerFacts(NamedTuple):
    """Brokers with their supported requests, the features of the cluster, and the metadata offset of each broker."""

    brokers: tuple[Broker, ...]
    features: tuple[FeatureLevel, ...]
    metadata_offsets: Mapping[int, int]


async def collect_broker_facts(reader: ReadOnly, brokers: Sequence[Broker]) -> Probed[BrokerFacts]:
    """Query the supported requests of every broker; a broker that does not respond is marked unreachable."""
    request = api_versions.ApiVersionsRequest(client_software_name="eosctl", client_software_version="1")
    asked = [broker for broker in brokers if not broker.fenced]
    answers = await asyncio.gather(
        *(
            attempt(
                EvidenceKind.API_VERSIONS,
                f"broker {broker.node_id}",
                partial(reader.request, broker.node_id, ApiKey.API_VERSIONS, request),
            )
            for broker in asked
        )
    )
    gaps = [gap for _, lost in answers for gap in lost]
    by_id = {broker.node_id: broker for broker in brokers}
    ranges_of: list[dict[str, tuple[int, int]]] = []
    finalized: dict[str, int] = {}
    offsets: dict[int, int] = {}
    newest_epoch = -1
    for broker, (answer, _) in zip(asked, answers, strict=True):
        if answer is None:
            by_id[broker.node_id] = replace(broker, reachable=False)
            continue
        ranges = tuple(ApiRange(key.api_key, key.min_version, key.max_version) for key in answer.api_keys)
        known = answer.finalized_features_epoch if answer.finalized_features_epoch >= 0 else None
        by_id[broker.node_id] = replace(broker, api_ranges=ranges, metadata_offset=known)
        ranges_of.append(
            {feature.name: (feature.min_version, feature.max_version) for feature in answer.supported_features}
        )
        offsets[broker.node_id] = answer.finalized_features_epoch
        if answer.finalized_features_epoch > newest_epoch:
            newest_epoch = answer.finalized_features_epoch
            finalized = {feature.name: feature.max_version_level for feature in answer.finalized_features}
    for broker in brokers:
        if broker.fenced:
            by_id[broker.node_id] = replace(broker, reachable=False)
    supported = _supported_by_all(ranges_of)
    # A feature that every broker supports but that is not finalized has level 0, once the finalized set is known.
    unset = 0 if newest_epoch >= 0 else None
    features = tuple(
        FeatureLevel(name, finalized.get(name, unset), *supported.get(name, (0, finalized.get(name, 0))))
        for name in sorted(set(supported) | set(finalized))
    )
    facts = BrokerFacts(tuple(by_id[node_id] for node_id in sorted(by_id)), features, offsets)
    return Probed(facts, tuple(gaps))


def _supported_by_all(ranges_of: Sequence[Mapping[str, tuple[int, int]]]) -> dict[str, tuple[int, int]]:
    """Return the levels of each feature that all brokers support.

    During an upgrade, brokers without a feature support level 0 of it.
    """
    found: dict[str, tuple[int, int]] = {}
    for name in {name for ranges in ranges_of for name in ranges}:
        ranges = [one.get(name, (0, 0)) for one in ranges_of]
        found[name] = (max(low for low, _ in ranges), min(high for _, high in ranges))
    return found


async def collect_reassignments(
    reader: ReadOnly, brokers: Sequence[Broker], controller_id: int | None
) -> Probed[tuple[Reassignment, ...]]:
    """Return the partitions that are being moved (KIP-455, Kafka 2.4).

    Under ZooKeeper only the controller answers; under KRaft any broker forwards the question.
    """
    serving = [broker.node_id for broker in brokers if broker.reachable and _lists_reassignments(broker)]
    if not serving:
        return Probed(())
    node_id = controller_id if controller_id in serving else serving[0]
    kind = EvidenceKind.REASSIGNMENTS
    request = list_partition_reassignments.ListPartitionReassignmentsRequest(timeout_ms=REASSIGNMENTS_TIMEOUT_MS)
    answer, gaps = await attempt(
        kind, "*", lambda: reader.request(node_id, ApiKey.LIST_PARTITION_REASSIGNMENTS, request)
    )
    if answer is None:
        return Probed((), gaps)
    if answer.error_code != ErrorCode.NONE:
        return Probed((), (gap_from_code(kind, "*", answer.error_code, answer.error_message or ""),))
    found = (
        Reassignment(
            TopicPartition(topic.name, moved.partition_index),
            tuple(moved.adding_replicas),
            tuple(moved.removing_replicas),
        )
        for topic in answer.topics
        for moved in topic.partitions
    )
    return Probed(tuple(sorted(found, key=lambda one: one.partition)))


def _lists_reassignments(broker: Broker) -> bool:
    return any(served.api_key == ApiKey.LIST_PARTITION_REASSIGNMENTS for served in broker.api_ranges)


async def collect_client_quotas(reader: ReadOnly, brokers: Sequence[Broker]) -> Probed[tuple[ClientQuota, ...]]:
    """Return the quotas of all entities, ordered by entity (DescribeClientQuotas, KIP-546).

    Any broker answers from the cluster's metadata. Releases before 2.6 keep quotas in ZooKeeper alone and do not serve
    the request, so they have no quotas to collect.
    """
    serving = [broker.node_id for broker in brokers if broker.reachable and _describes_quotas(broker)]
    if not serving:
        return Probed(())
    kind = EvidenceKind.CLIENT_QUOTAS
    request = DescribeClientQuotasRequest()  # without components, all entities match
    answer, gaps = await attempt(kind, "*", lambda: reader.request(serving[0], ApiKey.DESCRIBE_CLIENT_QUOTAS, request))
    if answer is None:
        return Probed((), gaps)
    if answer.error_code != ErrorCode.NONE:
        return Probed((), (gap_from_code(kind, "*", answer.error_code, answer.error_message or ""),))
    return Probed(tuple(sorted(map(_quota, answer.entries or ()), key=str)))


def _quota(entry: EntryData) -> ClientQuota:
    return ClientQuota(
        tuple(sorted((part.entity_type, part.entity_name) for part in entry.entity)),
        tuple(sorted((value.key, value.value) for value in entry.values)),
    )


def _describes_quotas(broker: Broker) -> bool:
    return any(served.api_key == ApiKey.DESCRIBE_CLIENT_QUOTAS for served in broker.api_ranges)
