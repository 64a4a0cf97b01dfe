"""Name a server that stood still as the cause of the requests of clients that it did not answer meanwhile.

Redpanda's reactor reports each shard that does not return to it in time; such a shard answers nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.evidence import evidence_of, joined_evidence
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.pauses import pause_ms
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import duration_text, time_text

LEAST_MS: Final = 1_000
"""A shorter stall delays requests, but does not let them time out."""
AROUND_MS: Final = 10_000
"""Maximum time between a stall and the report of a request that it held up."""
_WAITING: Final = kinds_with("waits")
_REACTOR: Final = "Reactor stalled for "


def name_stalled_servers(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; requests without an answer have the stall of a server at that time as a possible cause."""
    stalls = [event for event in timeline.of("PROCESS_PAUSED") if _REACTOR in event.message]
    long_ones = [event for event in stalls if pause_ms(event) >= LEAST_MS]
    for one in incidents:
        near = within(long_ones, one.t_start_ms - AROUND_MS, one.t_end_ms + AROUND_MS) if _may_wait(one) else ()
        yield _named(one, near) if near else one


def _may_wait(one: Incident) -> bool:
    return one.kind in _WAITING and one.root_cause != "brokers-not-reached"


def _named(one: Incident, stalls: Sequence[LogEvent]) -> Incident:
    longest = max(stalls, key=pause_ms)
    lasted_ms = round(pause_ms(longest))
    start_ms = time_of(longest) - lasted_ms
    where = f" on {longest.host}" if longest.host else ""
    return one._replace(
        evidence=joined_evidence(one.evidence, evidence_of(stalls)),
        explanation=f"{one.explanation} Most likely cause: a shard of Redpanda{where} stood still for "
        f"{duration_text(lasted_ms)} from {time_text(start_ms)} on (Reactor stalled), and answered nothing meanwhile.",
        next_step="Find what holds the shard up: its disk, large batches or many partitions, the memory and the CPUs "
        "of the node. Send the records again that were not acknowledged.",
    )
