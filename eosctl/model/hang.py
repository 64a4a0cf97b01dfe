"""Verdicts on open transactions: hanging or not, why, and what they hold up."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from eosctl.model.transaction import TopicPartition, Transaction
from eosctl.model.verdict import Confidence, Evidence


class HangCause(StrEnum):
    """Why a transaction is open on a partition, in the order in which the causes are tried."""

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
    """What the cause means: `hanging` is KIP-664's sense (no coordinator will ever end it)."""

    HANGING = "hanging"
    STALLED = "stalled"
    LATE = "late"
    LONG_RUNNING = "long-running"
    OPEN = "open"
    UNDECIDED = "undecided"


class GroupImpact(msgspec.Struct, frozen=True):
    """A group that a pinned partition holds up; `invisible_offsets` lie between its position and the log end."""

    group_id: str
    partition: TopicPartition
    committed_offset: int
    invisible_offsets: int


class BlastRadius(msgspec.Struct, frozen=True):
    """What one open transaction holds up.

    `invisible_offsets` counts offsets from the transaction's first to the high watermark, markers included;
    `invisible_records` the data records among them, None where they were not read. A read_committed reader sees none of
    them. `pins_last_stable_offset` is False when an older transaction holds the LSO anyway.
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


class OpenTransaction(msgspec.Struct, frozen=True):
    """A transaction open on one partition leader, joined with what the coordinator says of its producer id.

    `transactional_id` is None when no coordinator knows the producer id. `first_offset` is the leader's
    current_txn_start_offset. Ages are ms by the observer's clock; `age_ms` None when no trustworthy start is known.
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


class HangVerdict(msgspec.Struct, frozen=True):
    """The judgement on one open transaction.

    ``evidence`` is left out for transactions that are open and well. ``can_abort`` is True only when an ABORT marker
    can harm nobody; otherwise ``abort_refusal`` states why not. ``can_complete`` is True when the transaction was
    committed and only its marker is missing. ``outcome_unknown`` is True when the evidence shows neither.
    ``coordinator_acts_at_ms`` is when the coordinator will end it by itself (its clock), None when it will not.
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
    """The judgement on one transaction that its coordinator holds open, from the coordinator's side alone.

    `age_ms` is measured from the coordinator's start time by the observer's clock; None when it has none.
    `prepared_since_ms` is when the Prepare* record was written, None when the log was not read.
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
