"""Count the records between a group's offset and the last stable offset by reading them as read_committed.

The offset difference is higher, since markers use offsets, aborted records are skipped, and compaction leaves gaps.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from eosctl.collect.batches import READ_COMMITTED, cut_off, fetch_partition
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.snapshot import Group, PartitionInfo, ReadableRange, Topic
from eosctl.model.transaction import TopicPartition
from eosctl.wire.errors import WireError
from eosctl.wire.records.batch import decode_records, iter_headers
from eosctl.wire.records.control import EndTxnMarker, decode_control

PARTITIONS_READ: Final = 50
FETCHES_PER_PARTITION: Final = 8
KIND: Final = EvidenceKind.READABLE_RECORDS


class _Span(NamedTuple):
    """A batch: its offsets, its number of records, and their visibility."""

    first_offset: int
    last_offset: int
    record_count: int
    is_control: bool
    is_aborted: bool


async def collect_readable(
    reader: ReadOnly, topics: Sequence[Topic], groups: Iterable[Group]
) -> Probed[tuple[ReadableRange, ...]]:
    """Count the records that each group has yet to read, in the partitions with the fewest.

    At most `PARTITIONS_READ` partitions and `FETCHES_PER_PARTITION` MiB of each are read. Ranges beyond that are
    omitted, since a partial count would be misleading.
    """
    infos = {info.partition: info for topic in topics for info in topic.partitions}
    starts: dict[TopicPartition, set[int]] = defaultdict(set)
    for group in groups:
        for committed in group.offsets:
            info = infos.get(committed.partition)
            if committed.offset is not None and info is not None and committed.offset < (info.last_stable_offset or 0):
                starts[committed.partition].add(max(committed.offset, info.log_start_offset or 0))
    order = sorted(starts, key=lambda where: (infos[where].last_stable_offset or 0) - min(starts[where]))
    answers = await asyncio.gather(
        *(_count(reader, infos[where], sorted(starts[where])) for where in order[:PARTITIONS_READ])
    )
    found = sorted((r for answer in answers for r in answer.value), key=lambda r: (r.partition, r.first_offset))
    return Probed(tuple(found), tuple(gap for answer in answers for gap in answer.gaps))


async def _count(reader: ReadOnly, info: PartitionInfo, starts: Sequence[int]) -> Probed[list[ReadableRange]]:
    """Read once from the earliest start, and count for every start."""
    end, offset = info.last_stable_offset or 0, starts[0]
    spans: list[_Span] = []
    aborted: set[int] = set()
    for _ in range(FETCHES_PER_PARTITION):
        answer, gaps = await fetch_partition(reader, KIND, info, offset, isolation_level=READ_COMMITTED)
        if answer is None:
            return Probed([], gaps)
        data = bytes(answer.records or b"")
        waiting = sorted(
            ((entry.first_offset, entry.producer_id) for entry in answer.aborted_transactions or ()), reverse=True
        )
        try:
            for position, header in iter_headers(data):
                if header.last_offset < offset:
                    continue
                while waiting and waiting[-1][0] <= header.last_offset:
                    aborted.add(waiting.pop()[1])
                is_aborted = header.is_transactional and header.producer_id in aborted and not header.is_control
                spans.append(
                    _Span(header.base_offset, header.last_offset, header.records_count, header.is_control, is_aborted)
                )
                if header.is_control and _is_abort(data, position, header):
                    aborted.discard(header.producer_id)
                offset = header.last_offset + 1
        except WireError as error:
            return Probed([], (EvidenceGap(KIND, str(info.partition), GapReason.BROKER_ERROR, detail=str(error)),))
        if offset >= end:
            return Probed([_sum(info.partition, start, end, spans) for start in starts])
        if not data:
            return Probed([], (cut_off(KIND, info, offset),))
    return Probed([])


def _is_abort(data: bytes, position: int, header: object) -> bool:
    records = decode_records(data, header, position)  # type: ignore[arg-type]
    return any(isinstance(c := decode_control(r), EndTxnMarker) and not c.committed for r in records)


def _sum(partition: TopicPartition, start: int, end: int, spans: Iterable[_Span]) -> ReadableRange:
    readable = aborted = control = 0
    for span in spans:
        if span.last_offset < start or span.first_offset >= end:
            continue
        # A group may have stopped in the middle of a batch.
        count = min(span.record_count, span.last_offset - max(span.first_offset, start) + 1)
        if span.is_control:
            control += count
        elif span.is_aborted:
            aborted += count
        else:
            readable += count
    return ReadableRange(
        partition=partition,
        first_offset=start,
        end_offset=end,
        record_count=readable,
        aborted_record_count=aborted,
        control_record_count=control,
    )
