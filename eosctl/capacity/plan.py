"""From a workload to a plan. Pure: the same workload gives the same plan."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from eosctl.capacity.advice import advise
from eosctl.capacity.application_plan import plan_application
from eosctl.capacity.bytes_and_network import cross_zone_rate
from eosctl.capacity.disk import file_descriptor_count, memory_map_count
from eosctl.capacity.memory import producer_heap_bytes
from eosctl.capacity.record_sizes import producer_snapshot_bytes
from eosctl.capacity.recovery import coordinator_load_ms, producer_snapshot_load_ms
from eosctl.capacity.refusal import check_possible
from eosctl.capacity.requests import request_rate
from eosctl.capacity.resources import Demand, brokers_needed, find_bottleneck, total_demand, use_resources
from eosctl.capacity.rhythm import work_out_rhythms
from eosctl.capacity.topic_plan import TRANSACTION_STATE, plan_internal_topics, plan_topic
from eosctl.capacity.transactions import lag_inflation, marker_bytes_per_s
from eosctl.capacity.verdict import find_failures, list_unjudged
from eosctl.capacity.zones import lose_zone, zone_figures
from eosctl.model.capacity_plan import ApplicationPlan, CapacityPlan, Figure, Grade, TopicPlan, Unit
from eosctl.model.workload import ClusterSpec, Workload


def plan_capacity(workload: Workload) -> CapacityPlan:
    """Plan a workload.

    Raises:
        WorkloadRefused: It contradicts itself.
    """
    check_possible(workload)
    cluster = workload.cluster
    applications, topics, demand = _work_out(workload)
    resources = use_resources(cluster, demand)
    bottleneck, needed = find_bottleneck(resources), brokers_needed(cluster, demand)
    zone_loss = lose_zone(cluster, demand)
    failures = tuple(find_failures(workload, applications, zone_loss))
    data = sum(topic.data_batches_per_s for topic in topics if not topic.internal)
    return CapacityPlan(
        workload=workload.name,
        broker_count=cluster.broker_count,
        brokers_lost=cluster.brokers_lost,
        replication_factor=cluster.replication_factor,
        topics=topics,
        applications=applications,
        figures=(*_figures(workload, topics, applications, demand), *(zone_figures(zone_loss) if zone_loss else ())),
        resources=resources,
        eos_appends_per_s=(demand.appends_per_s - data) * cluster.replication_factor,
        data_appends_per_s=data * cluster.replication_factor,
        transactions_per_s=sum(application.transactions_per_s for application in applications),
        markers_per_s=sum(application.markers_per_s for application in applications),
        bottleneck=bottleneck.name if bottleneck else "",
        fits=False if failures else (bottleneck.utilisation or 0.0) <= 1 if bottleneck else None,
        broker_count_needed=needed,
        advice=advise(workload, topics, applications, resources, needed, zone_loss, partial(_use_heap, workload)),
        assumptions=workload.assumptions,
        failures=failures,
        not_judged=tuple(list_unjudged(workload, applications, resources)),
    )


def _work_out(workload: Workload) -> tuple[tuple[ApplicationPlan, ...], tuple[TopicPlan, ...], Demand]:
    rhythms = work_out_rhythms(workload)
    applications = tuple(plan_application(workload, application, rhythms) for application in workload.applications)
    topics = (
        *(plan_topic(workload, topic, rhythms) for topic in workload.topics),
        *plan_internal_topics(workload, applications),
    )
    requests = request_rate(workload, topics, applications, rhythms)
    return applications, topics, total_demand(workload.cluster, topics, applications, requests)


def _use_heap(workload: Workload, cluster: ClusterSpec) -> float:
    """Return the share of the planned heap that EOS state uses on other brokers."""
    _, _, demand = _work_out(replace(workload, cluster=cluster))
    return next(use.utilisation or 0.0 for use in use_resources(cluster, demand) if use.name == "heap for EOS state")


def _figures(
    workload: Workload, topics: Sequence[TopicPlan], applications: Sequence[ApplicationPlan], demand: Demand
) -> tuple[Figure, ...]:
    cluster = workload.cluster
    rf, count = cluster.replication_factor, cluster.broker_count
    markers = sum(application.markers_per_s for application in applications)
    records = sum(topic.data_batches_per_s * topic.batch_records for topic in topics if not topic.internal)
    state = next(topic for topic in topics if topic.name == TRANSACTION_STATE)
    moved_bytes = state.stored_bytes / rf / count
    moved_records = moved_bytes / (state.written / state.data_batches_per_s) if state.data_batches_per_s else 0.0
    load = coordinator_load_ms(moved_records, moved_bytes)
    low, high = producer_heap_bytes(demand.producer_entries)
    busiest = max((topic.stored_bytes / topic.partition_count / rf for topic in topics), default=0.0)
    segments = demand.partition_count / count + demand.stored_bytes / cluster.segment_bytes / count
    entries_each = demand.producer_entries / max(1, demand.partition_count)
    start = producer_snapshot_load_ms(demand.producer_entries / count)
    rows = [
        Figure("written by clients and coordinators, one copy", demand.written, Unit.BYTES_PER_S, "F1", Grade.ASSUMED),
        Figure("markers, all copies", marker_bytes_per_s(markers, rf), Unit.BYTES_PER_S, "F8", Grade.EXACT),
        Figure("__transaction_state appends, one copy", state.data_batches_per_s, Unit.PER_S, "F9", Grade.EXACT),
        Figure("__transaction_state bytes, one copy", state.written, Unit.BYTES_PER_S, "F9", Grade.ASSUMED),
        Figure("stored, all copies", demand.stored_bytes, Unit.BYTES, "F5, F6", Grade.ASSUMED),
        Figure("producer states, all replicas", demand.producer_entries, Unit.COUNT, "F17", Grade.EXACT),
        Figure("heap for producer states, at least", low, Unit.BYTES, "F16", Grade.MEASURED),
        Figure("heap for producer states, at most", high, Unit.BYTES, "F16", Grade.MEASURED),
        Figure("heap for transactions", demand.transaction_heap_bytes, Unit.BYTES, "F16", Grade.MEASURED),
        Figure(
            "producer snapshot of an average replica",
            producer_snapshot_bytes(round(entries_each)),
            Unit.BYTES,
            "F17",
            Grade.EXACT,
        ),
        Figure("producer snapshots at a broker's start, at least", start[0], Unit.MILLISECONDS, "F17", Grade.MEASURED),
        Figure("producer snapshots at a broker's start, at most", start[1], Unit.MILLISECONDS, "F17", Grade.MEASURED),
        # Logs are as large as between two cleanings with full active segments; smaller ones load faster.
        Figure(
            "loading a lost broker's coordinators from full logs, at least",
            load[0],
            Unit.MILLISECONDS,
            "F19",
            Grade.MEASURED,
        ),
        Figure(
            "loading a lost broker's coordinators from full logs, at most",
            load[1],
            Unit.MILLISECONDS,
            "F19",
            Grade.MEASURED,
        ),
        Figure(
            "__transaction_state partitions that a broker leads",
            cluster.transaction_log_partitions / count,
            Unit.COUNT,
            "F12",
            Grade.EXACT,
        ),
        Figure("requests to all brokers", demand.requests_per_s, Unit.PER_S, "threads", Grade.ASSUMED),
        Figure("largest partition", busiest, Unit.BYTES, "F5, F6", Grade.ASSUMED),
        Figure(
            "open files of a broker, without connections",
            file_descriptor_count(
                demand.stored_bytes / count, demand.partition_count / count, cluster.segment_bytes, 0
            ),
            Unit.COUNT,
            "F27",
            Grade.ASSUMED,
        ),
        Figure("memory maps of a broker", memory_map_count(segments), Unit.COUNT, "F27", Grade.ASSUMED),
        Figure(
            "offsets that are markers, in 100",
            100 * lag_inflation(records, markers),
            Unit.COUNT,
            "F33",
            Grade.EXACT,
        ),
    ]
    if cluster.zone_count > 1:
        between = cross_zone_rate(demand.written, demand.read, rf, cluster.zone_count)
        rows.append(Figure("between zones", between, Unit.BYTES_PER_S, "F31", Grade.ASSUMED))
    if remote := sum(topic.remote_bytes for topic in topics):
        rows.append(Figure("in remote storage, one copy", remote, Unit.BYTES, "F7", Grade.ASSUMED))
    return tuple(rows)
