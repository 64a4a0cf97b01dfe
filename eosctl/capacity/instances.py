"""What each instance of an application needs: tasks, memory, local disk, and time to take over (F20, F22, F23)."""

from __future__ import annotations

from math import ceil

from eosctl.capacity.disk import store_disk_bytes
from eosctl.capacity.memory import rocksdb_bytes, streams_heap_bytes
from eosctl.capacity.record_sizes import record_bytes
from eosctl.capacity.recovery import standby_takeover_ms
from eosctl.model.capacity_plan import InstancePlan
from eosctl.model.workload import ApplicationSpec, Cleanup, Workload

#: ``acceptable.recovery.lag``, in offsets.
ACCEPTABLE_RECOVERY_LAG = 10_000


def plan_instance(workload: Workload, application: ApplicationSpec, task_count: int) -> InstancePlan:
    """Plan one instance of a Kafka Streams application; with uneven shares the largest one.

    Args:
        workload: The workload.
        application: The application.
        task_count: Its tasks, those of all sub-topologies.
    """
    instances = application.instance_count
    threads = ceil(application.producer_count / instances)
    copies = 1 + application.standby_count
    live = application.state_bytes / instances
    return InstancePlan(
        instances=instances,
        threads=threads,
        tasks=ceil(task_count / instances),
        heap_bytes=streams_heap_bytes(application.cache_bytes, threads, application_bytes=application.own_heap_bytes),
        off_heap_bytes=_off_heap_bytes(workload, application, copies) if live else 0.0,
        disk_bytes=store_disk_bytes(live * copies),
        takeover_ms=_takeover_ms(workload, application) if live else 0.0,
    )


def _off_heap_bytes(workload: Workload, application: ApplicationSpec, copies: int) -> float:
    """Return what RocksDB takes for the stores of one instance; a state without named stores is taken as one store.

    Every task of a store's sub-topology has a RocksDB of its own: as many as the input with the most partitions.
    """
    tasks = max((workload.topic(name).partition_count for name in application.reads), default=0)
    windowed = sum(store.windowed for store in application.stores)
    plain = max(1, len(application.stores)) - windowed

    def held(stores: int) -> int:
        return ceil(stores * tasks * copies / application.instance_count)

    return rocksdb_bytes(held(plain)) + rocksdb_bytes(held(windowed), windowed=True)


def _takeover_ms(workload: Workload, application: ApplicationSpec) -> float:
    """Return how long a standby catches up at most before it takes a task."""
    changelogs = [t for name, _ in application.writes if (t := workload.topic(name)).cleanup is Cleanup.COMPACT]
    if not changelogs:
        return 0.0
    sizes = [record_bytes(round(topic.key_bytes) or None, round(topic.value_bytes)) for topic in changelogs]
    records_per_s = application.restore_rate / (sum(sizes) / len(sizes))
    return standby_takeover_ms(ACCEPTABLE_RECOVERY_LAG, records_per_s)
