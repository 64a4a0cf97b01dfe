"""Disk: what retention and compaction keep, and what a state store needs (formulas F5 to F7, F27)."""

from __future__ import annotations

from typing import Final

from eosctl.model.workload import StoreSpec

WINDOW_KEY_BYTES: Final = 12
VALUE_TIMESTAMP_BYTES: Final = 8
MMAPS_PER_SEGMENT: Final = 2
#: ``log.roll.hours``, in seconds.
ROLL_S: Final = 7 * 86_400


def retained_bytes(
    rate: float, retention_ms: float, partition_count: int, segment_bytes: float, replication_factor: int
) -> float:
    """Return what a topic with cleanup.policy=delete keeps on all brokers (F5), without free space.

    Segments are deleted whole and never while written to, hence one more for each partition. A segment ends when it is
    full, or with the first record after a week (``log.roll.hours``), also where the retention is shorter.

    Args:
        rate: Bytes per second.
        retention_ms: ``retention.ms``.
        partition_count: Partitions.
        segment_bytes: ``segment.bytes``.
        replication_factor: Copies.

    A much copied example has 1 KB x 10,000/s x 7 days = "5.8 TB", and RF for the changelog alone:
    "17.6 TB" in all. It is 6.05 TB in one copy, and for input and output with RF 3, the changelog's 0.15 TB and its
    safety of 1.5:

    >>> one_copy = retained_bytes(10e6, 7 * 86_400_000, 0, 0, 1)
    >>> round(one_copy / 1e12, 2), round((2 * 3 * one_copy + 0.15e12) * 1.5 / 1e12, 1)
    (6.05, 54.7)

    W5 (75 MB/s, RF 3, 3 nodes, 3 days): 6.48 TB a day and node, 19.44 TB for 3 days.

    >>> round(retained_bytes(75e6, 86_400_000, 0, 0, 3) / 3 / 1e12, 2)
    6.48

    W7 and W8 (39,000 msg/s of 1,941 B, three copies, 300 s and 6 h) were published as GB and TB; they are GiB and TiB:

    >>> round(retained_bytes(39_000 * 1_941, 300_000, 0, 0, 3) / 2**30, 2)
    63.45
    >>> round(retained_bytes(39_000 * 1_941, 21_600_000, 0, 0, 3) / 2**40, 2)
    4.46
    """
    return replication_factor * (rate * retention_ms / 1000 + active_bytes(rate, partition_count, segment_bytes))


def active_bytes(rate: float, partition_count: int, segment_bytes: float) -> float:
    """Return the most that the active segments of a topic hold in one copy: full, or the writes of a week.

    25 partitions that share 41 B/s never fill a segment of 1 GiB:

    >>> active_bytes(41, 25, 2**30) / 1e6, active_bytes(1e6, 25, 2**30) / 2**30
    (24.7968, 25.0)
    """
    return min(partition_count * segment_bytes, rate * ROLL_S)


def compacted_bytes(
    live_bytes: float,
    rate: float,
    partition_count: int,
    segment_bytes: float,
    replication_factor: int,
    dirty_ratio: float = 0.5,
) -> float:
    """Return the most that a compacted topic takes on all brokers (F6), without the cleaner's scratch space.

    The cleaner starts when ``dirty_ratio`` of the log is dirty, and never touches the active segment.

    Args:
        live_bytes: The newest records by key.
        rate: Bytes per second.
        partition_count: Partitions.
        segment_bytes: ``segment.bytes``.
        replication_factor: Copies.
        dirty_ratio: ``min.cleanable.dirty.ratio``.

    G5: 50 GB live, 32 partitions, RF 3, with segments of 1 GiB and of 100 MiB; "150 GB" is often quoted.

    >>> [round(compacted_bytes(50e9, 1e6, 32, segment, 3) / 1e9) for segment in (2**30, 100 * 2**20)]
    [403, 310]
    """
    return replication_factor * (live_bytes / (1 - dirty_ratio) + active_bytes(rate, partition_count, segment_bytes))


def tiered_local_bytes(
    rate: float, local_retention_ms: float, partition_count: int, segment_bytes: float, replication_factor: int
) -> float:
    """Return what a tiered topic keeps on local disks (F7): its local retention and two segments a partition.

    >>> round(tiered_local_bytes(10e6, 3_600_000, 32, 2**30, 3) / 1e9, 1)
    314.2
    """
    segments = 2 * active_bytes(rate, partition_count, segment_bytes)
    return replication_factor * (rate * local_retention_ms / 1000 + segments)


def tiered_remote_bytes(rate: float, retention_ms: float) -> float:
    """Return what a tiered topic keeps in remote storage (F7): one copy of its whole retention.

    >>> tiered_remote_bytes(10e6, 86_400_000) / 1e12
    0.864
    """
    return rate * retention_ms / 1000


def transaction_log_bytes(
    live_bytes: float, partition_count: int, append_rate: float, segment_bytes: float, dirty_ratio: float = 0.5
) -> float:
    """Return the size of one copy of ``__transaction_state`` or ``__consumer_offsets`` between two cleanings.

    Compaction keeps one record for each key; each written partition also holds up to one active segment. A segment
    ends when it is full, or with the first record after a week (``log.roll.hours``).

    Args:
        live_bytes: One record for each transactional id (or group and partition).
        partition_count: Partitions that are written to.
        append_rate: Bytes per second into the topic.
        segment_bytes: ``transaction.state.log.segment.bytes`` (100 MiB).
        dirty_ratio: ``min.cleanable.dirty.ratio``.

    >>> round(transaction_log_bytes(2_000 * 157, 50, 1e6, 100 * 2**20) / 1e9, 2)
    5.24
    >>> transaction_log_bytes(0, 50, 100, 100 * 2**20) / 1e6
    60.48
    >>> transaction_log_bytes(314_000, 50, 0, 100 * 2**20)
    628000.0
    """
    return live_bytes / (1 - dirty_ratio) + active_bytes(append_rate, partition_count, segment_bytes)


def live_bytes(store: StoreSpec) -> float:
    """Return the live bytes of a state store, with 1.3 for RocksDB's own structures.

    Streams' stores keep a timestamp of 8 B with each value; keys of windows take 12 B more. A much copied example has
    100 M x 150 B x 1.3 = 19.5 GB without either:

    >>> sizes = [live_bytes(StoreSpec("s", 100e6, 50, 100, windowed)) for windowed in (False, True)]
    >>> [round(size / 1e9, 1) for size in sizes]
    [20.5, 22.1]
    """
    key = store.key_bytes + (WINDOW_KEY_BYTES if store.windowed else 0)
    return store.key_count * (key + store.value_bytes + VALUE_TIMESTAMP_BYTES) * 1.3


def store_disk_bytes(live_bytes: float) -> float:
    """Return the local disk that a state store needs: twice its live bytes, for universal compaction.

    The source gives its write-ahead log as the reason; Kafka Streams has that switched off.

    >>> store_disk_bytes(19.5e9) / 1e9
    39.0
    """
    return 2 * live_bytes


def file_descriptor_count(log_bytes: float, partition_count: float, segment_bytes: float, connections: int) -> float:
    """Return the open files of a broker (F27): segments and connections; each replica has at least one segment.

    >>> file_descriptor_count(2e12, 1_000, 2**30, 5_000)
    7862.645149230957
    """
    return partition_count + log_bytes / segment_bytes + connections


def memory_map_count(segment_count: float) -> float:
    """Return the memory maps of a broker (F27): two indexes for each segment.

    W14: 50,000 partitions of one segment need 100,000; Linux' default of 65,530 fails.

    >>> memory_map_count(50_000)
    100000
    """
    return MMAPS_PER_SEGMENT * segment_count
