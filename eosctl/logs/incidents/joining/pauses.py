"""Name the pause of a process as the cause of the sessions that it could not keep.

While the garbage collector or the machine stops a process, it sends neither heartbeats nor pings. Its first record
afterwards reports that a session has ended. The collector's own file has the pause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.evidence import evidence_of, joined_evidence
from eosctl.logs.incidents.timeline.pauses import pause_ms, stopped_by
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import duration_text, time_text

NAMED: Final = 0.9
_SESSIONS: Final = kinds_with("ends_with_pauses")
_CAUSE: Final = "pause-beyond-session-timeout"
_GC: Final = "GC_PAUSE"


def name_pauses(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; a session that a process lost in a long pause has the pause as its cause."""
    for one in incidents:
        events = timeline.evidence(one) if one.kind in _SESSIONS else ()
        pause = stopped_by(timeline, min(events, key=time_of)) if events else None
        yield _named(one, pause) if pause else one


def _named(one: Incident, pause: LogEvent) -> Incident:
    lasted_ms = round(pause_ms(pause))
    start_ms = time_of(pause) - lasted_ms
    by_whom = "the garbage collector stopped the process" if pause.category == _GC else "the process stood still"
    step = (
        "Find what fills the heap (a leak, too small a heap, large requests), or use a collector with shorter pauses."
        if pause.category == _GC
        else "Find what stopped the whole process: a suspended or throttled container or machine, swapping."
    )
    return one._replace(
        root_cause=_CAUSE,
        confidence=max(one.confidence, NAMED),
        t_start_ms=min(one.t_start_ms, start_ms),
        evidence=joined_evidence(evidence_of([pause]), one.evidence),
        explanation=f"{one.explanation} Cause: {by_whom} for {duration_text(lasted_ms)} from {time_text(start_ms)} on.",
        next_step=f"{step} Set the session timeout above the pauses that remain.",
    )
