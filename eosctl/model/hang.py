"""Verdicts on open transactions: whether they hang, the cause, and the impact."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from eosctl.model.transaction import TopicPartition, Transaction
from eosctl.model.verdict import Confidence, Evidence


class HangCause(StrEnum):
    """The reason why a transaction is open on a partition, in evaluation order."""

    UNKNOWN_TO_COORDINATOR = "unknown-to-coordinator"
    PARTITION_NOT_IN_TRANSACTION = "partition-not-in-transaction"
    COORDINATOR_AT_HIGHER_EPOCH = "coordinator-at-higher-epoch"
    MARKERS_UNDELIVERED = "markers-undelivered"
    COORDINATOR_NOT_EXPIRING = "coordinator-not-expiring"
    PREPARED_TWO_PHASE = "prepared-two-phase"
    CLIENT_CLOCK_SKEWED = "client-clock-skewed"
    TIMEOUT_RAISED = "timeout-raised"
    WITHIN_TIMEOUT = "within-timeout"
    IN_FLIGHT = "in-flight"
    COORDINATOR_UNAVAILABLE = "coordinator-unavailable"
    UNDECIDED = "undecided"


class HangStatus(StrEnum):
    """The meaning of the cause: `hanging` as in KIP-664 (no coordinator will ever end it)."""

    HANGING = "hanging"
    STALLED = "stalled"
    LATE = "late"
    LONG_RUNNING = "long-running"
    OPEN = "open"
    UNDECIDED = "undecided"


class GroupImpact(msgspec.Struct, frozen=True):
    """A group that a pinned partition blocks; `invisible_offsets` lie between its position and the log end offset."""

    group_id: str
    partition: TopicPartition
    committed_offset: int
    invisible_offsets: int


class BlastRadius(msgspec.Struct, frozen=True):
    """The impact of an open transaction.

    `invisible_offsets` counts offsets from the transaction's first to the high watermark, including markers.
    `invisible_records` counts the data records among them, None if they were not read. read_committed consumers see
    none of them. `pins_last_stable_offset` is False if an older transaction holds the LSO.
    """

    partition: TopicPartition
    last_stable_offset: int | None
    high_watermark: int | None
    invisible_offsets: int | None
    invisible_records: int | None
    pins_last_stable_offset: bool
    blocks_compaction: bool = False
    blocks_offset_commits: bool = False
    groups: tuple[GroupImpact, ...] = ()


class OpenTransaction(msgspec.Struct, frozen=True, gc=False):
    """A transaction that is open at a partition's leader, with the coordinator's state of its producer id.

    `transactional_id` is None if no coordinator knows the producer id. `first_offset` is the leader's
    current_txn_start_offset; it and `broker_id` are -1 if only the coordinator shows the transaction. Ages are
    milliseconds by the observer's clock; `age_ms` is None without a reliable start.
    """

    partition: TopicPartition
    broker_id: int
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    first_offset: int
    last_timestamp_ms: int
    transactional_id: str | None = None
    coordinator_id: int | None = None
    coordinator_state: str = ""
    coordinator_producer_epoch: int | None = None
    timeout_ms: int | None = None
    age_ms: int | None = None

    def idle_ms(self, at_ms: int) -> int | None:
        """Return the time since its newest record, in ms: it is at least as old.

        Without LogAppendTime this is the producer's clock, so it serves for display, never for a verdict. None if the
        leader does not know a time, or knows one after `at_ms` (ms since the epoch).
        """
        return at_ms - self.last_timestamp_ms if 0 < self.last_timestamp_ms <= at_ms else None


class HangVerdict(msgspec.Struct, frozen=True):
    """The verdict on an open transaction.

    `evidence` is omitted for healthy open transactions. `can_abort` is True only if an ABORT marker cannot do harm;
    otherwise `abort_refusal` has the reason. `can_complete` is True if the transaction was committed and only its
    marker is missing. `outcome_unknown` is True if the evidence shows neither. `coordinator_acts_at_ms` is the time at
    which the coordinator will end it (its clock), None if it will not.
    """

    transaction: OpenTransaction
    status: HangStatus
    cause: HangCause
    confidence: Confidence
    explanation: str
    evidence: tuple[Evidence, ...] = ()
    blast_radius: BlastRadius | None = None
    coordinator_acts_at_ms: int | None = None
    can_abort: bool = False
    abort_refusal: str = ""
    can_complete: bool = False
    outcome_unknown: bool = False


class TransactionVerdict(msgspec.Struct, frozen=True):
    """The verdict on an open transaction, from its coordinator's state alone.

    `age_ms` is measured from the coordinator's start time by the observer's clock; None without one.
    `prepared_since_ms` is the time of the Prepare* record; None if the log was not read.
    """

    transaction: Transaction
    status: HangStatus
    cause: HangCause
    confidence: Confidence
    explanation: str
    evidence: tuple[Evidence, ...] = ()
    age_ms: int | None = None
    prepared_since_ms: int | None = None
    coordinator_acts_at_ms: int | None = None
