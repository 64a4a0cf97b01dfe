"""Compare clocks by a moment that both sides log: the assignment of a producer id and epoch."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from eosctl.model.log_digest import ClockOffset
from eosctl.model.log_event import LogEvent


def compare_clocks(events: Iterable[LogEvent]) -> tuple[ClockOffset, ...]:
    """Compare each application's clock with the coordinators', the largest difference first.

    A coordinator logs a producer id and epoch when it assigns them, the client when it receives them, milliseconds
    later. Each pair of id and epoch is assigned once.
    """
    given: dict[tuple[str, str], int] = {}
    got: dict[str, dict[tuple[str, str], int]] = {}
    for event in events:
        if event.category != "INIT_PRODUCER_ID" or event.time_ms is None:
            continue
        key = event.fields.get("producer_id", ""), event.fields.get("producer_epoch", "")
        if "" in key:
            continue
        side = given if "coordinator_partition" in event.fields else got.setdefault(event.application, {})
        side.setdefault(key, event.time_ms)
    offsets = []
    for application, times in got.items():
        differences = [time_ms - given[key] for key, time_ms in times.items() if key in given]
        if differences:
            offsets.append(ClockOffset(application, round(median(differences)), len(differences)))
    return tuple(sorted(offsets, key=lambda one: (-abs(one.offset_ms), one.application)))
