"""Workloads that cannot be: each is refused with the arithmetic that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from eosctl.capacity.latency import min_transaction_ms
from eosctl.capacity.quantities import milliseconds_text, number_text, rate_text
from eosctl.errors import ConfigFileError
from eosctl.model.workload import ApplicationKind, ApplicationSpec, ClusterSpec, Workload

#: Counted rates of records and of transactions rarely agree to the last one: intervals begin and end in the middle.
COUNTED_EXACTLY_ENOUGH: Final = 1.1


class WorkloadRefused(ConfigFileError):  # noqa: N818
    """A workload contradicts itself, or asks for what Kafka cannot do."""


def check_possible(workload: Workload) -> None:
    """Refuse what cannot be.

    Raises:
        WorkloadRefused: With every contradiction that was found.
    """
    found = [*_cluster(workload.cluster)]
    for application in workload.applications:
        found += _application(workload, application)
    if found:
        raise WorkloadRefused(
            f"The workload {workload.name} cannot be: {found[0]}.", "; ".join(found[1:]), "Correct the figures."
        )


def _cluster(cluster: ClusterSpec) -> Iterator[str]:
    if cluster.replication_factor > cluster.broker_count:
        yield f"replication_factor {cluster.replication_factor} needs more than {cluster.broker_count} brokers"
    if cluster.min_insync_replicas > cluster.replication_factor:
        yield (
            f"min_insync_replicas {cluster.min_insync_replicas} is more than replication_factor "
            f"{cluster.replication_factor}: nothing could be written"
        )
    if cluster.brokers_lost >= cluster.broker_count:
        yield f"brokers_lost {cluster.brokers_lost} of {cluster.broker_count} leaves no broker"
    if cluster.zone_count > cluster.broker_count:
        yield f"{cluster.zone_count} zones need more than {cluster.broker_count} brokers"
    if cluster.transaction_version == 2 and cluster.kafka_major < 4:
        yield f"transaction_version 2 needs Kafka 4.0, not {cluster.kafka_version}"
    if cluster.max_utilisation == 0 or cluster.free_disk_share == 1:
        yield "max_utilisation 0 or free_disk 100 % leave nothing to plan with"


def _application(workload: Workload, application: ApplicationSpec) -> Iterator[str]:
    cluster, name = workload.cluster, application.name
    if application.transaction_timeout_ms > cluster.transaction_max_timeout_ms:
        yield (
            f"{name}: transaction_timeout {milliseconds_text(application.transaction_timeout_ms)} is more than the "
            f"brokers allow ({milliseconds_text(cluster.transaction_max_timeout_ms)}): INVALID_TRANSACTION_TIMEOUT"
        )
    interval = application.commit_interval_ms
    if interval is not None and interval >= application.transaction_timeout_ms:
        reason = (
            "Streams refuses to start"
            if application.kind is ApplicationKind.STREAMS
            else "every transaction would be aborted before it commits"
        )
        yield (
            f"{name}: commit_interval {milliseconds_text(interval)} is not below transaction_timeout "
            f"{milliseconds_text(application.transaction_timeout_ms)}: {reason}"
        )
    shortest = min_transaction_ms(
        cluster.client_round_trip_ms,
        cluster.replication_round_trip_ms,
        cluster.transaction_version,
        offsets=application.commits_offsets,
    )
    period = interval
    if application.transactions_per_s is not None:
        period = 1000 * application.producer_count / application.transactions_per_s
    if period is not None and period < shortest:
        yield (
            f"{name}: a transaction every {milliseconds_text(period)} from each producer is not possible, with these "
            f"round trips one takes at least {milliseconds_text(shortest)} (F15)"
        )
    yield from _partitions(workload, application)


def _partitions(workload: Workload, application: ApplicationSpec) -> Iterator[str]:
    interval = application.commit_interval_ms
    highest = application.transactions_per_s
    if highest is None and interval is not None:
        highest = application.producer_count * 1000 / interval
    for topic_name, touched in application.writes:
        topic = workload.topic(topic_name)
        if touched is not None and touched > topic.partition_count:
            yield (
                f"{application.name}: a transaction cannot reach {number_text(touched)} of "
                f"{topic.partition_count} partitions of {topic_name}"
            )
        elif topic.rate_per_s == 0:
            yield f"{application.name} writes {topic_name}, whose rate is 0"
        elif touched is not None and highest and application.transactions_per_s is not None:
            records = topic.rate_per_s / highest
            if touched > records * COUNTED_EXACTLY_ENOUGH:
                yield (
                    f"{application.name}: {rate_text(highest)} transactions have {number_text(records)} records each "
                    f"for {topic_name}, too few to reach {number_text(touched)} partitions"
                )
