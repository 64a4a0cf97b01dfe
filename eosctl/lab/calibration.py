"""Trials on a cluster: loads with known figures in topics of their own, and what the cluster's logs then hold.

Everything is counted by reading the logs, with the same reader as `eosctl capacity observe`; no broker is believed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, NamedTuple

from eosctl.capacity.calibration import compare_trial, describe_trial
from eosctl.client import Client
from eosctl.client.destinations import Role
from eosctl.client.ports import Connector, WallClock
from eosctl.client.topics import ensure_topic
from eosctl.collect.cluster import collect_broker_facts, collect_shape
from eosctl.collect.offsets import collect_offsets
from eosctl.collect.reader import ReadOnly
from eosctl.collect.workload import collect_traffic
from eosctl.errors import EosctlError
from eosctl.lab.workloads.generator import run_load
from eosctl.lab.workloads.load import Load, Profile
from eosctl.model.calibration import CalibrationRow, Trial, TrialProfile
from eosctl.model.snapshot import Topic
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
    """What a cluster writes: `kafka_major` 4 for brokers that know transaction.version 2, and its finalized level."""

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
        await delete_topic(client, trial.name)
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


async def delete_topic(client: Client, name: str) -> None:
    """Delete a topic of a trial."""
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name)], topic_names=[name], timeout_ms=30_000)
    await client.request(Role.CONTROLLER, ApiKey.DELETE_TOPICS, request)
