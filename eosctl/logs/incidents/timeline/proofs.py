"""Decide which records can prove that something works again: each report of a recovery takes its records from here.

A recovery is an all-clear. Its proof is an explicit success of the same program: work, a producer's initialization, an
assignment. An error, a sentence that denies what it names, and a record that belongs to any incident of the set prove
nothing: the initialization that fences one producer is not the return of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.work import can_prove
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent

_STATE: Final[EventCategory] = "STREAM_STATE"
"""Streams' own report of its state, which is never a cause: also where an incident has it as its end."""


class Proofs:
    """The records of a set of logs that can prove a success.

    Attributes:
        timeline: The logs.
    """

    def __init__(self, timeline: LogTimeline, incidents: Iterable[Incident] = ()) -> None:
        """Take the logs, and the incidents whose evidence proves nothing."""
        self.timeline = timeline
        self._noted = {(place.file, place.offset) for one in incidents for place in one.evidence}

    def of(self, events: Iterable[LogEvent]) -> Sequence[LogEvent]:
        """Return those of some records that can prove a success."""
        return [event for event in events if can_prove(event) and not self._is_noted(event)]

    def _is_noted(self, event: LogEvent) -> bool:
        return event.category != _STATE and (event.file, event.offset) in self._noted

    def between(
        self, event: LogEvent, start_ms: float, end_ms: float, categories: tuple[EventCategory, ...]
    ) -> Sequence[LogEvent]:
        """Return the records of some categories that can prove a success of an event's program in a period."""
        return self.of(self.timeline.log_between(event, start_ms, end_ms, categories))
