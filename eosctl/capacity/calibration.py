"""Predictions for trials, and their comparison with what was counted. No constant was fitted to these trials.

A trial is planned like any workload: as a file with its figures, through the same functions as every plan.
"""

from __future__ import annotations

from typing import Final

from eosctl.capacity.application_plan import plan_application
from eosctl.capacity.record_sizes import MARKER_BATCH_BYTES
from eosctl.capacity.rhythm import work_out_rhythms
from eosctl.capacity.topic_plan import CONSUMER_OFFSETS, TRANSACTION_STATE, plan_internal_topics, plan_topic
from eosctl.capacity.workload_file import parse_workload
from eosctl.model.calibration import CalibrationRow, Trial
from eosctl.model.capacity_plan import Unit
from eosctl.model.traffic import PartitionTraffic, Traffic
from eosctl.model.transaction import TopicPartition
from eosctl.model.workload import Workload

COUNT_TOLERANCE: Final = 0.10
LATENCY_TOLERANCE: Final = 0.25

_FILE: Final = """\
kind: Workload
name: {trial.name}
cluster:
  brokers: 1
  replication_factor: 1
  min_insync_replicas: 1
  brokers_lost: 0
  kafka_version: "{kafka_version}"
  transaction_version: {level}
  client_round_trip: 0 ms
  replication_round_trip: 0 ms
topics:
  {trial.name}: {{partitions: {partitions}, rate: {rate}/s, value: {trial.value_bytes} B, batch_records: 1}}
applications:
  {trial.name}-app:
    kind: {kind}
    producers: {trial.id_count}
    transactions: {count}/s
    transactional_id: {id_bytes} B
    writes: {{{trial.name}: {trial.partitions_per_transaction}}}
    partition_waves: 1
    {consumes}
"""
_CONSUMES: Final = "group_id: {id_bytes} B\n    reads: [{name}]\n    offsets_per_transaction: 1"


def describe_trial(
    trial: Trial, partition_count: int, *, kafka_version: str = "4.0", transaction_version: int = 2
) -> Workload:
    """Describe a trial as a workload in which a second holds all of it.

    Args:
        trial: The trial.
        partition_count: Partitions of its topic.
        kafka_version: A release that writes what the brokers write (`format_release`).
        transaction_version: The finalized level; clients of a lower one speak theirs.
    """
    # Ids are the trial's name, a dash and a number; most numbers have as many digits as the last.
    id_bytes = len(trial.name) + 1 + len(str(trial.id_count - 1))
    offsets = trial.profile.commits_offsets
    text = _FILE.format(
        trial=trial,
        partitions=partition_count,
        kafka_version=kafka_version,
        level=min(trial.profile.transaction_version, transaction_version),
        count=trial.transaction_count,
        rate=trial.transaction_count * trial.partitions_per_transaction,
        id_bytes=id_bytes,
        kind="consume-process-produce" if offsets else "producer",
        consumes=_CONSUMES.format(id_bytes=id_bytes, name=trial.name) if offsets else "",
    )
    return parse_workload(text, f"trial {trial.name}")


def compare_trial(trial: Trial, workload: Workload, traffic: Traffic, entry_count: int) -> tuple[CalibrationRow, ...]:
    """Compare what a trial was predicted to cause with what it did.

    Args:
        trial: The trial.
        workload: Its description (see `describe_trial`), adapted to what the cluster writes.
        traffic: All appends during the trial.
        entry_count: Producers that the partitions of its topic remember afterwards.
    """
    rhythms = work_out_rhythms(workload)
    applications = [plan_application(workload, application, rhythms) for application in workload.applications]
    state, offsets = plan_internal_topics(workload, applications)
    topic = plan_topic(workload, workload.topics[0], rhythms)
    data, log, commits = (_total(traffic, name) for name in (trial.name, TRANSACTION_STATE, CONSUMER_OFFSETS))
    markers = data.marker_count + commits.marker_count
    entries = trial.id_count * trial.partitions_per_transaction
    rows = [
        ("markers", Unit.COUNT, sum(a.markers_per_s for a in applications), markers),
        (
            "marker bytes",
            Unit.BYTES,
            sum(a.markers_per_s for a in applications) * MARKER_BATCH_BYTES,
            data.marker_bytes + commits.marker_bytes,
        ),
        ("data bytes", Unit.BYTES, topic.written - topic.markers_per_s * MARKER_BATCH_BYTES, data.data_bytes),
        ("transaction-log appends", Unit.COUNT, state.data_batches_per_s, log.data_batch_count),
        ("transaction-log bytes", Unit.BYTES, state.written, log.data_bytes),
        ("producer states", Unit.COUNT, entries, entry_count),
    ]
    if trial.profile.commits_offsets:
        rows += [
            ("offset commits", Unit.COUNT, offsets.data_batches_per_s, commits.data_batch_count),
            ("offset bytes, markers included", Unit.BYTES, offsets.written, commits.stored_bytes),
        ]
    return tuple(
        CalibrationRow(trial=trial.name, figure=name, unit=unit, predicted=p, measured=m, tolerance=COUNT_TOLERANCE)
        for name, unit, p, m in rows
    )


def _total(traffic: Traffic, topic: str) -> PartitionTraffic:
    total = PartitionTraffic(TopicPartition(topic, -1), 0, 0)
    for found in traffic.of_topic(topic):
        total = total._replace(
            data_batch_count=total.data_batch_count + found.data_batch_count,
            data_record_count=total.data_record_count + found.data_record_count,
            data_bytes=total.data_bytes + found.data_bytes,
            marker_count=total.marker_count + found.marker_count,
            marker_bytes=total.marker_bytes + found.marker_bytes,
        )
    return total
