"""Name the broker that closes a client's connection each time it sends the request that times out.

A network device or a service that does not support a request ends the connection when it arrives. The client connects
again and repeats the request until its call times out, which reports only that no answer came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.remaining.cut_requests import CANCELED
from eosctl.logs.incidents.timeline.evidence import evidence_of, joined_evidence
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, time_text

BEFORE_MS: Final = 120_000
"""Maximum time from the first closed connection to the timeout: max.block.ms and its like are a minute or two."""
SOON_MS: Final = 5_000
"""A request that waited for longer had no answer; the end of its connection is not its cause."""
LEAST: Final = 2
_QUOTED: Final = 2
_ENDED: Final[tuple[EventCategory, ...]] = ("NETWORK_DISCONNECT",)
_REQUESTS: Final[Mapping[str, tuple[str, ...]]] = {
    "init_producer_id_timeout": ("INIT_PRODUCER_ID",),
    "transaction_end_timeout": ("END_TXN",),
    "transaction_offsets_timeout": ("ADD_OFFSETS_TO_TXN", "TXN_OFFSET_COMMIT"),
    "consumer_offsets_timeout": ("OFFSET_FETCH", "OFFSET_COMMIT"),
    "send_timeout": ("PRODUCE",),
}
"""The requests that time out in the kinds of incidents."""


def name_closed_requests(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; a request that timed out names the broker that closed the connection at each attempt."""
    for one in incidents:
        closed = _closed_before(timeline, one, _REQUESTS[one.kind]) if one.kind in _REQUESTS else ()
        yield _with_closed(one, closed) if len(closed) >= LEAST else one


def _closed_before(timeline: LogTimeline, one: Incident, requests: Sequence[str]) -> Sequence[LogEvent]:
    own = [event for event in timeline.evidence(one) if event.application not in timeline.servers()]
    if not own:
        return ()
    near = timeline.log_between(own[0], one.t_start_ms - BEFORE_MS, one.t_end_ms, _ENDED)
    name = one.subject.get("transactional.id") or one.subject.get("client.id")
    of_client = (
        event
        for event in near
        if not name or name in (event.fields.get("transactional_id"), event.fields.get("client_id"))
    )
    return [event for event in of_client if _is_closed(event, requests)]


def _is_closed(event: LogEvent, requests: Sequence[str]) -> bool:
    found = CANCELED.search(event.message)
    return found is not None and found["request"] in requests and int(found["ms"]) <= SOON_MS


def _with_closed(one: Incident, closed: Sequence[LogEvent]) -> Incident:
    found = [match for event in closed if (match := CANCELED.search(event.message))]
    nodes = sorted({match["node"] for match in found})
    times = count_text(len(closed), "time")
    text = (
        f"Node {', '.join(nodes)} closed the connection soon after the client had sent {found[0]['request']} ({times}, "
        f"first at {time_text(time_of(closed[0]))})."
    )
    return one._replace(
        t_start_ms=min(one.t_start_ms, time_of(closed[0])),
        evidence=joined_evidence(evidence_of(closed[:_QUOTED]), one.evidence),
        explanation=f"{one.explanation} {text}",
        next_step=f"{one.next_step} Find what ends the connection at this request: the service, or a device before it.",
    )
