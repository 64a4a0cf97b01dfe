"""Reject impossible workloads: each contradiction is reported with its arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Final, NamedTuple

from eosctl.capacity.latency import min_transaction_ms
from eosctl.errors import ConfigFileError
from eosctl.model.workload import (
    ApplicationKind,
    ApplicationSpec,
    ClusterSpec,
    TopicSpec,
    TransactionalIdNaming,
    Workload,
    is_changelog_topic,
)
from eosctl.text import bytes_text, count_text, milliseconds_text, number_text, rate_text

#: Counted rates of records and of transactions rarely agree to the last one: intervals begin and end in the middle.
COUNTED_EXACTLY_ENOUGH: Final = 1.1
#: Brokers from this release on fence a group's members by its metadata (KIP-447).
FIRST_WITH_EXACTLY_ONCE_V2: Final = (2, 5)
#: Brokers from this release on can keep closed segments in remote storage, as early access until 3.9.
FIRST_WITH_TIERED_STORAGE: Final = (3, 6)


class WorkloadRefused(ConfigFileError):  # noqa: N818
    """A workload contradicts itself, or asks for what Kafka cannot do."""


class Contradiction(NamedTuple):
    """What cannot be, and the key of the workload file that says it."""

    path: str
    what: str


def check_possible(workload: Workload) -> None:
    """Refuse what cannot be.

    Raises:
        WorkloadRefused: With every contradiction that was found.
    """
    found = [contradiction.what for contradiction in find_contradictions(workload)]
    if found:
        raise WorkloadRefused(
            f"The workload {workload.name} cannot be: {found[0]}.", "\n".join(found[1:]), "Correct the figures."
        )


def find_contradictions(workload: Workload) -> Iterator[Contradiction]:
    """Find everything in a workload that cannot be."""
    yield from _cluster(workload.cluster)
    yield from _limits(workload.cluster)
    for topic in workload.topics:
        yield from _topic(workload.cluster, topic)
    for application in workload.applications:
        yield from _input(workload, application)
        for rule in _APPLICATION_RULES:
            for key, what in rule(workload, application):
                yield Contradiction(f"applications.{application.name}.{key}", f"{application.name}: {what}")


def _cluster(cluster: ClusterSpec) -> Iterator[Contradiction]:
    def no(key: str, what: str) -> Contradiction:
        return Contradiction(f"cluster.{key}", what)

    brokers = count_text(cluster.broker_count, "broker")
    if cluster.replication_factor > cluster.broker_count:
        yield no("replication_factor", f"replication_factor {cluster.replication_factor} needs more than {brokers}")
    if cluster.min_insync_replicas > cluster.replication_factor:
        yield no(
            "min_insync_replicas",
            f"min_insync_replicas {cluster.min_insync_replicas} is more than replication_factor "
            f"{cluster.replication_factor}: nothing could be written",
        )
    if cluster.brokers_lost >= cluster.broker_count:
        yield no("brokers_lost", f"brokers_lost {cluster.brokers_lost} of {cluster.broker_count} leaves no broker")
    if cluster.zone_count > cluster.broker_count:
        yield no("zones", f"{cluster.zone_count} zones need more than {brokers}")
    if cluster.transaction_version == 2 and cluster.kafka_major < 4:
        yield no("transaction_version", f"transaction_version 2 needs Kafka 4.0, not {cluster.kafka_version}")
    if cluster.max_utilisation == 0:
        yield no("max_utilisation", "max_utilisation 0 leaves nothing to plan with")
    if cluster.free_disk_share == 1:
        yield no("free_disk", "free_disk 100 % leaves nothing to plan with")


def _limits(cluster: ClusterSpec) -> Iterator[Contradiction]:
    if (cluster.heap_bytes or 0.0) >= (cluster.memory_bytes or inf):
        yield Contradiction(
            "cluster.heap",
            f"heap {bytes_text(cluster.heap_bytes or 0.0)} is not less than memory "
            f"{bytes_text(cluster.memory_bytes or 0.0)}, which includes it",
        )
    for key, limit in (
        ("disk", cluster.disk_bytes),
        ("disk_write", cluster.disk_write),
        ("network", cluster.network),
        ("heap", cluster.heap_bytes),
        ("appends", cluster.appends_per_s),
        ("segment", cluster.segment_bytes),
    ):
        if limit == 0:
            yield Contradiction(f"cluster.{key}", f"{key} 0 can carry nothing; leave it out when it is not known")


def _topic(cluster: ClusterSpec, topic: TopicSpec) -> Iterator[Contradiction]:
    path = f"topics.{topic.name}"
    size = topic.key_bytes + topic.value_bytes
    if topic.batch_records is not None and topic.batch_records < 1:
        yield Contradiction(f"{path}.batch_records", f"{topic.name}: a batch has at least one record")
    if topic.local_retention_ms is not None and cluster.release < FIRST_WITH_TIERED_STORAGE:
        yield Contradiction(
            f"{path}.local_retention",
            f"{topic.name}: tiered storage needs brokers of 3.6 or later, not {cluster.kafka_version} (KIP-405)",
        )
    if (local := topic.local_retention_ms) is not None and local > topic.retention_ms:
        yield Contradiction(
            f"{path}.local_retention",
            f"{topic.name}: local_retention {milliseconds_text(local)} is more than retention "
            f"{milliseconds_text(topic.retention_ms)}: brokers refuse it",
        )
    if topic.live_bytes and size > topic.live_bytes:
        yield Contradiction(
            f"{path}.live",
            f"{topic.name}: live {bytes_text(topic.live_bytes)} is less than one record of {bytes_text(size)}",
        )


Reported = Iterator[tuple[str, str]]


def _naming(workload: Workload, application: ApplicationSpec) -> Reported:
    if application.naming is TransactionalIdNaming.POOLING and application.has_naming_strategies is False:
        yield "naming", f"naming pooling needs connector 4.0 or later, not {application.connector}"


def _protocol(workload: Workload, application: ApplicationSpec) -> Reported:
    release = workload.cluster.release
    if application.kind is ApplicationKind.STREAMS and release < FIRST_WITH_EXACTLY_ONCE_V2:
        yield "kind", f"exactly_once_v2 needs brokers of 2.5 or later, not {workload.cluster.kafka_version} (KIP-447)"


def _timeouts(workload: Workload, application: ApplicationSpec) -> Reported:
    most, timeout = workload.cluster.transaction_max_timeout_ms, application.transaction_timeout_ms
    if timeout > most:
        yield (
            "transaction_timeout",
            (
                f"transaction_timeout {milliseconds_text(timeout)} is more than the brokers allow "
                f"({milliseconds_text(most)}): INVALID_TRANSACTION_TIMEOUT"
            ),
        )
    interval = application.commit_interval_ms
    if interval is not None and interval > timeout:
        reason = (
            "Streams refuses to start"
            if application.kind is ApplicationKind.STREAMS
            else "every transaction would be aborted before it commits"
        )
        yield (
            "commit_interval",
            (
                f"commit_interval {milliseconds_text(interval)} is above transaction_timeout "
                f"{milliseconds_text(timeout)}: {reason}"
            ),
        )


def _rhythm(workload: Workload, application: ApplicationSpec) -> Reported:
    cluster, counted = workload.cluster, application.transactions_per_s
    shortest = min_transaction_ms(
        cluster.client_round_trip_ms,
        cluster.replication_wait_ms,
        cluster.transaction_version,
        offsets=application.commits_offsets,
    )
    period = application.commit_interval_ms if counted is None else 1_000 * application.producer_count / counted
    if period is not None and period < shortest:
        yield (
            "commit_interval" if counted is None else "transactions",
            (
                f"a transaction every {milliseconds_text(period)} from each producer is not possible, with these round "
                f"trips one takes at least {milliseconds_text(shortest)} (F15)"
            ),
        )


def _instances(workload: Workload, application: ApplicationSpec) -> Reported:
    if application.instance_count > application.producer_count:
        yield (
            "instances",
            (
                f"{number_text(application.instance_count)} instances have {number_text(application.producer_count)} "
                "producers in all: each has at least one"
            ),
        )


def _standbys(workload: Workload, application: ApplicationSpec) -> Reported:
    if application.standby_count >= application.instance_count:
        yield (
            "standbys",
            (
                f"{number_text(application.standby_count)} standbys of a task need as many other instances, and there "
                f"are {number_text(application.instance_count)} instances in all"
            ),
        )


def _state(workload: Workload, application: ApplicationSpec) -> Reported:
    if application.state_bytes and application.restore_rate == 0:
        yield "restore_rate", f"at restore_rate 0 its state of {bytes_text(application.state_bytes)} never comes back"


def _offsets(workload: Workload, application: ApplicationSpec) -> Reported:
    offsets = application.offsets_per_transaction
    partitions = sum(workload.topic(name).partition_count for name in application.reads)
    if offsets and partitions and offsets > partitions:
        yield (
            "offsets_per_transaction",
            f"a transaction cannot commit offsets of {number_text(offsets)} of {partitions} partitions of its input",
        )


def _input(workload: Workload, application: ApplicationSpec) -> Iterator[Contradiction]:
    """Find an output without an input; without a count of transactions, they follow from the input."""
    if not application.reads or application.transactions_per_s is not None:
        return
    written = [name for name, _ in application.writes if workload.topic(name).rate_per_s]
    if written and not any(workload.topic(name).rate_per_s for name in application.reads):
        first, *_ = application.reads
        what = f"{application.name}: it reads no record from {', '.join(application.reads)}, and writes"
        yield Contradiction(f"topics.{first}.rate", f"{what} {', '.join(written)}; without an input, leave reads out")


def _sub_topologies(workload: Workload, application: ApplicationSpec) -> Reported:
    parts = {name: part for part in application.inputs for name in part}
    for topic, inputs in application.written_by:
        if not is_changelog_topic(topic):
            continue
        count = workload.topic(topic).partition_count
        tasks = max(workload.topic(name).partition_count for name in parts[inputs[0]])
        if len({parts[name] for name in inputs}) > 1:
            yield f"written_by.{topic}", f"{topic} is written by one sub-topology: that of its store"
        elif count != tasks:
            yield (
                f"written_by.{topic}",
                (
                    f"a changelog has a partition for each task: {topic} has {count}, and the sub-topology of "
                    f"{inputs[0]} has {tasks} tasks"
                ),
            )


def _partitions(workload: Workload, application: ApplicationSpec) -> Reported:
    period, highest = application.commit_period_ms, application.transactions_per_s
    if highest is None and period is not None:
        highest = application.producer_count * 1000 / period
    reach = 0.0
    for name, touched in application.writes:
        topic = workload.topic(name)
        reach += topic.partition_count if touched is None else touched
        if touched is not None and touched > topic.partition_count:
            yield (
                f"writes.{name}",
                f"a transaction cannot reach {number_text(touched)} of {topic.partition_count} partitions of {name}",
            )
        elif topic.rate_per_s == 0:
            yield f"writes.{name}", f"it writes {name}, whose rate is 0"
        elif touched is not None and highest and application.transactions_per_s is not None:
            records = topic.rate_per_s / highest
            if touched > records * COUNTED_EXACTLY_ENOUGH:
                yield (
                    f"writes.{name}",
                    (
                        f"{rate_text(highest)} transactions have {number_text(records)} records each for {name}, too "
                        f"few to reach {number_text(touched)} partitions"
                    ),
                )
    waves = application.partition_waves
    if waves is not None and waves > max(1.0, reach * COUNTED_EXACTLY_ENOUGH):
        yield (
            "partition_waves",
            f"{number_text(waves)} requests cannot each add a partition: a transaction reaches {number_text(reach)}",
        )


_APPLICATION_RULES: Final[tuple[Callable[[Workload, ApplicationSpec], Reported], ...]] = (
    _naming,
    _protocol,
    _timeouts,
    _rhythm,
    _instances,
    _standbys,
    _state,
    _offsets,
    _sub_topologies,
    _partitions,
)
