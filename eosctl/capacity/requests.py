"""How many requests a workload makes of its brokers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eosctl.capacity.rhythm import Rhythm
from eosctl.capacity.threads import fetch_request_rate, produce_request_rate, requests_per_transaction
from eosctl.model.capacity_plan import ApplicationPlan, TopicPlan
from eosctl.model.workload import ApplicationSpec, Workload


def request_rate(
    workload: Workload,
    topics: Sequence[TopicPlan],
    applications: Sequence[ApplicationPlan],
    rhythms: Mapping[str, Rhythm],
) -> float:
    """Return requests per second to all brokers: of transactions, of other writers, of readers and of followers."""
    cluster = workload.cluster
    batches = {topic.name: topic.data_batches_per_s for topic in topics}
    specs = {application.name: application for application in workload.applications}
    total = sum(
        _of_transactions(workload, specs[plan.name], plan, rhythms[plan.name], batches) for plan in applications
    )
    written = {name for application in workload.applications for name, _ in application.writes}
    for topic in workload.topics:
        if topic.name not in written:
            total += produce_request_rate(
                batches[topic.name], topic.writer_count, cluster.broker_count, topic.linger_ms
            )
        readers = [a for a in workload.applications if topic.name in a.reads]
        groups = len(readers) + topic.reader_count
        # A partition has one consumer in each group. What arrives within a linger is mostly fetched together.
        pace_ms = max(topic.linger_ms, cluster.client_round_trip_ms)
        total += fetch_request_rate(batches[topic.name] * groups, topic.partition_count * groups, pace_ms)
    followers = cluster.broker_count * (cluster.broker_count - 1)
    appends = sum(topic.data_batches_per_s + topic.markers_per_s for topic in topics)
    copies = cluster.replication_factor - 1
    return total + fetch_request_rate(appends * copies, followers, cluster.replication_round_trip_ms)


def _of_transactions(
    workload: Workload,
    application: ApplicationSpec,
    plan: ApplicationPlan,
    rhythm: Rhythm,
    batches: Mapping[str, float],
) -> float:
    """Return the requests per second of an application's transactions."""
    cluster = workload.cluster
    if not plan.transactions_per_s:
        return 0.0
    written = [workload.topic(name) for name, _ in application.writes]
    linger = min((topic.linger_ms for topic in written), default=0.0)
    own = sum(batches[topic.name] / _writer_count(workload, topic.name) for topic in written)
    produces = produce_request_rate(
        own, application.producer_count, cluster.broker_count, min(linger, rhythm.interval_ms)
    )
    leaders = min(cluster.broker_count, max(1.0, plan.data_partitions)) if written else 0.0
    produces = max(produces / plan.transactions_per_s, leaders)
    marked = min(cluster.broker_count, plan.data_partitions + (1 if application.commits_offsets else 0))
    each = requests_per_transaction(
        cluster.transaction_version, produces, plan.partition_waves, marked, offsets=application.commits_offsets
    )
    # A producer that begins anew also looks for its coordinator.
    return plan.transactions_per_s * each + 2 * plan.initializations_per_s


def _writer_count(workload: Workload, topic: str) -> int:
    """Count the applications that write a topic; they are taken to share its batches evenly."""
    return sum(topic in dict(application.writes) for application in workload.applications)
