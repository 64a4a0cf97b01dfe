"""The cleaner's transaction state while it reads a log (`CleanedTransactionMetadata`)."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from eosctl.storage.txn_index import AbortedTxn
from eosctl.wire.records.batch import BatchHeader, decode_records
from eosctl.wire.records.control import EndTxnMarker, decode_control


class CleanedTransactions:
    """Separates aborted from committed data, and markers with remaining data from those that can be removed."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, AbortedTxn]] = []  # By first offset; not reached yet.
        self._aborted: dict[int, AbortedTxn] = {}  # Open transactions at this position of the log, by producer id.
        self._aborted_with_data: set[int] = set()
        self._committed_with_data: set[int] = set()

    def add_aborted(self, transactions: Iterable[AbortedTxn]) -> None:
        """Add entries of the transaction index before their range is read."""
        for transaction in transactions:
            heappush(self._waiting, (transaction.first_offset, transaction))

    def is_aborted(self, header: BatchHeader) -> bool:
        """Record a data batch; return whether it belongs to an aborted transaction."""
        self._reach(header.last_offset)
        if not header.is_transactional:
            return False
        if header.producer_id in self._aborted:
            self._aborted_with_data.add(header.producer_id)
            return True
        self._committed_with_data.add(header.producer_id)
        return False

    def end(self, header: BatchHeader, batch: bytes) -> tuple[bool, AbortedTxn | None]:
        """Record a control batch.

        Returns:
            Whether its transaction has no data left, so that the marker can be removed too; and the index entry to
            retain if it ends an aborted transaction with remaining data.
        """
        self._reach(header.last_offset)
        records = decode_records(batch, header)
        if not records:
            return True, None  # Emptied by an earlier cleaning.
        marker = decode_control(records[0])
        if not isinstance(marker, EndTxnMarker):
            return False, None
        producer_id = header.producer_id
        if marker.committed:
            had_data = producer_id in self._committed_with_data
            self._committed_with_data.discard(producer_id)
            return not had_data, None
        aborted = self._aborted.pop(producer_id, None)
        had_data = producer_id in self._aborted_with_data
        self._aborted_with_data.discard(producer_id)
        return not had_data, aborted if had_data else None

    def _reach(self, offset: int) -> None:
        while self._waiting and self._waiting[0][0] <= offset:
            _, transaction = heappop(self._waiting)
            self._aborted.setdefault(transaction.producer_id, transaction)
