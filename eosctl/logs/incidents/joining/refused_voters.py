"""Name refused connections between controllers as the cause of a metadata quorum without a leader.

A voter whose certificate or login the others refuse gets no votes (``KafkaNetworkChannel``), so the elections fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, with_parts
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.text import time_text

BEFORE_MS: Final = 60_000
"""Maximum time from a refused connection to the first election that its log shows as lost."""
_QUORUM: Final = "controller_quorum_lost"
_REFUSED: Final = "authentication_failed"
_NAMES: Final = (
    "Voters connect to the names of controller.quorum.voters or controller.quorum.bootstrap.servers, with the settings "
    "of the controller listener."
)
_LAST_CAUSE: Final = re.compile(r"Its last cause: [^\n]+")
_OF_VOTERS: Final = re.compile(r"\[RaftManager (?:nodeId|id)=\d+\]|\bVoteRequestData\(|\b__cluster_metadata\b")


def join_refused_voters(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; connections that voters refuse each other are a part of the quorum that gets no leader."""
    lost = [one for one in incidents if one.kind == _QUORUM]
    return absorb(
        incidents, lambda one: next((other for other in lost if _is_cause(timeline, one, other)), None), _with_cause
    )


def _is_cause(timeline: LogTimeline, one: Incident, quorum: Incident) -> bool:
    """Return whether an incident only reports connections to other voters that failed while a quorum had no leader."""
    events = timeline.evidence(one) if one.kind == _REFUSED else ()
    if not events or not all(_OF_VOTERS.search(event.message) for event in events):
        return False
    return quorum.t_start_ms - BEFORE_MS <= time_of(events[0]) <= quorum.t_end_ms


def _with_cause(quorum: Incident, parts: Sequence[Incident]) -> Incident:
    first = min(parts, key=lambda one: one.t_start_ms)
    found = _LAST_CAUSE.search(first.explanation)
    reason = found[0] if found else first.explanation
    text = f"Cause: the voters refuse each other's connections from {time_text(first.t_start_ms)} on. {reason}"
    return with_parts(quorum, parts, text)._replace(next_step=f"{first.next_step} {_NAMES}")
