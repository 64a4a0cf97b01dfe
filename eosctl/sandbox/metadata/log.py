"""A node's copy of ``__cluster_metadata-0``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from eosctl.model.transaction import TopicPartition
from eosctl.sandbox.log.partition_log import PartitionLog
from eosctl.sandbox.metadata.records import (
    METADATA_3_9,
    ReplayedBatch,
    encode_leader_change,
    encode_metadata_batch,
    replay_batches,
)
from eosctl.sandbox.metadata.snapshot import find_snapshot
from eosctl.sandbox.ports import METADATA_TOPIC
from eosctl.wire.records.batch import decode_header

METADATA_PARTITION = TopicPartition(METADATA_TOPIC, 0)
METADATA_TOPIC_ID = bytes(15) + b"\x01"


class MetadataLog:
    """The metadata log of one node: appended by the active controller, fetched by everybody else.

    ``committed`` listeners hear of every batch once, in order, as the high watermark passes it.
    """

    def __init__(self, log: PartitionLog, release: str) -> None:
        self.log = log
        self._release = release
        self._listeners: list[Callable[[ReplayedBatch], None]] = []
        self._snapshot = find_snapshot(Path(log.store.directory), log.start_offset, log.end_offset)
        self._delivered = 0 if self._snapshot is not None else log.start_offset

    @property
    def end_offset(self) -> int:
        """Offset of the next record."""
        return self.log.end_offset

    @property
    def high_watermark(self) -> int:
        """Everything below is committed."""
        return self.log.high_watermark

    @property
    def last_epoch(self) -> int:
        """Leader epoch of the last batch, -1 in an empty log."""
        return self.log.epochs.latest

    def listen(self, committed: Callable[[ReplayedBatch], None]) -> None:
        """Deliver committed batches to ``committed``, those from now on."""
        self._listeners.append(committed)

    def append(self, records: Sequence[Any], epoch: int, now_ms: int, metadata_version: int) -> int:
        """Append records as one batch; returns the offset of the last one.

        They are written as ``metadata_version`` has them, so that nodes that are not upgraded yet can read them; 0
        before any is finalized.
        """
        release = "3.9" if 0 < metadata_version <= METADATA_3_9 else self._release
        batch = encode_metadata_batch(records, release, self.end_offset, epoch, now_ms)
        return self._append(batch, epoch, now_ms)

    def append_leader_change(self, leader_id: int, voters: Sequence[int], epoch: int, now_ms: int) -> int:
        """Open a leader epoch."""
        return self._append(encode_leader_change(leader_id, voters, self.end_offset, epoch, now_ms), epoch, now_ms)

    def append_fetched(self, data: bytes, now_ms: int) -> None:
        """Take over batches of the leader."""
        self.log.append_as_follower(data, now_ms)

    def commit(self, high_watermark: int) -> None:
        """Raise the high watermark and deliver what is committed now."""
        if high_watermark > self.log.high_watermark:
            self.log.advance_high_watermark(min(high_watermark, self.end_offset))
        if self._snapshot is not None and self._delivered < self._snapshot.end_offset <= self.log.high_watermark:
            self._delivered = self._snapshot.end_offset
            for batch in self._snapshot.batches():
                self._tell(batch)
        while self._delivered < self.log.high_watermark:
            data = self.log.store.read(self._delivered, 1 << 20, self.log.high_watermark)
            if not data:
                return
            for batch in replay_batches(data):
                self._delivered = batch.last_offset + 1
                self._tell(batch)

    def _tell(self, batch: ReplayedBatch) -> None:
        for listener in self._listeners:
            listener(batch)

    def batches(self) -> Iterator[ReplayedBatch]:
        """Iterate the whole log, committed or not; a snapshot stands for what was removed."""
        start_offset = 0
        if self._snapshot is not None:
            start_offset = self._snapshot.end_offset
            yield from self._snapshot.batches()
        for header, data in self.log.batches():
            if header.base_offset >= start_offset:
                yield from replay_batches(data)

    def _append(self, batch: bytes, epoch: int, now_ms: int) -> int:
        header = decode_header(batch)
        self.log.append_as_leader(batch, header, epoch, now_ms)
        return self.end_offset - 1
