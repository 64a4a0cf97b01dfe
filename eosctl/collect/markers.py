"""The markers of producers before transactions that hang, where the transaction log alone cannot decide."""

from __future__ import annotations

import asyncio
from typing import Final

from msgspec.structs import replace

from eosctl.analysis.hanging import MarkerQuestion, marker_questions
from eosctl.collect.aborted_ranges import offset_at
from eosctl.collect.batches import fetch_batches
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.model.marker_search import MarkerSearch, ProducerMarker
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo
from eosctl.wire.errors import WireError
from eosctl.wire.records.batch import BatchHeader, decode_records, iter_headers
from eosctl.wire.records.control import EndTxnMarker, decode_control

KIND: Final = EvidenceKind.TRANSACTION_HISTORY
# Of one partition at most so many MiB are read, and of a cluster at most so many partitions.
FETCHES: Final = 64
SEARCHES: Final = 32
# The leader's clock may be off by minutes: the reading begins earlier by WIDE_MS where that adds few offsets.
WIDE_MS: Final = 900_000
WIDE_OFFSETS: Final = 100_000


async def collect_marker_searches(reader: ReadOnly, snapshot: ClusterSnapshot) -> Probed[tuple[MarkerSearch, ...]]:
    """Search partitions for the markers that decide between ABORT and COMMIT; nothing is read where nothing hangs."""
    answers = await asyncio.gather(
        *(_search(reader, info, question) for question, info in _places(snapshot)[:SEARCHES])
    )
    gaps = dict.fromkeys(gap for answer in answers for gap in answer.gaps)
    return Probed(tuple(answer.value for answer in answers), tuple(gaps))


def _places(snapshot: ClusterSnapshot) -> list[tuple[MarkerQuestion, PartitionInfo]]:
    known = {info.partition: info for topic in snapshot.topics for info in topic.partitions}
    return [(question, known[question.partition]) for question in marker_questions(snapshot)]


async def _search(reader: ReadOnly, info: PartitionInfo, question: MarkerQuestion) -> Probed[MarkerSearch]:
    before = question.before_offset
    since_ms = question.since_ms - WIDE_MS
    start, gaps = await offset_at(reader, info, since_ms)
    if not gaps and start is not None and before - start > WIDE_OFFSETS:
        since_ms = question.since_ms
        start, gaps = await offset_at(reader, info, since_ms)
    # Nothing is as young as that: no marker can be.
    first = before if start is None else min(start, before)
    offset = first
    found: list[ProducerMarker] = []
    for _ in range(0 if gaps else FETCHES):
        if offset >= before:
            break
        data, gaps = await fetch_batches(reader, KIND, info, offset)
        if gaps or not data:
            break
        try:
            for position, header in iter_headers(data):
                if header.is_control and header.producer_id == question.producer_id:
                    found += _markers(data, header, position, offset, before)
                offset = max(offset, header.last_offset + 1)
        except WireError:
            break
    complete = not gaps and offset >= before
    search = MarkerSearch(
        partition=info.partition,
        producer_id=question.producer_id,
        since_ms=since_ms,
        from_offset=first,
        before_offset=before,
        complete=complete,
        markers=tuple(found),
    )
    return Probed(search, _with_kind(gaps))


def _markers(data: bytes, header: BatchHeader, position: int, start: int, before: int) -> list[ProducerMarker]:
    found = []
    for record in decode_records(data, header, position):
        control = decode_control(record)
        if isinstance(control, EndTxnMarker) and start <= record.offset < before:
            found.append(ProducerMarker(record.offset, record.timestamp, control.committed))
    return found


def _with_kind(gaps: tuple[EvidenceGap, ...]) -> tuple[EvidenceGap, ...]:
    return tuple(replace(gap, kind=KIND) for gap in gaps)
