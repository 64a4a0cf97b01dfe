"""Name a server that stood still as the cause of the requests of clients that it did not answer meanwhile.

Redpanda's reactor reports each shard that does not return to it in time; such a shard answers nothing. Where it does so
again and again, the stalls are a fault even if no client's log shows what waited.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.evidence import evidence_of, incident, joined_evidence, short_text
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.pauses import pause_ms
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, is_error
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text, name_some, time_text

LEAST_MS: Final = 1_000
"""A shorter stall delays requests, but does not let them time out."""
AROUND_MS: Final = 10_000
"""Maximum time between a stall and the report of a request that it held up."""
AGAIN: Final = 3
"""Minimum number of such stalls that are a fault by themselves."""
EPISODE_MS: Final = 600_000
_SHARD: Final = re.compile(r"\bon shard (\d{1,5})\b")
_WAITING: Final = kinds_with("waits")
_REACTOR: Final = "Reactor stalled for "


def name_stalled_servers(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; requests without an answer have the stall of a server at that time as a possible cause."""
    stalls = [event for event in timeline.of("PROCESS_PAUSED") if _REACTOR in event.message]
    long_ones = [event for event in stalls if pause_ms(event) >= LEAST_MS]
    explained: set[tuple[str, int]] = set()
    for one in incidents:
        near = within(long_ones, one.t_start_ms - AROUND_MS, one.t_end_ms + AROUND_MS) if _may_wait(one) else ()
        explained |= {(event.file, event.offset) for event in near}
        yield _named(one, near) if near else one
    left = [event for event in long_ones if (event.file, event.offset) not in explained]
    for own in by_key((timeline.log_of(event), event) for event in left).values():
        for stalled in episodes(own, EPISODE_MS):
            if len(stalled) >= AGAIN:
                yield _of_server(timeline, stalled)


def _of_server(timeline: LogTimeline, stalls: Sequence[LogEvent]) -> Incident:
    """Return the incident of a shard that stands still again and again."""
    longest = max(stalls, key=pause_ms)
    begin, end = time_of(stalls[0]) - round(pause_ms(stalls[0])), time_of(stalls[-1]) + AROUND_MS
    errors = [event for event in timeline.log_between(stalls[0], begin, end) if is_error(event)]
    shards = sorted({found[1] for event in stalls if (found := _SHARD.search(event.message))}, key=int)
    where = f" of {longest.host}" if longest.host else ""
    meanwhile = f' Meanwhile it reports: "{short_text(errors[-1].message)}".' if errors else ""
    return incident(
        "server_stalled",
        "reactor-stalled",
        {
            "host": longest.host,
            **({"shard": shards[0]} if len(shards) == 1 else {"shards": tuple(shards)}),
            "application": longest.application,
        },
        [*stalls, *errors],
        f"{name_some('shard', shards).capitalize()}{where} stood still {count_text(len(stalls), 'time')} for a second "
        f"or more, at most for {duration_text(round(pause_ms(longest)))}, at {time_text(time_of(longest))} (Reactor "
        f"stalled): requests to its partitions wait meanwhile, and time out.{meanwhile}",
        "Find what holds the shard up: its disk, large batches or many partitions, the memory and the CPUs of the "
        "node. The backtraces name the code that did not return; support of Redpanda can decode them.",
        severity=Severity.ERROR if errors else Severity.WARNING,
        confidence=0.75,
        t_start_ms=begin,
    )


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
