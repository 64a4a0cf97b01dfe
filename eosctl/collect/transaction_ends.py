"""Count how transactions ended since the first pass, by following the transaction log."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from eosctl.collect.collector import TRANSACTION_STATE
from eosctl.collect.history import read_entries
from eosctl.collect.reader import ReadOnly
from eosctl.model.evidence import EvidenceGap
from eosctl.model.history import TransactionLogEntry
from eosctl.model.snapshot import ClusterSnapshot, PartitionInfo
from eosctl.model.transaction import TransactionState


class TransactionEnd(StrEnum):
    """How a transaction ended."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    TIMED_OUT = "timed-out"


def classify_end(entry: TransactionLogEntry) -> TransactionEnd | None:
    """Return the outcome that a record of the transaction log decides, or None.

    The decision is the Prepare record, one per transaction. An abort after the timeout is attributed to the
    coordinator, which rejects the producer's later requests.
    """
    if entry.state == TransactionState.PREPARE_COMMIT:
        return TransactionEnd.COMMITTED
    if entry.state not in (TransactionState.PREPARE_ABORT, TransactionState.PREPARE_EPOCH_FENCE):
        return None
    lasted_ms = -1 if entry.start_time_ms is None else entry.updated_at_ms - entry.start_time_ms
    return TransactionEnd.TIMED_OUT if lasted_ms >= entry.timeout_ms > 0 else TransactionEnd.ABORTED


class EndCounter:
    """Counts ends from the first pass on; each pass reads the records since the previous one.

    A partition whose log was truncated (unclean election) is followed from its new end.
    """

    def __init__(self) -> None:
        self.counts: Counter[TransactionEnd] = Counter()
        self._offsets: dict[int, int] = {}
        self._topic_was_absent: bool | None = None

    async def follow(self, reader: ReadOnly, snapshot: ClusterSnapshot) -> tuple[EvidenceGap, ...]:
        """Read the new records.

        Args:
            reader: The read-only client.
            snapshot: The current pass, with offsets.

        Returns:
            The gaps; the next pass retries them.
        """
        topic = snapshot.topic(TRANSACTION_STATE)
        if self._topic_was_absent is None:
            self._topic_was_absent = topic is None
        known = [info for info in topic.partitions if info.high_watermark is not None] if topic else []
        gaps = await asyncio.gather(*(self._follow(reader, info) for info in known))
        return tuple(gap for part in gaps for gap in part)

    async def _follow(self, reader: ReadOnly, info: PartitionInfo) -> tuple[EvidenceGap, ...]:
        index, end = info.partition.partition, info.high_watermark or 0
        # A topic that is created later, with the first transaction, is read from its start.
        start = self._offsets.get(index, 0 if self._topic_was_absent else end)
        if start >= end:
            self._offsets[index] = end
            return ()
        found = await read_entries(reader, info, max(start, info.log_start_offset or 0))
        if found.gaps:
            return found.gaps
        self._offsets[index] = end
        self._count(found.value)
        return ()

    def _count(self, entries: Iterable[TransactionLogEntry]) -> None:
        self.counts.update(end for entry in entries if (end := classify_end(entry)) is not None)
