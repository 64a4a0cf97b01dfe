"""The records of a batch that the cleaner retains (Kafka's `Cleaner.cleanInto` and `MemoryRecords.filterTo`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from eosctl.sandbox.log.cleaning.transactions import CleanedTransactions
from eosctl.storage.txn_index import AbortedTxn
from eosctl.wire.records.batch import BatchHeader, decode_header, decode_records, encode_retained
from eosctl.wire.records.record import Record


class LatestOffsets(NamedTuple):
    """The newest offset of every key in the dirty part, up to `end_offset`."""

    by_key: Mapping[bytes, int]
    end_offset: int


class LastRecord(NamedTuple):
    """The batch that must be retained for an active producer: its newest data batch, or else its marker.

    `last_data_offset` is -1 without data.
    """

    last_data_offset: int
    producer_epoch: int


class Round(NamedTuple):
    """The parameters of a cleaning.

    Attributes:
        latest: Newest offset of every key.
        last_records: The batch to retain for each active producer id.
        first_uncleanable_offset: The batch that ends just below is retained even if empty, to preserve the end offset.
        now_ms: Time of the cleaning, in milliseconds since the epoch.
        delete_retention_ms: Remaining time of tombstones and markers (`delete.retention.ms`).
    """

    latest: LatestOffsets
    last_records: Mapping[int, LastRecord]
    first_uncleanable_offset: int
    now_ms: int
    delete_retention_ms: int


class Retained(NamedTuple):
    """The retained part of a batch, if any, and its transaction index entry."""

    batch: bytes | None
    header: BatchHeader
    aborted_txn: AbortedTxn | None = None


def retain(header: BatchHeader, batch: bytes, cleaning: Round, transactions: CleanedTransactions) -> Retained:
    """Decide what to retain of a batch; pass the batches of a log in order, each once.

    Raises:
        WireError: The batch cannot be read.
    """
    aborted_txn = None
    if header.is_control:
        is_empty_transaction, aborted_txn = transactions.end(header, batch)
        horizon = header.delete_horizon_ms
        discard = is_empty_transaction and horizon is not None and horizon <= cleaning.now_ms
        kept = [] if discard else decode_records(batch, header)
        is_whole = bool(kept)
        needs_horizon = is_empty_transaction and horizon is None
    elif transactions.is_aborted(header):
        kept, is_whole, needs_horizon = [], False, False
    else:
        records = decode_records(batch, header)
        kept = [record for record in records if _is_live(header, record, cleaning)]
        is_whole = len(kept) == len(records)
        needs_horizon = header.delete_horizon_ms is None and any(record.value is None for record in kept)
    if kept:
        if is_whole and not needs_horizon:
            return Retained(batch, header, aborted_txn)
        horizon_ms = cleaning.now_ms + cleaning.delete_retention_ms if needs_horizon else None
        return _encoded(header, kept, horizon_ms, aborted_txn)
    if _must_stay(header, cleaning):
        return _encoded(header, [], None, aborted_txn)
    return Retained(None, header, aborted_txn)


def _is_live(header: BatchHeader, record: Record, cleaning: Round) -> bool:
    if record.offset >= cleaning.latest.end_offset:
        return True
    if record.key is None:
        return False
    if record.offset < cleaning.latest.by_key.get(record.key, -1):
        return False
    horizon = header.delete_horizon_ms
    return record.value is not None or horizon is None or cleaning.now_ms < horizon


def _must_stay(header: BatchHeader, cleaning: Round) -> bool:
    if header.next_offset == cleaning.first_uncleanable_offset:
        return True
    last = cleaning.last_records.get(header.producer_id) if header.producer_id >= 0 else None
    if last is None:
        return False
    if last.last_data_offset >= 0:
        return header.last_offset == last.last_data_offset
    return header.is_control and header.producer_epoch == last.producer_epoch


def _encoded(
    header: BatchHeader, records: list[Record], horizon_ms: int | None, aborted_txn: AbortedTxn | None
) -> Retained:
    batch = encode_retained(header, records, delete_horizon_ms=horizon_ms)
    return Retained(batch, decode_header(batch), aborted_txn)
