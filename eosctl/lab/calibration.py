"""Trials on a cluster: known loads in separate topics, and the resulting content of the cluster's logs.

All figures are counted by reading the logs, with the reader of `eosctl capacity observe`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, NamedTuple

from eosctl.capacity.calibration import compare_trial, describe_trial
from eosctl.capacity.observation import offset_commit_version
from eosctl.capacity.record_sizes import format_release
from eosctl.client import Client
from eosctl.client.destinations import Role
from eosctl.client.outcome import AUTHORIZATION_CODES, any_error, error_for_code
from eosctl.client.ports import Connector, WallClock
from eosctl.client.topics import ensure_topic, require_topic_rights
from eosctl.collect.cluster import collect_broker_facts, collect_shape
from eosctl.collect.offsets import collect_offsets
from eosctl.collect.reader import ReadOnly
from eosctl.collect.visibility import INTERNAL_TOPICS
from eosctl.collect.workload import collect_traffic
from eosctl.errors import EosctlError
from eosctl.lab.workloads.generator import run_load
from eosctl.lab.workloads.load import Load, LoadReport, Profile
from eosctl.model.calibration import CalibrationRow, Trial, TrialProfile
from eosctl.model.snapshot import Topic
from eosctl.model.transaction import CALIBRATE_PREFIX
from eosctl.wire.api_keys import ApiKey
from eosctl.wire.error_codes import ErrorCode
from eosctl.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from eosctl.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest

PARTITIONS_PER_BROKER: Final = 12
TRIAL_PREFIX: Final = CALIBRATE_PREFIX
_PROFILES: Final = {
    TrialProfile.TV1: Profile.TV1,
    TrialProfile.TV2: Profile.TV2,
    TrialProfile.TV1_OFFSETS: Profile.CTP1,
    TrialProfile.TV2_OFFSETS: Profile.CTP2,
}
_ENDED_MS: Final = 600_000

#: The shapes differ in every parameter of the formulas.
TRIALS: Final = (
    Trial(
        name=f"{TRIAL_PREFIX}-tv1",
        profile=TrialProfile.TV1,
        id_count=6,
        transactions_per_id=40,
        partitions_per_transaction=2,
        value_bytes=100,
    ),
    Trial(
        name=f"{TRIAL_PREFIX}-tv1-many-partitions",
        profile=TrialProfile.TV1,
        id_count=3,
        transactions_per_id=30,
        partitions_per_transaction=12,
        value_bytes=1_000,
    ),
    Trial(
        name=f"{TRIAL_PREFIX}-tv2",
        profile=TrialProfile.TV2,
        id_count=10,
        transactions_per_id=30,
        partitions_per_transaction=1,
        value_bytes=10,
    ),
    Trial(
        name=f"{TRIAL_PREFIX}-tv2-large",
        profile=TrialProfile.TV2,
        id_count=4,
        transactions_per_id=25,
        partitions_per_transaction=4,
        value_bytes=20_000,
    ),
    Trial(
        name=f"{TRIAL_PREFIX}-offsets-tv1",
        profile=TrialProfile.TV1_OFFSETS,
        id_count=5,
        transactions_per_id=40,
        partitions_per_transaction=3,
        value_bytes=250,
    ),
    Trial(
        name=f"{TRIAL_PREFIX}-offsets-tv2",
        profile=TrialProfile.TV2_OFFSETS,
        id_count=8,
        transactions_per_id=30,
        partitions_per_transaction=2,
        value_bytes=500,
    ),
)


class Bench(NamedTuple):
    """The environment of trials: the client, the clock of records, and the connector of loads (None: sockets)."""

    client: Client
    now_ms: WallClock
    connector: Connector | None = None
    cpu_s: Callable[[], float] = lambda: 0.0


class Level(NamedTuple):
    """A cluster's log format: a release that writes it, and the finalized transaction.version."""

    kafka_version: str
    transaction_version: int


async def find_level(client: Client) -> Level:
    """Query the log format of a cluster."""
    reader = ReadOnly(client)
    shape = await collect_shape(reader)
    facts = await collect_broker_facts(reader, shape.value.brokers)
    feature = next((f for f in facts.value.features if f.name == "transaction.version"), None)
    if feature is None:
        return Level("3.9", 0)
    return Level(
        format_release(feature.max_supported, offset_commit_version(facts.value.brokers)), feature.finalized or 0
    )


def trials_for(level: Level) -> tuple[Trial, ...]:
    """Return the trials for a log format."""
    return tuple(trial for trial in TRIALS if trial.profile.transaction_version <= max(1, level.transaction_version))


async def run_trial(bench: Bench, trial: Trial, level: Level) -> tuple[CalibrationRow, ...]:
    """Run a trial and compare the results.

    Raises:
        AuthorizationDenied: The principal lacks a right.
        EosctlError: The cluster cannot be used, or a transaction failed.
    """
    client = bench.client
    # All partitions of a transaction must have the same leader, and leaders are assigned round-robin.
    partition_count = PARTITIONS_PER_BROKER * len((await client.refresh_metadata([])).brokers)
    await require_topic_rights(client, [trial.name], ("Create", "Write", "Read", "Delete"))
    await require_topic_rights(client, INTERNAL_TOPICS, ("Read",))
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
            raise _failed(trial, report)
        after = await _settled(client, trial)
        counted = await collect_traffic(ReadOnly(client), before, after, 1_000, bytes_per_partition=1 << 30)
        workload = describe_trial(
            trial, partition_count, kafka_version=level.kafka_version, transaction_version=level.transaction_version
        )
        rows = compare_trial(trial, workload, counted.value, await _remembered(client, trial))
    finally:
        await delete_topic(client, trial.name)
    return rows


def _failed(trial: Trial, report: LoadReport) -> EosctlError:
    """Return the error of a load that did not end all of its transactions."""
    for name in report.errors:
        api, error = name.split()
        if ErrorCode[error] in AUTHORIZATION_CODES:
            return error_for_code(ErrorCode[error], f"{api} of {trial.name}", api_key=ApiKey[api])
    return EosctlError(
        f"The trial {trial.name} did {report.completed_count} of {trial.transaction_count} transactions.",
        ", ".join(f"{name}: {count}" for name, count in report.errors.items()),
        "Check the brokers' logs.",
    )


async def _offsets(client: Client) -> tuple[Topic, ...]:
    reader = ReadOnly(client)
    shape = await collect_shape(reader)
    return (await collect_offsets(reader, shape.value.topics)).value


async def _settled(client: Client, trial: Trial) -> tuple[Topic, ...]:
    """Return the offsets once they no longer grow: markers and completions follow the response to EndTxn."""
    last = await _offsets(client)
    while True:
        await asyncio.sleep(0.3)
        now = await _offsets(client)
        if now == last:
            return now
        last = now


async def _remembered(client: Client, trial: Trial) -> int:
    """Return the number of producers in the leaders' state of the trial's topic."""
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
    """Delete a topic of a trial.

    Raises:
        EosctlError: The controller refused it.
    """
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name)], topic_names=[name], timeout_ms=30_000)
    answer = await client.request(Role.CONTROLLER, ApiKey.DELETE_TOPICS, request)
    if code := any_error(answer):
        raise error_for_code(code, f"Deleting the topic {name}", api_key=ApiKey.DELETE_TOPICS)
