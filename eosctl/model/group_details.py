"""Details of share groups (KIP-932) and streams groups (KIP-1071)."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import msgspec

from eosctl.model.transaction import TopicPartition


class DeliveryState(IntEnum):
    """The delivery state of a record of a share group (`RecordState`), as `__share_group_state` stores it."""

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVING = 3
    ARCHIVED = 4


class DeliveredRange(msgspec.Struct, frozen=True):
    """Consecutive offsets of a share-partition in one delivery state; both offsets are included.

    `state` is a `DeliveryState`. `written_at_ms` is the time of the record in `__share_group_state`.
    """

    first_offset: int
    last_offset: int
    state: int
    delivery_count: int
    written_at_ms: int


class SharePartition(msgspec.Struct, frozen=True):
    """A share group's view of a partition.

    `start_offset` is the share-partition start offset (SPSO): all records before it are done. `lag` is the broker's
    number of records that are not done. Both are None if they are not known: the group has not read the partition yet,
    or the release does not report the lag (before 4.2). `ranges` are the delivered records that `__share_group_state`
    shows; empty if it was not read.
    """

    partition: TopicPartition
    start_offset: int | None
    leader_epoch: int
    lag: int | None
    ranges: tuple[DeliveredRange, ...] = ()


class InternalTopic(msgspec.Struct, frozen=True):
    """A repartition or changelog topic of a topology; `partition_count` 0 if the group has not determined it."""

    name: str
    partition_count: int


class Subtopology(msgspec.Struct, frozen=True):
    """A connected part of a Streams topology, with the topics that must exist before it runs."""

    subtopology_id: str
    source_topics: tuple[str, ...] = ()
    repartition_topics: tuple[InternalTopic, ...] = ()
    changelog_topics: tuple[InternalTopic, ...] = ()

    @property
    def input_topics(self) -> tuple[str, ...]:
        """Return the names of the source topics and of the repartition topics that this part reads."""
        return (*self.source_topics, *(topic.name for topic in self.repartition_topics))


class StreamsTopology(msgspec.Struct, frozen=True):
    """The topology of a streams group at the coordinator."""

    epoch: int
    subtopologies: tuple[Subtopology, ...] = ()


class CountMismatch(NamedTuple):
    """An internal topic with another number of partitions than its subtopology has tasks."""

    topic: str
    partition_count: int
    expected_count: int


class TopicProblems(NamedTuple):
    """What a topology lacks among the topics of a cluster; names are in order.

    `uneven` are subtopologies whose source topics differ in their number of partitions, with the numbers by topic. That
    is an error only for topics that are joined, which brokers do not describe.
    """

    missing_sources: tuple[str, ...] = ()
    missing_internal: tuple[str, ...] = ()
    mismatches: tuple[CountMismatch, ...] = ()
    uneven: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()
