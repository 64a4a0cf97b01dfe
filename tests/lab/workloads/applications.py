"""Applications for tests: a transactional writer, and consume-transform-produce.

They run on the raw client, on sockets or in simulation, and draw from the seeded generator that they are given.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from eosctl.client.client import Client
from eosctl.client.consumer import EARLIEST as EARLIEST_OFFSET
from eosctl.client.consumer import IsolationLevel, Reader, list_offset
from eosctl.client.offsets import committed_offsets
from eosctl.client.ports import WallClock
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.producer_errors import ProducerFenced
from eosctl.client.transactions import GroupIdentity, OffsetToCommit, TransactionDialect
from eosctl.errors import EosctlError
from eosctl.lab.workloads.transactional import Fate, attempt_transaction
from eosctl.model.transaction import TopicPartition
from eosctl.wire.records.record import Record

Transform = Callable[[Record], OutgoingRecord]


class WrittenTransaction(NamedTuple):
    """A transaction that an application tried: values by partition, and its fate."""

    number: int
    values: tuple[tuple[TopicPartition, bytes], ...]
    fate: Fate


@dataclass(frozen=True, slots=True)
class WriterPlan:
    """What a transactional writer does.

    Attributes:
        transactional_id: The id.
        partitions: Where it writes.
        transaction_count: How many transactions it tries.
        max_records: Records in a transaction: 1 to so many.
        abort_share: How many of all transactions it aborts by itself, 0 to 1.
        timeout_ms: ``transaction.timeout.ms``.
        dialect: The protocol level; None for what the cluster has finalized.
    """

    transactional_id: str
    partitions: tuple[TopicPartition, ...]
    transaction_count: int = 10
    max_records: int = 5
    abort_share: float = 0.2
    timeout_ms: int = 60_000
    dialect: TransactionDialect | None = None


class WriterResult(NamedTuple):
    """Everything that a writer tried; ``fenced`` when another producer has ended its work."""

    transactions: tuple[WrittenTransaction, ...]
    fenced: bool


async def run_writer(client: Client, plan: WriterPlan, *, chance: random.Random, now_ms: WallClock) -> WriterResult:
    """Write transactions of distinct values and return what became of each.

    A failed transaction is aborted and not retried. A transaction without a clear answer to its end has the fate
    UNKNOWN: the writer initializes again, which either commits or aborts it.

    Args:
        client: The client.
        plan: What to do.
        chance: Draws partitions, sizes and voluntary aborts.
        now_ms: Dates the records.

    Raises:
        EosctlError: The producer cannot be initialized.
    """
    producer = TransactionalProducer(
        client,
        plan.transactional_id,
        now_ms=now_ms,
        transaction_timeout_ms=plan.timeout_ms,
        dialect=plan.dialect,
    )
    await producer.init_transactions()
    written: list[WrittenTransaction] = []
    for number in range(plan.transaction_count):
        values = tuple(
            (chance.choice(plan.partitions), f"{plan.transactional_id}/{number}/{index}".encode())
            for index in range(chance.randint(1, plan.max_records))
        )
        aborts = chance.random() < plan.abort_share

        async def write(values: tuple[tuple[TopicPartition, bytes], ...] = values) -> None:
            for partition, value in values:
                await producer.send(partition, [OutgoingRecord(None, value)])

        try:
            fate = await attempt_transaction(producer, write, aborts=aborts)
        except ProducerFenced:
            written.append(WrittenTransaction(number, values, Fate.UNKNOWN))
            return WriterResult(tuple(written), fenced=True)
        written.append(WrittenTransaction(number, values, fate))
    return WriterResult(tuple(written), fenced=False)


@dataclass(frozen=True, slots=True)
class PipelinePlan:
    """A consume-transform-produce application that owns its input partitions.

    Attributes:
        transactional_id: The id.
        group_id: Whose offsets are committed with the output.
        inputs: What it reads.
        outputs: Where it writes; the partition of a result has the index of its input, modulo their number.
        batch_size: Records of one partition that are handled in one transaction at most.
        timeout_ms: ``transaction.timeout.ms``.
        dialect: The protocol level; None for what the cluster has finalized.
    """

    transactional_id: str
    group_id: str
    inputs: tuple[TopicPartition, ...]
    outputs: tuple[TopicPartition, ...]
    batch_size: int = 10
    timeout_ms: int = 60_000
    dialect: TransactionDialect | None = None


def copy_value(record: Record) -> OutgoingRecord:
    """Return the record as it is: the simplest transformation."""
    return OutgoingRecord(record.key, record.value, record.headers)


async def run_pipeline(
    client: Client, plan: PipelinePlan, *, now_ms: WallClock, transform: Transform = copy_value
) -> int:
    """Handle everything that is committed in the input now, each record exactly once, and return how many there were.

    Offsets are read after the producer has been initialized, so that a predecessor's pending offsets are settled.

    Args:
        client: The client.
        plan: What to do.
        now_ms: Dates the records.
        transform: Makes a result of an input record.

    Raises:
        ProducerFenced: Another instance has taken over.
        EosctlError: The cluster cannot be worked with.
    """
    producer = TransactionalProducer(
        client, plan.transactional_id, now_ms=now_ms, transaction_timeout_ms=plan.timeout_ms, dialect=plan.dialect
    )
    await producer.init_transactions()
    ends = {p: await list_offset(client, p, isolation=IsolationLevel.READ_COMMITTED) for p in plan.inputs}
    handled_count = 0
    for _ in range(_MAX_ROUNDS):
        positions = await _positions(client, plan)
        behind = [partition for partition in plan.inputs if positions[partition] < ends[partition]]
        if not behind:
            return handled_count
        for partition in behind:
            handled_count += await _handle_batch(client, plan, producer, partition, positions[partition], transform)
    raise EosctlError(
        f"The pipeline {plan.transactional_id} did not reach the end of its input.",
        "Its transactions keep failing, or its input grows as fast as it is read.",
        f"See what its transactions run into: eosctl txn describe {plan.transactional_id}",
    )


_MAX_ROUNDS: Final = 10_000


async def _positions(client: Client, plan: PipelinePlan) -> dict[TopicPartition, int]:
    committed = await committed_offsets(client, plan.group_id, plan.inputs)
    return {
        partition: offset if offset is not None else await list_offset(client, partition, EARLIEST_OFFSET)
        for partition, offset in committed.items()
    }


async def _handle_batch(
    client: Client,
    plan: PipelinePlan,
    producer: TransactionalProducer,
    partition: TopicPartition,
    position: int,
    transform: Transform,
) -> int:
    reader = Reader(client, IsolationLevel.READ_COMMITTED, {partition: position})
    found: Sequence[Record] = (await reader.poll()).get(partition, ())[: plan.batch_size]
    next_offset = found[-1].offset + 1 if len(found) == plan.batch_size else reader.positions[partition]
    output = plan.outputs[partition.partition % len(plan.outputs)]

    async def work() -> None:
        if found:
            await producer.send(output, [transform(record) for record in found])
        await producer.send_offsets(GroupIdentity(plan.group_id), {partition: OffsetToCommit(next_offset)})

    fate = await attempt_transaction(producer, work)
    return len(found) if fate is Fate.COMMITTED else 0
