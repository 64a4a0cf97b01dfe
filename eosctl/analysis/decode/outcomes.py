"""Outcomes of a partition's transactions: committed, aborted, or open at the end of the log."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from enum import StrEnum

from eosctl.storage.producer_replay import CompletedTxn
from eosctl.wire.records.header import BatchHeader


class Outcome(StrEnum):
    """The outcome of a batch for a read_committed consumer."""

    PLAIN = "plain"
    CONTROL = "control"
    COMMITTED = "committed"
    ABORTED = "aborted"
    OPEN = "open"


class Outcomes:
    """Determines the outcome of each batch of a partition; holds only the end and outcome of each transaction."""

    __slots__ = ("_by_producer",)

    def __init__(self, completed: Iterable[CompletedTxn]) -> None:
        """Load the completed transactions of the partition, in marker order."""
        self._by_producer: dict[int, tuple[list[int], list[bool]]] = {}
        for txn in completed:
            ends, outcomes = self._by_producer.setdefault(txn.producer_id, ([], []))
            ends.append(txn.last_offset)
            outcomes.append(txn.committed)

    def of(self, header: BatchHeader) -> Outcome:
        """Return the batch's outcome, which the next marker of its producer decides."""
        if header.is_control:
            return Outcome.CONTROL
        if not header.is_transactional:
            return Outcome.PLAIN
        ends, outcomes = self._by_producer.get(header.producer_id, ([], []))
        index = bisect_left(ends, header.last_offset)
        if index == len(ends):
            return Outcome.OPEN
        return Outcome.COMMITTED if outcomes[index] else Outcome.ABORTED
