"""One replica's log: batches in segments, with the producer state, leader epochs and offsets that go with them."""

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

_MARKER_BODY: Final = struct.Struct(">hxhi")  # control type, value length, value version, coordinator epoch
_MARKER_TYPE_POSITION: Final = 68
_ABORT: Final = int(ControlType.ABORT)
_COMMIT: Final = int(ControlType.COMMIT)
_BASE_OFFSET: Final = attrgetter("base_offset")


class PartitionLog:
    """The log of one replica.

    Appends change segments and producer state together; whoever appends has checked the batch before. The high
    watermark is the caller's to advance, the last stable offset follows from it.

    Attributes:
        is_dirty: Whether somebody was told that bytes wait, and has not flushed since.
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
        self.closed = False
        self.is_dirty = False
        self.cleaned_until = -1  # everything below was compacted; -1: nothing ever was
        self.dirty: Callable[[PartitionLog], None] = _nothing  # told when bytes wait to be flushed
        self.snapshot: Callable[[PartitionLog, int], None] = _no_snapshot  # writes producer state as of an offset

    @property
    def start_offset(self) -> int:
        """First offset that may be read."""
        return self.store.log_start_offset

    @property
    def end_offset(self) -> int:
        """Offset of the next batch (LEO)."""
        return self.store.log_end_offset

    def last_stable_offset(self) -> int:
        """Return where a read_committed reader stops: the oldest unfinished transaction, or the high watermark."""
        producers = self.producers
        if not producers.ongoing and not producers.unreplicated:
            return self.high_watermark
        first = producers.first_unstable_offset()
        if first is None or first > self.high_watermark:
            return self.high_watermark
        return max(first, self.store.log_start_offset)  # what was deleted under an open transaction is stable

    def apply_settings(self, settings: TopicSettings) -> None:
        """Take over changed topic settings."""
        self.settings = settings
        self.store.config = log_config(settings)

    # --- appending ----------------------------------------------------------------------------------------------

    def append_as_leader(self, batch: bytes, header: BatchHeader, leader_epoch: int, now_ms: int) -> int:
        """Append a checked batch at the end of the log; returns its base offset."""
        base_offset = self.store.log_end_offset
        placed = with_offset(batch, base_offset, leader_epoch)
        self.append_placed(placed, header.placed(base_offset, leader_epoch), now_ms)
        return base_offset

    def append_placed(self, batch: bytes, header: BatchHeader, now_ms: int) -> None:
        """Append a checked batch that was made for the end of the log: it has its offset and leader epoch."""
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
        """Append what a leader sent, as it is; batches that the log already has are skipped. Returns their count."""
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
        """Iterate header and bytes of every batch."""
        return self.store.batches(self.store.log_start_offset)

    def read(self, offset: int, max_bytes: int, upper_bound: int) -> bytes:
        """Read whole batches below `upper_bound`; as in Kafka one read stays within one segment."""
        segments = self.store.segments
        if len(segments) > 1 and offset < segments[-1].base_offset:
            following = bisect_right(segments, offset, key=_BASE_OFFSET)
            for segment in segments[max(following, 1) :]:
                data = self.store.read(offset, max_bytes, min(upper_bound, segment.base_offset))
                if data or upper_bound <= segment.base_offset:
                    return data
                offset = segment.base_offset  # compaction left nothing from the offset to the end of its segment
        return self.store.read(offset, max_bytes, upper_bound)

    def aborted_transactions(self, fetch_offset: int, upper_bound: int) -> list[AbortedTxn]:
        """Return the aborted transactions that a read_committed reader of this range must know."""
        return self.store.aborted_txns(fetch_offset, upper_bound)

    # --- ends ---------------------------------------------------------------------------------------------------

    def advance_high_watermark(self, high_watermark: int) -> None:
        """Raise the high watermark; completed transactions below it no longer hold back the last stable offset."""
        self.high_watermark = high_watermark
        if self.producers.unreplicated:
            self.producers.high_watermark_reached(high_watermark)

    def truncate_to(self, offset: int) -> None:
        """Drop everything from `offset` on and go back to the producer state of that point."""
        if offset >= self.store.log_end_offset:
            # A leader that was replaced before it wrote has an epoch without records, which the new leader disputes.
            self.epochs.truncate_from_end(self.store.log_end_offset)
            return
        self.store.truncate_to(offset)
        self.cleaned_until = min(self.cleaned_until, offset)
        self.epochs.truncate_from_end(offset)
        self.high_watermark = min(self.high_watermark, self.store.log_end_offset)
        self.rebuild_producers()

    def rebuild_producers(self) -> None:
        """Replay the log into fresh producer state."""
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

    def advance_start_offset(self, offset: int) -> None:
        """Raise the log start offset (DeleteRecords, or the leader's); files below it go with the next retention."""
        self.store.advance_log_start_offset(offset)
        self._start_was_raised()

    def retire_segments(self, count: int, now_ms: int) -> list[Path]:
        """Take the oldest segments out; returns their files, to be deleted after `file.delete.delay.ms`."""
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
        """Hand appended bytes to the operating system."""
        self.is_dirty = False
        if not self.closed:
            self.store.flush()

    def close(self, *, clean: bool) -> None:
        """Let go of the files; `clean` leaves them as an orderly shutdown does."""
        if not self.closed:
            self.closed = True
            if clean:
                self.snapshot(self, self.store.log_end_offset)
            self.store.close(clean=clean)


def _nothing(_: PartitionLog) -> None:
    """Take a notice that nobody waits for."""


def _no_snapshot(_: PartitionLog, __: int) -> None:
    """Take a notice that nobody waits for."""


def log_config(settings: TopicSettings) -> LogConfig:
    """Translate topic settings into what the storage room needs."""
    return LogConfig(
        segment_bytes=settings.segment_bytes,
        # What may wait for compaction only so long must be in a closed segment by then (LogConfig.maxSegmentMs).
        segment_ms=min(settings.segment_ms, settings.max_compaction_lag_ms or settings.segment_ms)
        if settings.is_compacted
        else settings.segment_ms,
        segment_index_bytes=settings.segment_index_bytes,
        index_interval_bytes=settings.index_interval_bytes,
    )


def replay_producer(producers: ProducerStateManager, header: BatchHeader, batch: bytes) -> AbortedTransaction | None:
    """Take a batch of the log over into producer state; returns the transaction that it aborts."""
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
    """Return the type and coordinator epoch of a control batch that was not made as ours are; (-1, -1) for others."""
    records = decode_records(batch, header)
    control = decode_control(records[0]) if records else None
    if not isinstance(control, EndTxnMarker):
        return -1, -1
    return _COMMIT if control.committed else _ABORT, control.coordinator_epoch
