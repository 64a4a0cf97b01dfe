"""Count the records between last stable offset and high watermark by reading them.

The offset difference is higher, since markers use offsets and compaction leaves gaps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from eosctl.collect.batches import FetchedBatch, read_batches
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.model.evidence import EvidenceKind, GapReason
from eosctl.model.snapshot import HiddenRange, PartitionInfo, Topic

PARTITIONS_READ: Final = 50
FETCHES_PER_PARTITION: Final = 8


async def collect_hidden(reader: ReadOnly, topics: Sequence[Topic]) -> Probed[tuple[HiddenRange, ...]]:
    """Count the records that read_committed consumers cannot see, in the partitions with the most.

    At most `PARTITIONS_READ` partitions and `FETCHES_PER_PARTITION` MiB of each are read. Ranges beyond that are
    omitted, since a partial count would be misleading.
    """
    pinned = [info for topic in topics for info in topic.partitions if _hidden_offsets(info) > 0]
    pinned.sort(key=lambda info: (-_hidden_offsets(info), info.partition))
    answers = await asyncio.gather(*(_count(reader, info) for info in pinned[:PARTITIONS_READ]))
    found = sorted((a.value for a in answers if a.value is not None), key=lambda hidden: hidden.partition)
    return Probed(tuple(found), tuple(gap for answer in answers for gap in answer.gaps))


def _hidden_offsets(info: PartitionInfo) -> int:
    if info.leader_id is None or info.high_watermark is None or info.last_stable_offset is None:
        return 0
    return info.high_watermark - info.last_stable_offset


async def _count(reader: ReadOnly, info: PartitionInfo) -> Probed[HiddenRange | None]:
    first, end = info.last_stable_offset or 0, info.high_watermark or 0
    # Deleted records leave the last stable offset where it was, before the start of the log.
    start = max(first, info.log_start_offset or 0)
    records = controls = 0

    def take(batch: FetchedBatch) -> None:
        nonlocal records, controls
        header = batch.header
        if header.last_offset < start or header.base_offset >= end:
            return
        if header.is_control:
            controls += header.records_count
        else:
            records += header.records_count

    kind = EvidenceKind.HIDDEN_RECORDS
    gaps = await read_batches(reader, kind, info, start, take, most_fetches=FETCHES_PER_PARTITION)
    if gaps:
        # A range that is too long has no count, which is not a gap.
        return Probed(None, tuple(gap for gap in gaps if gap.reason is not GapReason.NOT_COLLECTED))
    return Probed(HiddenRange(info.partition, first, end, records, controls))
