"""A node's copy of `__cluster_metadata-0`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.metadata.image import ClusterImage
from eosctl.sandbox.metadata.records import (
    METADATA_3_9,
    ReplayedBatch,
    encode_leader_change,
    encode_metadata_record,
    replay_batches,
    replay_steps,
)
from eosctl.sandbox.metadata.snapshot import MetadataSnapshot, find_snapshots, write_snapshot
from eosctl.sandbox.metadata.snapshot_records import encode_snapshot, image_of, records_gone
from eosctl.sandbox.ports import METADATA_TOPIC, Runtime
from eosctl.sandbox.turns import SLICE, TurnQueue
from eosctl.wire.records.batch import decode_header, encode_batch
from eosctl.wire.records.record import Record

METADATA_PARTITION = TopicPartition(METADATA_TOPIC, 0)
METADATA_TOPIC_ID = bytes(15) + b"\x01"


class MetadataLog:
    """The metadata log of a node, appended by the active controller and fetched by all other nodes.

    `committed` listeners receive every batch once, in order, as the high watermark passes it; a snapshot is one batch
    for them. `snapshots` are those next to the log, oldest first.
    """

    def __init__(self, log: PartitionLog, release: str, runtime: Runtime) -> None:
        self.log = log
        self._runtime = runtime
        self.directory = Path(log.store.directory)
        self._release = release
        self._listeners: list[Callable[[ReplayedBatch], None]] = []
        self.snapshots = find_snapshots(self.directory, log.start_offset)
        if self.snapshots and self.snapshots[-1].end_offset > log.end_offset:
            # The node stopped between the two steps of installing a snapshot from the leader.
            log.restart_at(self.snapshots[-1].end_offset)
        self._delivered = 0
        self._deliveries = TurnQueue(runtime, self._deliver)

    @property
    def end_offset(self) -> int:
        """Return the offset of the next record."""
        return self.log.end_offset

    @property
    def high_watermark(self) -> int:
        """Return the high watermark: everything below is committed."""
        return self.log.high_watermark

    @property
    def last_epoch(self) -> int:
        """Return the leader epoch of the last record, or of the snapshot if the log starts with one; -1 if empty."""
        latest = self.log.epochs.latest
        return self.snapshots[-1].epoch if latest < 0 and self.snapshots else latest

    def listen(self, committed: Callable[[ReplayedBatch], None]) -> None:
        """Deliver batches committed from now on to `committed`."""
        self._listeners.append(committed)

    def append(self, records: Sequence[Any], epoch: int, now_ms: int, metadata_version: int) -> Iterator[None]:
        """Append records as one batch, after a step for each slice that is encoded.

        Records are encoded for `metadata_version`, so that nodes not upgraded yet can read them; 0 before one is
        finalized.
        """
        release = self._writes(metadata_version)
        encoded: list[Record] = []
        for start in range(0, len(records), SLICE):
            if start:
                yield
            encoded += [encode_metadata_record(record, release, now_ms) for record in records[start : start + SLICE]]
        batch = encode_batch(encoded, base_offset=self.end_offset, partition_leader_epoch=epoch)
        self._append(batch, epoch, now_ms)

    def append_leader_change(self, leader_id: int, voters: Sequence[int], epoch: int, now_ms: int) -> int:
        """Append the leader change of a new epoch."""
        return self._append(encode_leader_change(leader_id, voters, self.end_offset, epoch, now_ms), epoch, now_ms)

    def append_fetched(self, data: bytes, now_ms: int) -> None:
        """Append batches of the leader."""
        self.log.append_as_follower(data, now_ms)

    def commit(self, high_watermark: int) -> None:
        """Raise the high watermark and deliver the newly committed batches; a large one takes several turns."""
        if high_watermark > self.log.high_watermark:
            self.log.advance_high_watermark(min(high_watermark, self.end_offset))
        self._deliveries.add(self.log.high_watermark)

    def _deliver(self, high_watermark: int) -> Iterator[None]:
        if not self._delivered and self.snapshots and self.snapshots[-1].end_offset <= high_watermark:
            self._deliver_snapshot()
        while self.log.start_offset <= self._delivered < high_watermark:
            data = self.log.store.read(self._delivered, 1 << 20, high_watermark)
            if not data:
                return
            for batch in replay_steps(data):
                if batch is None:
                    yield
                else:
                    self._delivered = batch.last_offset + 1
                    self._notify(batch)

    def _deliver_snapshot(self) -> None:
        batch = self.snapshots[-1].batch()
        self._delivered = batch.last_offset + 1
        self._notify(batch)

    def _notify(self, batch: ReplayedBatch) -> None:
        for listener in self._listeners:
            listener(batch)

    def batches(self, end_offset: int | None = None) -> Iterator[ReplayedBatch]:
        """Yield the batches below an offset, or all, committed or not; a snapshot replaces those that it covers."""
        end_offset = self.end_offset if end_offset is None else end_offset
        start_offset = 0
        within = [snapshot for snapshot in self.snapshots if snapshot.end_offset <= end_offset]
        if within:
            start_offset = within[-1].end_offset
            yield within[-1].batch()
        for header, data in self.log.batches():
            if start_offset <= header.base_offset < end_offset:
                yield from replay_batches(data)

    # --- snapshots ----------------------------------------------------------------------------------------------

    def write_snapshot(self, image: ClusterImage, last: ReplayedBatch, now_ms: int) -> MetadataSnapshot | None:
        """Write a snapshot up to a committed batch; return None if it exists.

        Raises:
            OSError: It cannot be written.
        """
        end_offset = last.last_offset + 1
        if self.snapshots and self.snapshots[-1].end_offset >= end_offset:
            return None
        self.log.flush()
        release = self._writes(image.finalized_feature("metadata.version"))
        data = encode_snapshot(image, release, last.epoch, last.timestamp, now_ms)
        snapshot = write_snapshot(self.directory, end_offset, last.epoch, data)
        self.snapshots.append(snapshot)
        return snapshot

    def take_snapshot(self, end_offset: int, epoch: int, data: bytes) -> None:
        """Replace the log by a snapshot of the leader, which no longer has the next offset of this log.

        Listeners receive it as one batch, which also removes everything that the snapshot does not contain.

        Raises:
            OSError: It cannot be written.
        """
        self._deliveries.close()
        self._deliveries = TurnQueue(self._runtime, self._deliver)
        known = image_of(record for batch in self.batches(self._delivered) for record in batch.records)
        former, self.snapshots = self.snapshots, [write_snapshot(self.directory, end_offset, epoch, data)]
        self.log.restart_at(end_offset)
        for snapshot in former:
            if snapshot.path != self.snapshots[0].path:
                snapshot.path.unlink(missing_ok=True)
        batch = self.snapshots[0].batch()
        gone = records_gone(known, image_of(batch.records))
        self._delivered = end_offset
        self._notify(batch._replace(records=[*gone, *batch.records]))

    def find_snapshot(self, end_offset: int, epoch: int) -> MetadataSnapshot | None:
        """Return the snapshot with this id, or None."""
        return next((one for one in self.snapshots if (one.end_offset, one.epoch) == (end_offset, epoch)), None)

    def _append(self, batch: bytes, epoch: int, now_ms: int) -> int:
        header = decode_header(batch)
        self.log.append_as_leader(batch, header, epoch, now_ms)
        return self.end_offset - 1

    def _writes(self, metadata_version: int) -> str:
        return "3.9" if 0 < metadata_version <= METADATA_3_9 else self._release
