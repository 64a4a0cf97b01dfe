"""The batches of partitions since a time, from their leaders or from files: producers and markers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from eosctl.collect.aborted_ranges import offset_at
from eosctl.collect.batches import FetchedBatch, read_batches
from eosctl.collect.reader import Probed, ReadOnly
from eosctl.model.evidence import EvidenceKind
from eosctl.model.snapshot import PartitionInfo
from eosctl.model.timeline import BatchFact
from eosctl.model.transaction import TopicPartition
from eosctl.storage.inputs import find_files, is_segment_file
from eosctl.storage.names import Suffix, parse_partition_directory
from eosctl.storage.scan import LogBatch, scan_log
from eosctl.wire.records.batch import BatchHeader
from eosctl.wire.records.control import EndTxnMarker, decode_control
from eosctl.wire.records.record import Record

FETCHES_PER_PARTITION: Final = 8
KIND: Final = EvidenceKind.OFFSETS


async def collect_batch_facts(
    reader: ReadOnly, partitions: Iterable[PartitionInfo], from_ms: int
) -> Probed[tuple[BatchFact, ...]]:
    """Read partitions from a time on, at most 8 MiB of each. A partition with more data is recorded as a gap."""
    answers = await asyncio.gather(*(_read(reader, info, from_ms) for info in partitions))
    return Probed(
        tuple(fact for answer in answers for fact in answer.value),
        tuple(dict.fromkeys(gap for answer in answers for gap in answer.gaps)),
    )


async def _read(reader: ReadOnly, info: PartitionInfo, from_ms: int) -> Probed[list[BatchFact]]:
    start, gaps = await offset_at(reader, info, from_ms)
    if gaps or start is None:
        return Probed([], gaps)
    found: list[BatchFact] = []

    def take(batch: FetchedBatch) -> None:
        found.extend(_facts(info.partition, batch.header, batch.records() if batch.header.is_control else ()))

    gaps = await read_batches(reader, KIND, info, start, take, most_fetches=FETCHES_PER_PARTITION)
    return Probed(found, gaps)


def read_batch_facts(arguments: Iterable[str], wanted: Iterable[TopicPartition]) -> tuple[BatchFact, ...]:
    """Read the batches of some partitions in data directories; batches of several replicas count once.

    Raises:
        FileNotFoundError: An argument matches nothing.
    """
    partitions = {str(partition): partition for partition in wanted}
    found: dict[tuple[TopicPartition, int], BatchFact] = {}
    for path in find_files(arguments, is_segment_file(Suffix.LOG)):
        partition = partitions.get(_home(path))
        for item in scan_log(path) if partition is not None else ():
            if not isinstance(item, LogBatch) or not item.crc_valid or partition is None:
                continue
            for fact in _facts(partition, item.header, item.records() if item.header.is_control else ()):
                found[partition, fact.base_offset] = fact
    return tuple(found[place] for place in sorted(found))


def _home(path: Path) -> str:
    directory = parse_partition_directory(path.absolute().parent.name)
    return "" if directory is None else f"{directory.topic}-{directory.partition}"


def _facts(partition: TopicPartition, header: BatchHeader, records: Sequence[Record]) -> list[BatchFact]:
    markers = [control for r in records if isinstance(control := decode_control(r), EndTxnMarker)]
    if header.is_control and not markers:
        return []
    return [
        BatchFact(
            partition=partition,
            base_offset=header.base_offset,
            last_offset=header.last_offset,
            record_count=header.records_count,
            at_ms=header.max_timestamp,
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            leader_epoch=header.partition_leader_epoch,
            committed=markers[0].committed if markers else None,
            is_transactional=header.is_transactional,
        )
    ]
