"""What the cleaner must know of transactions while it reads a log from front to back (CleanedTransactionMetadata)."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from eosctl.storage.txn_index import AbortedTxn
from eosctl.wire.records.batch import BatchHeader, decode_records
from eosctl.wire.records.control import EndTxnMarker, decode_control


class CleanedTransactions:
    """Tells aborted data from committed data, and markers that still have data from those that may go."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, AbortedTxn]] = []  # by first offset, not reached yet
        self._aborted: dict[int, AbortedTxn] = {}  # open at this point of the log, by producer id
        self._aborted_with_data: set[int] = set()
        self._committed_with_data: set[int] = set()

    def add_aborted(self, transactions: Iterable[AbortedTxn]) -> None:
        """Take over entries of the transaction index before their range is read."""
        for transaction in transactions:
            heappush(self._waiting, (transaction.first_offset, transaction))

    def is_aborted(self, header: BatchHeader) -> bool:
        """Note a data batch; returns whether it belongs to an aborted transaction."""
        self._reach(header.last_offset)
        if not header.is_transactional:
            return False
        if header.producer_id in self._aborted:
            self._aborted_with_data.add(header.producer_id)
            return True
        self._committed_with_data.add(header.producer_id)
        return False

    def end(self, header: BatchHeader, batch: bytes) -> tuple[bool, AbortedTxn | None]:
        """Note a control batch.

        Returns:
            Whether nothing is left of its transaction, so that the marker may go too, and the index entry to keep
            when it ends an aborted transaction of which something is left.
        """
        self._reach(header.last_offset)
        records = decode_records(batch, header)
        if not records:
            return True, None  # emptied before
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
