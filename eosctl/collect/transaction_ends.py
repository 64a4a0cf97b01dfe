"""How transactions ended since the first look, counted while the transaction log is followed."""

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
    """How a transaction was decided."""

    COMMITTED = "committed"
    ABORTED = "aborted"
    TIMED_OUT = "timed-out"


def classify_end(entry: TransactionLogEntry) -> TransactionEnd | None:
    """Return what a record of the transaction log decides, None when it decides nothing.

    The decision is the Prepare record, one for each transaction. An abort that was decided when the timeout had passed
    is the coordinator's: whoever asks later is refused.
    """
    if entry.state == TransactionState.PREPARE_COMMIT:
        return TransactionEnd.COMMITTED
    if entry.state not in (TransactionState.PREPARE_ABORT, TransactionState.PREPARE_EPOCH_FENCE):
        return None
    lasted_ms = -1 if entry.start_time_ms is None else entry.updated_at_ms - entry.start_time_ms
    return TransactionEnd.TIMED_OUT if lasted_ms >= entry.timeout_ms > 0 else TransactionEnd.ABORTED


class EndCounter:
    """Counts ends from the first look on; each look reads what was written since the one before.

    A partition whose log became shorter (an unclean election) is followed from its new end.
    """

    def __init__(self) -> None:
        self.counts: Counter[TransactionEnd] = Counter()
        self._offsets: dict[int, int] = {}
        self._topic_was_absent: bool | None = None

    async def follow(self, reader: ReadOnly, snapshot: ClusterSnapshot) -> tuple[EvidenceGap, ...]:
        """Read on.

        Args:
            reader: The read-only client.
            snapshot: The look just taken, with offsets.

        Returns:
            What could not be read; it is tried again at the next look.
        """
        topic = snapshot.topic(TRANSACTION_STATE)
        if self._topic_was_absent is None:
            self._topic_was_absent = topic is None
        known = [info for info in topic.partitions if info.high_watermark is not None] if topic else []
        gaps = await asyncio.gather(*(self._follow(reader, info) for info in known))
        return tuple(gap for part in gaps for gap in part)

    async def _follow(self, reader: ReadOnly, info: PartitionInfo) -> tuple[EvidenceGap, ...]:
        index, end = info.partition.partition, info.high_watermark or 0
        # A topic that is made later, with the first transaction, is read from its start.
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
