"""The state of a share-partition at the partition's leader (`SharePartition`), without clocks, timers, or requests.

Times are passed in. Changes that must be durable are returned as state batches; `complete` reports whether they are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from eosctl.sandbox.coordinator.share.state import ShareGroupOffset, StateBatch
from eosctl.sandbox.share.in_flight import InFlightBatch, InFlightRecord, RecordState, ShareLimits


class Transition(NamedTuple):
    """Records whose new state waits for the share coordinator, and what to write; `rejected` are offsets."""

    records: list[tuple[int, InFlightRecord]]
    rejected: frozenset[int] = frozenset()

    @property
    def state_batches(self) -> tuple[StateBatch, ...]:
        """Return the new states, with consecutive equal ones in one batch."""
        batches: list[StateBatch] = []
        for offset, record in self.records:
            state = int(record.state), record.delivery_count
            if batches and batches[-1].last_offset + 1 == offset and batches[-1][2:] == state:
                batches[-1] = batches[-1]._replace(last_offset=offset)
            else:
                batches.append(StateBatch(offset, offset, *state))
        return tuple(batches)


class SharePartition:
    """The records between a group's start offset and the last one that it acquired.

    Attributes:
        start_offset: The first offset that is not done.
        end_offset: The last acquired offset; `start_offset` without records in flight.
        state_epoch: The epoch of the durable state, which writes repeat.
    """

    def __init__(self, state: ShareGroupOffset, start_offset: int) -> None:
        """Continue from the durable state; `start_offset` replaces one that is not known yet."""
        self.start_offset = start_offset
        self.end_offset = start_offset
        self.state_epoch = state.state_epoch
        self.batches = [
            InFlightBatch(
                batch.first_offset,
                [
                    InFlightRecord(RecordState(batch.delivery_state), batch.delivery_count)
                    for _ in range(batch.first_offset, batch.last_offset + 1)
                ],
            )
            for batch in state.state_batches
        ]
        #: Offsets before this one without a state were acquired by an earlier leader; its members lost them.
        self._gaps_until = -1
        if self.batches:
            self.end_offset = self._gaps_until = self.batches[-1].last_offset
            self.advance()

    # --- what to fetch ----------------------------------------------------------------------------------------------

    @property
    def in_flight_count(self) -> int:
        """Return the number of offsets between start and end."""
        return self.end_offset - self.start_offset + 1 if self.batches else 0

    def next_fetch_offset(self) -> int:
        """Return the first offset that a member may acquire."""
        if not self.batches or self.start_offset > self.batches[-1].last_offset:
            return self.end_offset
        expected = self.start_offset
        for batch in self.batches:
            if expected < batch.first_offset and expected <= self._gaps_until:
                return expected
            for offset, record in batch.between(self.start_offset, batch.last_offset):
                if record.is_free:
                    return offset
            expected = max(expected, batch.last_offset + 1)
        return self.end_offset + 1

    def can_acquire(self, limits: ShareLimits) -> bool:
        """Return whether a fetch may acquire records: returned ones always, new ones within the limit."""
        has_returned = self.next_fetch_offset() != self.end_offset + 1
        return has_returned or self.in_flight_count < limits.max_record_locks

    def delivery_complete_count(self) -> int:
        """Return how many offsets from the start offset on are done, whether durable or not."""
        return sum(record.state.is_terminal for _, record in self._records(self.start_offset, self.end_offset))

    # --- changes ----------------------------------------------------------------------------------------------------

    def release_member(self, member_id: str, limits: ShareLimits) -> Transition:
        """Take all records from a member that has left."""
        taken = [
            (offset, record)
            for offset, record in self.records()
            if record.member_id == member_id and record.state is RecordState.ACQUIRED and record.rollback is None
        ]
        for offset, record in taken:
            past = offset < self.start_offset
            record.begin(RecordState.ARCHIVED if past else RecordState.AVAILABLE, limits)
        return Transition(taken)

    def expire_locks(self, limits: ShareLimits, now_ms: float) -> Transition:
        """Take the records whose locks have expired; the change takes effect before it is durable."""
        expired = [
            (offset, record)
            for offset, record in self.records()
            if record.state is RecordState.ACQUIRED
            and record.rollback is None
            and record.lock_until_ms is not None
            and record.lock_until_ms <= now_ms
        ]
        for offset, record in expired:
            if offset < self.start_offset:
                record.archive()
            else:
                record.release(limits)
        return Transition(expired)

    def next_expiry_ms(self) -> float | None:
        """Return when the next lock expires; None without locks."""
        return min(
            (
                record.lock_until_ms
                for _, record in self.records()
                if record.lock_until_ms is not None and record.state is RecordState.ACQUIRED
            ),
            default=None,
        )

    def complete(self, transition: Transition, limits: ShareLimits, now_ms: float, *, is_durable: bool) -> bool:
        """End transitions; return whether records became available or the start offset moved."""
        for _, record in transition.records:
            if is_durable:
                record.commit()
            else:
                record.revert(limits, now_ms)
        returned = any(record.is_free for _, record in transition.records)
        return self.advance() or returned

    def archive(self, first_offset: int, last_offset: int) -> Transition:
        """Archive the dead letters in a range; the change takes effect before it is durable."""
        archiving = [
            (offset, record)
            for offset, record in self._records(first_offset, last_offset)
            if record.state is RecordState.ARCHIVING
        ]
        for _, record in archiving:
            record.archive()
        return Transition(archiving)

    def log_start_moved(self, log_start_offset: int) -> None:
        """Archive the records that the log no longer has; acquired ones stay with their members."""
        if log_start_offset <= self.start_offset:
            return
        for _, record in self._records(self.start_offset, log_start_offset - 1):
            if record.is_free:
                record.archive()
        self.start_offset = log_start_offset
        self.end_offset = max(self.end_offset, log_start_offset)
        if not self.batches:
            self.end_offset = log_start_offset

    def advance(self) -> bool:
        """Move the start offset past the records that are done, and forget them; return whether it moved."""
        before, offset = self.start_offset, self.start_offset
        for batch in self.batches:
            if batch.first_offset > offset and offset <= self._gaps_until:
                break
            stopped = False
            for position, record in batch.between(offset, batch.last_offset):
                if not record.is_done:
                    offset, stopped = position, True
                    break
                offset = position + 1
            if stopped:
                break
        if offset > before:
            self.start_offset = offset
            self.batches = [
                batch
                for batch in self.batches
                if batch.last_offset >= offset or any(not record.is_done for record in batch.records)
            ]
            if not self.batches or self.batches[-1].last_offset < offset:
                self.end_offset = offset
        return offset > before

    # --- lookups ----------------------------------------------------------------------------------------------------

    def floor_index(self, offset: int) -> int:
        """Return the index of the last batch that begins at or before an offset; -1 without one."""
        return bisect_right(self.batches, offset, key=lambda batch: batch.first_offset) - 1

    def overlapping(self, first_offset: int, last_offset: int) -> Sequence[InFlightBatch]:
        """Return the batches with an offset in the range."""
        first = max(0, self.floor_index(first_offset))
        found = self.batches[first : self.floor_index(last_offset) + 1]
        return [batch for batch in found if batch.last_offset >= first_offset]

    def add(self, batch: InFlightBatch) -> None:
        """Insert a batch of newly acquired records."""
        self.batches.insert(self.floor_index(batch.first_offset) + 1, batch)
        if batch.last_offset > self.end_offset:
            self._gaps_until = -1  # From here on, offsets without a state are gaps in the log.
            self.end_offset = batch.last_offset
        if self.batches[0] is batch:
            self.start_offset = batch.first_offset

    @property
    def has_gaps(self) -> bool:
        """Return whether offsets without a state may still be acquired."""
        return self._gaps_until >= 0

    def _records(self, first_offset: int, last_offset: int) -> Iterator[tuple[int, InFlightRecord]]:
        batches = self.overlapping(first_offset, last_offset)
        return chain.from_iterable(batch.between(first_offset, last_offset) for batch in batches)

    def records(self) -> Iterator[tuple[int, InFlightRecord]]:
        """Return every record in flight, by offset."""
        return chain.from_iterable(batch.between(batch.first_offset, batch.last_offset) for batch in self.batches)
