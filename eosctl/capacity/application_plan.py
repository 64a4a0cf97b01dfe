"""What the transactions of each application cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from typing import Final

from eosctl.capacity.commit_chain import plan_visibility
from eosctl.capacity.instances import instance_restore_rate, plan_instance
from eosctl.capacity.latency import blocked_after_crash_ms, throughput_share
from eosctl.capacity.memory import (
    producer_entry_count,
    producer_id_generations,
    renewed_entry_count,
    transactional_id_count,
)
from eosctl.capacity.record_sizes import (
    TopicPartitions,
    offset_commit_batch_bytes,
    transaction_state_bytes,
    transaction_state_tag_bytes,
)
from eosctl.capacity.recovery import restore_ms
from eosctl.capacity.rhythm import GroupRhythm, Rhythm
from eosctl.capacity.sub_topologies import count_tasks
from eosctl.capacity.transactions import marker_rate, partition_waves, transaction_log_append_rate
from eosctl.model.capacity_plan import ApplicationPlan, InstancePlan
from eosctl.model.workload import ApplicationKind, ApplicationSpec, Workload

OFFSETS_TOPIC_NAME_BYTES: Final = len("__consumer_offsets")
#: Clients and brokers from this release on name the topics of transactional offset commits by id (KIP-1319).
FIRST_WITH_TOPIC_IDS: Final = (4, 4)
#: Pause of one commit: published measurements of a raw producer, and of Streams (flush, offsets, commit).
PRODUCER_STALL_MS: Final = 3.0
STREAMS_STALL_MS: Final = 22.0


def plan_application(
    workload: Workload, application: ApplicationSpec, rhythms: Mapping[str, Rhythm]
) -> ApplicationPlan:
    """Work out what one application's transactions cause."""
    rhythm = rhythms[application.name]
    offsets = application.commits_offsets
    all_waves = [_waves(workload, application, group, rhythm.interval_ms) for group in rhythm.groups]
    waves = rhythm.average(all_waves)
    visibility = plan_visibility(workload, application, rhythms)
    tasks = count_tasks(workload, application)
    is_streams = application.kind is ApplicationKind.STREAMS
    one = plan_instance(workload, application, tasks) if is_streams else None
    stall = application.commit_duration_ms or (STREAMS_STALL_MS if offsets else PRODUCER_STALL_MS)
    started = _initializations_per_s(application, rhythm)
    return ApplicationPlan(
        name=application.name,
        producers=application.producer_count,
        transactions_per_s=rhythm.transactions_per_s,
        data_partitions=rhythm.data_partitions,
        partition_waves=waves,
        markers_per_s=marker_rate(rhythm.transactions_per_s, rhythm.data_partitions, offsets=offsets),
        initializations_per_s=started,
        transaction_log_appends_per_s=transaction_log_append_rate(
            rhythm.transactions_per_s, waves, offsets=offsets, initializations_per_s=started
        ),
        transaction_log_bytes_per_s=_transaction_log_bytes(workload, application, rhythm, all_waves, started),
        offset_bytes_per_s=_offset_bytes(workload, application, rhythm) if offsets else 0.0,
        producer_entries=_producer_entries(workload, application, rhythm),
        transactional_ids=_transactional_ids(workload, application, rhythm),
        stage_count=visibility.stage_count,
        visible_p50_ms=visibility.p50_ms,
        visible_p99_ms=visibility.p99_ms,
        blocked_after_crash_ms=blocked_after_crash_ms(application.transaction_timeout_ms),
        throughput_share=throughput_share(stall, application.commit_interval_ms or rhythm.interval_ms),
        restore_ms=_restore_ms(workload, application, one),
        task_count=tasks,
        abort_ratio=application.abort_ratio,
        instance=one,
    )


def _restore_ms(workload: Workload, application: ApplicationSpec, one: InstancePlan | None) -> float:
    """Return how long an instance restores after a kill."""
    if not application.state_bytes:
        return 0.0
    if one is not None:
        return one.kept_restore_ms if application.transactional_stores else one.wiped_restore_ms
    rate = instance_restore_rate(workload, application)
    return restore_ms(application.state_bytes / application.instance_count, rate)


def _producer_entries(workload: Workload, application: ApplicationSpec, rhythm: Rhythm) -> float:
    """Return the producer states on all replicas that this application causes."""
    cluster = workload.cluster
    expiration_ms, copies = cluster.producer_id_expiration_ms, cluster.replication_factor
    if application.renews_ids:
        return renewed_entry_count(rhythm.transactions_per_s, expiration_ms, rhythm.data_partitions, copies)
    total = 0.0
    for group in rhythm.groups:
        producers = _ids_in_use(application) if application.kind is ApplicationKind.FLINK else group.producer_count
        each_per_s = group.transactions_per_s / producers
        generations = producer_id_generations(expiration_ms, each_per_s) if cluster.transaction_version == 2 else 1.0
        total += producer_entry_count(producers, _remembered_in(workload, application, group), copies, generations)
    return total


def _ids_in_use(application: ApplicationSpec) -> int:
    """Return the transactional ids in use at a time.

    A subtask of a Flink sink has one for the open transaction, and one for each checkpoint that is not complete yet.
    """
    if application.kind is ApplicationKind.FLINK:
        return application.producer_count * (1 + application.concurrent_checkpoints)
    return application.producer_count


def _transactional_ids(workload: Workload, application: ApplicationSpec, rhythm: Rhythm) -> int:
    """Return the transactional ids that coordinators keep for this application.

    A Flink sink that renews them uses one per subtask and checkpoint, with or without records.
    """
    if not application.renews_ids:
        return transactional_id_count(_ids_in_use(application))
    new_per_s = _initializations_per_s(application, rhythm)
    return transactional_id_count(_ids_in_use(application), new_per_s, workload.cluster.transactional_id_expiration_ms)


def _initializations_per_s(application: ApplicationSpec, rhythm: Rhythm) -> float:
    """Return the InitProducerId requests per second of producers that begin anew with each transaction.

    A Flink sink initializes a producer for each subtask and checkpoint, also where it takes an id again (POOLING), and
    with or without records.
    """
    if not application.initializes_each_transaction:
        return 0.0
    interval = application.commit_interval_ms
    return rhythm.transactions_per_s if interval is None else application.producer_count * 1000 / interval


def _waves(workload: Workload, application: ApplicationSpec, group: GroupRhythm, interval_ms: float) -> float:
    """Return the requests of one transaction of some producers that add partitions."""
    if application.partition_waves is not None:
        return application.partition_waves
    if not group.touched or not group.transactions_per_s:
        return 0.0
    each_per_s = group.choices_per_s / group.producer_count
    within_reach = sum(group.reach.values())
    leaders = workload.cluster.broker_count if workload.cluster.transaction_version == 2 else 1
    linger = min(max(workload.topic(name).linger_ms for name in group.touched), interval_ms)
    waves = partition_waves(each_per_s, within_reach, leaders, linger, interval_ms)
    joined = within_reach * (1 - exp(-each_per_s / within_reach * interval_ms / 1000))
    waves *= group.data_partitions / joined if joined else 1.0
    return min(max(1.0, waves), max(1.0, group.data_partitions))


def _transaction_log_bytes(
    workload: Workload,
    application: ApplicationSpec,
    rhythm: Rhythm,
    all_waves: Sequence[float],
    initializations_per_s: float,
) -> float:
    """Return the bytes per second that transactions append to ``__transaction_state``; waves are by group."""
    cluster = workload.cluster
    tags = transaction_state_tag_bytes(cluster.transaction_version, kafka_major=cluster.kafka_major)
    flexible = cluster.transaction_version >= 1

    def record(*topics: TopicPartitions) -> float:
        return transaction_state_bytes(
            application.transactional_id_bytes, topics, flexible=flexible, tag_bytes=tags if flexible else 0
        )

    total = initializations_per_s * record()
    for group, waves in zip(rhythm.groups, all_waves, strict=True):
        data = [TopicPartitions(len(name.encode()), count) for name, count in group.touched.items()]
        joined = (waves + 1) / (2 * waves) if waves else 0.0
        joining = waves * record(*(topic._replace(partition_count=topic.partition_count * joined) for topic in data))
        if application.commits_offsets:
            everything = record(*data, TopicPartitions(OFFSETS_TOPIC_NAME_BYTES, 1))
            each = joining + 2 * everything + record()
        else:
            each = joining + record(*data) + record()
        total += group.transactions_per_s * each
    return total


def _offset_bytes(workload: Workload, application: ApplicationSpec, rhythm: Rhythm) -> float:
    inputs = [workload.topic(name) for name in application.reads]
    rate = sum(topic.rate_per_s for topic in inputs)
    topics = [
        TopicPartitions(
            len(topic.name.encode()), rhythm.offsets * (topic.rate_per_s / rate if rate else 1 / len(inputs))
        )
        for topic in inputs
    ]
    size = offset_commit_batch_bytes(
        application.group_id_bytes,
        topics,
        metadata_bytes=application.offset_metadata_bytes,
        topic_ids=workload.cluster.release >= FIRST_WITH_TOPIC_IDS,
    )
    return rhythm.transactions_per_s * size


def _remembered_in(workload: Workload, application: ApplicationSpec, group: GroupRhythm) -> float:
    """Return the partitions in which one producer is remembered: all it can reach in time, and one of the offsets.

    A stream thread keeps to the partitions of its tasks, where the file states how many, and a task of MirrorMaker 2 to
    those that it copies (``MirrorSourceTask`` names the partition of each record). Others reach all in time.
    """
    partitions = sum(_remembered_in_topic(workload, application, group, name) for name in group.reach)
    return partitions + (1 if application.commits_offsets else 0)


def _remembered_in_topic(workload: Workload, application: ApplicationSpec, group: GroupRhythm, name: str) -> float:
    """Return the partitions of a topic in which one producer is remembered.

    Source tasks of Connect write their offsets by key, one for each of their source partitions: in time they reach at
    most a partition for each of these (``OffsetStorageWriter``).
    """
    topic, reach = workload.topic(name), group.reach[name]
    if application.kind in (ApplicationKind.CONNECT, ApplicationKind.MIRROR) and topic.cleanup.compacts:
        keys = topic.live_bytes / max(1.0, topic.key_bytes + topic.value_bytes) / application.producer_count
        return min(topic.partition_count, max(reach, keys))
    keeps = application.kind in (ApplicationKind.STREAMS, ApplicationKind.MIRROR)
    return min(topic.partition_count, reach) if keeps else topic.partition_count
