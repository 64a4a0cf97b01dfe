"""Pending offsets of open transactions, read from `__consumer_offsets`: group and transaction."""

from __future__ import annotations

from typing import Any, Final

from eosctl.collect.batches import FetchedBatch, read_batches
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo, PendingOffset
from eosctl.model.transaction import TopicPartition
from eosctl.wire.internal import offsets
from eosctl.wire.internal.versioned import UnknownRecordError
from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitKey

FETCHES_PER_PARTITION: Final = 8
KIND: Final = EvidenceKind.PENDING_OFFSETS
CONSUMER_OFFSETS: Final = "__consumer_offsets"

_Newest = dict[tuple[str, TopicPartition, int], PendingOffset]


async def collect_pending(reader: ReadOnly, snapshot: ClusterSnapshot) -> Probed[tuple[PendingOffset, ...]]:
    """Read every partition of `__consumer_offsets` from its oldest open transaction on, at most 8 MiB of each."""
    found: list[PendingOffset] = []
    gaps: list[EvidenceGap] = []
    for where in snapshot.producers:
        starts = {
            state.producer_id: state.current_txn_start_offset
            for state in where.producers
            if state.current_txn_start_offset is not None
        }
        info = snapshot.partition(where.partition)
        if where.partition.topic != CONSUMER_OFFSETS or not starts or info is None:
            continue
        answer = await _read(reader, info, starts)
        found += answer.value
        gaps += answer.gaps
    return Probed(tuple(found), tuple(gaps))


async def _read(reader: ReadOnly, info: PartitionInfo, starts: dict[int, int]) -> Probed[list[PendingOffset]]:
    newest: _Newest = {}

    def take(batch: FetchedBatch) -> None:
        start = starts.get(batch.header.producer_id)
        if start is not None and start <= batch.header.base_offset and not batch.header.is_control:
            _note(info.partition, batch, newest)

    gaps = await read_batches(reader, KIND, info, min(starts.values()), take, most_fetches=FETCHES_PER_PARTITION)
    return Probed(list(newest.values()), gaps)


def _note(where: TopicPartition, batch: FetchedBatch, newest: _Newest) -> None:
    for record in batch.records():
        try:
            key = offsets.decode_key(record.key or b"")
            if not isinstance(key, OffsetCommitKey) or record.value is None:
                continue
            value: Any = offsets.decode_value(key, record.value)
        except UnknownRecordError:
            continue
        partition = TopicPartition(key.topic, key.partition)
        newest[key.group, partition, batch.header.producer_id] = PendingOffset(
            group_id=key.group,
            partition=partition,
            offset=value.offset,
            producer_id=batch.header.producer_id,
            log_partition=where.partition,
            log_offset=record.offset,
        )
