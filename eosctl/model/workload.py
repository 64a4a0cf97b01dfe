"""A workload as an operator describes it: the input of capacity plans.

Quantities are in base units: bytes, milliseconds, per second, shares from 0 to 1. Unknown optional figures are None; a
plan then makes no verdict that needs them.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

import msgspec

#: The first major release of Flink's Kafka connector with `TransactionNamingStrategy`; those of 1.15 to 1.17 are older.
FIRST_CONNECTOR_WITH_NAMING: Final = 4
_CHANGELOG: Final = "changelog"
_REPARTITION_TOPIC: Final = re.compile(
    r"-(?:repartition|subscription-(?:registration|response)(?:-\d+)?-topic)$", re.IGNORECASE
)


class ApplicationKind(StrEnum):
    """How an application uses transactions.

    `streams` is Kafka Streams under exactly_once_v2. `consume-process-produce` commits the offsets of its input in the
    transaction. `producer` only writes. `flink` is a KafkaSink with EXACTLY_ONCE: one transaction for each subtask and
    checkpoint. `connect` is a source connector under exactly.once.source.support: one producer for each task.
    `mirror` is MirrorMaker 2 in the same way, seen from the cluster that it writes to. `short-lived` starts a new
    producer with a new transactional id for each transaction, as functions do.
    """

    STREAMS = "streams"
    CONSUME_PROCESS_PRODUCE = "consume-process-produce"
    PRODUCER = "producer"
    FLINK = "flink"
    CONNECT = "connect"
    MIRROR = "mirror"
    SHORT_LIVED = "short-lived"


class TransactionalIdNaming(StrEnum):
    """How a Flink sink names its transactions (`TransactionNamingStrategy` of its Kafka connector).

    `incrementing`, the default, takes a new transactional id for each subtask and checkpoint. `pooling` (connector 4.0
    and later) takes ids again whose transaction has ended.
    """

    INCREMENTING = "incrementing"
    POOLING = "pooling"


class Cleanup(StrEnum):
    """What bounds a topic (`cleanup.policy`)."""

    DELETE = "delete"
    COMPACT = "compact"
    COMPACT_AND_DELETE = "compact,delete"

    @property
    def compacts(self) -> bool:
        """Return whether old records of a key are removed."""
        return self is not Cleanup.DELETE

    @property
    def deletes(self) -> bool:
        """Return whether old records are removed with `retention.ms`."""
        return self is not Cleanup.COMPACT


def parse_cleanup(text: str) -> Cleanup:
    """Return a policy, also as a list in another order or with spaces.

    Raises:
        ValueError: It is not a cleanup policy.
    """
    return Cleanup(",".join(sorted(part.strip() for part in text.split(","))))


class Assumption(msgspec.Struct, frozen=True):
    """A figure that the workload file does not state: its place, the assumed value, and the reason."""

    path: str
    value: str
    why: str


class ClusterSpec(msgspec.Struct, frozen=True):
    """The brokers and what each of them can do; `disk_bytes` and the like are for one broker.

    `brokers_lost` is how many may fail with the rest still carrying the load. `max_utilisation` is the share of a limit
    that may be used. `appends_per_s` is the measured append rate of one broker, or None.
    """

    broker_count: int
    replication_factor: int
    min_insync_replicas: int
    kafka_version: str
    transaction_version: int
    zone_count: int
    brokers_lost: int
    disk_bytes: float | None
    disk_write: float | None
    network: float | None
    heap_bytes: float | None
    memory_bytes: float | None
    appends_per_s: float | None
    max_utilisation: float
    free_disk_share: float
    segment_bytes: float
    transaction_log_partitions: int
    offsets_partitions: int
    io_threads: int
    network_threads: int
    producer_id_expiration_ms: float
    transactional_id_expiration_ms: float
    transaction_max_timeout_ms: float
    client_round_trip_ms: float
    replication_round_trip_ms: float

    @property
    def replication_wait_ms(self) -> float:
        """Return how long an append with acks=all waits for followers; a single copy has none."""
        return self.replication_round_trip_ms if self.replication_factor > 1 else 0.0

    @property
    def kafka_major(self) -> int:
        """Return the release's first number."""
        return self.release[0]

    @property
    def release(self) -> tuple[int, ...]:
        """Return the release's numbers."""
        return tuple(map(int, self.kafka_version.split(".")))


class TopicSpec(msgspec.Struct, frozen=True):
    """A topic. `writer_count` counts producers outside this file's applications, 0 unless stated where these write.

    `batch_records` is measured. `local_retention_ms` is None without tiered storage.
    """

    name: str
    partition_count: int
    rate_per_s: float
    key_bytes: float
    value_bytes: float
    compression_ratio: float
    cleanup: Cleanup
    retention_ms: float
    local_retention_ms: float | None
    live_bytes: float
    reader_count: int
    writer_count: int
    linger_ms: float
    batch_size_bytes: float
    batch_records: float | None


class StoreSpec(msgspec.Struct, frozen=True):
    """A state store of a Kafka Streams application; sizes are of one key and one value."""

    name: str
    key_count: float
    key_bytes: float
    value_bytes: float
    windowed: bool


def is_repartition_topic(name: str) -> bool:
    """Return whether a name is that of a topic through which Kafka Streams sends its records to other tasks.

    Joins by a foreign key have two of them (``KTableImpl``); all are topics with a ``RepartitionTopicConfig``.
    """
    return _REPARTITION_TOPIC.search(name) is not None


def is_changelog_topic(name: str) -> bool:
    """Return whether a name is that of a changelog of Kafka Streams: one partition for each task with the store."""
    return name == _CHANGELOG or name.endswith(f"-{_CHANGELOG}")


class ApplicationSpec(msgspec.Struct, frozen=True):
    """An application that runs transactions.

    Its rhythm is either `commit_interval_ms` (Flink: the checkpoint interval) or, where it was counted,
    `transactions_per_s`. A thread of Kafka Streams begins its next interval when the commit of `commit_duration_ms` has
    ended (``StreamThread.maybeCommit``). `joined` are the topics of `reads` that one of its sub-topologies reads
    together, and `written_by` has for topics of `writes` an input of each sub-topology that writes them.
    `writes` gives for each topic the partitions that one transaction reaches, None to work it out. `partition_waves`
    and `restore_rate` None likewise. `connector` (a release), `naming`, `concurrent_checkpoints`, and
    `checkpoint_duration_ms` apply to Flink only. `state_bytes` are the live bytes of all stores, in one copy; `stores`
    is empty where only the bytes are stated. `standby_count`, `cache_bytes`, and what follows apply to Kafka Streams.
    """

    name: str
    kind: ApplicationKind
    producer_count: int
    instance_count: int
    commit_interval_ms: float | None
    commit_duration_ms: float
    transactions_per_s: float | None
    connector: str | None
    naming: TransactionalIdNaming
    concurrent_checkpoints: int
    checkpoint_duration_ms: float
    transaction_timeout_ms: float
    longest_pause_ms: float
    transactional_id_bytes: int
    group_id_bytes: int
    offset_metadata_bytes: int
    reads: tuple[str, ...]
    writes: tuple[tuple[str, float | None], ...]
    offsets_per_transaction: float | None
    partition_waves: float | None
    abort_ratio: float
    state_bytes: float
    restore_rate: float | None
    standby_count: int
    transactional_stores: bool
    cache_bytes: float
    own_heap_bytes: float
    instance_memory_bytes: float | None
    instance_disk_bytes: float | None
    stores: tuple[StoreSpec, ...]
    joined: tuple[tuple[str, ...], ...] = ()
    written_by: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def commit_period_ms(self) -> float | None:
        """Return the time from one commit of a producer to its next; None where transactions were counted."""
        return None if self.commit_interval_ms is None else self.commit_interval_ms + self.commit_duration_ms

    @property
    def commits_offsets(self) -> bool:
        """Return whether consumed offsets are part of its transactions."""
        return self.kind in (ApplicationKind.STREAMS, ApplicationKind.CONSUME_PROCESS_PRODUCE)

    @property
    def has_naming_strategies(self) -> bool | None:
        """Return whether its Flink connector has `TransactionNamingStrategy`: from 4.0 on; None where it is unknown."""
        return None if self.connector is None else int(self.connector.partition(".")[0]) >= FIRST_CONNECTOR_WITH_NAMING

    @property
    def renews_ids(self) -> bool:
        """Return whether each of its transactions has its own transactional id, and so its own producer id."""
        if self.kind is ApplicationKind.FLINK:
            return self.naming is TransactionalIdNaming.INCREMENTING
        return self.kind is ApplicationKind.SHORT_LIVED

    def repartitions(self, topic: str) -> bool:
        """Return whether a topic is one of its repartition topics: Kafka Streams writes, reads, and empties them."""
        is_streams = self.kind is ApplicationKind.STREAMS
        return is_streams and is_repartition_topic(topic) and topic in self.reads and topic in dict(self.writes)

    @property
    def inputs(self) -> tuple[tuple[str, ...], ...]:
        """Return the topics that it reads, those together that one sub-topology reads together."""
        alone = set(self.reads).difference(*self.joined)
        return (*self.joined, *((name,) for name in self.reads if name in alone))

    @property
    def initializes_each_transaction(self) -> bool:
        """Return whether a producer sends InitProducerId before each of its transactions."""
        return self.kind in (ApplicationKind.FLINK, ApplicationKind.SHORT_LIVED)


class Workload(msgspec.Struct, frozen=True):
    """A cluster with its workload.

    `ranges` are the keys that the file gives as ranges; their fields have the likely values.
    """

    name: str
    cluster: ClusterSpec
    topics: tuple[TopicSpec, ...]
    applications: tuple[ApplicationSpec, ...]
    growth_per_year: float
    assumptions: tuple[Assumption, ...] = ()
    ranges: tuple[str, ...] = ()

    def topic(self, name: str) -> TopicSpec:
        """Return the named topic.

        Raises:
            KeyError: The name is unknown.
        """
        for topic in self.topics:
            if topic.name == name:
                return topic
        raise KeyError(name)
