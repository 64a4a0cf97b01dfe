"""Read the log for a share fetch: the records, their batches, and the batches of aborted transactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from eosctl.sandbox.replication.partition import Partition
from eosctl.sandbox.replication.reading import CONSUMER, read_partition
from eosctl.sandbox.share.acquisition import Acquired, LogBatch
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.fetch import AbortedTransaction, FetchPartition
from eosctl.wire.records.batch import decode_records, iter_headers
from eosctl.wire.records.control import EndTxnMarker, decode_control


class ShareRead(NamedTuple):
    """The result of a read from `fetch_offset`."""

    fetch_offset: int
    error: ErrorCode
    records: bytes = b""
    aborted: Sequence[AbortedTransaction] = ()


def read(partition: Partition, fetch_offset: int, isolation_level: int, max_bytes: int, first: bool) -> ShareRead:
    """Read records; `first` allows one batch above the limit."""
    wanted = FetchPartition(
        partition=partition.partition.partition, fetch_offset=fetch_offset, partition_max_bytes=max_bytes
    )
    data = read_partition(partition, wanted, isolation_level, CONSUMER, max_bytes, first)
    error = ErrorCode(data.error_code)
    return ShareRead(fetch_offset, error, bytes(data.records or b""), data.aborted_transactions or ())


def log_batches(records: bytes) -> list[LogBatch]:
    """Return the offsets of the batches that were read."""
    return [LogBatch(header.base_offset, header.last_offset) for _, header in iter_headers(records)]


def aborted_batches(records: bytes, aborted: Sequence[AbortedTransaction]) -> list[LogBatch]:
    """Return the batches of aborted transactions among those that were read."""
    pending = sorted(aborted, key=lambda transaction: transaction.first_offset)
    producers: set[int] = set()
    found: list[LogBatch] = []
    for position, header in iter_headers(records):
        if header.producer_id < 0:
            continue
        while pending and pending[0].first_offset <= header.last_offset:
            producers.add(pending.pop(0).producer_id)
        if header.is_control:
            batch = records[position : position + header.size_bytes]
            for record in decode_records(batch, header):
                marker = decode_control(record)
                if isinstance(marker, EndTxnMarker) and not marker.committed:
                    producers.discard(header.producer_id)
        elif header.is_transactional and header.producer_id in producers:
            found.append(LogBatch(header.base_offset, header.last_offset))
    return found


def slice_records(records: bytes, acquired: Sequence[Acquired]) -> bytes:
    """Return the batches with acquired records, and those between them."""
    first, last = acquired[0].first_offset, acquired[-1].last_offset
    bounds = [
        (position, position + header.size_bytes)
        for position, header in iter_headers(records)
        if header.last_offset >= first and header.base_offset <= last
    ]
    return records[bounds[0][0] : bounds[-1][1]] if bounds else records
