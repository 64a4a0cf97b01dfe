"""Count the expulsions of a group's member, and find those that repeat in a fixed time after each rejoin.

A client without a thread for heartbeats, as KafkaJS, cannot send them while a handler blocks its event loop. The
coordinator then removes it after ``session.timeout.ms``; it rejoins, reads the same records, and blocks again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import episodes, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, duration_text

SAME_MOMENT_MS: Final = 2_000
"""A client logs one expulsion several times: the response, and what it does about it."""
LEAST: Final = 2
"""Minimum number of expulsions, each after a rejoin, for a cycle."""
SHORTEST_MS: Final = 5_000
"""Minimum time from a rejoin to an expulsion that a blocked handler explains; session.timeout.ms is not shorter."""
SHARE: Final = 10
"""Expulsions come at a fixed time if the times since the rejoin differ by at most this part."""
_FAULT: Final = ("member_fenced", "member-not-in-its-generation")
_CAUSE: Final = "handler-blocks-heartbeats"
_TIMES: Final = re.compile(r" \(\d[\d,]* times\)")


def name_cycles(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; expulsions count once each, and those of a fixed cycle have its cause."""
    for one in incidents:
        own = [event for event in timeline.evidence(one) if event.category == "GROUP_FENCED"]
        is_one_log = len({timeline.log_of(event) for event in own}) == 1
        yield _counted(timeline, one, own[0]) if (one.kind, one.root_cause) == _FAULT and is_one_log else one


def _counted(timeline: LogTimeline, one: Incident, first: LogEvent) -> Incident:
    group = str(one.subject.get("group", ""))
    near = timeline.log_between(first, one.t_start_ms, one.t_end_ms, ("GROUP_FENCED",))
    refused = [event for event in near if timeline.group_of(event) in (group, "")]
    moments = [time_of(burst[0]) for burst in episodes(refused, SAME_MOMENT_MS)]
    if not moments:
        return one
    times = f" ({count_text(len(moments), 'time')})" if len(moments) > 1 else ""
    text = _TIMES.sub(times, one.explanation, count=1)
    waits = _waits(timeline, first, moments)
    if len(waits) < LEAST or len(waits) != len(moments) or (max(waits) - min(waits)) * SHARE > max(waits):
        return one._replace(explanation=text)
    return one._replace(
        root_cause=_CAUSE,
        confidence=max(one.confidence, 0.7),
        explanation=f"{text} It rejoined and was removed again in a fixed cycle, each time about "
        f"{duration_text(sum(waits) // len(waits))} after the join. Most likely its handler, or its event loop, is "
        "blocked for longer than session.timeout.ms, so no heartbeat is sent. The same records are processed again.",
        next_step="Find the handler that runs that long: split its work, send heartbeats within it (heartbeat() in "
        "KafkaJS), or raise the session timeout above its duration.",
    )


def _waits(timeline: LogTimeline, first: LogEvent, moments: Sequence[int]) -> list[int]:
    """Return the times from a join to the expulsion after it, in ms, for each one with a join of its own before it."""
    joins = timeline.log_between(first, timeline.log_start_ms(first), moments[-1], ("REBALANCE_DONE",))
    waits: list[int] = []
    before_ms = timeline.log_start_ms(first) - 1
    for moment in moments:
        joined = [time_of(event) for event in joins if before_ms < time_of(event) < moment]
        if joined and moment - joined[-1] >= SHORTEST_MS:
            waits.append(moment - joined[-1])
        before_ms = moment
    return waits
