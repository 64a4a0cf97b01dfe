"""Offsets that transactions committed recently, read from `__consumer_offsets`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, Final

from eosctl.collect.batches import FetchedBatch, read_batches
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.model.evidence import EvidenceKind
from eosctl.model.group_commit import GroupCommit
from eosctl.model.snapshot import PartitionInfo
from eosctl.model.transaction import TopicPartition
from eosctl.wire.internal import offsets
from eosctl.wire.internal.versioned import UnknownRecordError
from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitKey
from eosctl.wire.records.control import EndTxnMarker, decode_control

RECORDS_PER_PARTITION: Final = 5_000
KIND: Final = EvidenceKind.GROUP_OFFSETS


async def collect_group_commits(
    reader: ReadOnly, partitions: Sequence[PartitionInfo]
) -> Probed[tuple[GroupCommit, ...]]:
    """Read the last records of every partition of `__consumer_offsets`, without offsets of aborted transactions.

    Args:
        reader: The read-only client.
        partitions: The topic's partitions with their offsets.
    """
    answers = await asyncio.gather(*(_read(reader, info) for info in partitions if info.high_watermark))
    return Probed(
        tuple(commit for answer in answers for commit in answer.value),
        tuple(dict.fromkeys(gap for answer in answers for gap in answer.gaps)),
    )


async def _read(reader: ReadOnly, info: PartitionInfo) -> Probed[list[GroupCommit]]:
    waiting: dict[int, list[GroupCommit]] = {}
    found: list[GroupCommit] = []

    def take(batch: FetchedBatch) -> None:
        producer_id = batch.header.producer_id
        if not batch.header.is_transactional:
            return
        if not batch.header.is_control:
            waiting.setdefault(producer_id, []).extend(_commits(info.partition, batch))
            return
        ended = waiting.pop(producer_id, [])
        if _is_commit(batch.records()):
            found.extend(ended)

    start = max(info.log_start_offset or 0, (info.high_watermark or 0) - RECORDS_PER_PARTITION)
    gaps = await read_batches(reader, KIND, info, start, take)
    return Probed(found, gaps)


def _is_commit(records: Sequence[Any]) -> bool:
    return any(isinstance(marker := decode_control(record), EndTxnMarker) and marker.committed for record in records)


def _commits(where: TopicPartition, batch: FetchedBatch) -> Iterator[GroupCommit]:
    for record in batch.records():
        if record.value is None:
            continue
        try:
            key = offsets.decode_key(record.key or b"")
            if not isinstance(key, OffsetCommitKey):
                continue
            value: Any = offsets.decode_value(key, record.value)
        except UnknownRecordError:
            continue
        yield GroupCommit(
            group_id=key.group,
            partition=TopicPartition(key.topic, key.partition),
            offset=value.offset,
            producer_id=batch.header.producer_id,
            producer_epoch=batch.header.producer_epoch,
            log_partition=where.partition,
            log_offset=record.offset,
            written_at_ms=record.timestamp,
        )
