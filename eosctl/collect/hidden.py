"""Count the records between last stable offset and high watermark by reading them.

The offset difference is higher, since markers use offsets and compaction leaves gaps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from eosctl.collect.batches import fetch_batches
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import HiddenRange, PartitionInfo, Topic
from eosctl.wire.errors import WireError
from eosctl.wire.records.batch import iter_headers

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
    offset, records, controls = max(first, info.log_start_offset or 0), 0, 0
    for _ in range(FETCHES_PER_PARTITION):
        fetched, gaps = await fetch_batches(reader, EvidenceKind.HIDDEN_RECORDS, info, offset)
        if gaps:
            return Probed(None, gaps)
        try:
            for _, header in iter_headers(fetched):
                if header.last_offset < offset or header.base_offset >= end:
                    continue
                if header.is_control:
                    controls += header.records_count
                else:
                    records += header.records_count
                offset = header.last_offset + 1
        except WireError as error:
            gap = EvidenceGap(
                EvidenceKind.HIDDEN_RECORDS, str(info.partition), GapReason.BROKER_ERROR, detail=str(error)
            )
            return Probed(None, (gap,))
        if offset >= end or not fetched:
            return Probed(HiddenRange(info.partition, first, end, records, controls))
    return Probed(None)
