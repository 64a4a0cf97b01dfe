"""Open transactions as marks of a timeline: bars from their first record to the observation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from eosctl.model.hang import HangStatus, HangVerdict
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.model.timeline import BatchFact, Mark, Tone
from eosctl.model.transaction import TopicPartition


class OpenMark(NamedTuple):
    """A transaction that is open on a partition; `owner` is its transactional id, empty if unknown."""

    partition: TopicPartition
    producer_id: int
    owner: str
    mark: Mark


def judged_open(
    verdicts: Iterable[HangVerdict], snapshot: ClusterSnapshot, statuses: Collection[HangStatus] = frozenset(HangStatus)
) -> Iterator[OpenMark]:
    """Yield the transactions that partition leaders show as open, with the verdict in the label.

    Args:
        verdicts: The verdicts. One without a known start or newest record is left out.
        snapshot: The evidence; bars end at its capture.
        statuses: The verdicts to show.
    """
    for verdict in verdicts:
        transaction = verdict.transaction
        age_ms = transaction.idle_ms(snapshot.observed_at_ms) if transaction.age_ms is None else transaction.age_ms
        if verdict.status not in statuses or age_ms is None:
            continue
        owner = transaction.transactional_id or ""
        named = owner or f"producer id {transaction.producer_id}"
        mark = Mark(
            at_ms=snapshot.observed_at_ms - age_ms,
            until_ms=snapshot.captured_at_ms,
            label=f"{verdict.status.value}: transaction of {named} open from offset {transaction.first_offset}",
            tone=Tone.HANGING if verdict.status is HangStatus.HANGING else Tone.OPEN,
            source=f"DescribeProducers broker {transaction.broker_id}",
            log=str(transaction.partition),
            offset=transaction.first_offset,
        )
        yield OpenMark(transaction.partition, transaction.producer_id, owner, mark)


def unmarked(batches: Iterable[BatchFact], owners: Mapping[int, str], read_at_ms: int) -> Iterator[OpenMark]:
    """Yield the transactions without a marker in the batches of files, which no leader can be asked about.

    Args:
        batches: The batches of each partition in offset order.
        owners: The transactional id of each producer id.
        read_at_ms: The time at which the files were read, in ms since the epoch.
    """
    begun: dict[tuple[TopicPartition, int], BatchFact] = {}
    for fact in batches:
        place = fact.partition, fact.producer_id
        if fact.committed is not None:
            begun.pop(place, None)
        elif fact.is_transactional:
            begun.setdefault(place, fact)
    for (partition, producer_id), fact in begun.items():
        owner = owners.get(producer_id, "")
        named = owner or f"producer id {producer_id}"
        mark = Mark(
            at_ms=fact.at_ms,
            until_ms=max(read_at_ms, fact.at_ms),
            label=f"open: no marker follows the transaction of {named} from offset {fact.base_offset} on",
            tone=Tone.OPEN,
            source=f"{partition} offset {fact.base_offset}",
            log=str(partition),
            offset=fact.base_offset,
        )
        yield OpenMark(partition, producer_id, owner, mark)
