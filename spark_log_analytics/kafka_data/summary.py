"""Summarize the facts of a cluster's partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from eosctl.model.kafka_data import (
    CoordinatedTransaction,
    Damage,
    DataSummary,
    DuplicateKey,
    Fate,
    GroupSummary,
    IdSummary,
    KeyUse,
    PartitionTransaction,
    SequenceBreak,
    TopicSummary,
)
from spark_log_analytics.kafka_data.facts import Fact, Subject, Tally
from spark_log_analytics.kafka_data.spread import spread_of

KEPT: Final = 1000
"""Maximum number of breaks, duplicates, open transactions, and damages that are listed; all are counted."""


@dataclass(slots=True)
class _Total:
    counts: Counter[str] = field(default_factory=Counter)
    durations: Counter[int] = field(default_factory=Counter)
    endings: Counter[int] = field(default_factory=Counter)


class Summarizer:
    """Adds up facts, in any order, except for ``KeyUse``, which must be grouped by key."""

    def __init__(self) -> None:
        self._totals: dict[tuple[str, str], _Total] = {}
        self._open: list[PartitionTransaction] = []
        self._unfinished: list[CoordinatedTransaction] = []
        self._breaks: list[SequenceBreak] = []
        self._damages: list[Damage] = []

    def add(self, fact: Fact) -> None:
        """Add a fact; transactions that have ended are already in the tallies."""
        match fact:
            case Tally():
                total = self._totals.setdefault((fact.subject, fact.name), _Total())
                total.counts.update(fact.counts)
                total.durations.update(fact.durations)
                total.endings.update(fact.endings)
            case PartitionTransaction(fate=Fate.OPEN | Fate.UNKNOWN):
                self._open.append(fact)
            case CoordinatedTransaction(fate=Fate.OPEN | Fate.ENDING):
                self._unfinished.append(fact)
            case SequenceBreak():
                self._breaks.append(fact)
            case Damage():
                self._damages.append(fact)

    def finish(self, duplicates: Iterable[DuplicateKey] = (), duplicate_key_count: int = 0) -> DataSummary:
        """Return the sums, in an order that does not depend on that of the facts."""
        return DataSummary(
            topics=tuple(_topic(name, total) for name, total in self._of(Subject.TOPIC)),
            ids=tuple(_id(name, total) for name, total in self._of(Subject.TRANSACTIONAL_ID)),
            groups=tuple(_group(name, total) for name, total in self._of(Subject.GROUP)),
            open_transactions=tuple(sorted(self._open, key=lambda one: (one.started_ms, one.topic, one.partition)))[
                :KEPT
            ],
            unfinished=tuple(sorted(self._unfinished, key=lambda one: (one.started_ms or 0, one.transactional_id)))[
                :KEPT
            ],
            breaks=tuple(sorted(self._breaks))[:KEPT],
            duplicates=tuple(sorted(duplicates, key=lambda one: (-one.record_count, one.topic, one.key, one.first)))[
                :KEPT
            ],
            duplicate_key_count=duplicate_key_count,
            keyless_count=sum(total.counts["keyless"] for _, total in self._of(Subject.TOPIC)),
            damages=tuple(sorted(self._damages))[:KEPT],
            damage_count=len(self._damages),
        )

    def _of(self, subject: Subject) -> Iterator[tuple[str, _Total]]:
        return ((name, total) for (about, name), total in sorted(self._totals.items()) if about == subject)


def find_duplicates(uses: Iterable[KeyUse]) -> Iterator[DuplicateKey]:
    """Yield the keys that appear more than once; keeps one entry per key in memory."""
    seen: dict[tuple[str, str], tuple[int, KeyUse, KeyUse]] = {}
    for use in uses:
        place = (use.topic, use.digest)
        count, first, last = seen.get(place, (0, use, use))
        seen[place] = count + 1, min(first, use, key=place_of), max(last, use, key=place_of)
    for (topic, _), (count, first, last) in seen.items():
        if count > 1:
            yield DuplicateKey(topic, first.key, count, first, last)


def place_of(use: KeyUse) -> tuple[int, int, int]:
    """Return the sort key of a key's records: time, then partition and offset."""
    return use.timestamp_ms, use.partition, use.offset


def _topic(name: str, total: _Total) -> TopicSummary:
    counts = total.counts
    return TopicSummary(
        topic=name,
        partition_count=counts["partitions"],
        size_bytes=counts["size_bytes"],
        batch_count=counts["batches"],
        record_count=counts["records"],
        committed_count=counts[Fate.COMMITTED],
        aborted_count=counts[Fate.ABORTED],
        open_count=counts[Fate.OPEN],
        unknown_count=counts[Fate.UNKNOWN],
        aborted_record_count=counts[f"{Fate.ABORTED}_records"],
        marker_count=counts["markers"],
        marker_bytes=counts["marker_bytes"],
        sequence_gap_count=counts["sequence-gap"],
        duplicate_batch_count=counts["duplicate-batch"],
        duration=spread_of(total.durations),
    )


def _id(name: str, total: _Total) -> IdSummary:
    counts = total.counts
    return IdSummary(
        transactional_id=name,
        committed_count=counts[Fate.COMMITTED],
        aborted_count=counts[Fate.ABORTED],
        timed_out_count=counts["timed_out"],
        open_count=counts[Fate.OPEN],
        ending_count=counts[Fate.ENDING],
        duration=spread_of(total.durations),
        ending=spread_of(total.endings),
    )


def _group(name: str, total: _Total) -> GroupSummary:
    counts = total.counts
    pending = counts[Fate.OPEN] + counts[Fate.UNKNOWN]
    return GroupSummary(name, counts[Fate.COMMITTED], counts[Fate.ABORTED], pending, counts["plain"])
