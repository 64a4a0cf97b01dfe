"""Find records that preceded failures more often than by chance, and failures without such records.

This is only a hint for users. The verdicts come from ``logs.incidents``.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from eosctl.model.log_digest import Precursor, Unexplained
from eosctl.model.log_event import LogEvent

WINDOW_MS: Final = 10_000
MIN_LIFT: Final = 2.0
MIN_FAILURES: Final = 5
"""With fewer failures, chance cannot be excluded."""
RECENT_MS: Final = 3_000
"""After this time, a precursor's weight drops to a third."""

FAILURES: Final = frozenset(
    {
        *("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH", "TXN_TIMEOUT_ABORT", "TXN_ABORT_CLIENT", "COMMIT_FAILED"),
        *("TASK_MIGRATED", "STREAM_THREAD_DEATH", "CLIENT_FATAL", "TIMEOUT_COMMIT_TXN", "TIMEOUT_SEND"),
        *("TIMEOUT_INIT_PID", "NOT_ENOUGH_REPLICAS", "INVALID_PID_MAPPING", "GROUP_FENCED", "FRAMEWORK_ROLLBACK"),
        *("OUT_OF_ORDER_SEQUENCE", "STATIC_MEMBER_FENCED"),
    }
)
CAUSES: Final = frozenset(
    {
        *("GC_PAUSE", "COORDINATOR_LOAD", "COORDINATOR_UNLOAD", "COORDINATOR_UNAVAILABLE", "REBALANCE_TRIGGER"),
        *("ASSIGNMENT_CHANGE", "POLL_TIMEOUT", "MEMBER_EVICTED", "BROKER_START", "BROKER_SIGNAL", "BROKER_FENCED"),
        *("CONTROLLER_ACTIVE", "CONTROLLER_LOST", "LEADER_ELECTION", "ISR_SHRINK", "NOT_LEADER", "NETWORK_DISCONNECT"),
        "BROKERS_UNREACHED",
        *("INIT_PRODUCER_ID", "EPOCH_BUMP", "DISK_ERROR", "APPLICATION_KILLED", "CLIENT_START", "TXN_TIMEOUT_ABORT"),
    }
)
"""Categories that can cause a failure, not those that only accompany one."""


class Precursors(NamedTuple):
    """The pairs, best first, and the failures that none of them explains."""

    pairs: tuple[Precursor, ...]
    unexplained: tuple[Unexplained, ...]


def rank_precursors(events: Iterable[LogEvent], window_ms: int = WINDOW_MS) -> Precursors:
    """Rank the records that preceded failures by lift over their base rate and by recency.

    Args:
        events: The events of a scan.
        window_ms: The time before a failure in which records count.
    """
    times: dict[str, list[int]] = {}
    for event in events:
        if event.time_ms is not None:
            times.setdefault(event.category, []).append(event.time_ms)
    for stamps in times.values():
        stamps.sort()
    if not times:
        return Precursors((), ())
    start, end = min(stamps[0] for stamps in times.values()), max(stamps[-1] for stamps in times.values())
    pairs: list[Precursor] = []
    unexplained: list[Unexplained] = []
    for failure in sorted(one for one in FAILURES & times.keys() if len(times[one]) >= MIN_FAILURES):
        found = [
            pair
            for cause in sorted(CAUSES & times.keys() - {failure})
            if (pair := _pair(failure, cause, times, window_ms, end + 1 - start)) is not None
        ]
        pairs += found
        missed = sum(
            not any(_before(times[pair.cause], moment, window_ms) for pair in found) for moment in times[failure]
        )
        if missed:
            unexplained.append(Unexplained(failure, missed, len(times[failure])))
    pairs.sort(key=lambda one: (-one.score, one.failure, one.cause))
    return Precursors(tuple(pairs), tuple(unexplained))


def _pair(failure: str, cause: str, times: dict[str, list[int]], window_ms: int, span_ms: int) -> Precursor | None:
    failures, causes = times[failure], times[cause]
    lags = sorted(
        moment - causes[index - 1]
        for moment in failures
        if (index := bisect_right(causes, moment)) and moment - causes[index - 1] <= window_ms
    )
    if not lags:
        return None
    expected = min(1.0, _covered_ms(causes, window_ms, span_ms, causes[0]) / span_ms)
    lift = len(lags) / len(failures) / expected
    if lift < MIN_LIFT:
        return None
    recency = sum(math.exp(-lag / RECENT_MS) for lag in lags) / len(lags)
    return Precursor(
        failure=failure,
        cause=cause,
        failure_count=len(failures),
        preceded_count=len(lags),
        expected_share=expected,
        lift=lift,
        typical_lag_ms=lags[len(lags) // 2],
        score=lift * (0.1 + 0.9 * recency),
    )


def _covered_ms(causes: Sequence[int], window_ms: int, span_ms: int, first: int) -> int:
    """Return the total time during which a cause was at most one window in the past."""
    covered, reach = 0, first
    for moment in causes:
        stop = min(moment + window_ms, first + span_ms)
        covered += max(0, stop - max(moment, reach))
        reach = max(reach, stop)
    return max(1, covered)


def _before(causes: Sequence[int], moment: int, window_ms: int) -> bool:
    index = bisect_left(causes, moment - window_ms)
    return index < len(causes) and causes[index] <= moment
