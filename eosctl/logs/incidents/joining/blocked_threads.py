"""Name the blocked thread just before a record without acknowledgment as its possible trigger.

Vert.x reports a thread that one call holds for longer than its limit. An event loop in that state runs nothing else:
neither the processing of further records nor their acknowledgments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import evidence_of, joined_evidence
from eosctl.logs.incidents.timeline.pauses import pause_ms
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import duration_text, time_text

BEFORE_MS: Final = 120_000
"""Twice the default ``throttled.unprocessed-record-max-age.ms``, after which SmallRye reports the record."""
_TRIGGERED: Final = frozenset({"record_not_acknowledged"})
_QUOTED: Final = 2
_STEP: Final = "The record about the blocked thread may have its stack trace. "


def name_blocked_threads(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; a record without acknowledgment has the threads that were blocked just before it."""
    for one in incidents:
        blocked = _blocked_before(timeline, one) if one.kind in _TRIGGERED else ()
        yield _named(one, blocked) if blocked else one


def _blocked_before(timeline: LogTimeline, one: Incident) -> Sequence[LogEvent]:
    own = timeline.evidence(one)
    if not own:
        return ()
    first = min(own, key=time_of)
    return timeline.log_between(first, time_of(first) - BEFORE_MS, time_of(first), ("THREAD_BLOCKED",))


def _named(one: Incident, blocked: Sequence[LogEvent]) -> Incident:
    longest = max(blocked, key=pause_ms)
    thread = longest.fields.get("blocked_thread", "a thread")
    text = (
        f"Just before, {thread} had been blocked for {duration_text(round(pause_ms(longest)))} at "
        f"{time_text(time_of(longest))}: that may have triggered it."
    )
    return one._replace(
        evidence=joined_evidence(one.evidence, evidence_of(blocked[:_QUOTED])),
        explanation=f"{one.explanation} {text}",
        next_step=f"{_STEP}{one.next_step}",
    )
