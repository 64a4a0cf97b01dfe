"""Offsets that transactions committed recently, read from `__consumer_offsets`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, Final

from eosctl.collect.batches import fetch_batches
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.group_commit import GroupCommit
from eosctl.model.snapshot import PartitionInfo
from eosctl.model.transaction import TopicPartition
from eosctl.wire.errors import WireError
from eosctl.wire.internal import offsets
from eosctl.wire.internal.versioned import UnknownRecordError
from eosctl.wire.messages.internal.consumer_offsets.offset_commit import OffsetCommitKey
from eosctl.wire.records.batch import BatchHeader, decode_records, iter_headers
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
    end = info.high_watermark or 0
    offset = max(info.log_start_offset or 0, end - RECORDS_PER_PARTITION)
    waiting: dict[int, list[GroupCommit]] = {}
    found: list[GroupCommit] = []
    while offset < end:
        data, gaps = await fetch_batches(reader, KIND, info, offset)
        if not data:
            return Probed(found, gaps)
        before = offset
        try:
            for position, header in iter_headers(data):
                if header.is_transactional:
                    records = decode_records(data, header, position)
                    if header.is_control:
                        ended = waiting.pop(header.producer_id, [])
                        found += ended if _is_commit(records) else []
                    else:
                        waiting.setdefault(header.producer_id, []).extend(
                            _commits(info.partition, header, records, before)
                        )
                offset = header.last_offset + 1
        except WireError as error:
            return Probed(found, (EvidenceGap(KIND, str(info.partition), GapReason.BROKER_ERROR, detail=str(error)),))
        if offset <= before:
            break
    return Probed(found)


def _is_commit(records: Sequence[Any]) -> bool:
    return any(isinstance(marker := decode_control(record), EndTxnMarker) and marker.committed for record in records)


def _commits(
    where: TopicPartition, header: BatchHeader, records: Sequence[Any], from_offset: int
) -> Iterator[GroupCommit]:
    for record in records:
        if record.offset < from_offset or record.value is None:
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
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            log_partition=where.partition,
            log_offset=record.offset,
            written_at_ms=record.timestamp,
        )
