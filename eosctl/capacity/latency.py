"""Latency that read_committed readers see, and standstills (formulas F13 to F15, F34).

Consumers with read_committed see a record when its transaction is committed; where in the interval it arrived is
chance.
"""

from __future__ import annotations

from math import comb, erf, factorial, sqrt
from typing import Final

#: ``transaction.abort.timed.out.transaction.cleanup.interval.ms``
ABORT_SWEEP_MS: Final = 10_000
BROKER_SESSION_TIMEOUT_MS: Final = 9_000
MOST_EXACT_STAGES: Final = 20


def commit_wait_ms(stage_count: int, commit_interval_ms: float, quantile: float) -> float:
    """Return a quantile of the time that records wait for commits in a chain of stages (F13).

    In each stage the wait is uniform over the interval; the sum of ``stage_count`` of them has the Irwin-Hall
    distribution.

    The known factors of P99, for 1, 2 and 3 stages; so P99 is at least 0.99 s where the interval is 1 s, and the
    published results of 850 ms and, at 10 s, of 4.2 s are not possible:

    >>> [round(commit_wait_ms(stages, 1, 0.99), 2) for stages in (1, 2, 3)]
    [0.99, 1.86, 2.61]
    >>> [round(commit_wait_ms(stages, 100, 0.5)) for stages in (1, 2, 3)]
    [50, 100, 150]
    """
    low, high = 0.0, float(stage_count)
    for _ in range(60):
        middle = (low + high) / 2
        if irwin_hall_cdf(middle, stage_count) < quantile:
            low = middle
        else:
            high = middle
    return high * commit_interval_ms


def irwin_hall_cdf(x: float, count: int) -> float:
    """Return the probability that ``count`` uniform numbers sum to at most ``x``.

    The exact sum of many terms of changing sign loses its digits, and the normal distribution is as good by then.

    >>> irwin_hall_cdf(1.0, 2), irwin_hall_cdf(3.0, 3)
    (0.5, 1.0)
    """
    if x >= count:
        return 1.0
    if count > MOST_EXACT_STAGES:
        return (1 + erf((x - count / 2) / sqrt(count / 6))) / 2
    terms = ((-1) ** k * comb(count, k) * (x - k) ** count for k in range(int(x) + 1))
    return float(sum(terms)) / factorial(count)


def blocked_after_crash_ms(transaction_timeout_ms: float, marker_ms: float = 0.0) -> float:
    """Return how long readers stand still at most when a producer dies and does not come back (F14).

    The coordinator searches for overdue transactions every 10 s. A producer that returns with the same id unblocks the
    readers immediately.

    >>> blocked_after_crash_ms(60_000)
    70000.0
    """
    return transaction_timeout_ms + ABORT_SWEEP_MS + marker_ms


def min_transaction_ms(
    client_round_trip_ms: float, replication_round_trip_ms: float, transaction_version: int, *, offsets: bool
) -> float:
    """Return the shortest time between two transactions of one producer (F15).

    Requests: at TV0/TV1 AddPartitionsToTxn, Produce, EndTxn and for offsets AddOffsetsToTxn and TxnOffsetCommit; at TV2
    Produce, EndTxn and for offsets TxnOffsetCommit. Appends that must be replicated one after the other: add
    partitions, data, prepare, marker, complete.

    P3, measured by others with 10 ms to the client and 20 ms between brokers, was 45 ms to the answer of EndTxn:

    >>> min_transaction_ms(10, 0, 1, offsets=True)
    50.0
    >>> min_transaction_ms(1, 2, 2, offsets=True)
    13.0
    """
    requests = (5 if offsets else 3) if transaction_version < 2 else (3 if offsets else 2)
    return requests * client_round_trip_ms + 5.0 * replication_round_trip_ms


def throughput_share(stall_ms: float, commit_interval_ms: float) -> float:
    """Return the share of at-least-once throughput that exactly-once keeps (F34): it stalls after each interval.

    The next interval begins when the commit has ended (``StreamThread.maybeCommit``). With 3 ms (a raw producer) and
    22 ms (Streams: flush, offsets, commit) this gives both published results: 3 % loss at 100 ms, and 15-30 % at 100 ms
    but almost none at 30 s.

    >>> [round(throughput_share(stall, interval), 4) for stall, interval in ((3, 100), (22, 100), (22, 30_000))]
    [0.9709, 0.8197, 0.9993]
    """
    return commit_interval_ms / (commit_interval_ms + stall_ms)


def checkpoint_timeout_floor_ms(checkpoint_interval_ms: float, checkpoint_ms: float, restart_ms: float) -> float:
    """Return the least ``transaction.timeout.ms`` with which a Flink sink loses nothing.

    A transaction opens with one checkpoint and is committed when the next one is complete, or, after a failure, when
    the job has restarted from it. A transaction that the broker aborts earlier takes its records with it.

    Args:
        checkpoint_interval_ms: ``execution.checkpointing.interval``.
        checkpoint_ms: How long a checkpoint takes.
        restart_ms: How long the job is away at most.

    >>> checkpoint_timeout_floor_ms(60_000, 1_000, 300_000)
    361000
    """
    return checkpoint_interval_ms + checkpoint_ms + restart_ms


def transaction_timeout_floor_ms(commit_interval_ms: float, longest_pause_ms: float) -> float:
    """Return the least ``transaction.timeout.ms`` that survives the loss of a broker.

    A dead broker is noticed after its session timeout of 9 s, and a new leader elected a moment later. A rule of
    2.5 times the commit interval has no basis: at 100 ms it would abort every transaction affected by a broker's crash.

    Args:
        commit_interval_ms: ``commit.interval.ms``.
        longest_pause_ms: The longest pause of the application: garbage collection and the slowest batch.

    >>> transaction_timeout_floor_ms(100, 2_000), transaction_timeout_floor_ms(30_000, 2_000)
    (12000, 90000)
    """
    return max(3 * commit_interval_ms, BROKER_SESSION_TIMEOUT_MS + 1_000 + longest_pause_ms)
