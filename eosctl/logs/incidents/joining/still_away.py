"""Report that brokers which a client did not reach are still away: other clients of its program fail there later, too.

The failed request is over once it has timed out. The next clients of the program log the same connections, and nothing
after them shows an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Final

from eosctl.logs.incidents.joining.absent_brokers import peer_of
from eosctl.logs.incidents.joining.absorbing import with_records
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.logs.incidents.timeline.work import READY, WORK, is_ready, is_work
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import time_text

LATE_MS: Final = 600_000
"""Maximum time from a failed request to the next failed connection: a program that does not retry sooner is idle."""
_CAUSE: Final = "brokers-not-reached"
_FAILED: Final[tuple[EventCategory, ...]] = ("BROKERS_UNREACHED", "BOOTSTRAP_DISCONNECTED")
_ANSWERS: Final[tuple[EventCategory, ...]] = tuple(dict.fromkeys((*READY, *WORK)))
_NAMED: Final = 3
_ADDRESS: Final = re.compile(r"(?:(?P<name>[^/\s]*)/)?(?P<host>[^/\s]*):(?P<port>\d{1,5})")


def name_still_away(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; those of brokers that were not reached last until later clients of the program fail there."""
    for one in incidents:
        peers = one.subject.get("servers", ()) if one.root_cause == _CAUSE else ()
        later = _failed_later(timeline, one, (peers,) if isinstance(peers, str) else peers)
        yield _with_later(one, later) if later else one


def _failed_later(timeline: LogTimeline, one: Incident, peers: Sequence[str]) -> Sequence[LogEvent]:
    """Return the connections to the same brokers that failed after an incident; none if one is answered later."""
    own = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
    if not own or not peers:
        return ()
    hosts = {host for peer in peers for host in _hosts_of(peer)}
    near = timeline.log_between(own[-1], one.t_end_ms + 1, one.t_end_ms + LATE_MS, _FAILED)
    later = [event for event in near if not hosts.isdisjoint(_hosts_of(peer_of(event)))]
    answers = timeline.log_between(own[-1], one.t_end_ms + 1, inf, _ANSWERS) if later else ()
    return () if any(is_work(event) or is_ready(event) for event in answers) else later


def _hosts_of(peer: str) -> Iterator[str]:
    """Yield the name and the address of a server, each with its port.

    >>> list(_hosts_of("kafka/10.4.0.12:9092"))
    ['kafka:9092', '10.4.0.12:9092']
    """
    if found := _ADDRESS.fullmatch(peer):
        yield from (f"{host}:{found['port']}" for host in (found["name"], found["host"]) if host)


def _client_of(event: LogEvent) -> str:
    return event.fields.get("client_id") or event.fields.get("rdkafka_client", "")


def _with_later(one: Incident, later: Sequence[LogEvent]) -> Incident:
    mine = {str(one.subject.get("client.id", "")), str(one.subject.get("client", ""))}
    others = [name for name in dict.fromkeys(map(_client_of, later)) if name and name not in mine]
    who = " and ".join(others[:_NAMED]) or "its program"
    at = time_text(time_of(later[-1]))
    return with_records(
        one, later, f"The connections of {who} failed there, too, last at {at}: it was still away then."
    )
