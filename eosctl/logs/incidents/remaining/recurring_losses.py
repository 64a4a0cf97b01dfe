"""Detect clients that lose all their brokers now and then, each time for a moment.

librdkafka counts a broker whose idle connection was closed as down, and reports when the last one is gone. One such
record means little. The same every few minutes or hours is a limit of idle connections, or a network that fails
regularly: such records do not show that nothing is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from eosctl.logs.incidents.timeline.backoffs import LONGEST_MS
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.program_names import opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.logs.incidents.timeline.work import WORK, is_work
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text, time_text

TIMES: Final = 3
"""Minimum number of such moments."""
MOMENT_MS: Final = 60_000
"""Maximum length of one: a longer loss is an outage, which the catalog has a verdict on."""
APART_MS: Final = 300_000
"""Minimum pause between two of them, in which the client works or is idle."""
_UNREACHED: Final[EventCategory] = "BROKERS_UNREACHED"
_ALL_DOWN: Final = re.compile(r"\b(\d{1,4})/\1 brokers are down\b")


def find_recurring_losses(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the programs whose clients report again and again that all brokers are down, and no work in between."""
    down = [event for event in timeline.client_events(_UNREACHED) if _ALL_DOWN.search(event.message)]
    for own in by_key((timeline.log_of(event), event) for event in down).values():
        for chain in episodes(own, LONGEST_MS):
            moments = list(episodes(chain, MOMENT_MS))
            is_recurring = (
                len(moments) >= TIMES and all(map(_is_brief, moments)) and all(map(_is_apart, pairwise(moments)))
            )
            if is_recurring and not all(_works_after(timeline, *two) for two in pairwise(moments)):
                yield _incident(timeline, chain, moments)


def _is_brief(moment: Sequence[LogEvent]) -> bool:
    return time_of(moment[-1]) - time_of(moment[0]) <= MOMENT_MS


def _is_apart(two: tuple[Sequence[LogEvent], Sequence[LogEvent]]) -> bool:
    return time_of(two[1][0]) - time_of(two[0][-1]) >= APART_MS


def _works_after(timeline: LogTimeline, moment: Sequence[LogEvent], following: Sequence[LogEvent]) -> bool:
    """Return whether a program reports its work between two such moments."""
    return any(map(is_work, timeline.log_between(moment[-1], time_of(moment[-1]), time_of(following[0]), WORK)))


def _incident(timeline: LogTimeline, events: Sequence[LogEvent], moments: Sequence[Sequence[LogEvent]]) -> Incident:
    first, last = events[0], events[-1]
    pause_ms = round(median(time_of(after[0]) - time_of(before[0]) for before, after in pairwise(moments)))
    clients = tuple(sorted({name for event in events if (name := event.fields.get("rdkafka_client"))}))
    program = program_of(timeline, first)
    return incident(
        "connections_lost",
        "all-brokers-lost-now-and-then",
        {
            "application": first.application,
            **({"clients": clients} if len(clients) > 1 else {"client": "".join(clients)}),
        },
        events,
        f"{opening(program)} lost the connections to all of its brokers {count_text(len(moments), 'time')}, about "
        f"every {duration_text(pause_ms)}, last at {time_text(time_of(last))}. Each time, its records about that end "
        "within a minute.",
        "If the program writes or reads rarely, something closes its idle connections: the brokers "
        "(connections.max.idle.ms), a load balancer, or a firewall. The client connects again at its next request; "
        "connections.max.idle.ms of the client below that limit avoids the error. Otherwise check the brokers and "
        "the network at these times, and for records that were not delivered. The address in such a record is only "
        "that of the last connection.",
        severity=Severity.WARNING,
        confidence=0.6,
    )
