"""The records that a consumer returns: data batches without control records and aborted transactions.

Brokers do not filter (KIP-98): a read_committed response ends at the last stable offset and lists the aborted
transactions of its range. The consumer skips their records.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from eosctl.wire.errors import WireError
from eosctl.wire.records.batch import BatchHeader, check_crc, decode_records, iter_headers
from eosctl.wire.records.control import EndTxnMarker, decode_control
from eosctl.wire.records.record import Record


class AbortedRange(NamedTuple):
    """An aborted transaction: its producer id and first offset."""

    first_offset: int
    producer_id: int


class VisibleBatch(NamedTuple):
    """The visible records of a batch (possibly none), and the next fetch offset."""

    header: BatchHeader
    records: tuple[Record, ...]
    next_offset: int


def visible_batches(data: bytes, fetch_offset: int, aborted: Iterable[AbortedRange] | None) -> Iterator[VisibleBatch]:
    """Yield the visible batches of fetched bytes.

    Args:
        data: Whole batches, possibly followed by a partial one, as Fetch returns them.
        fetch_offset: The requested offset; earlier records of its batch are skipped.
        aborted: The aborted transactions of the response; None for read_uncommitted.

    Raises:
        WireError: A batch is damaged.
    """
    begins = deque(sorted(aborted or ()))
    in_abort: set[int] = set()
    for position, header in iter_headers(data):
        if not check_crc(data, header, position):
            raise WireError(f"the batch at offset {header.base_offset} has a wrong checksum", "crc", position + 17)
        while begins and begins[0].first_offset <= header.last_offset:
            in_abort.add(begins.popleft().producer_id)
        records: tuple[Record, ...] = ()
        if header.is_control:
            if _ends_in_abort(data, header, position):
                in_abort.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in in_abort):
            found = decode_records(data, header, position)
            records = tuple(record for record in found if record.offset >= fetch_offset)
        yield VisibleBatch(header, records, header.next_offset)


def _ends_in_abort(data: bytes, header: BatchHeader, position: int) -> bool:
    for record in decode_records(data, header, position):
        control = decode_control(record)
        if isinstance(control, EndTxnMarker) and not control.committed:
            return True
    return False
