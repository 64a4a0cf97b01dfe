"""The text of Kafka's dump tool for files of entries: indexes and producer snapshots."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from eosctl.render.decode.formats import KafkaDialect
from eosctl.render.escaping import visible
from eosctl.storage.offset_index import OffsetEntry
from eosctl.storage.producer_snapshot import ProducerSnapshotEntry
from eosctl.storage.time_index import TimeEntry
from eosctl.storage.txn_index import AbortedTxn

T = TypeVar("T")


def dump_entries(
    files: Iterable[tuple[str, Iterable[T]]], text: Callable[[Iterable[T]], Iterable[str]]
) -> Iterator[str]:
    """Yield the text of files of entries."""
    for name, entries in files:
        yield f"Dumping {visible(name)}\n"
        yield from text(entries)


def offset_index_text(entries: Iterable[OffsetEntry]) -> Iterable[str]:
    """Yield the lines of an offset index."""
    return (f"offset: {entry.offset} position: {entry.position}\n" for entry in entries)


def time_index_text(entries: Iterable[TimeEntry]) -> Iterable[str]:
    """Yield the lines of a time index."""
    return (f"timestamp: {entry.timestamp} offset: {entry.offset}\n" for entry in entries)


def txn_index_text(entries: Iterable[AbortedTxn]) -> Iterable[str]:
    """Yield the lines of a transaction index."""
    return (
        f"version: {txn.version} producerId: {txn.producer_id} firstOffset: {txn.first_offset} "
        f"lastOffset: {txn.last_offset} lastStableOffset: {txn.last_stable_offset}\n"
        for txn in entries
    )


def snapshot_text(
    entries: Iterable[ProducerSnapshotEntry], dialect: KafkaDialect = KafkaDialect.KAFKA_4_3
) -> Iterable[str]:
    """Yield the lines of a producer snapshot."""
    for entry in entries:
        first = None if entry.current_txn_first_offset < 0 else entry.current_txn_first_offset
        line = (
            f"producerId: {entry.producer_id} producerEpoch: {entry.producer_epoch} "
            f"coordinatorEpoch: {entry.coordinator_epoch} currentTxnFirstOffset: {_optional(first)} "
            f"lastTimestamp: {entry.timestamp}"
        )
        if entry.last_offset >= 0:
            line += (
                f" firstSequence: {entry.first_sequence} lastSequence: {entry.last_sequence} "
                f"lastOffset: {entry.last_offset} offsetDelta: {entry.offset_delta} timestamp: {entry.timestamp}"
            )
        elif dialect is KafkaDialect.KAFKA_3_9:
            line += " "
        yield line + "\n"


def _optional(value: int | None) -> str:
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"
