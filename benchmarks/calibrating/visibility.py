"""The delay of records from write to read with read_committed, measured and predicted."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import Final

from eosctl.capacity.calibration import LATENCY_TOLERANCE
from eosctl.capacity.latency import commit_wait_ms
from eosctl.client import Client
from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.lab.calibration import Bench, delete_topic
from eosctl.model.calibration import CalibrationRow
from eosctl.model.capacity_plan import Unit
from eosctl.model.transaction import TopicPartition

#: Number of timed records of each transaction.
_RECORDS: Final = 4


async def measure_visibility(
    bench: Bench, reading: Client, name: str, chance: random.Random, *, interval_ms: float, transaction_count: int
) -> tuple[float, ...]:
    """Measure the delay from write to read with read_committed, in milliseconds, ascending.

    One producer commits every `interval_ms`; each transaction has a few records at random times.

    Args:
        bench: The cluster.
        reading: A separate client for the consumer, whose fetches wait.
        name: The topic, which is created and deleted.
        chance: Draws the times.
        interval_ms: The commit interval.
        transaction_count: Number of intervals.
    """
    client, loop = bench.client, asyncio.get_running_loop()
    await ensure_topic(client, name, partition_count=1)
    partition = TopicPartition(name, 0)
    try:
        producer = TransactionalProducer(client, name, now_ms=bench.now_ms)
        await producer.init_transactions()
        reader = await Reader.open(reading, [partition], isolation=IsolationLevel.READ_COMMITTED)
        written: dict[bytes, float] = {}
        seen: dict[bytes, float] = {}
        finished = asyncio.Event()

        async def read() -> None:
            while not (finished.is_set() and seen.keys() >= written.keys()):
                for records in (await reader.poll(max_wait_ms=100)).values():
                    seen.update((record.value, loop.time()) for record in records if record.value is not None)

        reads = asyncio.create_task(read())
        began = loop.time()
        for number in range(transaction_count):
            begin = began + number * interval_ms / 1000
            moments = sorted(begin + chance.uniform(0, interval_ms / 1000) for _ in range(_RECORDS))
            written |= await _send_each(producer, partition, moments)
            await _until(loop, begin + interval_ms / 1000)
            await producer.commit()
        finished.set()
        await asyncio.wait_for(reads, 60)
    finally:
        await delete_topic(client, name)
    return tuple(sorted((seen[value] - at) * 1000 for value, at in written.items()))


async def _send_each(
    producer: TransactionalProducer, partition: TopicPartition, moments: Sequence[float]
) -> dict[bytes, float]:
    """Write a record at each time; return the time of each write, by value."""
    loop = asyncio.get_running_loop()
    sent: dict[bytes, float] = {}
    for moment in moments:
        await _until(loop, moment)
        value = repr(moment).encode()
        sent[value] = loop.time()
        await producer.write(partition, [OutgoingRecord(None, value)])
    return sent


async def _until(loop: asyncio.AbstractEventLoop, moment: float) -> None:
    await asyncio.sleep(max(0.0, moment - loop.time()))


def compare_visibility(waits_ms: Sequence[float], interval_ms: float, fixed_ms: float) -> tuple[CalibrationRow, ...]:
    """Compare measured delays with F13.

    Args:
        waits_ms: In ascending order.
        interval_ms: The commit interval.
        fixed_ms: The separately measured duration of the transaction's end and the fetch.
    """
    rows = []
    for quantile in (0.5, 0.9, 0.99):
        measured = waits_ms[min(len(waits_ms) - 1, int(quantile * len(waits_ms)))]
        predicted = fixed_ms + commit_wait_ms(1, interval_ms, quantile)
        figure = f"visible after (P{quantile * 100:.0f}), commit every {interval_ms:.0f} ms"
        rows.append(CalibrationRow("visibility", figure, Unit.MILLISECONDS, predicted, measured, LATENCY_TOLERANCE))
    return tuple(rows)
