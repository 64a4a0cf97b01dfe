"""How far clocks are apart, told by what both sides print of one moment: a producer id and epoch are given out."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from eosctl.model.log_digest import ClockOffset
from eosctl.model.log_event import LogEvent


def compare_clocks(events: Iterable[LogEvent]) -> tuple[ClockOffset, ...]:
    """Compare each application's clock with the coordinators', those furthest apart first.

    A coordinator prints a producer id and epoch when it gives them out, the client when it gets them, milliseconds
    later; each pair of id and epoch is given out once.
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
