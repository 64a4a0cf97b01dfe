"""What a consumer shows its application: data batches without control records and without aborted transactions.

Brokers do not filter (KIP-98): a read_committed answer ends at the last stable offset and names the aborted
transactions in its range; leaving out their records is the consumer's part.
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
    """An aborted transaction: its producer and the offset of its first record."""

    first_offset: int
    producer_id: int


class VisibleBatch(NamedTuple):
    """The records of one batch that the application sees (perhaps none), and where to read on."""

    header: BatchHeader
    records: tuple[Record, ...]
    next_offset: int


def visible_batches(data: bytes, fetch_offset: int, aborted: Iterable[AbortedRange] | None) -> Iterator[VisibleBatch]:
    """Walk through fetched bytes.

    Args:
        data: Whole batches and perhaps the beginning of another, as Fetch returns them.
        fetch_offset: The offset that was asked for; earlier records of its batch are left out.
        aborted: The aborted transactions of the answer; None for read_uncommitted.

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
