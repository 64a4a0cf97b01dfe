"""How much of each broker's resources is used, with all brokers and after some are lost."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from eosctl.capacity.bytes_and_network import (
    disk_write_per_broker,
    network_in_per_broker,
    network_out_after_broker_loss,
    network_out_per_broker,
    page_cache_bytes,
)
from eosctl.capacity.memory import producer_heap_bytes, transaction_heap_bytes
from eosctl.capacity.threads import busy_network_threads, busy_request_handlers
from eosctl.model.capacity_plan import ApplicationPlan, Grade, ResourceUse, TopicPlan, Unit
from eosctl.model.workload import ClusterSpec

#: Replicas that a broker should hold: the published limits for large brokers begin here (F28).
REPLICAS_PER_BROKER = 4_000
#: Limits known for every cluster; they decide a verdict only together with stated limits, or when exceeded.
ALWAYS_KNOWN = frozenset({"replicas", "request handlers", "network threads"})
#: Half of the heap may hold long-lived objects; the rest is for requests and the garbage collector.
LASTING_HEAP_SHARE = 0.5

#: Transactions of a producer that are open at most: a Flink subtask also has one that waits for its checkpoint.
OPEN_AT_A_TIME = 2


class Demand(NamedTuple):
    """What all brokers together have to do; bytes and appends in one copy, stored bytes and entries in all."""

    written: float
    read: float
    delayed_bytes: float
    stored_bytes: float
    partition_count: int
    appends_per_s: float
    requests_per_s: float
    producer_entries: float
    transaction_heap_bytes: float


def total_demand(
    cluster: ClusterSpec,
    topics: Sequence[TopicPlan],
    applications: Sequence[ApplicationPlan],
    requests_per_s: float,
) -> Demand:
    """Add up what topics and applications cause; requests are counted apart (see `eosctl.capacity.requests`)."""
    latest = max((a.visible_p99_ms for a in applications), default=0.0) / 1000
    open_counts = [min(a.transactional_ids, a.producers * OPEN_AT_A_TIME) for a in applications]
    idle_count = sum(application.transactional_ids for application in applications) - sum(open_counts)
    heap = transaction_heap_bytes(0, 0, cluster.replication_factor, idle_count)
    for application, count in zip(applications, open_counts, strict=True):
        heap += transaction_heap_bytes(count, application.marked_partitions, cluster.replication_factor)
    return Demand(
        written=sum(topic.written for topic in topics),
        read=sum(topic.read for topic in topics),
        delayed_bytes=latest * sum(topic.read for topic in topics),
        stored_bytes=sum(topic.stored_bytes for topic in topics),
        partition_count=sum(topic.partition_count for topic in topics) * cluster.replication_factor,
        appends_per_s=sum(topic.data_batches_per_s + topic.markers_per_s for topic in topics),
        requests_per_s=requests_per_s,
        producer_entries=sum(a.producer_entries for a in applications) + sum(t.producer_entries for t in topics),
        transaction_heap_bytes=heap,
    )


def use_resources(cluster: ClusterSpec, demand: Demand) -> tuple[ResourceUse, ...]:
    """Compare what each broker has to do with what it can do.

    The loss is seen before anything is copied anew, except for disk space and producers' states: those of lost
    replicas come back on the brokers that are left.
    """
    rf, count, left = cluster.replication_factor, cluster.broker_count, cluster.broker_count - cluster.brokers_lost
    copies_left = min(rf, left)
    share = cluster.max_utilisation

    def compare(
        name: str,
        unit: Unit,
        used: float,
        after: float,
        limit: float | None,
        may_use: float,
        formula: str,
        grade: Grade = Grade.ASSUMED,
    ) -> ResourceUse:
        return ResourceUse(
            name=name,
            unit=unit,
            used=used,
            used_after_loss=after,
            limit=limit,
            planned=None if limit is None else limit * may_use,
            formula=formula,
            grade=grade,
        )

    disk_write = disk_write_per_broker(demand.written, rf, count)
    network_in = network_in_per_broker(demand.written, rf, count)
    network_out = network_out_per_broker(demand.written, demand.read, rf, count)
    out_after = network_out_after_broker_loss(demand.written, demand.read, rf, count, cluster.brokers_lost)
    heap = producer_heap_bytes(demand.producer_entries)[1] + demand.transaction_heap_bytes
    cache = page_cache_bytes(disk_write, demand.delayed_bytes / count)
    memory = None
    if cluster.memory_bytes is not None and cluster.heap_bytes is not None:
        memory = max(1.0, cluster.memory_bytes - cluster.heap_bytes)
    stored_left = demand.stored_bytes * copies_left / rf
    replicas = float(demand.partition_count)
    rate, size = Unit.BYTES_PER_S, Unit.BYTES
    requests = demand.requests_per_s / count
    handlers = busy_request_handlers(requests, demand.appends_per_s / count, demand.written / count)
    networkers = busy_network_threads(requests, network_in + network_out)
    # Without re-replication a remaining broker continues to write only its own replicas.
    return (
        compare("network in", rate, network_in, network_in, cluster.network, share, "F3, F24a"),
        compare("network out", rate, network_out, out_after, cluster.network, share, "F4, F24a"),
        compare("disk write", rate, disk_write, disk_write, cluster.disk_write, share, "F2, F24a"),
        compare(
            "disk space",
            size,
            demand.stored_bytes / count,
            stored_left / left,
            cluster.disk_bytes,
            1 - cluster.free_disk_share,
            "F5, F6",
        ),
        compare("page cache", size, cache, cache * count / left, memory, 1.0, "F26"),
        compare(
            "heap for EOS state",
            size,
            heap / count,
            heap / left,
            cluster.heap_bytes,
            LASTING_HEAP_SHARE,
            "F16, F17",
            Grade.MEASURED,
        ),
        compare(
            "appends",
            Unit.PER_S,
            demand.appends_per_s * rf / count,
            demand.appends_per_s * copies_left / left,
            cluster.appends_per_s,
            share,
            "F11",
        ),
        compare(
            "request handlers",
            Unit.COUNT,
            handlers,
            handlers * count / left,
            cluster.io_threads,
            share,
            "threads",
            Grade.MEASURED,
        ),
        compare(
            "network threads",
            Unit.COUNT,
            networkers,
            networkers * count / left,
            cluster.network_threads,
            share,
            "threads",
            Grade.MEASURED,
        ),
        compare(
            "replicas", Unit.COUNT, replicas / count, replicas / left, REPLICAS_PER_BROKER, 1.0, "F28", Grade.EXACT
        ),
    )


def find_bottleneck(resources: Sequence[ResourceUse]) -> ResourceUse | None:
    """Return the resource that is nearest to its planned limit; None when no limit was stated.

    Limits that are always known (replicas, threads) count as a bottleneck only next to stated ones, or when exceeded.
    """
    known = [resource for resource in resources if resource.utilisation is not None]
    stated = [resource for resource in known if resource.name not in ALWAYS_KNOWN]
    if not stated and all((resource.utilisation or 0) <= 1 for resource in known):
        return None
    return max(known, key=lambda resource: resource.utilisation or 0.0)


def brokers_needed(cluster: ClusterSpec, demand: Demand, most: int = 1_000) -> int | None:
    """Return the fewest brokers with which everything fits after the loss; None without limits, or if none do."""
    if find_bottleneck(use_resources(cluster, demand)) is None:
        return None
    fewest = max(cluster.replication_factor, cluster.zone_count, cluster.brokers_lost + cluster.min_insync_replicas)

    def fits(count: int) -> bool:
        resources = use_resources(replace(cluster, broker_count=count), demand)
        return all((resource.utilisation or 0.0) <= 1.0 for resource in resources)

    # More brokers never have more to do each.
    candidates = range(fewest, most + 1)
    found = bisect_left(candidates, True, key=fits)
    return candidates[found] if found < len(candidates) else None
