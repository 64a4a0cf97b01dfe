"""Memory of brokers and of stream applications (formulas F16 to F18, F20)."""

from __future__ import annotations

from typing import Final

MIB: Final = 2**20
#: Heap of one producer's state in one replica, with 1 and with 5 batches remembered; measured on a JVM.
PRODUCER_ENTRY_HEAP_BYTES: Final = (270, 453)
#: Heap of a transactional id of 49 characters without an open transaction. Ids of 23 characters took 307 B on 4.4.0 and
#: 373 B on 3.9.2, measured with 20,000.
IDLE_TRANSACTIONAL_ID_HEAP_BYTES: Final = 365
#: Heap of an id with an open transaction at its coordinator, without and for each of its partitions; and of the
#: transaction in each replica of such a partition. Class histograms of 3.9.2 and 4.4.0: `TransactionMetadata` with the
#: hash table of its partitions; `TxnMetadata`, its two `LogOffsetMetadata`, and its entry in ``ongoingTxns``.
OPEN_TRANSACTION_HEAP_BYTES: Final = 470
OPEN_PARTITION_HEAP_BYTES: Final = 65
ONGOING_TRANSACTION_HEAP_BYTES: Final = 152
MAX_PRODUCER_EPOCH: Final = 32_766
ROCKSDB_BLOCK_CACHE_BYTES: Final = 50 * MIB
MEMTABLE_BYTES: Final = 16 * MIB
ROCKSDB_WRITE_BUFFERS_BYTES: Final = 3 * MEMTABLE_BYTES
#: Indexes of RocksDB's files, which Streams keeps outside of the block cache, for each live byte, and Bloom filters of
#: 10 bits for each record: measured on 4.3.1 with records of 76 B (2.1 %), 166 B (0.9 to 1.3 %), and 1,016 B (0.6 %).
TABLE_INDEX_SHARE: Final = 0.0055
TABLE_FILTER_BYTES: Final = 10 / 8
#: ``statestore.uncommitted.max.bytes``, for all threads of an instance.
UNCOMMITTED_LIMIT_BYTES: Final = 64 * MIB
WINDOW_SEGMENTS: Final = 3


def producer_id_generations(expiration_ms: float, transactions_per_s_of_one_producer: float) -> float:
    """Return how many producer ids of one producer a partition remembers at TV2 (F17).

    At TV2 every transaction raises the epoch, and after 32,766 of them the producer gets a new id; the old one is kept
    until ``producer.id.expiration.ms``.

    Ten transactions a second use up an id in 55 minutes:

    >>> round(producer_id_generations(86_400_000, 10), 1), producer_id_generations(86_400_000, 0)
    (27.4, 1.0)
    """
    return 1 + expiration_ms / 1000 * transactions_per_s_of_one_producer / MAX_PRODUCER_EPOCH


def producer_entry_count(
    producer_count: float, partitions_each: float, replication_factor: int, generations: float = 1.0
) -> float:
    """Return the producers' states on all replicas (F17).

    G4: 1,000 threads, 200 partitions, RF 3, at TV2 with a commit every 100 ms.

    >>> round(producer_entry_count(1_000, 200, 3, producer_id_generations(86_400_000, 10)) / 1e6, 1)
    16.4
    """
    return producer_count * partitions_each * replication_factor * generations


def renewed_entry_count(
    transactions_per_s: float, expiration_ms: float, partitions_each: float, replication_factor: int
) -> float:
    """Return the states on all replicas of producers that write one transaction each (F17).

    A Flink sink with the naming strategy INCREMENTING starts a new producer id for each subtask and checkpoint. Each
    partition that its transaction reached remembers it until ``producer.id.expiration.ms``.

    64 subtasks, a checkpoint every minute, 64 partitions, RF 3, 24 hours (FLINK-34554 reports a broker that ran out of
    memory this way):

    >>> round(renewed_entry_count(64 / 60, 86_400_000, 64, 3) / 1e6, 1)
    17.7
    """
    return transactions_per_s * expiration_ms / 1000 * partitions_each * replication_factor


def producer_heap_bytes(entry_count: float) -> tuple[float, float]:
    """Return the least and the most heap that producers' states take (F16).

    G4: "7.4 GB" at the upper figure.

    >>> round(producer_heap_bytes(16.4e6)[1] / 1e9, 1)
    7.4
    """
    low, high = PRODUCER_ENTRY_HEAP_BYTES
    return entry_count * low, entry_count * high


def transaction_heap_bytes(
    open_count: float, partitions_each: float, replication_factor: int, idle_count: float = 0
) -> float:
    """Return the heap that transactions and transactional ids take on all brokers (F16).

    The states of their producers (`producer_heap_bytes`) are counted apart.

    Args:
        open_count: Transactional ids with an open transaction.
        partitions_each: Partitions of each, that of the offsets included.
        replication_factor: Copies of these partitions; every replica knows the transactions of its partition.
        idle_count: Transactional ids without one, which are kept until ``transactional.id.expiration.ms``.

    2,000 transactions of 20 partitions in one copy, with their producers' states: 19.8 MB of objects on 4.4.0 and
    19.4 MB on 3.9.2.

    >>> round((transaction_heap_bytes(2_000, 20, 1) + producer_heap_bytes(40_000)[0]) / 1e6, 1)
    20.4
    >>> transaction_heap_bytes(0, 0, 3, idle_count=10_000)
    3650000
    """
    each = OPEN_TRANSACTION_HEAP_BYTES + partitions_each * (
        OPEN_PARTITION_HEAP_BYTES + replication_factor * ONGOING_TRANSACTION_HEAP_BYTES
    )
    return open_count * each + idle_count * IDLE_TRANSACTIONAL_ID_HEAP_BYTES


def transactional_id_count(ids_in_use: int, new_ids_per_s: float = 0.0, expiration_ms: float = 0.0) -> int:
    """Return the transactional ids that the coordinator keeps (F18).

    exactly_once_v2 has one id for each thread (application id, process id, thread number), the old version one for each
    task. The process id outlives a restart only with a persistent state directory: without one, every restart takes new
    ids. Ids that are no longer used are kept for ``transactional.id.expiration.ms``.

    32 threads; and a Flink sink of 64 subtasks with a new id for each at every checkpoint, one a minute, for 7 days:

    >>> transactional_id_count(32), transactional_id_count(64, 64 / 60, 7 * 86_400_000)
    (32, 645184)
    """
    return ids_in_use + round(new_ids_per_s * expiration_ms / 1000)


def streams_heap_bytes(
    cache_bytes: float,
    thread_count: int,
    producer_buffer_bytes: float = 32 * MIB,
    fetch_bytes: float = 50 * MIB,
    buffered_bytes_per_thread: float = 0.0,
    application_bytes: float = 0.0,
) -> float:
    """Return the heap of one instance of a stream application (F20).

    The record cache is for the instance, producers' and fetch buffers for each thread. The copied example has
    "2 GB block cache + 0.32 + 0.064 + 0.064 + 1 = 3.5 GB": it takes RocksDB for heap, the cache for each task and one
    producer for all. With 8 threads, 10 MB of cache and 1 GB of its own, an instance needs:

    >>> round(streams_heap_bytes(10e6, 8, application_bytes=1e9) / 1e9, 2)
    1.7
    """
    buffers = thread_count * (producer_buffer_bytes + fetch_bytes + buffered_bytes_per_thread)
    return application_bytes + cache_bytes + buffers


def rocksdb_bytes(store_instance_count: int, *, windowed: bool = False) -> float:
    """Return the most that RocksDB's caches and memtables take outside the heap when nothing bounds them (F20).

    Each store has a block cache of 50 MiB, which reading fills (four stores of 83 MB took 209.4 MB on 4.3.1), and at
    most three memtables of 16 MiB (``RocksDBStore``). 32 windowed stores: some 9.2 GiB, where the copied example plans
    2 GB.

    >>> round(rocksdb_bytes(32, windowed=True) / 2**30, 1)
    9.2
    """
    each = ROCKSDB_BLOCK_CACHE_BYTES + ROCKSDB_WRITE_BUFFERS_BYTES
    return float(store_instance_count * each * (WINDOW_SEGMENTS if windowed else 1))


def table_reader_bytes(live_bytes: float, record_bytes: float) -> float:
    """Return the memory outside the heap for indexes and filters of RocksDB's files (F20).

    It grows with the state, and no cache bounds it.

    >>> round(table_reader_bytes(50e9, 200) / 1e9, 2)
    0.59
    """
    return live_bytes * (TABLE_INDEX_SHARE + TABLE_FILTER_BYTES / record_bytes)


def uncommitted_bytes(
    written_bytes_per_s: float, commit_interval_ms: float, limit_bytes: float = UNCOMMITTED_LIMIT_BYTES
) -> float:
    """Return the memory that transactional state stores take for writes that are not committed (F20).

    Each write is held twice: in a sorted map on the heap, and in RocksDB's batch outside of it
    (``RocksDBTransactionBuffer``). The limit counts it once; a full buffer commits.

    Args:
        written_bytes_per_s: Keys and values that one instance writes to its stores.
        commit_interval_ms: ``commit.interval.ms``.
        limit_bytes: ``statestore.uncommitted.max.bytes``.

    >>> uncommitted_bytes(1e6, 100), uncommitted_bytes(1e9, 100) / MIB
    (200000.0, 128.0)
    """
    return 2 * min(written_bytes_per_s * commit_interval_ms / 1000, limit_bytes)
