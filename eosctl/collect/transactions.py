"""A pass over all transactions: partition leaders first, coordinators second.

The order matters. A transaction's markers reach the partitions before its coordinator forgets it. So a transaction that
leaders still report as open after the coordinators were queried once is not about to complete (see `analysis.hanging`).
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from operator import attrgetter
from sys import intern
from typing import Final

import msgspec
from msgspec.structs import replace

from eosctl.analysis.relation import sightings
from eosctl.analysis.second_look import Doubt
from eosctl.collect.answered import unanswered
from eosctl.collect.reader import Probed, ReadOnly, attempt, gap_from_code, gap_without_leader, in_batches
from eosctl.model.evidence import EvidenceGap, EvidenceKind
from eosctl.model.snapshot import PartitionInfo
from eosctl.model.transaction import (
    PartitionProducers,
    ProducerState,
    TopicPartition,
    Transaction,
    TransactionLook,
    TransactionState,
)
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages import describe_producers, describe_transactions, list_transactions

PARTITIONS_PER_REQUEST: Final = 500
IDS_PER_REQUEST: Final = 1_000
_IDLE: Final = frozenset({TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT})
_Entry = list_transactions.TransactionState
_NOT_IDLE: Final = tuple(state.value for state in TransactionState if state not in _IDLE)


class TransactionQuery(msgspec.Struct, frozen=True):
    """A filter for transactional ids; callers apply the same filter to the response.

    Brokers ignore unknown filters (`running_longer_than_ms` was added in 3.8, KIP-994) and return more ids.

    Attributes:
        states: Only ids in these states, named as on the wire; all if empty.
        producer_ids: Only ids with these producer ids; all if empty.
        running_longer_than_ms: Only transactions that run longer, by the coordinator's clock.
        describe_idle: Whether to describe ids without a transaction. If not, transactions that leaders report as open
            are still described.
    """

    states: tuple[str, ...] = ()
    producer_ids: tuple[int, ...] = ()
    running_longer_than_ms: int | None = None
    describe_idle: bool = True

    @property
    def narrows(self) -> bool:
        """Return whether ids may be left out."""
        return bool(self.states or self.producer_ids) or self.running_longer_than_ms is not None

    def request(self) -> list_transactions.ListTransactionsRequest:
        """Return the request with this filter."""
        duration = -1 if self.running_longer_than_ms is None else self.running_longer_than_ms
        return list_transactions.ListTransactionsRequest(self.states, self.producer_ids, duration)


EVERY_TRANSACTION: Final = TransactionQuery()


async def read_transactions(
    reader: ReadOnly,
    broker_ids: Sequence[int],
    partitions: Iterable[PartitionInfo],
    now_ms: Callable[[], int],
    query: TransactionQuery = EVERY_TRANSACTION,
    before: TransactionLook | None = None,
) -> Probed[TransactionLook]:
    """Collect producers and transactions once.

    Args:
        reader: The read-only client.
        broker_ids: The brokers to query for their coordinated transactions.
        partitions: The partitions to query for producers at their leaders.
        now_ms: The clock.
        query: The filter for transactional ids.
        before: The previous pass, if any. Ids without a transaction then are described again only if they have one now,
            or a leader reports it as open.
    """
    started_at_ms = now_ms()
    producers = await collect_producers(reader, partitions)
    held_open = frozenset(
        state.producer_id
        for where in producers.value
        for state in where.producers
        if state.current_txn_start_offset is not None
    )
    earlier = None if before is None else before.transactions
    transactions = await collect_transactions(reader, broker_ids, query, held_open, earlier)
    look = TransactionLook(started_at_ms, now_ms(), producers.value, transactions.value)
    return Probed(look, producers.gaps + transactions.gaps)


async def read_doubt(
    reader: ReadOnly,
    broker_ids: Sequence[int],
    partitions: Iterable[PartitionInfo],
    now_ms: Callable[[], int],
    first: TransactionLook,
    doubt: Doubt,
) -> Probed[TransactionLook]:
    """Query again what a complete pass over all transactions leaves in doubt; everything else is taken from that pass.

    Args:
        reader: The read-only client.
        broker_ids: All brokers: an id may have moved to another coordinator.
        partitions: All partitions.
        now_ms: The clock.
        first: The pass.
        doubt: What it leaves in doubt.
    """
    started_at_ms = now_ms()
    again_at = doubt.partitions()
    producers = await collect_producers(reader, [info for info in partitions if info.partition in again_at])
    # A partition without a second response is left out: the first one alone cannot show that something hangs.
    where = [*(one for one in first.producers if one.partition not in again_at), *producers.value]
    producer_ids = {one.state.producer_id for one in (*doubt.sightings, *sightings(producers.value))}
    owners = [one for producer_id in producer_ids for one in first.owners_of(producer_id)]
    asked = {one.transactional_id: one for one in (*doubt.transactions, *owners)}
    query = TransactionQuery(producer_ids=tuple(sorted(producer_ids | {one.producer_id for one in asked.values()})))
    answers = await asyncio.gather(
        *(
            _again_at_coordinator(
                reader, broker_id, query, [o for o in asked.values() if o.coordinator_id == broker_id]
            )
            for broker_id in broker_ids
        )
    )
    again = {one.transactional_id: one for answer in answers for one in answer.value}
    replaced = asked.keys() | again.keys()
    kept = (one for one in first.transactions if one.transactional_id not in replaced)
    look = TransactionLook(
        started_at_ms,
        now_ms(),
        tuple(sorted(where, key=attrgetter("partition"))),
        tuple(sorted((*kept, *again.values()), key=attrgetter("transactional_id"))),
    )
    return Probed(look, (*producers.gaps, *(gap for answer in answers for gap in answer.gaps)))


async def _again_at_coordinator(
    reader: ReadOnly, broker_id: int, query: TransactionQuery, earlier: Sequence[Transaction]
) -> Probed[list[Transaction]]:
    """Query the ids of producers, and those that had them before."""
    listed = await _list_ids(reader, broker_id, query)
    if listed.gaps:
        return Probed([], listed.gaps)
    entries = [entry for entry in listed.value if entry.producer_id in query.producer_ids]
    names = {entry.transactional_id for entry in entries}
    remembered = [
        one.transactional_id for one in earlier if one.coordinator_id == broker_id and one.transactional_id not in names
    ]
    details = await _describe_all(reader, broker_id, [*sorted(names), *remembered])
    gaps = tuple(gap for gap in details.gaps if gap.subject not in remembered)
    return Probed(_joined(broker_id, {}, details.value, entries), gaps)


async def collect_producers(
    reader: ReadOnly, partitions: Iterable[PartitionInfo]
) -> Probed[tuple[PartitionProducers, ...]]:
    """Query every leader for the producers of its partitions (DescribeProducers, KIP-664; Kafka 2.8 and later)."""
    by_leader: dict[int, list[TopicPartition]] = defaultdict(list)
    gaps: list[EvidenceGap] = []
    for info in partitions:
        if info.leader_id is None:
            gaps.append(gap_without_leader(EvidenceKind.PRODUCERS, info.partition))
        else:
            by_leader[info.leader_id].append(info.partition)
    answers = await asyncio.gather(
        *(
            _producers_of_leader(reader, leader, batch)
            for leader, led in sorted(by_leader.items())
            for batch in in_batches(sorted(led), PARTITIONS_PER_REQUEST)
        )
    )
    found = [producers for answer in answers for producers in answer.value]
    gaps += [gap for answer in answers for gap in answer.gaps]
    return Probed(tuple(sorted(found, key=lambda p: p.partition)), tuple(gaps))


async def _producers_of_leader(
    reader: ReadOnly, leader_id: int, partitions: Sequence[TopicPartition]
) -> Probed[list[PartitionProducers]]:
    by_topic: dict[str, list[int]] = defaultdict(list)
    for topic, index in partitions:
        by_topic[topic].append(index)
    request = describe_producers.DescribeProducersRequest(
        topics=[describe_producers.TopicRequest(name, indexes) for name, indexes in by_topic.items()]
    )
    answer, gaps = await attempt(
        EvidenceKind.PRODUCERS,
        f"broker {leader_id}",
        lambda: reader.request(leader_id, ApiKey.DESCRIBE_PRODUCERS, request),
    )
    if answer is None:
        return Probed([], gaps)
    return reader.derived(answer, lambda: _producers(answer, leader_id, partitions))


def _producers(
    answer: describe_producers.DescribeProducersResponse, leader_id: int, partitions: Sequence[TopicPartition]
) -> Probed[list[PartitionProducers]]:
    found: list[PartitionProducers] = []
    missing: list[EvidenceGap] = []
    answered: set[TopicPartition] = set()
    for described in answer.topics:
        for partition in described.partitions:
            where = TopicPartition(described.name, partition.partition_index)
            answered.add(where)
            if partition.error_code != ErrorCode.NONE:
                detail = partition.error_message or ""
                missing.append(gap_from_code(EvidenceKind.PRODUCERS, str(where), partition.error_code, detail))
                continue
            states = tuple(
                ProducerState(
                    producer_id=p.producer_id,
                    producer_epoch=p.producer_epoch,
                    last_sequence=p.last_sequence,
                    last_timestamp_ms=p.last_timestamp,
                    coordinator_epoch=p.coordinator_epoch,
                    current_txn_start_offset=p.current_txn_start_offset if p.current_txn_start_offset >= 0 else None,
                )
                for p in sorted(partition.active_producers, key=lambda p: p.producer_id)
            )
            found.append(PartitionProducers(where, leader_id, states))
    return Probed(found, (*missing, *unanswered(EvidenceKind.PRODUCERS, partitions, answered)))


async def collect_transactions(
    reader: ReadOnly,
    broker_ids: Sequence[int],
    query: TransactionQuery = EVERY_TRANSACTION,
    held_open: Collection[int] = (),
    earlier: Sequence[Transaction] | None = None,
) -> Probed[tuple[Transaction, ...]]:
    """Query every broker for its coordinated transactions, then for their details (Kafka 3.0 and later).

    Args:
        reader: The read-only client.
        broker_ids: The brokers to query.
        query: The filter for transactional ids.
        held_open: Producer ids that leaders report as open; they are described in any state.
        earlier: The result of an earlier pass; its idle ids are reused unless they may have changed.
    """
    known: dict[int, list[Transaction]] = defaultdict(list)
    for transaction in earlier or ():
        known[transaction.coordinator_id].append(transaction)
    answers = await asyncio.gather(
        *(
            _transactions_of_coordinator(reader, broker_id, query, held_open)
            if earlier is None or query.states
            else _changes_of_coordinator(reader, broker_id, query, held_open, known[broker_id])
            for broker_id in broker_ids
        )
    )
    found = [transaction for answer in answers for transaction in answer.value]
    gaps = tuple(gap for answer in answers for gap in answer.gaps)
    return Probed(tuple(sorted(found, key=attrgetter("transactional_id"))), gaps)


async def _transactions_of_coordinator(
    reader: ReadOnly, broker_id: int, query: TransactionQuery, held_open: Collection[int]
) -> Probed[list[Transaction]]:
    listed = await _list_ids(reader, broker_id, query)
    found: dict[str, Transaction] = {}
    wanted: list[str] = []
    for entry in listed.value:
        transactional_id = entry.transactional_id
        if query.describe_idle or entry.transaction_state not in _IDLE or entry.producer_id in held_open:
            wanted.append(transactional_id)
        else:
            found[transactional_id] = _undescribed(entry, broker_id)
    details = await _describe_all(reader, broker_id, wanted)
    return Probed(_joined(broker_id, found, details.value, listed.value), listed.gaps + details.gaps)


async def _changes_of_coordinator(
    reader: ReadOnly,
    broker_id: int,
    query: TransactionQuery,
    held_open: Collection[int],
    earlier: Sequence[Transaction],
) -> Probed[list[Transaction]]:
    """Query ids with a transaction, and again those that had one or that a leader reports as open."""
    listed = await _list_ids(reader, broker_id, replace(query, states=_NOT_IDLE))
    if listed.gaps:
        return Probed([], listed.gaps)
    wanted = {entry.transactional_id for entry in listed.value}
    found: dict[str, Transaction] = {}
    remembered = []
    for transaction in earlier:
        if transaction.transactional_id in wanted:
            continue
        if transaction.state in _IDLE and transaction.producer_id not in held_open:
            found[transaction.transactional_id] = transaction
        else:
            remembered.append(transaction.transactional_id)
    details = await _describe_all(reader, broker_id, [*sorted(wanted), *remembered])
    # An id that is no longer listed may have expired or moved to another coordinator, which lists it.
    gaps = tuple(gap for gap in details.gaps if gap.subject not in remembered)
    return Probed(_joined(broker_id, found, details.value, listed.value), gaps)


async def _list_ids(reader: ReadOnly, broker_id: int, query: TransactionQuery) -> Probed[Sequence[_Entry]]:
    listed, gaps = await attempt(
        EvidenceKind.TRANSACTIONS,
        f"broker {broker_id}",
        lambda: reader.request(broker_id, ApiKey.LIST_TRANSACTIONS, query.request()),
    )
    if listed is None:
        return Probed((), gaps)
    if listed.error_code != ErrorCode.NONE:
        return Probed((), (gap_from_code(EvidenceKind.TRANSACTIONS, f"broker {broker_id}", listed.error_code),))
    return Probed(listed.transaction_states, ())


async def _describe_all(reader: ReadOnly, broker_id: int, wanted: Sequence[str]) -> Probed[list[Transaction]]:
    answers = await asyncio.gather(
        *(describe_ids(reader, broker_id, ids) for ids in in_batches(wanted, IDS_PER_REQUEST))
    )
    found = [transaction for answer in answers for transaction in answer.value]
    return Probed(found, tuple(gap for answer in answers for gap in answer.gaps))


def _joined(
    broker_id: int, found: dict[str, Transaction], described: Iterable[Transaction], listed: Iterable[_Entry]
) -> list[Transaction]:
    """Combine the described ids with the list entries of those without details."""
    found.update({transaction.transactional_id: transaction for transaction in described})
    for entry in listed:
        if entry.transactional_id not in found:
            found[entry.transactional_id] = _undescribed(entry, broker_id)
    return list(found.values())


def _undescribed(entry: _Entry, coordinator_id: int) -> Transaction:
    state = intern(entry.transaction_state)  # one text for a million ids
    return Transaction(entry.transactional_id, coordinator_id, entry.producer_id, state, described=False)


async def describe_ids(reader: ReadOnly, broker_id: int, ids: Sequence[str]) -> Probed[list[Transaction]]:
    """Query a coordinator for the details of transactional ids; unknown ids are omitted."""
    request = describe_transactions.DescribeTransactionsRequest(transactional_ids=ids)
    answer, gaps = await attempt(
        EvidenceKind.TRANSACTIONS,
        f"details of {len(ids)} transactional ids at broker {broker_id}",
        lambda: reader.request(broker_id, ApiKey.DESCRIBE_TRANSACTIONS, request),
    )
    if answer is None:
        return Probed([], gaps)
    return reader.derived(answer, lambda: _transactions(answer, broker_id, ids))


def _transactions(
    answer: describe_transactions.DescribeTransactionsResponse, broker_id: int, ids: Sequence[str]
) -> Probed[list[Transaction]]:
    found: list[Transaction] = []
    missing: list[EvidenceGap] = []
    for state in answer.transaction_states:
        code, transactional_id, topics = state.error_code, state.transactional_id, state.topics
        if code:
            # An id that is not found has expired since it was listed; its list entry stays, undescribed.
            if code != ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                missing.append(gap_from_code(EvidenceKind.TRANSACTIONS, transactional_id, code))
            continue
        found.append(
            Transaction(
                transactional_id=transactional_id,
                coordinator_id=broker_id,
                producer_id=state.producer_id,
                state=intern(state.transaction_state),
                producer_epoch=state.producer_epoch,
                timeout_ms=state.transaction_timeout_ms,
                start_time_ms=state.transaction_start_time_ms if state.transaction_start_time_ms >= 0 else None,
                partitions=_partitions(topics) if topics else (),
            )
        )
    answered = {state.transactional_id for state in answer.transaction_states}
    return Probed(found, (*missing, *unanswered(EvidenceKind.TRANSACTIONS, ids, answered)))


def _partitions(topics: Iterable[describe_transactions.TopicData]) -> tuple[TopicPartition, ...]:
    return tuple(sorted(TopicPartition(topic.topic, index) for topic in topics for index in topic.partitions))
