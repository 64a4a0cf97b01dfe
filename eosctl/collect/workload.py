"""Count the records appended to a cluster's logs by reading them without a group.

Offsets alone do not distinguish records from markers, and do not show batch sizes; batch headers do. Records are not
decoded, except to distinguish abort from commit markers.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Final

from eosctl.collect.batches import fetch_batches
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import PartitionInfo, Topic
from eosctl.model.traffic import OffsetCommits, PartitionTraffic, Traffic
from eosctl.wire.errors import WireError
from eosctl.wire.internal import offsets
from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitKey
from eosctl.wire.records import batch as record_batch
from eosctl.wire.records.batch import BatchHeader
from eosctl.wire.records.control import EndTxnMarker, decode_control

#: A busy partition is sampled from its start; the rest of the interval is assumed to be similar.
BYTES_PER_PARTITION: Final = 8 << 20
CONSUMER_OFFSETS: Final = "__consumer_offsets"


async def collect_traffic(
    reader: ReadOnly,
    before: Sequence[Topic],
    after: Sequence[Topic],
    interval_ms: int,
    *,
    bytes_per_partition: int = BYTES_PER_PARTITION,
) -> Probed[Traffic]:
    """Count the records appended between two listings of offsets.

    Args:
        reader: The read-only client.
        before: Topics with their offsets at the start; a missing partition started empty.
        after: Topics with their offsets at the end.
        interval_ms: The time between the two.
        bytes_per_partition: Maximum number of bytes to read per partition.
    """
    began = {info.partition: info.high_watermark for topic in before for info in topic.partitions}
    grown = [
        (info, began.get(info.partition) or 0)
        for topic in after
        for info in topic.partitions
        if info.high_watermark is not None and info.high_watermark > (began.get(info.partition) or 0)
    ]
    answers = await asyncio.gather(*(_count(reader, info, start, bytes_per_partition) for info, start in grown))
    counted = tuple(sorted((answer.value for answer in answers), key=lambda traffic: traffic.partition))
    return Probed(Traffic(interval_ms, counted), tuple(gap for answer in answers for gap in answer.gaps))


async def _count(reader: ReadOnly, info: PartitionInfo, start: int, budget_bytes: int) -> Probed[PartitionTraffic]:
    end = info.high_watermark or 0
    offset = max(start, info.log_start_offset or 0)
    traffic = PartitionTraffic(info.partition, start, end)
    while offset < end and traffic.stored_bytes < budget_bytes:
        fetched, lost = await fetch_batches(reader, EvidenceKind.OFFSETS, info, offset)
        try:
            counted, next_offset = count_batches(traffic, fetched, offset, end)
        except WireError as error:
            gap = EvidenceGap(
                EvidenceKind.OFFSETS, str(info.partition), GapReason.BROKER_ERROR, detail=f"undecodable batch: {error}"
            )
            return Probed(traffic, (gap,))
        if next_offset == offset:
            return Probed(traffic, lost)
        traffic = counted._replace(counted_offsets=traffic.counted_offsets + min(next_offset, end) - offset)
        offset = next_offset
    return Probed(traffic)


def count_batches(traffic: PartitionTraffic, data: bytes, offset: int, end: int) -> tuple[PartitionTraffic, int]:
    """Add the batches from `offset` up to `end` to the counts.

    Returns:
        The new counts (except `counted_offsets`), and the first offset that was not read.

    Raises:
        WireError: The batches are malformed.
    """
    next_offset = offset
    for position, header in record_batch.iter_headers(data):
        if header.base_offset >= end:
            break
        next_offset = max(next_offset, header.next_offset)
        if header.base_offset < offset:
            continue  # A fetch from the middle of a batch returns all of it; it was counted before.
        traffic = _with_batch(traffic, data, position, header)
    return traffic, next_offset


def _with_batch(traffic: PartitionTraffic, data: bytes, position: int, header: BatchHeader) -> PartitionTraffic:
    if header.is_control:
        records = record_batch.decode_records(data, header, position)
        markers = [c for r in records if isinstance(c := decode_control(r), EndTxnMarker)]
        return traffic._replace(
            marker_count=traffic.marker_count + len(markers),
            abort_marker_count=traffic.abort_marker_count + sum(not marker.committed for marker in markers),
            marker_bytes=traffic.marker_bytes + (header.size_bytes if markers else 0),
        )
    ids = traffic.producer_ids | {header.producer_id} if header.is_transactional else traffic.producer_ids
    return traffic._replace(
        data_batch_count=traffic.data_batch_count + 1,
        data_record_count=traffic.data_record_count + header.records_count,
        data_bytes=traffic.data_bytes + header.size_bytes,
        producer_ids=ids,
    )


async def collect_offset_commits(
    reader: ReadOnly, before: Sequence[Topic], after: Sequence[Topic]
) -> Probed[tuple[OffsetCommits, ...]]:
    """Return which groups committed which topics' offsets in transactions between two listings of offsets."""
    began = {info.partition: info.high_watermark or 0 for topic in before for info in topic.partitions}
    counts: Counter[tuple[int, str, str]] = Counter()
    partitions: Counter[tuple[int, str, str]] = Counter()
    gaps: list[EvidenceGap] = []
    for topic in after:
        for info in topic.partitions if topic.name == CONSUMER_OFFSETS else ():
            offset, end = began.get(info.partition, 0), info.high_watermark or 0
            while offset < end:
                fetched, lost = await fetch_batches(reader, EvidenceKind.OFFSETS, info, offset)
                next_offset = _count_commits(fetched, offset, end, counts, partitions)
                if next_offset == offset:
                    gaps += lost
                    break
                offset = next_offset
    found = tuple(OffsetCommits(*key, counts[key], partitions[key]) for key in sorted(counts))
    return Probed(found, tuple(gaps))


def _count_commits(
    data: bytes,
    offset: int,
    end: int,
    counts: Counter[tuple[int, str, str]],
    partitions: Counter[tuple[int, str, str]],
) -> int:
    next_offset = offset
    for position, header in record_batch.iter_headers(data):
        if header.base_offset >= end:
            break
        next_offset = max(next_offset, header.next_offset)
        if header.base_offset < offset or header.is_control or not header.is_transactional:
            continue
        keys = []
        for record in record_batch.decode_records(data, header, position):
            key = offsets.decode_key(record.key or b"")
            if isinstance(key, OffsetCommitKey):
                keys.append((header.producer_id, key.group, key.topic))
        partitions.update(keys)
        counts.update(set(keys))
    return next_offset
