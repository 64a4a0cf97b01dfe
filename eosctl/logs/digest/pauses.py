"""Compare pauses of garbage collection with the timeouts that clients log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eosctl.model.event_names import EventField
from eosctl.model.log_digest import PauseOutlook
from eosctl.model.log_event import LogEvent

TIMEOUTS: Final[tuple[tuple[EventField, str], ...]] = (
    ("transaction_timeout_ms", "transaction.timeout.ms"),
    ("max_poll_interval_ms", "max.poll.interval.ms"),
)


def weigh_pauses(events: Iterable[LogEvent]) -> tuple[PauseOutlook, ...]:
    """Compare each application's pauses with the shortest timeout, the longest pause first."""
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
        outlooks.append(
            PauseOutlook(
                application=application,
                pause_count=len(found),
                total_ms=total_ms,
                longest_ms=longest_ms,
                longest_at_ms=at_ms,
                nearest=nearest,
                nearest_ms=nearest_ms,
            )
        )
    return tuple(sorted(outlooks, key=lambda one: (-one.longest_ms, one.application)))


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
