"""What each instance of an application needs: tasks, memory, local disk, and time to take over (F20, F22, F23)."""

from __future__ import annotations

from math import ceil, inf

from eosctl.capacity.disk import WINDOW_KEY_BYTES, store_disk_bytes
from eosctl.capacity.memory import (
    WINDOW_SEGMENTS,
    rocksdb_bytes,
    streams_heap_bytes,
    table_reader_bytes,
    uncommitted_bytes,
)
from eosctl.capacity.record_sizes import record_bytes
from eosctl.capacity.recovery import (
    USUAL_RESTORED_BYTES,
    kept_restore_ms,
    restore_ms,
    restore_rate,
    standby_takeover_ms,
)
from eosctl.model.capacity_plan import InstancePlan
from eosctl.model.workload import ApplicationSpec, StoreSpec, TopicSpec, Workload

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
    rate = instance_restore_rate(workload, application)
    buffers = _uncommitted_bytes(workload, application) if live else 0.0
    # One copy of each write is on the heap, the other is RocksDB's.
    added = buffers / 2 if application.transactional_stores else 0.0
    heap = streams_heap_bytes(application.cache_bytes, threads, application_bytes=application.own_heap_bytes)
    return InstancePlan(
        instances=instances,
        threads=threads,
        tasks=ceil(task_count / instances),
        cores=busy_core_count(threads, has_state=live > 0),
        heap_bytes=heap + added,
        off_heap_bytes=_off_heap_bytes(workload, application, copies) + added if live else 0.0,
        disk_bytes=store_disk_bytes(live * copies),
        takeover_ms=_takeover_ms(workload, application, rate) if live else 0.0,
        kept_restore_ms=_kept_restore_ms(workload, application, rate) if live else 0.0,
        uncommitted_bytes=buffers,
        wiped_restore_ms=restore_ms(restored_bytes(application) / instances, rate) if live else 0.0,
    )


def busy_core_count(threads: int, *, has_state: bool) -> int:
    """Return how many cores an instance can keep busy: one for each stream thread, and one that restores state.

    The thread of the state updater restores and keeps standbys (KIP-869). RocksDB's compactions, garbage collection,
    and network input are not counted.

    >>> busy_core_count(8, has_state=True), busy_core_count(8, has_state=False)
    (9, 8)
    """
    return threads + has_state


def _off_heap_bytes(workload: Workload, application: ApplicationSpec, copies: int) -> float:
    """Return what RocksDB takes for the stores of one instance; every task of a store's sub-topology has one."""
    record_bytes = restored_record_bytes(workload, application) or USUAL_RESTORED_BYTES
    readers = table_reader_bytes(application.state_bytes * copies / application.instance_count, record_bytes)
    return readers + sum(
        rocksdb_bytes(ceil(tasks * copies / application.instance_count), windowed=is_windowed)
        for is_windowed, tasks in _store_tasks(workload, application)
    )


def restored_bytes(application: ApplicationSpec) -> float:
    """Return what the changelogs of all stores hold of live records; without named stores, the state."""
    records = [_restored(store) for store in application.stores]
    return sum(count * size for count, size in records) if records else application.state_bytes


def _restored(store: StoreSpec) -> tuple[float, float]:
    return store.key_count, store.key_bytes + store.value_bytes + (WINDOW_KEY_BYTES if store.windowed else 0)


def instance_restore_rate(workload: Workload, application: ApplicationSpec) -> float:
    """Return the bytes per second that an instance restores: stated, or by the size of its stores' records."""
    if application.restore_rate is not None:
        return application.restore_rate
    return restore_rate(restored_record_bytes(workload, application) or USUAL_RESTORED_BYTES)


def restored_record_bytes(workload: Workload, application: ApplicationSpec) -> float | None:
    """Return the average size of the records that an instance restores; None where no store or changelog has one."""
    if count := sum(store.key_count for store in application.stores):
        return restored_bytes(application) / count
    sizes = [topic.key_bytes + topic.value_bytes for topic in _changelogs(workload, application)]
    return sum(sizes) / len(sizes) if sizes and sum(sizes) else None


def _takeover_ms(workload: Workload, application: ApplicationSpec, rate: float) -> float:
    """Return how long a standby catches up at most before it takes a task."""
    changelogs = _changelogs(workload, application)
    if not changelogs:
        return 0.0
    sizes = [record_bytes(round(topic.key_bytes) or None, round(topic.value_bytes)) for topic in changelogs]
    records_per_s = rate / (sum(sizes) / len(sizes))
    return standby_takeover_ms(ACCEPTABLE_RECOVERY_LAG, records_per_s)


def _kept_restore_ms(workload: Workload, application: ApplicationSpec, rate: float) -> float:
    tasks = _store_tasks(workload, application)
    segments = sum(count * (WINDOW_SEGMENTS if is_windowed else 1) for is_windowed, count in tasks)
    stores = ceil(segments / application.instance_count)
    return kept_restore_ms(restored_bytes(application) / application.instance_count, rate, stores)


def _uncommitted_bytes(workload: Workload, application: ApplicationSpec) -> float:
    """Return the memory of the buffers of an instance: their limit, where the file names no changelog."""
    written = sum(t.rate_per_s * (t.key_bytes + t.value_bytes) for t in _changelogs(workload, application))
    interval_ms = application.commit_interval_ms
    if not written or interval_ms is None:
        return uncommitted_bytes(inf, 1.0)
    return uncommitted_bytes(written / application.instance_count, interval_ms)


def _changelogs(workload: Workload, application: ApplicationSpec) -> list[TopicSpec]:
    return [t for name, _ in application.writes if (t := workload.topic(name)).cleanup.compacts]


def _store_tasks(workload: Workload, application: ApplicationSpec) -> list[tuple[bool, int]]:
    """Return for each store whether it is windowed, and the tasks of its sub-topology.

    A store's changelog has a partition for each task. Without one of its name there are at most as many as the input
    with the most partitions has. A state without named stores is taken as one store.
    """
    most = max((workload.topic(name).partition_count for name in application.reads), default=0)
    changelogs = {topic.name: topic.partition_count for topic in _changelogs(workload, application)}

    def count_tasks(store: StoreSpec) -> int:
        name = f"{store.name}-changelog"
        found = [tasks for topic, tasks in changelogs.items() if topic == name or topic.endswith(f"-{name}")]
        return found[0] if len(found) == 1 else most

    return [(store.windowed, count_tasks(store)) for store in application.stores] or [(False, most)]
