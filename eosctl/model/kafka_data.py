"""What Kafka's own files say about transactions, and what that adds up to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Fate(StrEnum):
    """How a transaction ended, as far as the files tell."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    ENDING = "ending"
    OPEN = "open"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PartitionTransaction:
    """A transaction as one partition holds it: its batches, and the marker that ended it.

    Attributes:
        topic: The topic.
        partition: The partition's number.
        producer_id: Who wrote it.
        producer_epoch: The epoch of its first batch.
        first_offset: Its first offset.
        marker_offset: The marker's; None while it is open.
        fate: Committed, aborted, open, or unknown: the marker may have been in damaged bytes.
        batch_count: Its batches here.
        record_count: Their records.
        size_bytes: Their size.
        started_ms: The timestamp of its first batch, ms since the epoch: the client's clock where the topic has
            CreateTime.
        ended_ms: The marker's timestamp, the broker's clock; None while it is open.
    """

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    first_offset: int
    marker_offset: int | None
    fate: str
    batch_count: int
    record_count: int
    size_bytes: int
    started_ms: int
    ended_ms: int | None


@dataclass(frozen=True, slots=True)
class CoordinatedTransaction:
    """A transaction as its coordinator wrote it down; all times are the coordinator's clock, ms since the epoch.

    Attributes:
        transactional_id: Whose it is.
        producer_id: The producer id at its end.
        producer_epoch: The epoch at its end.
        log_partition: Partition of `__transaction_state`.
        offset: The record that told the fate.
        fate: Committed, aborted, open, or ending: decided and not completed.
        partition_count: The most partitions that it is known to have held.
        timeout_ms: Its `transaction.timeout.ms`.
        started_ms: Its first partition was added; None when compaction has removed that.
        prepared_ms: Its end was decided; None when not, or when compaction has removed that.
        ended_ms: All markers were written; None before.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int
    log_partition: int
    offset: int
    fate: str
    partition_count: int
    timeout_ms: int
    started_ms: int | None
    prepared_ms: int | None
    ended_ms: int | None


@dataclass(frozen=True, slots=True, order=True)
class SequenceBreak:
    """A place where a producer's sequence numbers do not follow: `sequence-gap` or `duplicate-batch`."""

    topic: str
    partition: int
    kind: str
    producer_id: int
    producer_epoch: int
    offset: int
    message: str


class KeyUse(NamedTuple):
    """A record that a reader of committed data gets, by its business key.

    Attributes:
        topic: The topic.
        digest: A hash of the key, 16 bytes in hex.
        key: The key's first characters.
        partition: Where the record is.
        offset: Its offset.
        producer_id: Who wrote it; -1 for nobody in particular.
        timestamp_ms: Its timestamp.
    """

    topic: str
    digest: str
    key: str
    partition: int
    offset: int
    producer_id: int
    timestamp_ms: int


@dataclass(frozen=True, slots=True, order=True)
class Damage:
    """A stretch of a file that could not be read: the position in bytes, what kind, and in words."""

    file: str
    position: int
    kind: str
    what: str


@dataclass(frozen=True, slots=True)
class Spread:
    """How long things took, in ms; all 0 when there is none.

    Attributes:
        known_count: How many have a known duration.
        p50_ms: Half of them took no longer.
        p99_ms: 99 of 100 took no longer.
        max_ms: The longest, rounded up like the others.
    """

    known_count: int
    p50_ms: int
    p99_ms: int
    max_ms: int


class TopicSummary(NamedTuple):
    """A topic's data.

    Attributes:
        topic: The topic.
        partition_count: Partitions that were read.
        size_bytes: Size of the batches.
        batch_count: Batches, markers among them.
        record_count: Records, without markers.
        committed_count: Ends of transactions by a commit marker, one a partition.
        aborted_count: The same by an abort marker.
        open_count: Transactions without a marker.
        unknown_count: Transactions whose marker may have been in damaged bytes.
        aborted_record_count: Records that readers of committed data skip.
        marker_count: Markers, those without data in the partition too.
        marker_bytes: Their size.
        sequence_gap_count: Places where sequence numbers are missing.
        duplicate_batch_count: Batches that were appended twice.
        duration: From the first batch's timestamp to the marker's.
    """

    topic: str
    partition_count: int
    size_bytes: int
    batch_count: int
    record_count: int
    committed_count: int
    aborted_count: int
    open_count: int
    unknown_count: int
    aborted_record_count: int
    marker_count: int
    marker_bytes: int
    sequence_gap_count: int
    duplicate_batch_count: int
    duration: Spread

    @property
    def abort_ratio(self) -> float | None:
        """Aborted of all that ended; None when none did."""
        ended = self.committed_count + self.aborted_count
        return self.aborted_count / ended if ended else None

    @property
    def marker_share(self) -> float:
        """Return the share of the bytes that markers are."""
        return self.marker_bytes / self.size_bytes if self.size_bytes else 0.0


class IdSummary(NamedTuple):
    """A transactional id by its coordinator.

    Attributes:
        transactional_id: The id.
        committed_count: Transactions that were committed, as far back as the log reaches.
        aborted_count: Those that were aborted.
        timed_out_count: Those among them that lasted as long as their timeout.
        open_count: 1 while one is open.
        ending_count: 1 while one is decided and not completed.
        duration: From the first partition to the last marker, by the coordinator's clock.
        ending: From the decision to the last marker.
    """

    transactional_id: str
    committed_count: int
    aborted_count: int
    timed_out_count: int
    open_count: int
    ending_count: int
    duration: Spread
    ending: Spread

    @property
    def abort_ratio(self) -> float | None:
        """Aborted of all that ended; None when none did."""
        ended = self.committed_count + self.aborted_count
        return self.aborted_count / ended if ended else None


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """How a group commits: offsets in transactions by their end, and offsets outside of transactions."""

    group: str
    committed_count: int
    aborted_count: int
    pending_count: int
    plain_count: int


class DuplicateKey(NamedTuple):
    """A business key that readers of committed data get more than once: how often, and where first and last."""

    topic: str
    key: str
    record_count: int
    first: KeyUse
    last: KeyUse


class DataSummary(NamedTuple):
    """What all partitions say; long lists are cut, their counts are not."""

    topics: tuple[TopicSummary, ...]
    ids: tuple[IdSummary, ...]
    groups: tuple[GroupSummary, ...]
    open_transactions: tuple[PartitionTransaction, ...]
    unfinished: tuple[CoordinatedTransaction, ...]
    breaks: tuple[SequenceBreak, ...]
    duplicates: tuple[DuplicateKey, ...]
    duplicate_key_count: int
    keyless_count: int
    damages: tuple[Damage, ...]
    damage_count: int
