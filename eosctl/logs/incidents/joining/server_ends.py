"""Join the records of a server's end with the fault that it ends because of.

Kafka reports one fatal fault in several layers: the fault itself, the start that waited for what failed, and the end of
the process. The records of the later layers name no cause of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, with_parts
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.model.severity import Severity

END_MS: Final = 60_000
"""Maximum time from a fatal fault to the end of its process, which closes its connections and logs before."""
_ENDED: Final = "server_ended_by_a_fault"
_FATAL: Final = kinds_with("ends_server")
_WITHOUT_CAUSE: Final = frozenset({"unexplained", "start-not-completed"})
_OUTSIDE: Final = "error_outside_catalog"
_LAST_WORDS: Final = re.compile(r"^Exiting Kafka\b|\b[Ss]hutting down\b|\b[Ss]hut ?down\b")


def join_server_ends(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; the end of a server becomes a part of the fatal fault of the same log before it."""
    last: dict[str, Incident] = {}

    def home_of(one: Incident) -> Incident | None:
        logs = sorted({timeline.log_of(event) for event in timeline.evidence(one)})
        fault = next((last[log] for log in logs if log in last), None)
        if fault and one.t_start_ms <= fault.t_end_ms + END_MS and _is_end(timeline, one, fault):
            return fault
        if one.kind in _FATAL and one.severity is Severity.CRITICAL:
            last.update(dict.fromkeys(logs, one))
        return None

    return absorb(sorted(incidents, key=lambda one: one.t_start_ms), home_of, _with_ends)


def _is_end(timeline: LogTimeline, one: Incident, fault: Incident) -> bool:
    """Return whether an incident only reports that the server of a fault did not start, or that its process ends."""
    nodes = {one.subject[name] for name in ("broker", "controller") if one.subject.get(name)}
    named = {fault.subject[name] for name in ("broker", "controller") if fault.subject.get(name)}
    if nodes and named and not nodes & named:
        return False
    if one.kind == _ENDED:
        return one.root_cause in _WITHOUT_CAUSE
    events = timeline.evidence(one)
    return one.kind == _OUTSIDE and bool(events) and all(_LAST_WORDS.search(event.message) for event in events)


def _with_ends(fault: Incident, ends: Sequence[Incident]) -> Incident:
    parts = (*reversed(ends), fault)
    return with_parts(fault, ends, subject={name: value for one in parts for name, value in one.subject.items()})
