"""One look at all transactions: partition leaders first, coordinators afterwards.

The order matters. A transaction's markers reach the partitions before its coordinator forgets it, so what the leaders
still show open after the coordinators were asked once is not on its way out (see ``analysis.hanging``).
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

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


@dataclass(frozen=True, slots=True)
class TransactionQuery:
    """Which transactional ids a look is about; whoever narrows it applies the same filter to the answer.

    A broker that does not know a filter (``running_longer_than_ms`` came with 3.8, KIP-994) ignores it and lists more.

    Attributes:
        states: Only ids in these states, in the wire's words; all when empty.
        producer_ids: Only ids with these producer ids; all when empty.
        running_longer_than_ms: Only transactions that run longer, by the coordinator's clock.
        describe_idle: Whether ids without a transaction are described too. Without, what leaders show open still is.
    """

    states: tuple[str, ...] = ()
    producer_ids: tuple[int, ...] = ()
    running_longer_than_ms: int | None = None
    describe_idle: bool = True

    def request(self) -> list_transactions.ListTransactionsRequest:
        """Return the request that asks for them."""
        duration = -1 if self.running_longer_than_ms is None else self.running_longer_than_ms
        return list_transactions.ListTransactionsRequest(self.states, self.producer_ids, duration)


EVERY_TRANSACTION: Final = TransactionQuery()


async def look_at_transactions(
    reader: ReadOnly,
    broker_ids: Sequence[int],
    partitions: Iterable[PartitionInfo],
    now_ms: Callable[[], int],
    query: TransactionQuery = EVERY_TRANSACTION,
    before: TransactionLook | None = None,
) -> Probed[TransactionLook]:
    """Take one look.

    Args:
        reader: The read-only client.
        broker_ids: The brokers to ask for their transactions; each coordinates some of them.
        partitions: The partitions whose leaders to ask for producers.
        now_ms: The observer's clock.
        query: Which transactional ids matter.
        before: The look before this one, if any: an id that is listed without a transaction as it was then is not
            described again.
    """
    started_at_ms = now_ms()
    producers = await collect_producers(reader, partitions)
    held_open = frozenset(
        state.producer_id
        for where in producers.value
        for state in where.producers
        if state.current_txn_start_offset is not None
    )
    idle_before = {t.transactional_id: t for t in before.transactions if t.state in _IDLE} if before else {}
    transactions = await collect_transactions(reader, broker_ids, query, held_open, idle_before)
    look = TransactionLook(started_at_ms, now_ms(), producers.value, transactions.value)
    return Probed(look, producers.gaps + transactions.gaps)


async def collect_producers(
    reader: ReadOnly, partitions: Iterable[PartitionInfo]
) -> Probed[tuple[PartitionProducers, ...]]:
    """Ask every leader for the producers of its partitions (DescribeProducers, KIP-664; Kafka 2.8 and later)."""
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
    found: list[PartitionProducers] = []
    missing: list[EvidenceGap] = []
    for topic in answer.topics:
        for partition in topic.partitions:
            where = TopicPartition(topic.name, partition.partition_index)
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
    return Probed(found, tuple(missing))


async def collect_transactions(
    reader: ReadOnly,
    broker_ids: Sequence[int],
    query: TransactionQuery = EVERY_TRANSACTION,
    held_open: Collection[int] = (),
    idle_before: Mapping[str, Transaction] = MappingProxyType({}),
) -> Probed[tuple[Transaction, ...]]:
    """Ask every broker for the transactions that it coordinates, then for their details (Kafka 3.0 and later).

    Args:
        reader: The read-only client.
        broker_ids: The brokers to ask.
        query: Which transactional ids matter.
        held_open: Producer ids that leaders show open; theirs are described whatever their state.
        idle_before: Transactions that were none in an earlier look, by id; those listed unchanged stay as they are.
    """
    answers = await asyncio.gather(
        *(_transactions_of_coordinator(reader, broker_id, query, held_open, idle_before) for broker_id in broker_ids)
    )
    found = [transaction for answer in answers for transaction in answer.value]
    gaps = tuple(gap for answer in answers for gap in answer.gaps)
    return Probed(tuple(sorted(found, key=lambda t: t.transactional_id)), gaps)


async def _transactions_of_coordinator(
    reader: ReadOnly,
    broker_id: int,
    query: TransactionQuery,
    held_open: Collection[int],
    idle_before: Mapping[str, Transaction],
) -> Probed[list[Transaction]]:
    listed, gaps = await attempt(
        EvidenceKind.TRANSACTIONS,
        f"broker {broker_id}",
        lambda: reader.request(broker_id, ApiKey.LIST_TRANSACTIONS, query.request()),
    )
    if listed is None:
        return Probed([], gaps)
    if listed.error_code != ErrorCode.NONE:
        return Probed([], (gap_from_code(EvidenceKind.TRANSACTIONS, f"broker {broker_id}", listed.error_code),))
    found: dict[str, Transaction] = {}
    wanted: list[str] = []
    for transactional_id, producer_id, state in listed.transaction_states:
        if state in _IDLE and producer_id not in held_open:
            known = idle_before.get(transactional_id)
            if known is not None and (known.state, known.producer_id, known.coordinator_id) == (
                state,
                producer_id,
                broker_id,
            ):
                found[transactional_id] = known
                continue
            if not query.describe_idle:
                found[transactional_id] = _undescribed(transactional_id, broker_id, producer_id, state)
                continue
        wanted.append(transactional_id)
    missing: list[EvidenceGap] = []
    for ids in in_batches(wanted, IDS_PER_REQUEST):
        details = await describe_ids(reader, broker_id, ids)
        missing += details.gaps
        found.update({transaction.transactional_id: transaction for transaction in details.value})
    for transactional_id, producer_id, state in listed.transaction_states:
        if transactional_id not in found:  # no details could be had
            found[transactional_id] = _undescribed(transactional_id, broker_id, producer_id, state)
    return Probed(list(found.values()), tuple(missing))


def _undescribed(transactional_id: str, coordinator_id: int, producer_id: int, state: str) -> Transaction:
    return Transaction(transactional_id, coordinator_id, producer_id, state, described=False)


async def describe_ids(reader: ReadOnly, broker_id: int, ids: Sequence[str]) -> Probed[list[Transaction]]:
    """Ask one coordinator for the details of transactional ids; those that it does not know are left out."""
    request = describe_transactions.DescribeTransactionsRequest(transactional_ids=ids)
    answer, gaps = await attempt(
        EvidenceKind.TRANSACTIONS,
        f"details of {len(ids)} transactional ids at broker {broker_id}",
        lambda: reader.request(broker_id, ApiKey.DESCRIBE_TRANSACTIONS, request),
    )
    if answer is None:
        return Probed([], gaps)
    found: list[Transaction] = []
    missing: list[EvidenceGap] = []
    for state in answer.transaction_states:
        if state.error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
            # It expired between the list and this question; the list entry stays, undescribed.
            continue
        if state.error_code != ErrorCode.NONE:
            missing.append(gap_from_code(EvidenceKind.TRANSACTIONS, state.transactional_id, state.error_code))
            continue
        found.append(
            Transaction(
                transactional_id=state.transactional_id,
                coordinator_id=broker_id,
                producer_id=state.producer_id,
                state=state.transaction_state,
                producer_epoch=state.producer_epoch,
                timeout_ms=state.transaction_timeout_ms,
                start_time_ms=state.transaction_start_time_ms if state.transaction_start_time_ms >= 0 else None,
                partitions=_partitions(state.topics) if state.topics else (),
            )
        )
    return Probed(found, tuple(missing))


def _partitions(topics: Iterable[describe_transactions.TopicData]) -> tuple[TopicPartition, ...]:
    return tuple(sorted(TopicPartition(topic.topic, index) for topic in topics for index in topic.partitions))
