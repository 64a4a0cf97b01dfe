"""Fold a coordinator's rollback into the fault after which its producer did not end the transaction itself.

A producer in a fatal error state cannot abort: its application ends or closes it, and the coordinator rolls the
transaction back at its timeout. The coordinator's record names no reason, but the client's log has it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.explained import CERTAIN
from eosctl.logs.incidents.joining.absorbing import absorb, effect, start_of, with_parts
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.model.severity import Severity
from eosctl.text import time_text

ROLLED_BACK_MS: Final = 930_000
"""The largest default of transaction.max.timeout.ms (15 min), and the coordinator's checks every 10 s."""
_TIMEOUT: Final = "transaction_timeout"
_FATAL: Final = kinds_with("fails_transaction")
_NAMES: Final = ("transactional.id", "producerId")


def join_abandoned(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; a rollback without a known reason is a part of the fault of the same producer before it."""
    faults: dict[tuple[str, object], list[Incident]] = defaultdict(list)
    for one in incidents:
        if one.kind in _FATAL and one.severity is not Severity.INFO and _is_of_client(timeline, one):
            for name in _NAMES:
                if one.subject.get(name):
                    faults[name, one.subject[name]].append(one)

    def home_of(one: Incident) -> Incident | None:
        if not faults or one.kind != _TIMEOUT or one.confidence >= CERTAIN or _is_of_client(timeline, one):
            return None
        before = [fault for name in _NAMES for fault in faults.get((name, one.subject.get(name)), ())]
        return next((fault for fault in reversed(before) if _is_after(timeline, one, fault)), None)

    return absorb(incidents, home_of, _with_rollbacks)


def _is_of_client(timeline: LogTimeline, one: Incident) -> bool:
    servers = timeline.servers()
    return any(event.application not in servers for event in timeline.evidence(one))


def _is_after(timeline: LogTimeline, one: Incident, fault: Incident) -> bool:
    """Return whether a rollback follows a fault within its timeout, and the id was not initialized in between."""
    if not fault.t_start_ms <= one.t_start_ms <= fault.t_end_ms + ROLLED_BACK_MS:
        return False
    named = one.subject.get("transactional.id")
    inits = timeline.with_value("transactional_id", str(named), "INIT_PRODUCER_ID") if named else ()
    return not any(fault.t_end_ms < (event.time_ms or 0) < one.t_start_ms for event in inits)


def _with_rollbacks(fault: Incident, rollbacks: Sequence[Incident]) -> Incident:
    at = time_text(start_of(rollbacks))
    text = f"the producer did not end its open transaction, so the coordinator rolled it back at {at}, at its timeout."
    return with_parts(fault, rollbacks, effect(_TIMEOUT, text))
