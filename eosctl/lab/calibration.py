"""Trials on a cluster: loads with known figures in topics of their own, and what the cluster's logs then hold.

Everything is counted by reading the logs, with the same reader as `eosctl capacity observe`; no broker is believed.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from eosctl.capacity.calibration import LATENCY_TOLERANCE, compare_trial, describe_trial
from eosctl.capacity.latency import commit_wait_ms
from eosctl.client import Client
from eosctl.client.consumer import IsolationLevel, Reader
from eosctl.client.destinations import Role
from eosctl.client.ports import Connector, WallClock
from eosctl.client.producer import OutgoingRecord, TransactionalProducer
from eosctl.client.topics import ensure_topic
from eosctl.collect.cluster import collect_broker_facts, collect_shape
from eosctl.collect.offsets import collect_offsets
from eosctl.collect.reader import ReadOnly
from eosctl.collect.workload import collect_traffic
from eosctl.errors import EosctlError
from eosctl.lab.workloads.generator import run_load
from eosctl.lab.workloads.load import Load, Profile
from eosctl.model.calibration import CalibrationRow, Trial, TrialProfile
from eosctl.model.capacity_plan import Unit
from eosctl.model.snapshot import Topic
from eosctl.model.transaction import TopicPartition
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from eosctl.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest

PARTITIONS_PER_BROKER: Final = 12
_PROFILES: Final = {
    TrialProfile.TV1: Profile.TV1,
    TrialProfile.TV2: Profile.TV2,
    TrialProfile.TV1_OFFSETS: Profile.CTP1,
    TrialProfile.TV2_OFFSETS: Profile.CTP2,
}
_ENDED_MS: Final = 600_000
#: Records of each transaction whose way to the reader is timed.
_RECORDS: Final = 4

#: Shapes that differ from each other in everything that a formula depends on.
TRIALS: Final = (
    Trial("eosctl-calibrate-tv1", TrialProfile.TV1, 6, 40, 2, 100),
    Trial("eosctl-calibrate-tv1-many-partitions", TrialProfile.TV1, 3, 30, 12, 1_000),
    Trial("eosctl-calibrate-tv2", TrialProfile.TV2, 10, 30, 1, 10),
    Trial("eosctl-calibrate-tv2-large", TrialProfile.TV2, 4, 25, 4, 20_000),
    Trial("eosctl-calibrate-offsets-tv1", TrialProfile.TV1_OFFSETS, 5, 40, 3, 250),
    Trial("eosctl-calibrate-offsets-tv2", TrialProfile.TV2_OFFSETS, 8, 30, 2, 500),
)


class Bench(NamedTuple):
    """Where trials run: the client, the clock that dates records, and how loads connect (sockets when None)."""

    client: Client
    now_ms: WallClock
    connector: Connector | None = None
    cpu_s: Callable[[], float] = lambda: 0.0


class Level(NamedTuple):
    """What a cluster writes: ``kafka_major`` 4 for brokers that know transaction.version 2, and its finalized level."""

    kafka_major: int
    transaction_version: int


async def find_level(client: Client) -> Level:
    """Ask a cluster what it writes."""
    reader = ReadOnly(client)
    shape = await collect_shape(reader)
    facts = await collect_broker_facts(reader, shape.value.brokers)
    feature = next((f for f in facts.value.features if f.name == "transaction.version"), None)
    if feature is None:
        return Level(3, 0)
    return Level(4 if feature.max_supported >= 2 else 3, feature.finalized or 0)


def trials_for(level: Level) -> tuple[Trial, ...]:
    """Return the trials that a cluster of this level can run."""
    return tuple(trial for trial in TRIALS if trial.profile.transaction_version <= max(1, level.transaction_version))


async def run_trial(bench: Bench, trial: Trial, level: Level) -> tuple[CalibrationRow, ...]:
    """Run one trial and compare.

    Raises:
        EosctlError: The cluster cannot be worked with, or a transaction failed.
    """
    client = bench.client
    # All partitions of a transaction must have one leader, and leaders are dealt out in turn.
    partition_count = PARTITIONS_PER_BROKER * len((await client.refresh_metadata([])).brokers)
    await ensure_topic(client, trial.name, partition_count=partition_count)
    try:
        load = Load(
            _PROFILES[trial.profile],
            trial.name,
            connection_count=1,
            ids_per_connection=trial.id_count,
            partition_count=trial.partitions_per_transaction,
            record_bytes=trial.value_bytes,
            warm_up_ms=0,
            duration_ms=_ENDED_MS,
            transactions_per_id=trial.transactions_per_id,
            prefix=trial.name,
        )
        before = await _offsets(client)
        report = await run_load(client, load, now_ms=bench.now_ms, connector=bench.connector, cpu_s=bench.cpu_s)
        if report.errors or report.completed_count != trial.transaction_count:
            raise EosctlError(
                f"The trial {trial.name} did {report.completed_count} of {trial.transaction_count} transactions.",
                ", ".join(f"{name}: {count}" for name, count in report.errors.items()),
                "Look at the brokers' logs.",
            )
        after = await _settled(client, trial)
        counted = await collect_traffic(ReadOnly(client), before, after, 1_000, bytes_per_partition=1 << 30)
        workload = describe_trial(
            trial, partition_count, kafka_major=level.kafka_major, transaction_version=level.transaction_version
        )
        rows = compare_trial(trial, workload, counted.value, await _remembered(client, trial))
    finally:
        await _delete(client, trial.name)
    return rows


async def _offsets(client: Client) -> tuple[Topic, ...]:
    reader = ReadOnly(client)
    shape = await collect_shape(reader)
    return (await collect_offsets(reader, shape.value.topics)).value


async def _settled(client: Client, trial: Trial) -> tuple[Topic, ...]:
    """Return offsets when nothing grows any more: markers and completions follow the answer to EndTxn."""
    last = await _offsets(client)
    while True:
        await asyncio.sleep(0.3)
        now = await _offsets(client)
        if now == last:
            return now
        last = now


async def _remembered(client: Client, trial: Trial) -> int:
    """Count the producers that the leaders remember in the trial's topic."""
    topic = (await client.refresh_metadata([trial.name])).topic(trial.name)
    by_leader: dict[int, list[int]] = {}
    for info in topic.partitions if topic else ():
        if info.leader_id is not None:
            by_leader.setdefault(info.leader_id, []).append(info.partition.partition)
    count = 0
    for leader, indexes in by_leader.items():
        request = DescribeProducersRequest([TopicRequest(trial.name, indexes)])
        answer = await client.request(leader, ApiKey.DESCRIBE_PRODUCERS, request)
        count += sum(len(part.active_producers) for found in answer.topics for part in found.partitions)
    return count


async def _delete(client: Client, name: str) -> None:
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name)], topic_names=[name], timeout_ms=30_000)
    await client.request(Role.CONTROLLER, ApiKey.DELETE_TOPICS, request)


async def measure_visibility(
    bench: Bench, reading: Client, name: str, chance: random.Random, *, interval_ms: float, transaction_count: int
) -> tuple[float, ...]:
    """Measure how long records take from being written to being read with read_committed, in ms, in ascending order.

    One producer commits every ``interval_ms``; each transaction has a few records at random moments of it.

    Args:
        bench: Where.
        reading: A client of its own for the reader, whose fetches wait.
        name: The topic, which is made and removed.
        chance: Chooses the moments.
        interval_ms: The commit interval.
        transaction_count: How many intervals to measure.
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
        await _delete(client, name)
    return tuple(sorted((seen[value] - at) * 1000 for value, at in written.items()))


async def _send_each(
    producer: TransactionalProducer, partition: TopicPartition, moments: Sequence[float]
) -> dict[bytes, float]:
    """Write a record at each moment; returns when each was written, by value."""
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
    """Compare measured waits with F13.

    Args:
        waits_ms: In ascending order.
        interval_ms: The commit interval.
        fixed_ms: What the end of a transaction and the fetch take, measured apart.
    """
    rows = []
    for quantile in (0.5, 0.9, 0.99):
        measured = waits_ms[min(len(waits_ms) - 1, int(quantile * len(waits_ms)))]
        predicted = fixed_ms + commit_wait_ms(1, interval_ms, quantile)
        figure = f"readable P{quantile * 100:.0f}, commit every {interval_ms:.0f} ms"
        rows.append(CalibrationRow("visibility", figure, Unit.MILLISECONDS, predicted, measured, LATENCY_TOLERANCE))
    return tuple(rows)
