"""Fold servers that waited in vain for a controller into the lost quorum that they waited for.

A broker starts only once the active controller acknowledges it (``BrokerServer.startup``). Without a majority of voters
no controller is active, so its log ends with an error about its start, as a rule in another file than the quorum's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.text import time_text

LATE_MS: Final = 3_600_000
"""Maximum time from the last record of a lost quorum; the log of a controller may end before the broker gives up."""
_QUORUM: Final = "controller_quorum_lost"
_START: Final = ("server_ended_by_a_fault", "start-not-completed")
_CONTROLLER: Final = "controller"


def join_waiting_servers(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; a start that waited for a controller is a part of a lost quorum before it."""
    lost = [one for one in incidents if one.kind == _QUORUM]
    waited: dict[int, list[Incident]] = defaultdict(list)
    absorbed: set[int] = set()
    for one in incidents if lost else ():
        cause = next((other for other in lost if _waits_for(timeline, one, other)), None)
        if cause is not None:
            waited[id(cause)].append(one)
            absorbed.add(id(one))
    for one in incidents:
        if id(one) not in absorbed:
            yield _with_starts(one, waited[id(one)]) if id(one) in waited else one


def _waits_for(timeline: LogTimeline, one: Incident, cause: Incident) -> bool:
    """Return whether a server did not start for want of a controller, and no log names a leader in between."""
    if (one.kind, one.root_cause) != _START:
        return False
    if not all(_CONTROLLER in event.fields.get("awaited", "") for event in timeline.evidence(one)):
        return False
    if not cause.t_start_ms <= one.t_start_ms <= cause.t_end_ms + LATE_MS:
        return False
    return not within(timeline.of("CONTROLLER_LEADER", "CONTROLLER_ACTIVE"), cause.t_start_ms, one.t_end_ms)


def _with_starts(cause: Incident, starts: Sequence[Incident]) -> Incident:
    brokers = sorted({name for one in starts if isinstance(name := one.subject.get("broker", ""), str) and name})
    who = f"broker {brokers[0]}" if len(brokers) == 1 else "brokers " + ", ".join(brokers) if brokers else "a server"
    at = time_text(min(one.t_start_ms for one in starts))
    places = (place for one in (cause, *starts) for place in one.evidence)
    return cause._replace(
        subject={**cause.subject, **({"waiting.brokers": tuple(brokers)} if brokers else {})},
        t_end_ms=max(cause.t_end_ms, *(one.t_end_ms for one in starts)),
        evidence=tuple(dict.fromkeys(places))[:MAX_EVIDENCE_COUNT],
        explanation=f"{cause.explanation} Effect (server_ended_by_a_fault): {who} waited for the controller and did "
        f"not start at {at}.",
    )
