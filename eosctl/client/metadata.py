"""The cluster metadata: brokers, topics, and partition leaders."""

from __future__ import annotations

from typing import Any, NamedTuple

from eosctl.client.outcome import known_error
from eosctl.model.client_config import Endpoint
from eosctl.model.transaction import TopicPartition
from eosctl.wire.error_codes import ErrorCode


class BrokerAddress(NamedTuple):
    """A broker and its address."""

    node_id: int
    endpoint: Endpoint
    rack: str | None


class PartitionMetadata(NamedTuple):
    """A partition's leader and replicas; without a leader, `leader_id` is None and `error` the reason."""

    partition: TopicPartition
    leader_id: int | None
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...]
    error: ErrorCode


class TopicMetadata(NamedTuple):
    """A topic with its partitions by index; `topic_id` is 16 zero bytes below Metadata 10."""

    name: str
    topic_id: bytes
    internal: bool
    partitions: tuple[PartitionMetadata, ...]
    error: ErrorCode


class ClusterMetadata(NamedTuple):
    """A Metadata response; `controller_id` is None without a known controller."""

    cluster_id: str
    controller_id: int | None
    brokers: tuple[BrokerAddress, ...]
    topics: tuple[TopicMetadata, ...]

    @property
    def node_ids(self) -> tuple[int, ...]:
        """Return the ids of all brokers, ascending."""
        return tuple(sorted(broker.node_id for broker in self.brokers))

    def endpoint(self, node_id: int) -> Endpoint | None:
        """Return a broker's address, or None for an unknown broker."""
        return next((broker.endpoint for broker in self.brokers if broker.node_id == node_id), None)

    def topic(self, name: str) -> TopicMetadata | None:
        """Return the named topic, or None if the response does not contain it."""
        return next((topic for topic in self.topics if topic.name == name), None)

    def partition(self, partition: TopicPartition) -> PartitionMetadata | None:
        """Return a partition, or None if the response does not contain it."""
        topic = self.topic(partition.topic)
        return next((p for p in topic.partitions if p.partition == partition), None) if topic is not None else None

    def leader(self, partition: TopicPartition) -> int | None:
        """Return the leader's id, or None if there is no leader or it is unknown."""
        found = self.partition(partition)
        return found.leader_id if found is not None else None


def parse_metadata(response: Any) -> ClusterMetadata:
    """Convert a MetadataResponse."""
    return ClusterMetadata(
        cluster_id=response.cluster_id or "",
        controller_id=response.controller_id if response.controller_id >= 0 else None,
        brokers=tuple(
            BrokerAddress(broker.node_id, Endpoint(broker.host, broker.port), broker.rack)
            for broker in response.brokers
        ),
        topics=tuple(sorted((_parse_topic(topic) for topic in response.topics), key=lambda topic: topic.name)),
    )


def _parse_topic(topic: Any) -> TopicMetadata:
    partitions = (_parse_partition(topic.name, partition) for partition in topic.partitions)
    return TopicMetadata(
        name=topic.name or "",
        topic_id=bytes(topic.topic_id),
        internal=topic.is_internal,
        partitions=tuple(sorted(partitions, key=lambda p: p.partition)),
        error=known_error(topic.error_code),
    )


def _parse_partition(topic: str, partition: Any) -> PartitionMetadata:
    return PartitionMetadata(
        partition=TopicPartition(topic, partition.partition_index),
        leader_id=partition.leader_id if partition.leader_id >= 0 else None,
        leader_epoch=partition.leader_epoch,
        replicas=tuple(partition.replica_nodes),
        isr=tuple(partition.isr_nodes),
        offline_replicas=tuple(partition.offline_replicas),
        error=known_error(partition.error_code),
    )
