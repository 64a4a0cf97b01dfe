"""Counters of one instance of a Kafka Streams application at a point in time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from eosctl.model.transaction import TopicPartition


class Carried(NamedTuple):
    """Records and bytes of a topic since the start of a client."""

    records: float = 0.0
    size_bytes: float = 0.0


class StoreReading(NamedTuple):
    """A store of one task; `file_bytes` is the size of RocksDB's files, None for other stores."""

    store: str
    task: str
    key_count: float | None = None
    file_bytes: float | None = None


class TaskTopics(NamedTuple):
    """What one task reads and writes; standby tasks read and write nothing.

    Attributes:
        task: Its id: the sub-topology, and the partition that it reads.
        reads: The topics of its source nodes.
        writes: The topics of its sink nodes. Changelogs are not sinks.
    """

    task: str
    reads: frozenset[str]
    writes: frozenset[str]

    @property
    def sub_topology(self) -> str:
        """Return its sub-topology, by the id's part before the last underline (``TaskId``)."""
        return self.task.rpartition("_")[0]


class StreamsReading(msgspec.Struct, frozen=True):
    """What an instance's beans show.

    Attributes:
        source: Its address.
        read_at_ms: When it was read, by the observer's clock.
        threads: The ids of its stream threads.
        commit_count: Commits of all threads since their start.
        transaction_commit_ns: Time that its producers spent in committing transactions; 0 without transactions.
        tasks: The ids of its active tasks.
        consumed: What its main consumers read, by topic.
        assigned: The partitions of its main consumers.
        sent: What its producers sent, by topic.
        stores: Its stores, those of standby tasks included.
        task_topics: The topics of its tasks; none before release 3.3 (KIP-846).
    """

    source: str
    read_at_ms: int
    threads: frozenset[str]
    commit_count: float
    transaction_commit_ns: float
    tasks: frozenset[str]
    consumed: Mapping[str, Carried]
    assigned: frozenset[TopicPartition]
    sent: Mapping[str, Carried]
    stores: tuple[StoreReading, ...]
    task_topics: tuple[TaskTopics, ...] = ()
