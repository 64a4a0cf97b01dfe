"""Join the long recovery of a broker's logs with the incident in which the broker ended before it.

A shutdown request before the recovery did not lead to a clean shutdown: the process was ended before it was complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, with_parts
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.servers.long_recoveries import LONG_MS, LONG_RECOVERY, SERVED_AGAIN
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.text import time_text

BEFORE_MS: Final = 3_600_000
"""Maximum time from the end of a broker to the recovery at its next start."""
_REQUESTED: Final = "broker_restart_clean"
_ENDED: Final = kinds_with("ends_server") | {
    *("broker_crash", "broker_restart", "controller_failover", "coordinator_failover", "log_recovery_interrupted"),
    *("not_enough_replicas", "process_killed"),
}
"""Kinds in which a broker ends, or is away: the recovery is a part of its absence."""


def join_recoveries(_: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; a broker's long recovery is a part of the incident in which the broker ended before it."""
    found = tuple(incidents)
    ends = [one for one in found if one.kind in _ENDED]
    recoveries = [one for one in found if one.kind == LONG_RECOVERY]

    def home_of(one: Incident) -> Incident | None:
        if one.kind == _REQUESTED:
            return next((other for other in recoveries if _is_before(one, other)), None)
        ended = (other for other in ends if _is_before(other, one)) if one.kind == LONG_RECOVERY else ()
        return next(iter(ended), None)

    return absorb(found, home_of, _whole)


def _is_before(end: Incident, recovery: Incident) -> bool:
    """Return whether a broker ended shortly before its recovery began, or its end was only seen then."""
    return bool(_nodes(end) & _nodes(recovery)) and -BEFORE_MS <= end.t_start_ms - recovery.t_start_ms <= LONG_MS


def _whole(one: Incident, parts: Sequence[Incident]) -> Incident:
    requests = [part for part in parts if part.kind == _REQUESTED]
    if one.kind == LONG_RECOVERY:
        at = time_text(min(part.t_start_ms for part in requests))
        text = f"It had received a shutdown request at {at}, and was ended before its shutdown was complete."
        return with_parts(one, parts, text)
    parts = [part for part in parts if part not in requests]
    has_end = "served again at" in one.explanation
    texts = (part.explanation.partition(f" {SERVED_AGAIN}")[0] if has_end else part.explanation for part in parts)
    return with_parts(one, parts, *texts)


def _nodes(one: Incident) -> frozenset[str]:
    values = (one.subject.get(name, ()) for name in ("broker", "brokers"))
    return frozenset(name for value in values for name in ((value,) if isinstance(value, str) else value) if name)
