"""Settings to change, each with the arithmetic behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, log2

from eosctl.capacity.disk import active_bytes
from eosctl.capacity.disk_advice import relieve_disks
from eosctl.capacity.heap_advice import relieve_heap
from eosctl.capacity.latency import checkpoint_timeout_floor_ms, transaction_timeout_floor_ms
from eosctl.capacity.memory import MAX_PRODUCER_EPOCH, producer_heap_bytes, transaction_heap_bytes
from eosctl.capacity.recovery import useful_thread_count
from eosctl.capacity.resources import LASTING_HEAP_SHARE, OPEN_AT_A_TIME
from eosctl.capacity.verdict import instance_needs
from eosctl.capacity.zones import ZoneLoss, copies_advice, zone_advice
from eosctl.model.capacity_plan import Advice, ApplicationPlan, ResourceUse, TopicPlan
from eosctl.model.workload import ApplicationKind, ApplicationSpec, Cleanup, ClusterSpec, Workload
from eosctl.text import bytes_text, milliseconds_text, number_text, rate_text

HEAP_SHARE_WORTH_A_WORD = 0.05
RESTORE_WORTH_A_STANDBY_MS = 60_000
SMALL_SEGMENT_BYTES = 100 * 2**20
#: ``max.message.bytes`` and ``max.request.size``.
LARGEST_RECORD_BYTES = 2**20
#: A share of all records below which an application's markers are not worth a recommendation.
SHARE_WORTH_A_WORD = 0.01
LONGEST_INTERVAL_MS = 30_000.0
#: What sets the commit interval; plain clients have no setting for it.
INTERVAL_SETTINGS = {
    ApplicationKind.STREAMS: "commit.interval.ms",
    ApplicationKind.FLINK: "execution.checkpointing.interval in ms",
    ApplicationKind.CONNECT: "transaction.boundary=interval, transaction.boundary.interval.ms",
    ApplicationKind.MIRROR: "transaction.boundary=interval, transaction.boundary.interval.ms",
}
#: Settings of the threads that a plan counts.
THREAD_SETTINGS = {"request handlers": "num.io.threads", "network threads": "num.network.threads"}
#: Resources with remedies other than more brokers.
RELIEVED = frozenset({"disk space", "heap for EOS state", *THREAD_SETTINGS})
#: Where something else helps, brokers are recommended only up to this many times those of the cluster.
FEW_MORE = 2


def advise(
    workload: Workload,
    topics: Sequence[TopicPlan],
    plans: Sequence[ApplicationPlan],
    resources: Sequence[ResourceUse],
    broker_count_needed: int | None,
    zone_loss: ZoneLoss | None,
    use_heap: Callable[[ClusterSpec], float],
) -> tuple[Advice, ...]:
    """Recommend settings; urgent ones first, and among them what removes a cause before more brokers.

    `use_heap` plans the workload on other brokers, and returns the share of the planned heap that it uses.
    """
    specs = {application.name: application for application in workload.applications}
    found = [*_cluster(workload, plans, resources), *_changelogs(workload, topics), *_large_records(workload)]
    if zone_loss is not None:
        found += zone_advice(workload.cluster, zone_loss)
    for plan in plans:
        for rule in _APPLICATION_RULES:
            found += rule(workload, specs[plan.name], plan)
    exceeded = [resource for resource in resources if (resource.utilisation or 0.0) > 1]
    found += _relieve(workload, topics, exceeded, use_heap)
    found += _brokers(workload.cluster, exceeded, broker_count_needed)
    return tuple(sorted(found, key=lambda advice: not advice.urgent))


def _relieve(
    workload: Workload,
    topics: Sequence[TopicPlan],
    exceeded: Sequence[ResourceUse],
    use_heap: Callable[[ClusterSpec], float],
) -> Iterator[Advice]:
    """Recommend what helps without more brokers."""
    for use in exceeded:
        if use.name == "disk space":
            yield from relieve_disks(workload, topics, use)
        elif use.name == "heap for EOS state":
            yield from relieve_heap(workload.cluster, use, use_heap)
        elif (setting := THREAD_SETTINGS.get(use.name)) is not None:
            threads = ceil(use.used_after_loss / workload.cluster.max_utilisation)
            yield Advice(
                setting,
                str(threads),
                f"{use.name} are at {use.utilisation:.0%} of what is planned; {number_text(use.used_after_loss)} are "
                "busy on average, and each busy one takes a processor core",
                True,
            )


def _brokers(
    cluster: ClusterSpec, exceeded: Sequence[ResourceUse], broker_count_needed: int | None
) -> Iterator[Advice]:
    """Recommend brokers once for all that is exceeded: where nothing else helps, or where a few more are enough."""
    if not exceeded:
        return
    uses = ", ".join(f"{resource.name} at {resource.utilisation:.0%}" for resource in exceeded)
    if not {resource.name for resource in exceeded} <= RELIEVED:
        needed = "more" if broker_count_needed is None else str(broker_count_needed)
        yield Advice("brokers", needed, f"{uses} of what is planned", True)
    elif broker_count_needed is not None and broker_count_needed <= FEW_MORE * cluster.broker_count:
        reason = f"{uses} of what is planned; with these brokers everything fits without the other changes"
        yield Advice("brokers", str(broker_count_needed), reason, True)


def _cluster(
    workload: Workload, plans: Sequence[ApplicationPlan], resources: Sequence[ResourceUse]
) -> Iterator[Advice]:
    cluster = workload.cluster
    yield from copies_advice(cluster)
    yield from _highest_timeout(workload)
    if cluster.transaction_version < 2 and cluster.kafka_major >= 4:
        yield Advice(
            "transaction.version",
            "2",
            "every transaction gets an epoch of its own, so late messages cannot leave it hanging (KIP-890), and a "
            "request less is sent",
            False,
        )
    entries = sum(plan.producer_entries for plan in plans)
    heap = producer_heap_bytes(entries)[1] / cluster.broker_count
    kept = [(plan, spec) for plan, spec in _pairs(workload, plans) if not spec.renews_ids]
    fastest = max((plan.transactions_per_s / spec.producer_count for plan, spec in kept), default=0.0)
    # Where the heap is exceeded, the remedies for it name the expiration.
    is_held = all(use.name != "heap for EOS state" or (use.utilisation or 0.0) <= 1 for use in resources)
    if cluster.heap_bytes and heap > HEAP_SHARE_WORTH_A_WORD * cluster.heap_bytes and fastest and is_held:
        epochs_ms = MAX_PRODUCER_EPOCH / fastest * 1000
        yield Advice(
            "producer.id.expiration.ms",
            str(ceil(max(3_600_000, min(epochs_ms, cluster.producer_id_expiration_ms)))),
            f"{number_text(entries)} producer states take up to {bytes_text(heap)} of each broker's heap; at TV2 a "
            f"producer uses up an id in {milliseconds_text(epochs_ms)}, and the old ones stay until they expire",
            False,
        )


def _pairs(workload: Workload, plans: Sequence[ApplicationPlan]) -> Iterator[tuple[ApplicationPlan, ApplicationSpec]]:
    specs = {application.name: application for application in workload.applications}
    return ((plan, specs[plan.name]) for plan in plans)


def _changelogs(workload: Workload, plans: Sequence[TopicPlan]) -> Iterator[Advice]:
    segment = workload.cluster.segment_bytes
    for topic, plan in zip(workload.topics, plans, strict=False):
        active = active_bytes(plan.written, topic.partition_count, segment)
        if (
            topic.cleanup is Cleanup.COMPACT
            and active > topic.live_bytes / 2
            and active > topic.partition_count * SMALL_SEGMENT_BYTES
        ):
            yield Advice(
                f"segment.bytes of {topic.name}",
                str(SMALL_SEGMENT_BYTES),
                f"{topic.partition_count} active segments, which are never cleaned, take up to {bytes_text(active)} a "
                f"copy in addition to {bytes_text(topic.live_bytes)} of live records",
                False,
            )


def _large_records(workload: Workload) -> Iterator[Advice]:
    for topic in workload.topics:
        size = topic.key_bytes + topic.value_bytes
        if size > LARGEST_RECORD_BYTES:
            yield Advice(
                f"max.message.bytes of {topic.name}, max.request.size of its producers",
                str(2 ** ceil(log2(size))),
                f"records have {bytes_text(size)} on average, and the defaults of both are 1 MiB: larger records are "
                "refused (RecordTooLargeException)",
                True,
            )


def _timeout_floor_ms(application: ApplicationSpec) -> float:
    """Return the least ``transaction.timeout.ms`` of an application."""
    interval, pause = application.commit_interval_ms or 0.0, application.longest_pause_ms
    if application.kind is ApplicationKind.FLINK:
        return checkpoint_timeout_floor_ms(interval, application.checkpoint_duration_ms, pause)
    return transaction_timeout_floor_ms(interval, pause)


def _highest_timeout(workload: Workload) -> Iterator[Advice]:
    """Recommend that brokers allow the timeouts that applications need."""
    allowed = workload.cluster.transaction_max_timeout_ms
    needed = {application.name: _timeout_floor_ms(application) for application in workload.applications}
    above = [name for name, floor in needed.items() if floor > allowed]
    if above:
        yield Advice(
            "transaction.max.timeout.ms",
            str(ceil(max(needed.values()))),
            f"brokers refuse a transaction.timeout.ms above {milliseconds_text(allowed)}, which is too short for "
            f"{', '.join(above)}; the alternative is a shorter commit interval",
            True,
        )


def _checkpoints(workload: Workload, application: ApplicationSpec, plan: ApplicationPlan) -> Iterator[Advice]:
    """Recommend settings of a Flink sink."""
    if application.kind is not ApplicationKind.FLINK:
        return
    floor = _timeout_floor_ms(application)
    if application.transaction_timeout_ms < floor:
        yield Advice(
            f"{application.name}: transaction.timeout.ms",
            str(ceil(floor)),
            f"{milliseconds_text(application.transaction_timeout_ms)} is less than a checkpoint interval, a "
            f"checkpoint, and a restart ({milliseconds_text(floor)}): brokers abort transactions that Flink counts as "
            "written, and their records are lost",
            True,
        )


def _renewed_ids(workload: Workload, application: ApplicationSpec, plan: ApplicationPlan) -> Iterator[Advice]:
    """Recommend that producers keep their ids."""
    cluster = workload.cluster
    idle = max(0, plan.transactional_ids - plan.producers * OPEN_AT_A_TIME)
    states = producer_heap_bytes(plan.producer_entries)[1] / cluster.broker_count
    ids = transaction_heap_bytes(0, 0, cluster.replication_factor, idle) / cluster.broker_count
    heap = states + ids
    if not application.renews_ids or heap <= HEAP_SHARE_WORTH_A_WORD * (cluster.heap_bytes or 2**30):
        return
    after_loss = heap * cluster.broker_count / max(1, cluster.broker_count - cluster.brokers_lost)
    figures = (
        f"{number_text(plan.producer_entries)} producer states, up to {bytes_text(states)} of heap on each broker, and "
        f"{number_text(plan.transactional_ids)} transactional ids, about {bytes_text(ids)}"
    )
    if application.kind is ApplicationKind.FLINK:
        setting, value = "TransactionNamingStrategy", "POOLING"
        release = application.connector
        if application.has_naming_strategies:
            needed = "POOLING needs brokers from 3.0 on"
        elif release is None:
            needed = "POOLING needs connector 4.0 (for Flink 2.0 and later) and brokers from 3.0 on"
        else:
            needed = f"connector {release} has no other: POOLING needs 4.0 (for Flink 2.0 and later), brokers 3.0"
        reason = (
            f"INCREMENTING takes a new producer id for each subtask and checkpoint: {figures}. {needed}; a longer "
            "checkpoint interval lowers the figures in proportion"
        )
    else:
        setting, value = "transactional.id", f"one of {plan.producers} fixed ids"
        reason = (
            f"a new id for each transaction leaves {figures}. Producers that take a free id from a fixed set keep its "
            "producer id; without transactions, no transactional id is kept. Shorter producer.id.expiration.ms and "
            "transactional.id.expiration.ms lower the figures in proportion"
        )
    is_needed = cluster.heap_bytes is not None and after_loss > LASTING_HEAP_SHARE * cluster.heap_bytes
    yield Advice(f"{application.name}: {setting}", value, reason, is_needed)


def _timeout(workload: Workload, application: ApplicationSpec, plan: ApplicationPlan) -> Iterator[Advice]:
    if application.kind is ApplicationKind.FLINK:
        return
    floor = _timeout_floor_ms(application)
    prefix = "producer." if application.kind is ApplicationKind.STREAMS else ""
    if application.transaction_timeout_ms < floor:
        yield Advice(
            f"{application.name}: {prefix}transaction.timeout.ms",
            str(ceil(floor)),
            f"{milliseconds_text(application.transaction_timeout_ms)} is less than 3 commit intervals or a broker's "
            f"session timeout, an election and the longest pause ({milliseconds_text(floor)}): a broker's crash "
            "would abort transactions and fence their producers",
            True,
        )
    elif application.transaction_timeout_ms > 5 * floor:
        yield Advice(
            f"{application.name}: {prefix}transaction.timeout.ms",
            str(ceil(2 * floor)),
            f"readers stand still for up to {milliseconds_text(plan.blocked_after_crash_ms)} when a producer dies and "
            f"does not return; {milliseconds_text(2 * floor)} would still survive a broker's crash twice over",
            False,
        )


def _threads(workload: Workload, application: ApplicationSpec, plan: ApplicationPlan) -> Iterator[Advice]:
    if not application.reads or useful_thread_count(application.producer_count, plan.task_count) == (
        application.producer_count
    ):
        return
    is_streams = application.kind is ApplicationKind.STREAMS
    shares = "tasks at most, over all sub-topologies" if is_streams else "partitions of the topic that has most"
    # Each instance has at least one producer.
    is_crowded = application.instance_count > plan.task_count
    yield Advice(
        f"{application.name}: {'instances, ' if is_crowded else ''}producers",
        f"{plan.task_count}, {plan.task_count}" if is_crowded else str(plan.task_count),
        f"{application.producer_count} producers share {plan.task_count} {shares}: "
        f"{application.producer_count - plan.task_count} of them have nothing to do",
        False,
    )


def _standby(workload: Workload, application: ApplicationSpec, plan: ApplicationPlan) -> Iterator[Advice]:
    is_alone = application.kind is ApplicationKind.STREAMS and not application.standby_count
    if is_alone and plan.restore_ms > RESTORE_WORTH_A_STANDBY_MS:
        has_others = application.instance_count > 1
        yield Advice(
            f"{application.name}: {'' if has_others else 'instances, '}num.standby.replicas",
            "1" if has_others else "2, 1",
            f"after an unclean stop an instance restores for {milliseconds_text(plan.restore_ms)}; a standby that is "
            "10,000 offsets behind takes over within seconds",
            False,
        )


def _transactional_stores(workload: Workload, application: ApplicationSpec, plan: ApplicationPlan) -> Iterator[Advice]:
    """Recommend transactional state stores where they spare a kill most of its restoration."""
    one = plan.instance
    if one is None or application.transactional_stores:
        return
    if plan.restore_ms <= RESTORE_WORTH_A_STANDBY_MS or one.kept_restore_ms > plan.restore_ms / 2:
        return
    yield Advice(
        f"{application.name}: enable.transactional.statestores",
        "true",
        f"after a kill an instance restores for {milliseconds_text(one.kept_restore_ms)} at most instead of "
        f"{milliseconds_text(plan.restore_ms)}, for {bytes_text(one.uncommitted_bytes)} of memory (Kafka Streams 4.4)",
        False,
    )


def _instances(workload: Workload, application: ApplicationSpec, plan: ApplicationPlan) -> Iterator[Advice]:
    """Recommend more instances where one has too little memory or disk."""
    one = plan.instance
    if one is None:
        return
    bounded = (
        "more instances share stores and threads; a RocksDBConfigSetter with one cache for all stores bounds memory"
    )
    for name, needed, limit in instance_needs(application, one):
        if limit is not None and needed > limit:
            reason = bounded if name == "memory" else "more instances share the stores"
            yield Advice(
                f"{application.name}: {name} of each instance",
                bytes_text(needed),
                f"it has {bytes_text(limit)}; {reason}",
                True,
            )


def _commit_interval(workload: Workload, application: ApplicationSpec, plan: ApplicationPlan) -> Iterator[Advice]:
    interval = application.commit_interval_ms
    extra = plan.markers_per_s + plan.transaction_log_appends_per_s
    records = sum(workload.topic(name).rate_per_s for name, _ in application.writes)
    everything = sum(topic.rate_per_s for topic in workload.topics)
    if interval is None or extra <= max(records, SHARE_WORTH_A_WORD * everything):
        return
    longest = min(LONGEST_INTERVAL_MS, application.transaction_timeout_ms / 3)
    wanted = ceil(min(interval * extra / max(records, 1.0), longest) / 100) * 100
    if wanted <= interval:
        return
    yield Advice(
        f"{application.name}: {INTERVAL_SETTINGS.get(application.kind, 'commit_interval in ms')}",
        str(wanted),
        f"{rate_text(extra)} markers and transaction-log records are written for {rate_text(records)} records; a "
        f"longer interval lowers them, and lets readers wait up to {milliseconds_text(wanted)}",
        False,
    )


_APPLICATION_RULES: tuple[Callable[[Workload, ApplicationSpec, ApplicationPlan], Iterator[Advice]], ...] = (
    _checkpoints,
    _renewed_ids,
    _timeout,
    _threads,
    _standby,
    _transactional_stores,
    _instances,
    _commit_interval,
)
