"""Name a coordinator that loads for long as the cause of initializations that time out meanwhile.

A broker that takes over a partition of ``__transaction_state`` reads all of it before it answers for its transactional
ids. Clients see only that InitProducerId times out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import evidence_of, joined_evidence
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import duration_text

LEAST_MS: Final = 10_000
"""A shorter load is part of every restart."""
AFTER_MS: Final = 60_000
"""Default of max.block.ms: an initialization times out this long after it began."""
NAMED: Final = 0.85
_CAUSE: Final = "coordinator-loads-for-long"
_KINDS: Final = frozenset({"init_producer_id_timeout", "coordinator_unavailable"})
_TOPIC: Final = "__transaction_state-"
_NEXT: Final = (
    "Wait for the load to end. Then find why the partition is large: transactional ids that are unique per run, a log "
    "cleaner that does not run, or a long transactional.id.expiration.ms."
)


def name_slow_loads(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; a client's that waited for a coordinator that was loading has this as its cause."""
    loads = [one for one in timeline.server_events("COORDINATOR_LOAD") if _lasted_ms(one) >= LEAST_MS]
    for one in incidents:
        load = _load_during(loads, one) if one.kind in _KINDS else None
        yield _named(timeline, one, load) if load else one


def _lasted_ms(event: LogEvent) -> int:
    """Return how long a load took, ms; 0 for another topic than the transaction log, or another record."""
    took = event.fields.get("load_ms", "")
    is_of_log = event.fields.get("coordinator_partition", "").startswith(_TOPIC)
    return int(took) if is_of_log and took.isdecimal() else 0


def _load_during(loads: Sequence[LogEvent], one: Incident) -> LogEvent | None:
    """Return the longest load that an incident's client can have waited for."""
    ended = within(loads, one.t_start_ms - AFTER_MS, float("inf"))
    near = [load for load in ended if time_of(load) - _lasted_ms(load) <= one.t_end_ms]
    return max(near, key=_lasted_ms, default=None)


def _named(timeline: LogTimeline, one: Incident, load: LogEvent) -> Incident:
    node = load.fields.get("broker", "") or timeline.node_of(load.application)
    partition = load.fields["coordinator_partition"]
    lasted_ms = _lasted_ms(load)
    text = (
        f"{f'Broker {node}' if node else 'A broker'} loaded {partition} for {duration_text(lasted_ms)}, and answers "
        f"for no transactional id of it meanwhile. {one.explanation.partition(': ')[0].rstrip('.')}."
    )
    return one._replace(
        root_cause=_CAUSE,
        confidence=max(one.confidence, NAMED),
        subject={**one.subject, "topic-partition": partition, **({"broker": node} if node else {})},
        t_start_ms=min(one.t_start_ms, time_of(load) - lasted_ms),
        evidence=joined_evidence(evidence_of([load]), one.evidence),
        explanation=text,
        next_step=_NEXT,
    )
