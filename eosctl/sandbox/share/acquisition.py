"""Acquisition of fetched records by a member (`SharePartition.acquire`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from eosctl.sandbox.share.in_flight import InFlightBatch, InFlightRecord, RecordState, ShareLimits
from eosctl.sandbox.share.share_partition import SharePartition

RECORD_LIMIT = 1
"""`ShareAcquireMode`: at most the requested number of records, even if a batch has more (0: whole batches)."""
FEWEST_THROTTLED = 2


class LogBatch(NamedTuple):
    """The offsets of a batch that was read from the log; both are included."""

    base_offset: int
    last_offset: int


class Acquired(NamedTuple):
    """Acquired offsets with the same number of deliveries."""

    first_offset: int
    last_offset: int
    delivery_count: int


class Wish(NamedTuple):
    """What a member wants: at most `max_records`, in batches of about `batch_size`, if new."""

    member_id: str
    max_records: int
    batch_size: int
    mode: int = 0


def acquire(
    partition: SharePartition,
    wish: Wish,
    fetch_offset: int,
    read: Sequence[LogBatch],
    limits: ShareLimits,
    now_ms: float,
) -> list[Acquired]:
    """Acquire available records among those that were read from `fetch_offset` on."""
    if not read or wish.max_records <= 0 or read[-1].last_offset < partition.start_offset:
        return []
    return _Acquisition(partition, wish, read, limits, now_ms).run(fetch_offset)


class _Acquisition:
    def __init__(
        self, partition: SharePartition, wish: Wish, read: Sequence[LogBatch], limits: ShareLimits, now_ms: float
    ) -> None:
        self._partition = partition
        self._wish = wish
        self._read = read
        self._limits = limits
        self._lock_until_ms = now_ms + limits.lock_duration_ms
        self._left = 0

    def run(self, fetch_offset: int) -> list[Acquired]:
        partition, last = self._partition, self._read[-1].last_offset
        self._left = min(self._wish.max_records, self._limits.max_record_locks - partition.in_flight_count)
        if self._left <= 0:  # The limit of locks holds for new records only.
            if fetch_offset > partition.end_offset:
                return []
            self._left = min(self._wish.max_records, partition.end_offset - fetch_offset + 1)
            last = min(last, partition.end_offset)
        base = self._read[0].base_offset
        self._archive_compacted(fetch_offset, base)
        floor = partition.floor_index(base)
        if floor >= 0 and partition.batches[floor].last_offset >= base:
            base = partition.batches[floor].first_offset
        else:
            base = max(base, partition.start_offset)
        known = partition.overlapping(min(base, self._first), last)
        if not known:
            return self._acquire_new(base, last)
        acquired, may_continue = self._acquire_among(known, base, last)
        if may_continue and self._left > 0 and known[-1].last_offset < last:
            acquired += self._acquire_new(known[-1].last_offset + 1, last)
        return acquired

    def _acquire_among(self, known: Sequence[InFlightBatch], base: int, last: int) -> tuple[list[Acquired], bool]:
        """Acquire returned records, and those in gaps; return whether later records may be acquired, too."""
        partition, acquired, position = self._partition, list[Acquired](), base
        for batch in known:
            if partition.has_gaps and position < batch.first_offset and self._left > 0:
                acquired += self._acquire_new(position, batch.first_offset - 1, within=True)
            if self._left <= 0:
                return acquired, False
            position = batch.last_offset + 1
            throttled = self._is_throttled(batch, last)
            if throttled and acquired:
                return acquired, False
            acquired += self._acquire_known(batch, last, throttled=throttled)
            if throttled and acquired:
                return acquired, False
        return acquired, True

    def _archive_compacted(self, fetch_offset: int, base: int) -> None:
        """Archive returned records that the log no longer has."""
        if fetch_offset < base:
            for batch in self._partition.overlapping(fetch_offset, base - 1):
                for _, record in batch.between(fetch_offset, base - 1):
                    if record.is_free:
                        record.archive()

    # --- records that were returned ---------------------------------------------------------------------------------

    def _is_throttled(self, batch: InFlightBatch, last: int) -> bool:
        """Return whether a record of the batch was delivered so often that few are delivered together (KIP-1206)."""
        counts = [record.delivery_count for _, record in batch.between(self._first, last) if record.is_free]
        return bool(counts) and max(counts) >= self._throttle_limit

    @property
    def _first(self) -> int:
        return self._read[0].base_offset

    @property
    def _throttle_limit(self) -> int:
        return max(FEWEST_THROTTLED, -(-self._limits.max_delivery_count // 2))

    def _acquire_known(self, batch: InFlightBatch, last: int, *, throttled: bool) -> list[Acquired]:
        is_whole = batch.first_offset >= self._first and batch.last_offset <= last
        limited = self._wish.mode == RECORD_LIMIT
        if throttled or not is_whole or (limited and len(batch.records) > self._left):
            if not batch.is_per_offset and not batch.records[0].is_free:
                return []
            batch.is_per_offset = True
        max_count, taken = self._limits.max_delivery_count, list[tuple[int, InFlightRecord]]()
        most = len(batch.records)
        slows = throttled
        for offset, record in batch.between(self._first, last):
            if not record.is_free:
                continue
            count = record.delivery_count
            is_last_try = batch.is_per_offset and max_count > FEWEST_THROTTLED and count == max_count - 1
            if is_last_try and taken:
                break  # A record that is delivered for the last time is delivered alone.
            if slows and count >= self._throttle_limit:
                most, slows = max(1, len(batch.records) >> (count - self._throttle_limit + 1)), False
            record.acquire(self._wish.member_id, self._lock_until_ms)
            taken.append((offset, record))
            if is_last_try or len(taken) >= most or (limited and len(taken) >= self._left):
                break
        self._left -= len(taken)
        return _grouped(taken)

    # --- new records ------------------------------------------------------------------------------------------------

    def _acquire_new(self, first: int, last: int, *, within: bool = False) -> list[Acquired]:
        partition, wish = self._partition, self._wish
        if not partition.batches and partition.end_offset > first:
            first = partition.end_offset
        if self._left < last - first + 1:
            end = self._end_of_batch(first + self._left - 1)
            last = min(end, last) if within else end
        if last < first:
            return []
        count, limited = last - first + 1, wish.mode == RECORD_LIMIT
        if limited and count > self._left:
            taken = self._left
            batch = self._new_batch(first, last, taken)
            batch.is_per_offset = True
            partition.add(batch)
            self._left = 0
            return [Acquired(first, first + taken - 1, 1)]
        bounds = [first]
        if not limited and count > wish.batch_size:
            for batch_read in self._read:
                if first < batch_read.base_offset <= last and batch_read.base_offset - bounds[-1] >= wish.batch_size:
                    bounds.append(batch_read.base_offset)
        ends = [bound - 1 for bound in bounds[1:]] + [last]
        for begin, end in zip(bounds, ends, strict=True):
            partition.add(self._new_batch(begin, end, end - begin + 1))
        self._left -= count
        return [Acquired(begin, end, 1) for begin, end in zip(bounds, ends, strict=True)]

    def _new_batch(self, first: int, last: int, taken: int) -> InFlightBatch:
        records = []
        for index in range(last - first + 1):
            record = InFlightRecord(RecordState.AVAILABLE, 0)
            if index < taken:
                record.acquire(self._wish.member_id, self._lock_until_ms)
            records.append(record)
        return InFlightBatch(first, records)

    def _end_of_batch(self, offset: int) -> int:
        """Return the end of the log's batch with an offset: batches are delivered whole."""
        return next(
            (batch.last_offset for batch in self._read if batch.base_offset <= offset <= batch.last_offset), offset
        )


def _grouped(taken: Iterable[tuple[int, InFlightRecord]]) -> list[Acquired]:
    groups: list[Acquired] = []
    for offset, record in taken:
        before = groups[-1] if groups else None
        if before and before.last_offset + 1 == offset and before.delivery_count == record.delivery_count:
            groups[-1] = before._replace(last_offset=offset)
        else:
            groups.append(Acquired(offset, offset, record.delivery_count))
    return groups


def filter_aborted(
    partition: SharePartition, acquired: Sequence[Acquired], aborted: Sequence[LogBatch]
) -> list[Acquired]:
    """Archive the acquired records of aborted transactions, and return the others."""
    kept = list(acquired)
    for gone in aborted:
        for batch in partition.overlapping(gone.base_offset, gone.last_offset):
            for _, record in batch.between(gone.base_offset, gone.last_offset):
                if record.state is RecordState.ACQUIRED:
                    batch.is_per_offset = True
                    record.archive()
        kept = [piece for held in kept for piece in _without(held, gone)]
    return kept


def _without(held: Acquired, gone: LogBatch) -> list[Acquired]:
    pieces = [
        held._replace(last_offset=min(held.last_offset, gone.base_offset - 1)),
        held._replace(first_offset=max(held.first_offset, gone.last_offset + 1)),
    ]
    return [piece for piece in pieces if piece.first_offset <= piece.last_offset]
