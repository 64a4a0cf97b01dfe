"""A partition's producer state: sequences, epochs, and open transactions (Kafka's `ProducerStateManager`)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

import msgspec

from eosctl.wire.error_codes import NO_ERROR, ErrorCode

RETAINED_BATCHES: Final = 5
NO_EPOCH: Final = -1
NO_OFFSET: Final = -1
MAX_SEQUENCE: Final = 0x7FFF_FFFF


class RetainedBatch(msgspec.Struct, frozen=True, gc=False):
    """One of the last five batches of a producer, kept to detect duplicates."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        """Return the sequence of the first record (wraps below 0)."""
        return (self.last_sequence - self.offset_delta) & MAX_SEQUENCE

    @property
    def first_offset(self) -> int:
        """Return the offset of the first record."""
        return self.last_offset - self.offset_delta


class ProducerEntry:
    """The state of a producer id in a partition."""

    __slots__ = ("batches", "coordinator_epoch", "last_timestamp", "producer_epoch", "producer_id", "txn_first_offset")

    def __init__(self, producer_id: int) -> None:
        self.producer_id = producer_id
        self.producer_epoch = NO_EPOCH
        self.batches: tuple[RetainedBatch, ...] = ()
        self.last_timestamp = -1
        self.coordinator_epoch = -1
        self.txn_first_offset = NO_OFFSET

    @property
    def last_sequence(self) -> int:
        """Return the sequence of the newest batch, -1 without one in this epoch."""
        return self.batches[-1].last_sequence if self.batches else -1

    def duplicate_of(self, producer_epoch: int, first_sequence: int, last_sequence: int) -> RetainedBatch | None:
        """Return the retained batch with exactly these sequences, if any."""
        if producer_epoch == self.producer_epoch:
            for batch in self.batches:
                if batch.last_sequence == last_sequence and batch.first_sequence == first_sequence:
                    return batch
        return None


class AbortedTransaction(msgspec.Struct, frozen=True, gc=False):
    """A transaction with its marker in the log; `last_offset` is the marker's."""

    producer_id: int
    first_offset: int
    last_offset: int


class VerificationGuard:
    """A token of a verification, compared by identity."""

    __slots__ = ()


class _Verification(msgspec.Struct, frozen=True, gc=False):
    guard: VerificationGuard
    lowest_sequence: int
    producer_epoch: int
    adds_partition: bool


class ProducerStateManager:
    """The producers of a partition.

    `check_*` methods change nothing. `apply_*` methods change state after the bytes are in the log, so a rejected batch
    has no effect.
    """

    def __init__(self) -> None:
        self.producers: dict[int, ProducerEntry] = {}
        self.ongoing: dict[int, int] = {}  # First offset -> producer id; first offsets only increase.
        # First offset -> marker offset, for markers at or above the high watermark.
        self.unreplicated: dict[int, int] = {}
        self._ongoing_order: deque[int] = deque()
        self._verifications: dict[int, _Verification] = {}

    # --- verification (KIP-890) ---------------------------------------------------------------------------------

    def has_open_transaction(self, producer_id: int, producer_epoch: int | None = None) -> bool:
        """Return whether this producer (in this epoch, if given) has an open transaction here."""
        entry = self.producers.get(producer_id)
        return (
            entry is not None
            and entry.txn_first_offset >= 0
            and (producer_epoch is None or entry.producer_epoch == producer_epoch)
        )

    def is_fenced(self, producer_id: int, producer_epoch: int) -> bool:
        """Return whether a newer epoch is known."""
        entry = self.producers.get(producer_id)
        return entry is not None and producer_epoch < entry.producer_epoch

    def begin_verification(
        self, producer_id: int, producer_epoch: int, sequence: int, *, adds_partition: bool = False
    ) -> VerificationGuard:
        """Return the guard that the append after the verification needs; record the lowest sequence of the epoch.

        `adds_partition`: the client relies on the broker to add the partition (Produce 12 and later).
        """
        known = self._verifications.get(producer_id)
        if known is None:
            known = _Verification(VerificationGuard(), sequence, producer_epoch, adds_partition)
        elif producer_epoch > known.producer_epoch or (
            producer_epoch == known.producer_epoch and sequence < known.lowest_sequence
        ):
            known = _Verification(known.guard, sequence, producer_epoch, known.adds_partition)
        self._verifications[producer_id] = known
        return known.guard

    def _end_verification(self, producer_id: int, marker_epoch: int) -> None:
        """End a verification with a marker, unless it is for the next transaction, which has the marker's epoch.

        With `transaction.version` 2, the marker already has the epoch of the next transaction. Source:
        `UnifiedLog.updateProducers`.
        """
        known = self._verifications.get(producer_id)
        if known is not None and not (known.adds_partition and known.producer_epoch == marker_epoch):
            del self._verifications[producer_id]

    def is_verified(self, producer_id: int, guard: object | None) -> bool:
        """Return whether `guard` belongs to the producer's pending verification."""
        known = self._verifications.get(producer_id)
        return known is not None and known.guard is guard

    # --- checks -------------------------------------------------------------------------------------------------

    def check_data(
        self,
        producer_id: int,
        producer_epoch: int,
        first_sequence: int,
        *,
        transactional: bool,
        check_sequence: bool,
    ) -> ErrorCode:
        """Return why a data batch cannot be appended, or NONE."""
        entry = self.producers.get(producer_id)
        if entry is not None:
            if producer_epoch < entry.producer_epoch:
                return ErrorCode.INVALID_PRODUCER_EPOCH
            if check_sequence and not _in_sequence(entry, producer_epoch, first_sequence):
                return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
            if entry.txn_first_offset >= 0 and not transactional:
                return ErrorCode.INVALID_TXN_STATE
        if check_sequence and self._verifications:
            known = self._verifications.get(producer_id)
            if known is not None:
                # A client of transactions v2 starts with 0 when the partition has no state for it (KAFKA-18202).
                first = 0 if known.adds_partition and entry is None else known.lowest_sequence
                if first_sequence > first:
                    return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        return NO_ERROR

    def check_marker(
        self, producer_id: int, producer_epoch: int, coordinator_epoch: int, transaction_version: int
    ) -> ErrorCode:
        """Return why a transaction marker cannot be appended, or NONE.

        From transaction version 2 on, the marker of an open transaction must have a higher epoch (KIP-1228). A repeated
        marker after the end of its transaction may have the same epoch (KAFKA-19999).
        """
        entry = self.producers.get(producer_id)
        if entry is None:
            return NO_ERROR
        if producer_epoch < entry.producer_epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        if transaction_version >= 2 and producer_epoch == entry.producer_epoch and entry.txn_first_offset >= 0:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        if coordinator_epoch < entry.coordinator_epoch:
            return ErrorCode.TRANSACTION_COORDINATOR_FENCED
        return NO_ERROR

    # --- changes ------------------------------------------------------------------------------------------------

    def apply_data(
        self,
        producer_id: int,
        producer_epoch: int,
        last_sequence: int,
        first_offset: int,
        last_offset: int,
        timestamp: int,
        transactional: bool,
    ) -> None:
        """Apply an appended data batch."""
        entry = self.producers.get(producer_id)
        if entry is None:
            entry = self.producers[producer_id] = ProducerEntry(producer_id)
        batch = RetainedBatch(last_sequence, last_offset, last_offset - first_offset, timestamp)
        if producer_epoch != entry.producer_epoch:
            entry.producer_epoch = producer_epoch
            entry.batches = (batch,)
        else:
            entry.batches = (*entry.batches[-RETAINED_BATCHES + 1 :], batch)
        entry.last_timestamp = timestamp
        if transactional:
            if entry.txn_first_offset < 0:
                self._open(entry, first_offset)
            if self._verifications:
                self._verifications.pop(producer_id, None)

    def apply_marker(
        self,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        offset: int,
        timestamp: int,
        *,
        committed: bool,
    ) -> AbortedTransaction | None:
        """Apply an appended marker; return the transaction that it aborts, if one was open."""
        entry = self.producers.get(producer_id)
        if entry is None:
            entry = self.producers[producer_id] = ProducerEntry(producer_id)
        if producer_epoch != entry.producer_epoch:
            entry.producer_epoch = producer_epoch
            entry.batches = ()
        entry.coordinator_epoch = coordinator_epoch
        entry.last_timestamp = timestamp
        if self._verifications:
            self._end_verification(producer_id, producer_epoch)
        first_offset = entry.txn_first_offset
        if first_offset < 0:
            return None
        entry.txn_first_offset = NO_OFFSET
        self.ongoing.pop(first_offset, None)
        self.unreplicated[first_offset] = offset
        return None if committed else AbortedTransaction(producer_id, first_offset, offset)

    def restore(self, entry: ProducerEntry) -> None:
        """Restore a snapshot entry; entries with open transactions must come in order of first offset."""
        self.producers[entry.producer_id] = entry
        if entry.txn_first_offset >= 0:
            self._open(entry, entry.txn_first_offset)

    def high_watermark_reached(self, high_watermark: int) -> None:
        """Drop the completed transactions with a marker below the high watermark."""
        self.unreplicated = {first: last for first, last in self.unreplicated.items() if last >= high_watermark}

    def expire(self, now_ms: int, expiration_ms: int) -> int:
        """Remove producers that were idle for `producer.id.expiration.ms`, except those with an open transaction."""
        idle = [
            entry.producer_id
            for entry in self.producers.values()
            if entry.txn_first_offset < 0 and now_ms - entry.last_timestamp >= expiration_ms
        ]
        for producer_id in idle:
            del self.producers[producer_id]
        return len(idle)

    # --- the last stable offset ---------------------------------------------------------------------------------

    def first_unstable_offset(self) -> int | None:
        """Return the first offset of the oldest transaction without a replicated marker; None if all are stable."""
        first = self._first_ongoing()
        if self.unreplicated:
            oldest = min(self.unreplicated)
            return oldest if first is None else min(first, oldest)
        return first

    def last_stable_offset_after(self, aborted: AbortedTransaction) -> int:
        """Return the last stable offset after `aborted` is replicated, as recorded in `.txnindex`."""
        first = self._first_ongoing()
        return aborted.last_offset + 1 if first is None else first

    def in_order(self) -> Iterator[ProducerEntry]:
        """Yield the entries; those with open transactions in order of their first offset."""
        return iter(sorted(self.producers.values(), key=lambda entry: entry.txn_first_offset))

    def _first_ongoing(self) -> int | None:
        order = self._ongoing_order
        while order and order[0] not in self.ongoing:
            order.popleft()
        return order[0] if order else None

    def _open(self, entry: ProducerEntry, first_offset: int) -> None:
        entry.txn_first_offset = first_offset
        self.ongoing[first_offset] = entry.producer_id
        self._ongoing_order.append(first_offset)


def _in_sequence(entry: ProducerEntry, producer_epoch: int, first_sequence: int) -> bool:
    if entry.producer_epoch == NO_EPOCH:
        return True
    if producer_epoch != entry.producer_epoch:
        return first_sequence == 0
    last = entry.last_sequence
    return first_sequence == (0 if last == MAX_SEQUENCE else last + 1)
