"""Search for a producer's markers in a partition."""

from __future__ import annotations

from typing import Final

from eosctl.analysis.skipped_marker import MarkerSearch
from eosctl.collect.aborted_ranges import offset_at
from eosctl.collect.batches import fetch_batches
from eosctl.collect.reader import ReadOnly
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import PartitionInfo
from eosctl.wire.errors import WireError
from eosctl.wire.records.batch import iter_headers

FETCHES: Final = 256
KIND: Final = EvidenceKind.TRANSACTION_HISTORY


async def search_markers(
    reader: ReadOnly, info: PartitionInfo, producer_id: int, since_ms: int, before_offset: int
) -> MarkerSearch:
    """Read a partition from a time up to an offset for markers of a producer.

    Args:
        reader: The read-only client.
        info: The partition; its leader is queried.
        producer_id: The producer id.
        since_ms: Start at the first offset with at least this timestamp.
        before_offset: End offset, exclusive. At most `FETCHES` MiB are read.
    """
    start, gaps = await offset_at(reader, info, since_ms)
    if gaps:
        return MarkerSearch(before_offset, before_offset, False)
    # No record is that recent, so there is no marker.
    first = before_offset if start is None else min(start, before_offset)
    offset, found = first, None
    for _ in range(FETCHES):
        if offset >= before_offset:
            return MarkerSearch(first, before_offset, True, found)
        data, gaps = await fetch_batches(reader, KIND, info, offset)
        if gaps or not data:
            break
        try:
            for _, header in iter_headers(data):
                if header.is_control and header.producer_id == producer_id and first <= header.base_offset:
                    found = header.base_offset if header.base_offset < before_offset else found
                offset = header.last_offset + 1
        except WireError:
            break
    return MarkerSearch(first, before_offset, offset >= before_offset, found)
