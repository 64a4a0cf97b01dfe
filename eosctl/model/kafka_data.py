"""Transactions in Kafka's own files, with statistics."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class Fate(StrEnum):
    """The outcome of a transaction, as far as the files show it."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    ENDING = "ending"
    OPEN = "open"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PartitionTransaction:
    """A transaction in one partition: its batches, and its marker."""

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
    """A transaction in the coordinator's log; all times are the coordinator's clock, milliseconds since the epoch."""

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
    """A break in a producer's sequence numbers: `sequence-gap` or `duplicate-batch`."""

    topic: str
    partition: int
    kind: str
    producer_id: int
    producer_epoch: int
    offset: int
    message: str


class KeyUse(NamedTuple):
    """A record that read_committed consumers receive, with its business key."""

    topic: str
    digest: str
    key: str
    partition: int
    offset: int
    producer_id: int
    timestamp_ms: int


@dataclass(frozen=True, slots=True, order=True)
class Damage:
    """An unreadable range of a file: the position in bytes, the kind, and a description."""

    file: str
    position: int
    kind: str
    what: str


@dataclass(frozen=True, slots=True)
class Spread:
    """A distribution of durations in milliseconds; all 0 without any.

    Attributes:
        known_count: Number of known durations.
        p50_ms: The median.
        p99_ms: The 99th percentile.
        max_ms: The maximum, rounded up like the others.
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
        """Return the aborted share of all ended transactions; None without any."""
        ended = self.committed_count + self.aborted_count
        return self.aborted_count / ended if ended else None

    @property
    def marker_share(self) -> float:
        """Return the share of bytes in markers."""
        return self.marker_bytes / self.size_bytes if self.size_bytes else 0.0


class IdSummary(NamedTuple):
    """The statistics of a transactional id in its coordinator's log."""

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
        """Return the aborted share of all ended transactions; None without any."""
        ended = self.committed_count + self.aborted_count
        return self.aborted_count / ended if ended else None


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """The commits of a group: offsets in transactions by outcome, and offsets outside of transactions."""

    group: str
    committed_count: int
    aborted_count: int
    pending_count: int
    plain_count: int


class DuplicateKey(NamedTuple):
    """A business key that read_committed consumers receive more than once: count, first, and last position."""

    topic: str
    key: str
    record_count: int
    first: KeyUse
    last: KeyUse


class DataSummary(NamedTuple):
    """The statistics of all partitions; long lists are truncated, their counts are not."""

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
