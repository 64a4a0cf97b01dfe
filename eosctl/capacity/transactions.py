"""What exactly-once adds: appends, markers and their bytes (formulas F8 to F10, F33).

An append is one batch in one log. Data batches grow with data; these appends grow with producers times partitions over
the commit interval, whether there is much data or little.
"""

from __future__ import annotations

from math import ceil, exp, expm1, log1p
from typing import Final

from eosctl.capacity.record_sizes import MARKER_BATCH_BYTES

#: The least time in which records gather for one request, with ``linger.ms`` of 0.
SHORTEST_WINDOW_MS: Final = 0.1
#: Records for each partition after which one in 10⁹ has none.
ALL_JOINED: Final = 21.0
#: Windows that are added up one by one; more of them change so slowly that every n-th stands for n.
MOST_STEPS: Final = 2_000


def transaction_rate(producer_count: float, commit_interval_ms: float, input_rate_per_s: float | None = None) -> float:
    """Return transactions per second: each producer commits once in an interval, if it had anything to do.

    Args:
        producer_count: Transactional producers; Kafka Streams (exactly_once_v2) has one for each thread.
        commit_interval_ms: ``commit.interval.ms``.
        input_rate_per_s: Records per second that all producers handle together, arriving at random; None for plenty.

    >>> transaction_rate(32, 100)
    320.0
    >>> round(transaction_rate(2_000, 100, input_rate_per_s=2_000))
    1903
    """
    share = 1.0
    if input_rate_per_s is not None:
        share = 1 - exp(-input_rate_per_s / producer_count * commit_interval_ms / 1000)
    return producer_count * 1000 / commit_interval_ms * share


def partitions_touched(record_count: float, partition_count: int) -> float:
    """Return how many of a topic's partitions records with random keys reach on average.

    This is why repartitioned output costs so much: a hundred records already reach all of 32 partitions.

    >>> [round(partitions_touched(count, 32), 1) for count in (1, 10, 31.25, 100, 1000)]
    [1.0, 8.7, 20.1, 30.7, 32.0]
    """
    if partition_count == 1:
        return min(1.0, record_count)
    touched = float(partition_count * (1 - (1 - 1 / partition_count) ** record_count))
    return min(touched, record_count)


def marker_rate(transactions_per_s: float, data_partitions: float, *, offsets: bool) -> float:
    """Return markers per second in one copy (F8): one for each partition of each transaction.

    Args:
        transactions_per_s: Transactions per second.
        data_partitions: Partitions that a transaction writes, changelogs included.
        offsets: Whether consumed offsets are committed in the transaction: one more partition.

    G1, G2 and G3: 32 threads at 100 ms into one partition, into 32 repartition and 1 changelog partition, and the
    latter at 1 s and 10 s. The much copied figure for such a case is 3.2 markers/s, "320 B/s: negligible".

    >>> marker_rate(320, 1, offsets=True), marker_rate(320, 33, offsets=True)
    (640, 10880)
    >>> marker_rate(32, 33, offsets=True), round(marker_rate(3.2, 33, offsets=True), 1)
    (1088, 108.8)
    """
    return transactions_per_s * (data_partitions + (1 if offsets else 0))


def marker_bytes_per_s(markers_per_s: float, replication_factor: int = 1) -> float:
    """Return bytes per second of markers (F8): 78 bytes each, not the 100 of the copied example.

    G2 in one copy and in three, and G1 in three:

    >>> round(marker_bytes_per_s(10_880) / 1e6, 3), round(marker_bytes_per_s(10_880, 3) / 1e6, 2)
    (0.849, 2.55)
    >>> round(marker_bytes_per_s(640, 3) / 1e6, 3)
    0.15
    """
    return markers_per_s * MARKER_BATCH_BYTES * replication_factor


def transaction_log_append_rate(
    transactions_per_s: float, partition_waves: float, *, offsets: bool, initializations_per_s: float = 0.0
) -> float:
    """Return appends per second to ``__transaction_state`` in one copy (F9).

    Each transaction appends once for every request that adds new partitions, once for the offsets topic, once to
    prepare and once to complete.

    Args:
        transactions_per_s: Transactions per second.
        partition_waves: AddPartitionsToTxn requests that added something: at least 1; at TV2 the brokers send them,
            about one for each broker that leads some of the partitions.
        offsets: Whether offsets are committed in the transaction.
        initializations_per_s: InitProducerId requests, which append once each: functions and Flink's sinks send one for
            each transaction.

    >>> transaction_log_append_rate(320, 1, offsets=True), transaction_log_append_rate(320, 1, offsets=False)
    (1280.0, 960.0)
    >>> transaction_log_append_rate(2_000, 1, offsets=False, initializations_per_s=2_000)
    8000
    """
    return transactions_per_s * (partition_waves + (1 if offsets else 0) + 2) + initializations_per_s


def lag_inflation(records_per_s: float, markers_per_s: float) -> float:
    """Return the share of offsets that are markers (F33): by it lag in offsets overstates lag in records.

    >>> lag_inflation(10_000, 10_880)
    0.5210727969348659
    """
    offsets = records_per_s + markers_per_s
    return markers_per_s / offsets if offsets else 0.0


def partition_waves(
    record_rate_per_s: float, partition_count: float, leader_count: float, linger_ms: float, interval_ms: float
) -> float:
    """Estimate how many AddPartitionsToTxn requests of one transaction add something (the ``a`` of F9).

    Partitions join a transaction with their first record. Those whose first records fall into one linger window share a
    request: at TV0/TV1 the producer's, at TV2 one for each broker that leads some of them. With many records all join
    in the first window, with few each joins alone.

    Args:
        record_rate_per_s: Records per second of one producer into these partitions.
        partition_count: Partitions within reach of a transaction.
        leader_count: 1 at TV0/TV1; at TV2 the brokers that lead the partitions.
        linger_ms: ``linger.ms``.
        interval_ms: The commit interval.

    >>> round(partition_waves(100_000, 32, 1, 100, 100), 2), round(partition_waves(100_000, 32, 3, 100, 100), 2)
    (1.0, 3.0)
    >>> round(partition_waves(20, 32, 1, 5, 100), 2)
    1.85

    A minute of 150 records a second, with a linger of 5 ms: most of 30 partitions join alone.

    >>> round(partition_waves(150, 30, 3, 5, 60_000), 1)
    28.4
    """
    if partition_count <= 0 or record_rate_per_s <= 0:
        return 0.0
    # A sender without a linger still gathers what arrives while it is busy.
    window_ms = max(linger_ms, SHORTEST_WINDOW_MS)
    windows = max(1, round(interval_ms / window_ms))
    in_window = record_rate_per_s / partition_count * min(interval_ms / windows, window_ms) / 1000
    leaders = min(leader_count, partition_count)

    def added(window: float) -> float:
        joins = exp(-in_window * window) * -expm1(-in_window)
        return leaders * -expm1(partition_count / leaders * log1p(-min(joins, 1 - 1e-15)))

    # After this many windows every partition has joined.
    last = min(windows, ceil(ALL_JOINED / in_window))
    steps = min(last, MOST_STEPS)
    each = last / steps
    waves = each * sum(added((step + 0.5) * each - 0.5) for step in range(steps))
    return min(waves, partition_count)
