"""Detect clients whose connections a server ends seconds after each of them was up, while they get nothing done.

librdkafka logs how long a connection was in its state: `Disconnected (after 3891ms in state UP)`. Idle connections end
after minutes, as connections.max.idle.ms or the timeout of a load balancer says. One that ends within seconds, again
and again, was up and authenticated: the server does not like what the client sent next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.program_names import client_id_of, opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.logs.incidents.timeline.work import READY, TAKEN_AWAY, WORK, is_work
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text, name_some

SHORT_MS: Final = 30_000
"""Maximum time that such a connection is up: the shortest usual limit of an idle one is a minute or more."""
LEAST: Final = 3
"""Minimum number of ends that are logged."""
LASTING_MS: Final = 60_000
"""Minimum time from the first to the last of them: a rolling restart ends a connection in passing."""
_ENDED: Final[tuple[EventCategory, ...]] = ("NETWORK_DISCONNECT",)
_UP: Final = re.compile(
    r"(?:://|\b)(?P<peer>[\w.-]{1,253}:\d{1,5})/\w{1,20}: Disconnected \(after (?P<up>\d{1,9})ms in state UP"
    r"(?:, (?P<more>\d{1,9}) identical error\(s\) suppressed)?\)"
)
_HANDLE: Final = re.compile(r"\b(?P<client>[\w.-]{1,100}#(?:consumer|producer)-\d{1,6})\b")
_SHOWN: Final = tuple(sorted({*WORK, *READY}))
_NEXT: Final = (
    "Compare what the client and the service at this address speak: if the client library was upgraded before this "
    "began, go back to the release before, and look for the fault in its issues; then check the rights of its "
    "credentials and the limits of the service. A longer connections.max.idle.ms does not help."
)


def find_short_connections(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the clients whose connections end soon after each was up, with no record in between that they work."""
    ended = [event for event in timeline.client_events(*_ENDED) if _UP.search(event.message)]
    for events in by_key((f"{timeline.log_of(event)}\0{_client_of(event)}", event) for event in ended).values():
        if max(map(_up_ms, events)) > SHORT_MS or _works(timeline, events):
            continue
        peers = by_key((_peer_of(event), event) for event in events)
        if any(len(own) >= LEAST and time_of(own[-1]) - time_of(own[0]) >= LASTING_MS for own in peers.values()):
            yield _incident(timeline, events, tuple(sorted(peers)))


def _client_of(event: LogEvent) -> str:
    found = _HANDLE.search(event.message)
    return found["client"] if found else ""


def _peer_of(event: LogEvent) -> str:
    found = _UP.search(event.message)
    return found["peer"] if found else ""


def _up_ms(event: LogEvent) -> int:
    found = _UP.search(event.message)
    return int(found["up"]) if found else 0


def _works(timeline: LogTimeline, events: Sequence[LogEvent]) -> bool:
    """Return whether the program shows an assignment, an initialization, or work between the ends."""
    shown = timeline.log_between(events[0], time_of(events[0]), time_of(events[-1]), _SHOWN)
    return any(
        is_work(event) or (event.category in READY and event.category != "WORK_DONE" and _is_given(event))
        for event in shown
    )


def _is_given(event: LogEvent) -> bool:
    return TAKEN_AWAY.search(event.message) is None


def _incident(timeline: LogTimeline, events: Sequence[LogEvent], peers: tuple[str, ...]) -> Incident:
    first, last = events[0], events[-1]
    found = [match for event in events if (match := _UP.search(event.message))]
    count = sum(1 + int(match["more"] or 0) for match in found)
    who = _client_of(first) or program_of(timeline, first)
    where = name_some("address", peers, "addresses") if len(peers) > 1 else peers[0]
    up_s = max(1, round(median(map(_up_ms, events)) / 1000))
    lasted = duration_text(time_of(last) - time_of(first))
    return incident(
        "connections_cut_short",
        "ended-soon-after-each-connect",
        {
            "client.id": client_id_of(first) or _client_of(first),
            "broker-address": peers[0] if len(peers) == 1 else "",
            "broker-addresses": peers if len(peers) > 1 else (),
            "application": first.application,
        },
        events,
        f"{opening(who)} is connected to {where} and loses the connection after about {up_s} s, again and again: "
        f"{count_text(count, 'time')} in {lasted}, and no record shows that it reads or writes anything in between. "
        "Limits of idle connections are as a rule a minute or more, so this is another end. Each connection was up: "
        "address, TLS, and login had been accepted. What the server did not accept afterwards is not logged.",
        _NEXT,
        severity=Severity.WARNING,
        confidence=0.65,
    )
