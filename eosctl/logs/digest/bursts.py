"""Find the times at which an application logged far more of a kind than usual."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eosctl.model.log_digest import Burst
from eosctl.model.log_event import LogEvent, is_problem

SESSION_GAP_MS: Final = 5_000
MIN_EVENT_COUNT: Final = 5
MIN_FACTOR: Final = 3.0


def find_bursts(
    events: Iterable[LogEvent], gap_ms: int = SESSION_GAP_MS, min_count: int = MIN_EVENT_COUNT
) -> tuple[Burst, ...]:
    """Find sessions of warnings, errors, and throwables that are denser than the rest, densest first.

    A session ends after a pause of ``gap_ms``. Records at an even rate are not a burst.
    """
    times: dict[tuple[str, str], list[int]] = {}
    moments: list[int] = []
    for event in events:
        if event.time_ms is None:
            continue
        moments.append(event.time_ms)
        if is_problem(event):
            times.setdefault((event.application, event.category), []).append(event.time_ms)
    if not moments:
        return ()
    span_ms = max(moments) - min(moments) + 1
    found = [
        Burst(*who, session[0], session[-1], len(session), _factor(session, len(stamps), span_ms))
        for who, stamps in times.items()
        for session in _sessions(sorted(stamps), gap_ms)
        if len(session) >= min_count
    ]
    dense = [one for one in found if one.factor >= MIN_FACTOR]
    return tuple(sorted(dense, key=lambda one: (-one.event_count, one.start_ms, one.application, one.category)))


def _sessions(stamps: list[int], gap_ms: int) -> Iterator[list[int]]:
    current: list[int] = []
    for stamp in stamps:
        if current and stamp - current[-1] > gap_ms:
            yield current
            current = []
        current.append(stamp)
    if current:
        yield current


def _factor(session: list[int], total: int, span_ms: int) -> float:
    length_ms = max(1_000, session[-1] - session[0] + 1)
    return (len(session) / length_ms) / (total / span_ms)
