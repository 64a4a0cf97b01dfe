"""The topics as an assignment sees them, and what they hash to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from eosctl.sandbox.coordinator.group.consumer.group import Assignment, TopicIdPartition
from eosctl.sandbox.ports import MetadataView


def partitions_of(metadata: MetadataView, topic: str) -> list[TopicIdPartition]:
    """Return a topic's partitions in order, none when it does not exist."""
    topic_id = metadata.topic_id(topic)
    if topic_id is None:
        return []
    return [TopicIdPartition(topic_id, index) for index in range(metadata.partition_count(topic))]


def existing_partitions(metadata: MetadataView, topics: Iterable[str]) -> Assignment:
    """Return all partitions of these topics."""
    return frozenset(partition for topic in topics for partition in partitions_of(metadata, topic))


def metadata_hash(metadata: MetadataView, topics: Iterable[str]) -> int:
    """Return a signed 64-bit hash over the existing topics among these, 0 without any (KIP-1101).

    It only has to change when a topic's identity or size does; Kafka's own hash function is another one, so a real
    broker that takes over the group recomputes it and bumps the group's epoch once.
    """
    known = sorted((topic, metadata.topic_id(topic), metadata.partition_count(topic)) for topic in topics)
    present = [entry for entry in known if entry[1] is not None]
    if not present:
        return 0
    digest = hashlib.blake2b(repr(present).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
