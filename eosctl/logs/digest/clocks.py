"""How far clocks are apart, told by what both sides print of one moment: a producer id and epoch are given out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import Final

from eosctl.model.log_event import LogEvent

TOLERATED_MS: Final = 2_000
"""Less than this is what an answer takes on a busy machine; clocks that agree show some milliseconds."""
QUARTER_MS: Final = 900_000
"""Zones are whole quarters of an hour apart."""


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """How far an application's clock, as its log was read, is from the coordinators'.

    Attributes:
        application: Whose log it is.
        offset_ms: The median of its times minus the coordinators' for the same producer id and epoch.
        pair_count: How many pairs that rests on.
    """

    application: str
    offset_ms: int
    pair_count: int

    @property
    def is_apart(self) -> bool:
        """Whether that is more than the time that an answer takes."""
        return abs(self.offset_ms) > TOLERATED_MS

    @property
    def is_like_a_zone(self) -> bool:
        """Whether it is about a whole number of quarter hours, as a zone that was read wrongly makes."""
        beside = abs(self.offset_ms + QUARTER_MS // 2) % QUARTER_MS - QUARTER_MS // 2
        return abs(self.offset_ms) > QUARTER_MS - TOLERATED_MS and abs(beside) <= TOLERATED_MS


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
