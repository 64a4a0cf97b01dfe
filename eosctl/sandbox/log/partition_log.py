"""A replica's log: batches in segments, with producer state, leader epochs, and offsets."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Final

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.log.closed import LogClosed
from eosctl.sandbox.log.leader_epochs import LeaderEpochs
from eosctl.sandbox.log.producer_state import AbortedTransaction, ProducerStateManager
from eosctl.sandbox.log.topic_settings import TopicSettings
from eosctl.storage.config import LogConfig
from eosctl.storage.log import SegmentedLog
from eosctl.storage.txn_index import AbortedTxn
from eosctl.wire.records.batch import BatchHeader, decode_records, iter_headers, with_offset
from eosctl.wire.records.control import MARKER_BATCH_BYTES, ControlType, EndTxnMarker, decode_control
from eosctl.wire.records.header import CODEC_MASK, CONTROL, TRANSACTIONAL

_MARKER_BODY: Final = struct.Struct(">hxhi")  # Control type, value length, value version, coordinator epoch.
_MARKER_TYPE_POSITION: Final = 68
_ABORT: Final = int(ControlType.ABORT)
_COMMIT: Final = int(ControlType.COMMIT)
_BASE_OFFSET: Final = attrgetter("base_offset")


class PartitionLog:
    """The log of a replica.

    Appends update segments and producer state together; the caller has validated the batch. The caller advances the
    high watermark; the last stable offset follows from it.

    Attributes:
        is_dirty: Whether a flush was requested and has not run yet.
    """

    __slots__ = (
        "cleaned_until",
        "closed",
        "dirty",
        "epochs",
        "high_watermark",
        "is_dirty",
        "partition",
        "producers",
        "settings",
        "snapshot",
        "stable_at_batches",
        "store",
    )

    def __init__(
        self,
        partition: TopicPartition,
        store: SegmentedLog,
        producers: ProducerStateManager,
        epochs: LeaderEpochs,
        settings: TopicSettings,
        high_watermark: int = 0,
    ) -> None:
        self.partition = partition
        self.store = store
        self.producers = producers
        self.epochs = epochs
        self.settings = settings
        self.high_watermark = min(max(high_watermark, store.log_start_offset), store.log_end_offset)
        self.stable_at_batches = True  # Kafka 3.9 counts offsets.
        self.closed = False
        self.is_dirty = False
        self.cleaned_until = -1  # Everything below was compacted; -1 if nothing was.
        self.dirty: Callable[[PartitionLog], None] = _nothing  # Called when there are bytes to flush.
        self.snapshot: Callable[[PartitionLog, int], None] = _no_snapshot  # Writes producer state as of an offset.

    @property
    def start_offset(self) -> int:
        """Return the first offset that may be read."""
        return self.store.log_start_offset

    @property
    def end_offset(self) -> int:
        """Return the log end offset (LEO): the offset of the next batch."""
        return self.store.log_end_offset

    def last_stable_offset(self) -> int:
        """Return the last stable offset: the start of the oldest unfinished transaction, or the high watermark."""
        producers = self.producers
        if not producers.ongoing and not producers.unreplicated:
            return self.high_watermark
        first = producers.first_unstable_offset()
        if first is None or first > self.high_watermark:
            return self.high_watermark
        start = self.store.log_start_offset
        if first >= start:
            return first
        # Deleted records of an open transaction count as stable: in 4.x whole batches only.
        batch = next(self.store.batches(start), None) if self.stable_at_batches else None
        return start if batch is None else batch[0].base_offset

    def apply_settings(self, settings: TopicSettings) -> None:
        """Apply changed topic settings."""
        self.settings = settings
        self.store.config = log_config(settings)

    # --- appending ----------------------------------------------------------------------------------------------

    def append_as_leader(self, batch: bytes, header: BatchHeader, leader_epoch: int, now_ms: int) -> int:
        """Append a validated batch at the log end; return its base offset."""
        base_offset = self.store.log_end_offset
        placed = with_offset(batch, base_offset, leader_epoch)
        self.append_placed(placed, header.placed(base_offset, leader_epoch), now_ms)
        return base_offset

    def append_placed(self, batch: bytes, header: BatchHeader, now_ms: int) -> None:
        """Append a validated batch that already has its offset and leader epoch."""
        if self.closed:
            raise LogClosed(f"the log of {self.partition} is closed")
        leader_epoch = header.partition_leader_epoch
        if leader_epoch > self.epochs.latest:
            self.epochs.assign(leader_epoch, header.base_offset)
        if not self.is_dirty:
            self.is_dirty = True
            self.dirty(self)
        rolled = self.store.append(batch, header, now_ms)
        if rolled is not None:
            self.snapshot(self, rolled)
        if header.producer_id >= 0:
            self._follow_producer(batch, header)

    def append_as_follower(self, records: bytes, now_ms: int) -> int:
        """Append a leader's batches unchanged; skip batches that the log already has. Return the number appended."""
        if self.closed:
            raise LogClosed(f"the log of {self.partition} is closed")
        count = 0
        for position, header in iter_headers(records):
            if header.base_offset >= self.store.log_end_offset:
                batch = records[position : position + header.size_bytes]
                self.append_placed(batch, header, now_ms)
                count += 1
        return count

    def _follow_producer(self, batch: bytes, header: BatchHeader) -> None:
        aborted = replay_producer(self.producers, header, batch)
        if aborted is not None:
            last_stable_offset = self.producers.last_stable_offset_after(aborted)
            self.store.append_aborted_txn(
                AbortedTxn(aborted.producer_id, aborted.first_offset, aborted.last_offset, last_stable_offset)
            )

    # --- reading ------------------------------------------------------------------------------------------------

    def batches(self) -> Iterator[tuple[BatchHeader, bytes]]:
        """Yield header and bytes of every batch."""
        return self.store.batches(self.store.log_start_offset)

    def read(self, offset: int, max_bytes: int, upper_bound: int) -> bytes:
        """Read whole batches below `upper_bound`; as in Kafka, a read stays within one segment."""
        segments = self.store.segments
        if len(segments) > 1 and offset < segments[-1].base_offset:
            following = bisect_right(segments, offset, key=_BASE_OFFSET)
            for segment in segments[max(following, 1) :]:
                data = self.store.read(offset, max_bytes, min(upper_bound, segment.base_offset))
                if data or upper_bound <= segment.base_offset:
                    return data
                # Compaction has removed everything from the offset to the end of its segment.
                offset = segment.base_offset
        return self.store.read(offset, max_bytes, upper_bound)

    def aborted_transactions(self, fetch_offset: int, upper_bound: int) -> list[AbortedTxn]:
        """Return the aborted transactions that a read_committed consumer of this range must know."""
        return self.store.aborted_txns(fetch_offset, upper_bound)

    # --- ends ---------------------------------------------------------------------------------------------------

    def advance_high_watermark(self, high_watermark: int) -> None:
        """Raise the high watermark; completed transactions below it no longer limit the last stable offset."""
        self.high_watermark = high_watermark
        if self.producers.unreplicated:
            self.producers.high_watermark_reached(high_watermark)

    def truncate_to(self, offset: int) -> None:
        """Remove everything from `offset` on and restore the producer state of that offset."""
        if offset >= self.store.log_end_offset:
            # A leader that was replaced before its first append has an epoch without records; the new leader does not
            # have it.
            self.epochs.truncate_from_end(self.store.log_end_offset)
            return
        self.store.truncate_to(offset)
        self.cleaned_until = min(self.cleaned_until, offset)
        self.epochs.truncate_from_end(offset)
        self.high_watermark = min(self.high_watermark, self.store.log_end_offset)
        self.rebuild_producers()

    def rebuild_producers(self) -> None:
        """Rebuild producer state from the log."""
        producers = ProducerStateManager()
        for header, batch in self.batches():
            if header.producer_id >= 0:
                replay_producer(producers, header, batch)
        producers.high_watermark_reached(self.high_watermark)
        self.producers = producers

    def restart_at(self, offset: int) -> None:
        """Drop everything and begin again at `offset` (the leader no longer has what this follower needs)."""
        self.store.truncate_fully_and_start_at(offset)
        self.epochs.clear()
        self.cleaned_until = -1
        self.producers = ProducerStateManager()
        self.high_watermark = offset
        if not self.is_dirty:
            self.is_dirty = True
            self.dirty(self)  # Its offset is checkpointed, though it has no bytes.

    def advance_start_offset(self, offset: int) -> None:
        """Raise the log start offset (DeleteRecords, or the leader's); retention deletes the files below it."""
        self.store.advance_log_start_offset(offset)
        self._start_was_raised()

    def retire_segments(self, count: int, now_ms: int) -> list[Path]:
        """Remove the oldest segments; return their files, to be deleted after `file.delete.delay.ms`."""
        if count >= len(self.store.segments):
            self.store.flush()
            self.snapshot(self, self.store.log_end_offset)
        retired = self.store.retire_segments(count, now_ms)
        self._start_was_raised()
        return retired

    def _start_was_raised(self) -> None:
        self.epochs.truncate_from_start(self.store.log_start_offset)
        self.high_watermark = max(self.high_watermark, self.store.log_start_offset)

    def flush(self) -> None:
        """Write appended bytes to the operating system."""
        self.is_dirty = False
        if not self.closed:
            self.store.flush()

    def close(self, *, clean: bool) -> None:
        """Close the files; `clean` writes them as in a clean shutdown."""
        if not self.closed:
            self.closed = True
            if clean:
                self.snapshot(self, self.store.log_end_offset)
            self.store.close(clean=clean)


def _nothing(_: PartitionLog) -> None:
    """Ignore a notification without a receiver."""


def _no_snapshot(_: PartitionLog, __: int) -> None:
    """Ignore a request for a snapshot."""


def log_config(settings: TopicSettings) -> LogConfig:
    """Convert topic settings to the settings of the storage package."""
    return LogConfig(
        segment_bytes=settings.segment_bytes,
        # Roll early enough that records are compacted within their maximum lag (LogConfig.maxSegmentMs).
        segment_ms=min(settings.segment_ms, settings.max_compaction_lag_ms or settings.segment_ms)
        if settings.is_compacted
        else settings.segment_ms,
        segment_index_bytes=settings.segment_index_bytes,
        index_interval_bytes=settings.index_interval_bytes,
    )


def replay_producer(producers: ProducerStateManager, header: BatchHeader, batch: bytes) -> AbortedTransaction | None:
    """Apply a batch of the log to producer state; return the transaction that it aborts."""
    attributes, base_offset = header.attributes, header.base_offset
    if attributes & CONTROL:
        if len(batch) == MARKER_BATCH_BYTES and not attributes & CODEC_MASK:
            kind, _, coordinator_epoch = _MARKER_BODY.unpack_from(batch, _MARKER_TYPE_POSITION)
        else:
            kind, coordinator_epoch = _decode_marker(header, batch)
        if kind not in (_ABORT, _COMMIT):
            return None
        return producers.apply_marker(
            header.producer_id,
            header.producer_epoch,
            coordinator_epoch,
            base_offset,
            header.max_timestamp,
            committed=kind == _COMMIT,
        )
    delta = header.last_offset_delta
    producers.apply_data(
        header.producer_id,
        header.producer_epoch,
        header.last_sequence if delta else header.base_sequence,
        base_offset,
        base_offset + delta,
        header.max_timestamp,
        attributes & TRANSACTIONAL != 0,
    )
    return None


def _decode_marker(header: BatchHeader, batch: bytes) -> tuple[int, int]:
    """Return the type and coordinator epoch of a control batch with any layout; (-1, -1) if it is not a marker."""
    records = decode_records(batch, header)
    control = decode_control(records[0]) if records else None
    if not isinstance(control, EndTxnMarker):
        return -1, -1
    return _COMMIT if control.committed else _ABORT, control.coordinator_epoch
