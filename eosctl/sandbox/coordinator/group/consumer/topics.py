"""Topic metadata for assignments, and its hash."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from xxhash import xxh3_64_intdigest

from eosctl.sandbox.coordinator.group.consumer.group import Assignment, TopicIdPartition
from eosctl.sandbox.ports import MetadataView

#: Topics whose partitions or hash are kept: every heartbeat needs those of its member.
_KEPT_TOPICS: Final = 512
_HASH_VERSION = b"\x00"
_INT, _LONG = struct.Struct("<i"), struct.Struct("<Q")


def partitions_of(metadata: MetadataView, topic: str) -> list[TopicIdPartition]:
    """Return a topic's partitions in order; empty for an unknown topic."""
    topic_id = metadata.topic_id(topic)
    if topic_id is None:
        return []
    return list(_partitions(topic_id, metadata.partition_count(topic)))


def existing_partitions(metadata: MetadataView, topics: Iterable[str]) -> Assignment:
    """Return all partitions of these topics."""
    found = [
        _all_partitions(topic_id, metadata.partition_count(topic))
        for topic in topics
        if (topic_id := metadata.topic_id(topic)) is not None
    ]
    return found[0] if len(found) == 1 else frozenset().union(*found)


@lru_cache(_KEPT_TOPICS)
def _partitions(topic_id: bytes, count: int) -> tuple[TopicIdPartition, ...]:
    return tuple(TopicIdPartition(topic_id, index) for index in range(count))


@lru_cache(_KEPT_TOPICS)
def _all_partitions(topic_id: bytes, count: int) -> Assignment:
    return frozenset(_partitions(topic_id, count))


def metadata_hash(metadata: MetadataView, topics: Iterable[str]) -> int:
    """Return Kafka's hash over the existing topics, as a signed number; 0 without any (KIP-1101).

    XXH3 over the topics' own hashes in name order, as in `Utils.computeGroupHash` of Kafka 4.3. A group that moves
    between this broker and a real one is not reassigned.
    """
    hashes = [
        _topic_hash(topic, topic_id, metadata.partition_racks(topic))
        for topic in sorted(topics)
        if (topic_id := metadata.topic_id(topic)) is not None
    ]
    return _signed(xxh3_64_intdigest(b"".join(_LONG.pack(value) for value in hashes))) if hashes else 0


@lru_cache(_KEPT_TOPICS)
def _topic_hash(name: str, topic_id: bytes, racks: tuple[tuple[str, ...], ...]) -> int:
    """Return the hash of a topic: id, name, and each partition with its sorted racks (`Utils.computeTopicHash`)."""
    parts = [_HASH_VERSION, topic_id[7::-1], topic_id[:7:-1], _text(name), _INT.pack(len(racks))]
    for index, racks_of_partition in enumerate(racks):
        parts.append(_INT.pack(index))
        for rack in sorted(racks_of_partition):
            parts += (_INT.pack(_length(rack)), _text(rack))
    return xxh3_64_intdigest(b"".join(parts))


def _text(text: str) -> bytes:
    """Return a text as hash4j hashes it: UTF-16 code units, followed by their count."""
    return text.encode("utf-16-le") + _INT.pack(_length(text))


def _length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
