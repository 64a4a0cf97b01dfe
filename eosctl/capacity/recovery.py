"""How long things take to come back, and how much can be done in parallel (formulas F19, F21 to F23)."""

from __future__ import annotations

from typing import Final

from eosctl.capacity.memory import MEMTABLE_BYTES

#: What a broker reads of ``__transaction_state`` in a second at most: 0.5 s for 100,000 records of 14 MB were measured
#: on 4.3.1, and 0.22 s for 46,540 on 3.9.2.
COORDINATOR_LOAD_RECORDS_PER_S: Final = 250_000
COORDINATOR_LOAD_BYTES_PER_S: Final = 35e6
COLD_FACTOR: Final = 5
COLD_START_MS: Final = 1_000
#: What a broker needs for an entry of a producer snapshot, and to begin with: 100,000 entries took 68 to 99 ms on 4.3.1
#: and 141 to 317 ms on 3.9.2, each right after a start, 300,000 took 316 and 593 ms, and 1,000 took 6 to 38 ms.
SNAPSHOT_ENTRY_MS: Final = (0.0005, 0.004)
SNAPSHOT_COLD_START_MS: Final = 50
#: What Kafka Streams 4.3.1 needs to restore a record and each of its bytes, of a quiet machine: 5.7 s for two million
#: records of 76 B, 3.6 s for a million of 166 B, 2.7 s for 300,000 of 1,016 B, and 2.9 s for 100,000 of 4,112 B. All
#: threads together use 1.37 times as much processor time: 7.7, 5.0, 4.0, and 4.3 s.
RESTORE_RECORD_MS: Final = 0.00234
RESTORE_BYTE_MS: Final = 6.6e-6
RESTORE_CPU_FACTOR: Final = 1.37
#: Where the size of records is not known, that of 200 B is taken.
USUAL_RESTORED_BYTES: Final = 200.0


def coordinator_load_ms(record_count: float, log_bytes: float) -> tuple[float, float]:
    """Return the least and the most time that a broker takes to load the coordinator partitions moved to it (F19).

    One thread of the broker loads them one after the other, so this is the sum over all of them. The slower of two
    measured rates counts: records, and bytes. A JVM that has just started was measured to
    need up to five times as long, and up to a second to begin with: 0.4 to 1.5 s for 35,000 records on a busy machine.

    >>> coordinator_load_ms(100_000, 14e6)
    (400.0, 3000.0)
    """
    least = max(record_count / COORDINATOR_LOAD_RECORDS_PER_S, log_bytes / COORDINATOR_LOAD_BYTES_PER_S) * 1000
    return least, least * COLD_FACTOR + COLD_START_MS


def producer_snapshot_load_ms(entry_count: float) -> tuple[float, float]:
    """Return the least and the most time that a starting broker spends on its producer snapshots (F17).

    One of the ``num.recovery.threads.per.data.dir`` reads the newest snapshot of each of its partitions
    (ProducerStateManager); divide by their number. Only an unclean stop adds the batches behind the snapshot.

    Args:
        entry_count: Producers in all the snapshots that are read.

    >>> producer_snapshot_load_ms(100_000)
    (50.0, 450.0)
    """
    least, most = SNAPSHOT_ENTRY_MS
    return entry_count * least, entry_count * most + SNAPSHOT_COLD_START_MS


def restore_rate(record_bytes: float) -> float:
    """Return the bytes per second that an instance of Kafka Streams restores of records of this size (F21).

    Each record costs time, and each byte: small records restore at a fraction of the rate of large ones.

    >>> [round(restore_rate(size) / 1e6) for size in (76, 166, 1_016, 4_112)]
    [27, 48, 112, 139]
    """
    return 1000 * record_bytes / (RESTORE_RECORD_MS + record_bytes * RESTORE_BYTE_MS)


def restore_ms(live_bytes: float, bytes_per_s: float, dirty_ratio: float = 0.5) -> float:
    """Return how long an instance takes to restore its stores from their changelogs (F21).

    After an unclean stop under exactly-once the local stores are wiped, so everything is read again, and with it what
    compaction has not removed yet.

    Args:
        live_bytes: State of the instance.
        bytes_per_s: The slowest of network, disk and RocksDB's ingestion; the instance's threads share it.
        dirty_ratio: ``min.cleanable.dirty.ratio`` of the changelogs.

    >>> restore_ms(12.5e9, 50e6) / 1000
    500.0
    """
    return live_bytes / (1 - dirty_ratio) / bytes_per_s * 1000


def kept_restore_ms(
    live_bytes: float,
    bytes_per_s: float,
    store_instance_count: int,
    dirty_ratio: float = 0.5,
    memtable_bytes: float = MEMTABLE_BYTES,
) -> float:
    """Return how long an instance restores at most after a kill, with transactional state stores (F21).

    The stores are kept up to what RocksDB has written to its files. It has no write-ahead log, so the memtable of each
    store and task is read again: on 4.4.0, a kill restored 15.4 MB of each of two stores. Never more than `restore_ms`.

    Args:
        live_bytes: State of the instance.
        bytes_per_s: The slowest of network, disk and RocksDB's ingestion; the instance's threads share it.
        store_instance_count: Stores of the instance, each counted for each of its tasks.
        dirty_ratio: ``min.cleanable.dirty.ratio`` of the changelogs.
        memtable_bytes: ``write_buffer_size``; 16 MiB unless a ``RocksDBConfigSetter`` sets it.

    >>> round(kept_restore_ms(12.5e9, 50e6, 8) / 1000, 1)
    2.7
    """
    least = restore_ms(live_bytes, bytes_per_s, dirty_ratio)
    return min(least, store_instance_count * memtable_bytes / bytes_per_s * 1000)


def standby_takeover_ms(lag_offsets: float, restore_records_per_s: float) -> float:
    """Return how long a standby takes to catch up (F22): seconds, as long as it is not far behind.

    ``acceptable.recovery.lag`` counts offsets (10,000), not milliseconds.

    >>> standby_takeover_ms(10_000, 50_000)
    200.0
    """
    return lag_offsets / restore_records_per_s * 1000


def task_count(partitions_by_sub_topology: tuple[int, ...]) -> int:
    """Return the tasks of a stream application (F23): for each sub-topology the most partitions of its inputs.

    >>> task_count((32, 32, 12))
    76
    """
    return sum(partitions_by_sub_topology)


def useful_thread_count(thread_count: int, tasks: int) -> int:
    """Return how many threads, over all instances, have something to do (F23).

    The source compares with the threads of one instance; 32 partitions keep 32 threads busy wherever they run.

    >>> [useful_thread_count(threads, 32) for threads in (16, 32, 64)]
    [16, 32, 32]
    """
    return min(thread_count, tasks)
