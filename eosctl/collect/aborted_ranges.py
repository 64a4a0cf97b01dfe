"""The offsets of recently fenced transactions, i.e. the aborted ranges.

The marker lies near the time of the coordinator's decision; a read_committed Fetch there contains the first offset.
"""

from __future__ import annotations

import asyncio
from typing import Final

from eosctl.analysis.fencing import find_fencings
from eosctl.collect.answered import left_out
from eosctl.collect.batches import READ_COMMITTED, fetch_partition
from eosctl.collect.reader import Probed, ReadOnly, attempt, gap_from_code, gap_without_leader
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.fencing import AbortedRange, FencingEvent
from eosctl.model.limits import Limits
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.errors import WireError
from eosctl.wire.messages import fetch, list_offsets
from eosctl.wire.records.batch import iter_headers

RANGES_READ: Final = 20
FETCHES_PER_RANGE: Final = 4
CONSUMER: Final = -1
KIND: Final = EvidenceKind.ABORTED_RANGES


async def collect_aborted_ranges(reader: ReadOnly, snapshot: ClusterSnapshot) -> Probed[tuple[AbortedRange, ...]]:
    """Read the newest fenced transactions of the log's history in their partitions.

    At most `RANGES_READ` ranges and `FETCHES_PER_RANGE` MiB of each are read; ranges that are not found are omitted.
    """
    limits = Limits()
    recent = [
        event
        for event in reversed(find_fencings(snapshot, limits))
        if event.aborted_at_ms is not None and snapshot.captured_at_ms - event.aborted_at_ms <= limits.fencing_window_ms
    ]
    known = {info.partition: info for topic in snapshot.topics for info in topic.partitions}
    places = [(event, known[where]) for event in recent for where in event.partitions if where in known]
    answers = await asyncio.gather(
        *(_find(reader, event, info, limits.clock_tolerance_ms) for event, info in places[:RANGES_READ])
    )
    found = {answer.value for answer in answers if answer.value is not None}
    return Probed(
        tuple(sorted(found, key=lambda r: (r.partition, r.first_offset))),
        tuple(dict.fromkeys(gap for answer in answers for gap in answer.gaps)),
    )


async def _find(
    reader: ReadOnly, event: FencingEvent, info: PartitionInfo, tolerance_ms: int
) -> Probed[AbortedRange | None]:
    start, gaps = await offset_at(reader, info, (event.aborted_at_ms or 0) - tolerance_ms)
    if start is None:
        return Probed(None, gaps)
    offset = start
    for _ in range(FETCHES_PER_RANGE):
        answer, gaps = await fetch_partition(reader, KIND, info, offset, isolation_level=READ_COMMITTED)
        if answer is None or not answer.records:
            return Probed(None, gaps)
        try:
            marker_offset, offset = _marker(answer, event)
        except WireError as error:
            return Probed(None, (EvidenceGap(KIND, str(info.partition), GapReason.BROKER_ERROR, detail=str(error)),))
        if marker_offset is not None:
            first_offset = _first_offset(answer, event.producer_id, marker_offset)
            if first_offset is None:
                return Probed(None)
            return Probed(
                AbortedRange(info.partition, event.producer_id, first_offset, marker_offset, event.abort_epoch)
            )
    return Probed(None)


def _marker(answer: fetch.PartitionData, event: FencingEvent) -> tuple[int | None, int]:
    """Return the marker's offset, if present, and the next fetch offset."""
    next_offset = -1
    for _, header in iter_headers(bytes(answer.records or b"")):
        mine = (header.producer_id, header.producer_epoch) == (event.producer_id, event.abort_epoch)
        if header.is_control and mine:
            return header.base_offset, header.last_offset + 1
        next_offset = header.last_offset + 1
    return None, next_offset


def _first_offset(answer: fetch.PartitionData, producer_id: int, marker_offset: int) -> int | None:
    """Return the start of this producer's newest aborted transaction before the marker."""
    starts = [
        aborted.first_offset
        for aborted in answer.aborted_transactions or ()
        if aborted.producer_id == producer_id and aborted.first_offset < marker_offset
    ]
    return max(starts, default=None)


async def offset_at(reader: ReadOnly, info: PartitionInfo, time_ms: int) -> tuple[int | None, tuple[EvidenceGap, ...]]:
    """Return the first offset with at least this timestamp."""
    leader_id = info.leader_id
    if leader_id is None:
        return None, (gap_without_leader(KIND, info.partition),)
    question = list_offsets.ListOffsetsPartition(partition_index=info.partition.partition, timestamp=time_ms)
    request = list_offsets.ListOffsetsRequest(
        replica_id=CONSUMER, topics=[list_offsets.ListOffsetsTopic(info.partition.topic, [question])]
    )
    answer, lost = await attempt(
        KIND, str(info.partition), lambda: reader.request(leader_id, ApiKey.LIST_OFFSETS, request)
    )
    if answer is None:
        return None, lost
    found = next(
        (p for t in answer.topics for p in t.partitions if (t.name, p.partition_index) == info.partition), None
    )
    if found is None:
        return None, (left_out(KIND, str(info.partition)),)
    if found.error_code != ErrorCode.NONE:
        return None, (gap_from_code(KIND, str(info.partition), found.error_code),)
    return (found.offset if found.offset >= 0 else None), ()
