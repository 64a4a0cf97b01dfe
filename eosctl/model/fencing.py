"""Who ended a producer's transaction against its will, and what it cost."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from eosctl.model.transaction import TopicPartition
from eosctl.model.verdict import Confidence, Evidence


class AbortedRange(msgspec.Struct, frozen=True):
    """An aborted transaction in one partition (aborted list of a read_committed Fetch, and the ABORT marker behind it).

    `first_offset` is the transaction's first record, `marker_offset` its marker, None when it was not read.
    `producer_epoch` is the marker's, -1 when it was not read.
    """

    partition: TopicPartition
    producer_id: int
    first_offset: int
    marker_offset: int | None = None
    producer_epoch: int = -1


class FencingCause(StrEnum):
    """What made the coordinator abort a transaction that its producer had not ended."""

    NEWER_INSTANCE = "newer-instance"
    ADMIN_FENCE = "admin-fence"
    TIMEOUT = "timeout"


class FencingEvent(msgspec.Struct, frozen=True):
    """One transaction that ended under its producer.

    `fenced_epoch` is the producer epoch that lost, `abort_epoch` the one that the markers carry, `successor_epoch` the
    one handed to the next instance (None when none came). Times are the coordinator's clock, ms since the epoch; None
    when only the present state was seen and not the log. `log_offsets` are the records of `__transaction_state` that
    tell the story, in order.
    """

    transactional_id: str
    cause: FencingCause
    confidence: Confidence
    producer_id: int
    fenced_epoch: int
    abort_epoch: int
    successor_epoch: int | None
    partitions: tuple[TopicPartition, ...]
    explanation: str
    coordinator_id: int | None = None
    started_at_ms: int | None = None
    aborted_at_ms: int | None = None
    succeeded_at_ms: int | None = None
    log_partition: int | None = None
    log_offsets: tuple[int, ...] = ()
    aborted_ranges: tuple[AbortedRange, ...] = ()
    evidence: tuple[Evidence, ...] = ()
