"""Replay batches to reconstruct the producers and open transactions of a partition at an offset.

The rules are those of a follower or a recovering broker (Kafka's `ProducerStateManager`, and `ProducerAppendInfo` with
origin replication). Invalid sequences are not rejected here: callers that judge a log compare before they apply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import NamedTuple

from eosctl.storage.producer_snapshot import ProducerSnapshotEntry
from eosctl.storage.txn_index import AbortedTxn
from eosctl.wire.records.batch import decode_records
from eosctl.wire.records.control import EndTxnMarker, decode_control
from eosctl.wire.records.header import BatchHeader, ByteSource


class CompletedTxn(NamedTuple):
    """A transaction that a marker has ended: its first offset, its marker, and its outcome."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int
    committed: bool

    def as_aborted(self) -> AbortedTxn:
        """Return the transaction index entry of an aborted transaction."""
        return AbortedTxn(self.producer_id, self.first_offset, self.last_offset, self.last_stable_offset)


class ProducerReplay:
    """Producer state, updated batch by batch."""

    __slots__ = ("_open", "producers")

    def __init__(
        self, entries: Iterable[ProducerSnapshotEntry] = (), open_transactions: Mapping[int, int] | None = None
    ) -> None:
        """Start from the entries of a snapshot, or empty at the start of a log.

        Args:
            entries: The producers.
            open_transactions: As that attribute of an earlier replay; None to take them from the entries.
        """
        self.producers: dict[int, ProducerSnapshotEntry] = {entry.producer_id: entry for entry in entries}
        # Open transactions by producer id. Later ones start at higher offsets, so the first is the earliest.
        began = sorted(
            (entry for entry in self.producers.values() if entry.current_txn_first_offset >= 0),
            key=attrgetter("current_txn_first_offset"),
        )
        began_at = {entry.producer_id: entry.current_txn_first_offset for entry in began}
        self._open = began_at if open_transactions is None else dict(open_transactions)

    @property
    def first_open_offset(self) -> int | None:
        """Return the first offset of the earliest open transaction."""
        return next(iter(self._open.values()), None)

    @property
    def open_transactions(self) -> dict[int, int]:
        """Return the first offset of each open transaction by producer id, earliest first."""
        return dict(self._open)

    def apply(self, header: BatchHeader, buffer: ByteSource, position: int = 0) -> CompletedTxn | None:
        """Apply a batch.

        Args:
            header: The batch's header.
            buffer: Bytes that contain the batch; read only for control batches.
            position: Where the batch starts.

        Returns:
            The transaction that the batch has ended, if any.

        Raises:
            WireError: A control batch cannot be decoded.
        """
        if header.producer_id < 0:
            return None
        if not header.is_control:
            self._apply_data(header)
            return None
        # The cleaner keeps empty control batches to preserve the producer's epoch.
        for record in decode_records(buffer, header, position):
            marker = decode_control(record)
            if isinstance(marker, EndTxnMarker):
                return self._apply_marker(header, marker, record.offset, record.timestamp)
        return None

    def _apply_data(self, header: BatchHeader) -> None:
        producer_id = header.producer_id
        known = self.producers.get(producer_id)
        first_offset = -1 if known is None else known.current_txn_first_offset
        if header.is_transactional and first_offset < 0:
            first_offset = self._open[producer_id] = header.base_offset
        self.producers[producer_id] = ProducerSnapshotEntry(
            producer_id,
            header.producer_epoch,
            header.last_sequence,
            header.last_offset,
            header.last_offset_delta,
            header.max_timestamp,
            -1 if known is None else known.coordinator_epoch,
            first_offset,
        )

    def _apply_marker(
        self, header: BatchHeader, marker: EndTxnMarker, offset: int, timestamp: int
    ) -> CompletedTxn | None:
        producer_id, epoch = header.producer_id, header.producer_epoch
        known = self.producers.get(producer_id)
        if known is None or known.producer_epoch != epoch:  # A new epoch restarts its sequences.
            last_sequence, last_offset, offset_delta = -1, -1, 0
        else:
            last_sequence, last_offset, offset_delta = known.last_sequence, known.last_offset, known.offset_delta
        self.producers[producer_id] = ProducerSnapshotEntry(
            producer_id, epoch, last_sequence, last_offset, offset_delta, timestamp, marker.coordinator_epoch, -1
        )
        first_offset = self._open.pop(producer_id, None)
        if first_offset is None:
            return None
        earliest = self.first_open_offset
        return CompletedTxn(
            producer_id, first_offset, offset, offset + 1 if earliest is None else earliest, marker.committed
        )
