"""Pauses of garbage collection against the timeouts that clients print."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from eosctl.model.log_event import LogEvent

TIMEOUTS: Final = (
    ("transaction_timeout_ms", "transaction.timeout.ms"),
    ("max_poll_interval_ms", "max.poll.interval.ms"),
)
_NEAR_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class PauseOutlook:
    """What the pauses of one application come to.

    Attributes:
        application: Whose JVM it is.
        pause_count: How many pauses its log tells.
        total_ms: Their sum.
        longest_ms: The longest.
        longest_at_ms: When that was, ms since the epoch; None where its record has no time.
        nearest: The shortest timeout that any log prints, by Kafka's name; empty when none does.
        nearest_ms: Its value; 0 when none.
    """

    application: str
    pause_count: int
    total_ms: float
    longest_ms: float
    longest_at_ms: int | None
    nearest: str
    nearest_ms: int

    @property
    def is_near(self) -> bool:
        """Whether the longest pause took half of the shortest timeout or more."""
        return self.nearest_ms > 0 and self.longest_ms >= _NEAR_SHARE * self.nearest_ms


def weigh_pauses(events: Iterable[LogEvent]) -> tuple[PauseOutlook, ...]:
    """Put each application's pauses beside the shortest timeout, longest first."""
    pauses: dict[str, list[tuple[float, int | None]]] = {}
    timeouts: list[tuple[int, str]] = []
    for event in events:
        if event.category == "GC_PAUSE" and (pause := _number(event.fields.get("pause_ms"))) is not None:
            pauses.setdefault(event.application, []).append((pause, event.time_ms))
        for field, name in TIMEOUTS:
            if value := _number(event.fields.get(field)):
                timeouts.append((int(value), name))
    nearest_ms, nearest = min(timeouts, default=(0, ""))
    outlooks = []
    for application, found in pauses.items():
        longest_ms, at_ms = max(found, key=lambda one: one[0])
        total_ms = sum(pause for pause, _ in found)
        outlooks.append(PauseOutlook(application, len(found), total_ms, longest_ms, at_ms, nearest, nearest_ms))
    return tuple(sorted(outlooks, key=lambda one: (-one.longest_ms, one.application)))


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
