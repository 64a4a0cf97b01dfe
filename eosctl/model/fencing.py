"""Transactions that were ended against their producer's will, with cause and effect."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from eosctl.model.own_fence import OwnFence
from eosctl.model.transaction import TopicPartition
from eosctl.model.verdict import Confidence, Evidence


class AbortedRange(msgspec.Struct, frozen=True):
    """An aborted transaction in a partition, from a read_committed Fetch and the ABORT marker.

    `first_offset` is the transaction's first record, `marker_offset` its marker, None if it was not read.
    `producer_epoch` is the marker's, -1 if it was not read.
    """

    partition: TopicPartition
    producer_id: int
    first_offset: int
    marker_offset: int | None = None
    producer_epoch: int = -1


class FencingCause(StrEnum):
    """The reason why the coordinator aborted a transaction that its producer had not ended."""

    NEWER_INSTANCE = "newer-instance"
    ADMIN_FENCE = "admin-fence"
    TIMEOUT = "timeout"


class FencingEvent(msgspec.Struct, frozen=True):
    """A transaction that was aborted by the coordinator.

    `fenced_epoch` is the fenced producer epoch, `abort_epoch` that of the markers, `successor_epoch` that of the next
    instance (None without one). Times are the coordinator's clock, milliseconds since the epoch; None if only the
    present state was read, not the log. `log_offsets` are the records of `__transaction_state` that show it, in order.
    `own_fence` is the fence of eosctl that caused it, None for any other cause.
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
    log_partition: int | None = None
    log_offsets: tuple[int, ...] = ()
    aborted_ranges: tuple[AbortedRange, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    own_fence: OwnFence | None = None
