"""The keys of a workload file: each with how it is parsed, what is assumed without it, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from eosctl.capacity.quantities import (
    QuantityError,
    parse_byte_rate,
    parse_bytes,
    parse_count,
    parse_duration_ms,
    parse_number,
    parse_rate,
    parse_ratio,
    parse_share,
    parse_whole,
)
from eosctl.capacity.release_parser import parse_connector, parse_version
from eosctl.model.emulation import NEWEST
from eosctl.model.workload import ApplicationKind, Cleanup, TransactionalIdNaming, parse_cleanup

API_VERSION: Final = "eosctl/v1"
KIND: Final = "Workload"
#: The first lines of each workload file that is written: editors complete and check its keys by the schema.
EDITOR_HEADER: Final = (
    "# yaml-language-server: $schema=workload.schema.json\n"
    "# Editors check this file after: eosctl schema workload --output-file workload.schema.json\n"
)
STREAMS_REASON: Final = "what Kafka Streams sets under exactly-once"


class Assumed(NamedTuple):
    """What is assumed for a key, and why."""

    text: str
    why: str


#: ``repartition.purge.interval.ms``
PURGED: Final = Assumed("30 s", "Kafka Streams deletes what it has read")
#: What applications of a kind set by themselves, where it differs from the plain clients. `linger` is of their topics.
DEFAULTS_BY_KIND: Final[Mapping[ApplicationKind, Mapping[str, Assumed]]] = {
    ApplicationKind.STREAMS: {
        "linger": Assumed("100 ms", STREAMS_REASON),
        "transaction_timeout": Assumed("10 s", STREAMS_REASON),
        "commit_interval": Assumed("100 ms", f"{STREAMS_REASON}, not 30 s"),
    },
    # KafkaSinkBuilder.DEFAULT_KAFKA_TRANSACTION_TIMEOUT
    ApplicationKind.FLINK: {
        "transaction_timeout": Assumed("1 h", "what Flink's KafkaSink sets"),
        "longest_pause": Assumed("5 min", "a restart of the job; a guess"),
    },
}


class Key(NamedTuple):
    """A key of a section.

    Attributes:
        attribute: The field that it fills.
        parse: From its text to its value.
        about: What it is, for the template and the documentation.
        assumed: What is taken without it; None when it must be there, `UNKNOWN` when it may stay unknown.
        why: Why that is assumed.
        kinds: The kinds of applications that it applies to; None for all.
    """

    attribute: str
    parse: Callable[[str], Any]
    about: str
    assumed: str | None = None
    why: str = ""
    kinds: frozenset[ApplicationKind] | None = None

    def applies_to(self, kind: ApplicationKind | None) -> bool:
        """Return whether an application of this kind has the key."""
        return kind is None or self.kinds is None or kind in self.kinds


UNKNOWN: Final = "unknown"
ONLY_FLINK: Final = frozenset({ApplicationKind.FLINK})
WITH_OFFSETS: Final = frozenset({ApplicationKind.STREAMS, ApplicationKind.CONSUME_PROCESS_PRODUCE})
ONLY_STREAMS: Final = frozenset({ApplicationKind.STREAMS})
MAX_TEXT_BYTES: Final = 32_767
MAX_RECORD_BYTES: Final = 2**31 - 1
KAFKA = "Kafka's default"


def parse_transaction_version(text: str) -> int:
    """Parse a level of the feature transaction.version: 0, 1, or 2."""
    level = parse_whole(text)
    if level > 2:
        raise QuantityError(f"{text} is not a level of transaction.version; there are 0, 1 and 2")
    return level


@dataclass(frozen=True)
class Choice:
    """Parse one of the names of an enumeration.

    Attributes:
        choices: The enumeration.
        read: From a text to its member, where there are other spellings than its name.
    """

    choices: type[StrEnum]
    read: Callable[[str], StrEnum] | None = None

    def __call__(self, text: str) -> StrEnum:
        """Return the member with this name.

        Raises:
            QuantityError: There is no such member.
        """
        try:
            return (self.read or self.choices)(text)
        except ValueError:
            raise QuantityError(f"{text!r} is not one of {', '.join(self.choices)}") from None


def parse_yes_or_no(text: str) -> bool:
    """Parse yes, no, true, or false."""
    if text.lower() not in ("yes", "no", "true", "false"):
        raise QuantityError(f"{text!r} is not yes or no")
    return text.lower() in ("yes", "true")


def parse_length(text: str) -> int:
    """Parse the length of a text of Kafka's protocol, in bytes."""
    length = parse_bytes(text)
    if length > MAX_TEXT_BYTES:
        raise QuantityError(f"{text} is longer than the {MAX_TEXT_BYTES:,} B that a text of Kafka's protocol can have")
    return round(length)


def parse_record_part(text: str) -> float:
    """Parse the size of a record's key or value, in bytes."""
    size = parse_bytes(text)
    if size > MAX_RECORD_BYTES:
        raise QuantityError(f"{text} is more than a record can have: sizes are 32-bit numbers, 2 GiB at most")
    return size


def parse_positive_duration_ms(text: str) -> float:
    """Parse a duration above 0, in milliseconds."""
    if text.startswith("-1"):
        raise QuantityError(f"{text} is not a limit of time: state how long records must be kept at least")
    duration_ms = parse_duration_ms(text)
    if duration_ms == 0:
        raise QuantityError(f"{text} leaves no time")
    return duration_ms


CLUSTER_KEYS: Final[Mapping[str, Key]] = {
    "brokers": Key("broker_count", parse_count, "Brokers."),
    "replication_factor": Key("replication_factor", parse_count, "Copies of every partition.", "3", "what EOS needs"),
    "min_insync_replicas": Key("min_insync_replicas", parse_count, "min.insync.replicas.", "2", "what EOS needs"),
    "kafka_version": Key(
        "kafka_version", parse_version, "Release of the brokers.", NEWEST, "the newest release known here"
    ),
    "transaction_version": Key(
        "transaction_version", parse_transaction_version, "Finalized feature level.", "2", "the default from 4.0 on"
    ),
    "zones": Key("zone_count", parse_count, "Availability zones.", "1", "nothing else is said"),
    "brokers_lost": Key("brokers_lost", parse_whole, "Brokers that may fail together.", "1", "any cluster loses one"),
    "disk": Key("disk_bytes", parse_bytes, "Disk of each broker.", UNKNOWN),
    "disk_write": Key("disk_write", parse_byte_rate, "What each broker's disk writes.", UNKNOWN),
    "network": Key("network", parse_byte_rate, "Each broker's link, per direction.", UNKNOWN),
    "heap": Key("heap_bytes", parse_bytes, "Java heap of each broker.", UNKNOWN),
    "memory": Key("memory_bytes", parse_bytes, "Memory of each broker, heap included.", UNKNOWN),
    "appends": Key("appends_per_s", parse_rate, "Appends that one broker does; eosctl capacity calibrate.", UNKNOWN),
    "max_utilisation": Key("max_utilisation", parse_share, "Share of a limit to plan with.", "60 %", "common practice"),
    "free_disk": Key("free_disk_share", parse_share, "Share of the disk to keep free.", "20 %", "common practice"),
    "segment": Key("segment_bytes", parse_bytes, "segment.bytes.", "1 GiB", KAFKA),
    "transaction_log_partitions": Key(
        "transaction_log_partitions", parse_count, "transaction.state.log.num.partitions.", "50", KAFKA
    ),
    "offsets_partitions": Key("offsets_partitions", parse_count, "offsets.topic.num.partitions.", "50", KAFKA),
    "io_threads": Key("io_threads", parse_count, "num.io.threads of each broker.", "8", KAFKA),
    "network_threads": Key("network_threads", parse_count, "num.network.threads, for each listener.", "3", KAFKA),
    "producer_id_expiration": Key(
        "producer_id_expiration_ms", parse_duration_ms, "producer.id.expiration.ms.", "24 h", KAFKA
    ),
    "transactional_id_expiration": Key(
        "transactional_id_expiration_ms", parse_duration_ms, "transactional.id.expiration.ms.", "7 d", KAFKA
    ),
    "transaction_max_timeout": Key(
        "transaction_max_timeout_ms", parse_duration_ms, "transaction.max.timeout.ms.", "15 min", KAFKA
    ),
    "client_round_trip": Key("client_round_trip_ms", parse_duration_ms, "Client to broker.", "1 ms", "one data center"),
    "replication_round_trip": Key(
        "replication_round_trip_ms", parse_duration_ms, "To be in sync with followers.", "2 ms", "one data center"
    ),
}
TOPIC_KEYS: Final[Mapping[str, Key]] = {
    "partitions": Key("partition_count", parse_count, "Partitions."),
    "rate": Key("rate_per_s", parse_rate, "Records per second into it."),
    "value": Key("value_bytes", parse_record_part, "Average value."),
    "key": Key("key_bytes", parse_record_part, "Average key.", "0 B", "records without keys"),
    "compression": Key("compression_ratio", parse_ratio, "Uncompressed over stored size.", "1", "nothing is known"),
    "cleanup": Key("cleanup", Choice(Cleanup, parse_cleanup), 'delete, compact, or "compact,delete".', "delete", KAFKA),
    "retention": Key("retention_ms", parse_positive_duration_ms, "retention.ms.", "7 d", KAFKA),
    "local_retention": Key(
        "local_retention_ms", parse_positive_duration_ms, "local.retention.ms, with remote.storage.enable.", UNKNOWN
    ),
    "live": Key("live_bytes", parse_bytes, "Newest records by key, for compact.", "0 B", "not compacted"),
    "readers": Key("reader_count", parse_whole, "Consumer groups other than the applications.", "0", "none named"),
    "writers": Key("writer_count", parse_count, "Producers other than the applications.", "1", "none named"),
    "linger": Key("linger_ms", parse_duration_ms, "linger.ms of its writers.", "5 ms", "Kafka's default from 4.0 on"),
    "batch_size": Key("batch_size_bytes", parse_bytes, "batch.size of its writers.", "16 KiB", KAFKA),
    "batch_records": Key("batch_records", parse_number, "Records in a batch, measured.", UNKNOWN),
}
APPLICATION_KEYS: Final[Mapping[str, Key]] = {
    "kind": Key("kind", Choice(ApplicationKind), f"One of {', '.join(ApplicationKind)}."),
    "producers": Key(
        "producer_count", parse_count, "Producers in all (Streams: threads; Flink: sink subtasks; Connect: tasks)."
    ),
    "instances": Key("instance_count", parse_count, "Processes that it runs in.", "1", "nothing is said"),
    "commit_interval": Key(
        "commit_interval_ms", parse_duration_ms, "commit.interval.ms; Flink: the checkpoint interval.", UNKNOWN
    ),
    "commit_duration": Key(
        attribute="commit_duration_ms",
        parse=parse_duration_ms,
        about="From an interval's end to that of its commit: 1 s / commit-rate of a thread - commit_interval.",
        assumed="0 ms",
        why="the most transactions that the interval allows",
        kinds=ONLY_STREAMS,
    ),
    "transactions": Key("transactions_per_s", parse_rate, "Transactions per second, if counted.", UNKNOWN),
    "connector": Key(
        "connector", parse_connector, "Release of flink-connector-kafka, without Flink's.", UNKNOWN, kinds=ONLY_FLINK
    ),
    "naming": Key(
        attribute="naming",
        parse=Choice(TransactionalIdNaming),
        about="TransactionNamingStrategy: incrementing or pooling.",
        assumed="incrementing",
        why="the connector's default",
        kinds=ONLY_FLINK,
    ),
    "concurrent_checkpoints": Key(
        attribute="concurrent_checkpoints",
        parse=parse_count,
        about="Checkpoints at the same time.",
        assumed="1",
        why="Flink's default",
        kinds=ONLY_FLINK,
    ),
    "checkpoint_duration": Key(
        attribute="checkpoint_duration_ms",
        parse=parse_duration_ms,
        about="From its trigger to its completion.",
        assumed="1 s",
        why="a guess: measure it",
        kinds=ONLY_FLINK,
    ),
    "transaction_timeout": Key(
        "transaction_timeout_ms",
        parse_positive_duration_ms,
        "transaction.timeout.ms.",
        "60 s",
        "the producer's default",
    ),
    "longest_pause": Key(
        "longest_pause_ms", parse_duration_ms, "GC and slowest batch; Flink: a restart.", "2 s", "a healthy JVM"
    ),
    "transactional_id": Key(
        "transactional_id_bytes", parse_length, "Length of its ids.", "49 B", "Streams: a short name, a UUID, a number"
    ),
    "group_id": Key(
        attribute="group_id_bytes",
        parse=parse_length,
        about="Length of its group id.",
        assumed="20 B",
        why="a usual name",
        kinds=WITH_OFFSETS,
    ),
    "offset_metadata": Key(
        attribute="offset_metadata_bytes",
        parse=parse_length,
        about="Text with each offset.",
        assumed="0 B",
        why="plain clients",
        kinds=WITH_OFFSETS,
    ),
    "offsets_per_transaction": Key(
        "offsets_per_transaction",
        parse_number,
        "Partitions whose offsets a transaction commits.",
        UNKNOWN,
        kinds=WITH_OFFSETS,
    ),
    "partition_waves": Key("partition_waves", parse_number, "AddPartitionsToTxn requests that add.", UNKNOWN),
    "abort_ratio": Key(
        "abort_ratio", parse_share, "Transactions that abort; no figure depends on it.", "0 %", "none is expected"
    ),
    "state": Key("state_bytes", parse_bytes, "Live bytes of all its stores.", "0 B", "no stores"),
    "restore_rate": Key(
        "restore_rate", parse_byte_rate, "Restoring, per instance; by the size of records if not stated.", UNKNOWN
    ),
    "standbys": Key(
        attribute="standby_count",
        parse=parse_whole,
        about="num.standby.replicas.",
        assumed="0",
        why=KAFKA,
        kinds=ONLY_STREAMS,
    ),
    "transactional_stores": Key(
        attribute="transactional_stores",
        parse=parse_yes_or_no,
        about="enable.transactional.statestores.",
        assumed="no",
        why=KAFKA,
        kinds=ONLY_STREAMS,
    ),
    "cache": Key(
        attribute="cache_bytes",
        parse=parse_bytes,
        about="statestore.cache.max.bytes.",
        assumed="10 MiB",
        why=KAFKA,
        kinds=ONLY_STREAMS,
    ),
    "own_heap": Key(
        attribute="own_heap_bytes",
        parse=parse_bytes,
        about="Heap of an instance's own objects.",
        assumed="512 MiB",
        why="a guess",
        kinds=ONLY_STREAMS,
    ),
    "instance_memory": Key(
        "instance_memory_bytes", parse_bytes, "Memory of each instance.", UNKNOWN, kinds=ONLY_STREAMS
    ),
    "instance_disk": Key("instance_disk_bytes", parse_bytes, "Disk of each instance.", UNKNOWN, kinds=ONLY_STREAMS),
}
STORE_KEYS: Final[Mapping[str, Key]] = {
    "keys": Key("key_count", parse_number, "Live keys; for windows, of all windows that are kept."),
    "key": Key("key_bytes", parse_bytes, "Average key."),
    "value": Key("value_bytes", parse_bytes, "Average value."),
    "windowed": Key("windowed", parse_yes_or_no, "Whether its keys are windows.", "no", "a plain store"),
}
