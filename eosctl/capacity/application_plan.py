"""What the transactions of each application cause."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp
from typing import Final, NamedTuple

from eosctl.capacity.batches import records_per_choice
from eosctl.capacity.instances import instance_restore_rate, plan_instance
from eosctl.capacity.latency import blocked_after_crash_ms, commit_wait_ms, throughput_share
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
from eosctl.capacity.recovery import restore_ms, task_count, useful_thread_count
from eosctl.capacity.transactions import (
    marker_rate,
    partition_waves,
    partitions_touched,
    transaction_log_append_rate,
    transaction_rate,
)
from eosctl.model.capacity_plan import ApplicationPlan, InstancePlan
from eosctl.model.workload import ApplicationKind, ApplicationSpec, Workload

OFFSETS_TOPIC_NAME_BYTES: Final = len("__consumer_offsets")
#: Clients and brokers from this release on name the topics of transactional offset commits by id (KIP-1319).
FIRST_WITH_TOPIC_IDS: Final = (4, 4)
#: Pause of one commit: published measurements of a raw producer, and of Streams (flush, offsets, commit).
PRODUCER_STALL_MS: Final = 3.0
STREAMS_STALL_MS: Final = 22.0


class Rhythm(NamedTuple):
    """How often an application commits, and how many partitions of each topic one transaction reaches.

    ``choices_per_s`` is how often its producers together choose a partition of the topics that it writes.
    """

    transactions_per_s: float
    interval_ms: float
    touched: Mapping[str, float]
    choices_per_s: float
    offsets: float

    @property
    def data_partitions(self) -> float:
        """Partitions of one transaction without that of the offsets."""
        return sum(self.touched.values())


def work_out_rhythms(workload: Workload) -> dict[str, Rhythm]:
    """Work out the rhythm of every application; topics that several of them write are shared by transactions."""
    rates = {application.name: _transactions(workload, application) for application in workload.applications}
    writers: dict[str, float] = {}
    for application in workload.applications:
        for topic, _ in application.writes:
            writers[topic] = writers.get(topic, 0.0) + rates[application.name]
    intervals = {a.name: _interval_ms(a, rates[a.name]) for a in workload.applications}
    return {a.name: _rhythm(workload, a, rates[a.name], writers, intervals) for a in workload.applications}


def _interval_ms(application: ApplicationSpec, rate: float) -> float:
    return application.commit_interval_ms or (1000 * application.producer_count / rate if rate else 1000.0)


def _transactions(workload: Workload, application: ApplicationSpec) -> float:
    if application.transactions_per_s is not None:
        return application.transactions_per_s
    names = application.reads or tuple(name for name, _ in application.writes)
    handled = sum(workload.topic(name).rate_per_s for name in names)
    busy = busy_producer_count(workload, application)
    return transaction_rate(busy, application.commit_interval_ms or 1.0, handled)


def _rhythm(
    workload: Workload,
    application: ApplicationSpec,
    rate: float,
    writers: Mapping[str, float],
    intervals: Mapping[str, float],
) -> Rhythm:
    touched, choices_per_s = {}, 0.0
    for name, stated in application.writes:
        topic = workload.topic(name)
        records = topic.rate_per_s / writers[name] if writers[name] else 0.0
        each = records_per_choice(workload, topic, intervals)
        # A transaction begins anywhere between two choices.
        choices = min(records, 1 + max(0.0, records - 1) / each)
        choices_per_s += rate * choices
        touched[name] = partitions_touched(choices, topic.partition_count) if stated is None else min(stated, records)
    return Rhythm(rate, intervals[application.name], touched, choices_per_s, _offsets(workload, application, rate))


def _offsets(workload: Workload, application: ApplicationSpec, rate: float) -> float:
    if not application.commits_offsets or not rate:
        return 0.0
    if application.offsets_per_transaction is not None:
        return application.offsets_per_transaction
    inputs = [workload.topic(name) for name in application.reads]
    busy = busy_producer_count(workload, application)
    owned = max(1, round(sum(topic.partition_count for topic in inputs) / busy))
    return partitions_touched(sum(topic.rate_per_s for topic in inputs) / rate, owned)


def plan_application(
    workload: Workload, application: ApplicationSpec, rhythms: Mapping[str, Rhythm]
) -> ApplicationPlan:
    """Work out what one application's transactions cause."""
    rhythm = rhythms[application.name]
    offsets = application.commits_offsets
    waves = _waves(workload, application, rhythm)
    stages = _chain(workload, application)
    waits = [_open_ms(workload, stage, rhythms[stage.name]) for stage in stages]
    fixed = sum(_fixed_ms(workload, stage) for stage in stages)
    # The sum of unequal uniform waits is close to that of as many equal ones with the same total.
    mean_wait = sum(waits) / len(waits)
    tasks = _task_count(workload, application)
    is_streams = application.kind is ApplicationKind.STREAMS
    one = plan_instance(workload, application, tasks) if is_streams else None
    stall = STREAMS_STALL_MS if offsets else PRODUCER_STALL_MS
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
        transaction_log_bytes_per_s=_transaction_log_bytes(workload, application, rhythm, waves, started),
        offset_bytes_per_s=_offset_bytes(workload, application, rhythm) if offsets else 0.0,
        producer_entries=_producer_entries(workload, application, rhythm),
        transactional_ids=_transactional_ids(workload, application, rhythm),
        stage_count=len(stages),
        visible_p50_ms=fixed + commit_wait_ms(len(stages), mean_wait, 0.5),
        visible_p99_ms=fixed + commit_wait_ms(len(stages), mean_wait, 0.99),
        blocked_after_crash_ms=blocked_after_crash_ms(application.transaction_timeout_ms),
        throughput_share=throughput_share(stall, rhythm.interval_ms),
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
    producers = min(_ids_in_use(application), busy_producer_count(workload, application))
    if application.kind is ApplicationKind.FLINK:
        producers = _ids_in_use(application)
    each_per_s = rhythm.transactions_per_s / producers
    generations = producer_id_generations(expiration_ms, each_per_s) if cluster.transaction_version == 2 else 1.0
    return producer_entry_count(producers, _reach(workload, application), copies, generations)


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


def _task_count(workload: Workload, application: ApplicationSpec) -> int:
    """Return the most tasks or shares that the application's input splits into.

    A Streams application has the tasks of all its sub-topologies: of those that are listed, and of one for each other
    topic, as it may be the input of one of its own. A plain consumer's default assignor, ``RangeAssignor``, gives the
    partitions of every topic to the same members.
    """
    partitions = [max(workload.topic(name).partition_count for name in names) for names in application.inputs]
    if application.kind is ApplicationKind.STREAMS:
        return task_count(tuple(partitions))
    return max(partitions, default=0)


def busy_producer_count(workload: Workload, application: ApplicationSpec) -> int:
    """Return the producers that have work: those that commit offsets are no more than there are tasks for."""
    if not application.commits_offsets:
        return application.producer_count
    return useful_thread_count(application.producer_count, _task_count(workload, application))


def _waves(workload: Workload, application: ApplicationSpec, rhythm: Rhythm) -> float:
    if application.partition_waves is not None:
        return application.partition_waves
    if not rhythm.touched or not rhythm.transactions_per_s:
        return 0.0
    written = [workload.topic(name) for name, _ in application.writes]
    each_per_s = rhythm.choices_per_s / busy_producer_count(workload, application)
    stated = dict(application.writes)
    within_reach = sum(float(t.partition_count) if (s := stated[t.name]) is None else s for t in written)
    leaders = workload.cluster.broker_count if workload.cluster.transaction_version == 2 else 1
    linger = min(max(topic.linger_ms for topic in written), rhythm.interval_ms)
    waves = partition_waves(each_per_s, within_reach, leaders, linger, rhythm.interval_ms)
    joined = within_reach * (1 - exp(-each_per_s / within_reach * rhythm.interval_ms / 1000))
    waves *= rhythm.data_partitions / joined if joined else 1.0
    return min(max(1.0, waves), max(1.0, rhythm.data_partitions))


def _transaction_log_bytes(
    workload: Workload, application: ApplicationSpec, rhythm: Rhythm, waves: float, initializations_per_s: float
) -> float:
    """Return the bytes per second that transactions append to ``__transaction_state``."""
    cluster = workload.cluster
    tags = transaction_state_tag_bytes(cluster.transaction_version, kafka_major=cluster.kafka_major)
    flexible = cluster.transaction_version >= 1

    def record(*topics: TopicPartitions) -> float:
        return transaction_state_bytes(
            application.transactional_id_bytes, topics, flexible=flexible, tag_bytes=tags if flexible else 0
        )

    data = [TopicPartitions(len(name.encode()), count) for name, count in rhythm.touched.items()]
    joined = (waves + 1) / (2 * waves) if waves else 0.0
    joining = waves * record(*(topic._replace(partition_count=topic.partition_count * joined) for topic in data))
    if application.commits_offsets:
        everything = record(*data, TopicPartitions(OFFSETS_TOPIC_NAME_BYTES, 1))
        each = joining + 2 * everything + record()
    else:
        each = joining + record(*data) + record()
    return rhythm.transactions_per_s * each + initializations_per_s * record()


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


def _reach(workload: Workload, application: ApplicationSpec) -> float:
    """Return the partitions in which one producer is remembered: all it can reach in time, and one of the offsets.

    A stream thread keeps to the partitions of its tasks, where the file states how many, and a task of MirrorMaker 2 to
    those that it copies (``MirrorSourceTask`` names the partition of each record). Others reach all in time.
    """
    partitions = 0.0
    keeps = application.kind in (ApplicationKind.STREAMS, ApplicationKind.MIRROR)
    for name, stated in application.writes:
        count = workload.topic(name).partition_count
        partitions += min(count, stated) if keeps and stated is not None else count
    return partitions + (1 if application.commits_offsets else 0)


def _chain(workload: Workload, application: ApplicationSpec) -> list[ApplicationSpec]:
    """Return the commits that a record waits for, by application: the longest way to this one's output.

    Of applications that feed each other in a circle every one is waited for once.
    """
    before = {a.name: _upstream(workload, a) for a in workload.applications}
    chains: dict[str, list[ApplicationSpec]] = {}
    # Applications with fewer others before them come first; those of a circle have the same number.
    for stage in sorted(workload.applications, key=lambda a: len(before[a.name])):
        circle = [a for a in workload.applications if a.name in before[stage.name] and stage.name in before[a.name]]
        members = {a.name for a in circle} | {stage.name}
        earlier = [chains[name] for name in sorted(before[stage.name] - members)]
        # Kafka Streams reads its own repartition topics: a record waits for one commit more.
        own = [a for a in circle or [stage] for _ in range(2 if _feeds(a, a) else 1)]
        chains[stage.name] = [*max(earlier, key=len, default=[]), *own]
    return chains[application.name]


def _upstream(workload: Workload, application: ApplicationSpec) -> set[str]:
    """Name the applications whose output reaches this one, itself among them where it reads what it causes."""
    found: set[str] = set()
    waiting = [application]
    while waiting:
        stage = waiting.pop()
        nearer = [a for a in workload.applications if a.name not in found and _feeds(a, stage)]
        found |= {a.name for a in nearer}
        waiting += nearer
    return found


def _feeds(writer: ApplicationSpec, reader: ApplicationSpec) -> bool:
    return any(name in reader.reads for name, _ in writer.writes)


def _open_ms(workload: Workload, application: ApplicationSpec, rhythm: Rhythm) -> float:
    """Return how long a transaction is open: the commit interval, or else what its records take to arrive.

    Counted transactions are taken to begin with their first record and to end with their last.
    """
    if application.commit_interval_ms is not None or not rhythm.transactions_per_s:
        return rhythm.interval_ms
    busiest = max(workload.topic(name).rate_per_s for name in application.reads or dict(application.writes))
    return rhythm.interval_ms * (1 - 1 / max(1.0, busiest / rhythm.transactions_per_s))


def _fixed_ms(workload: Workload, application: ApplicationSpec) -> float:
    """Return the time of one stage without the wait for the commit: the end of the transaction, and the fetch.

    ``linger.ms`` does not add to it: a commit flushes lingering batches. Flink commits when its checkpoint is complete.
    """
    cluster = workload.cluster
    # Prepare and marker are replicated one after the other; the answer to EndTxn is not waited for by readers.
    ending = cluster.client_round_trip_ms + 2 * cluster.replication_round_trip_ms
    checkpoint = application.checkpoint_duration_ms if application.kind is ApplicationKind.FLINK else 0.0
    return checkpoint + ending + cluster.client_round_trip_ms
