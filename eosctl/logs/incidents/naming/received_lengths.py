"""Name a received length as the cause of exhausted memory, where the stack shows that a message was about to be read.

A client or broker takes the first four bytes of a message as its length and reserves that much memory
(``NetworkReceive``). A peer of another protocol makes that hundreds of megabytes: a TLS record, to a client without
TLS, is about 350 MB. A larger heap only changes how long it takes to fail. A broker refuses lengths above
socket.request.max.bytes, so a length below its default is one of a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.remaining.sentences import speaker_of
from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import time_text

_KIND: Final = "out_of_memory"
_CAUSE: Final = "received-length-too-large"
_HANDSHAKE: Final = "tls-handshake-failed"
LARGEST_REQUEST: Final = 104_857_600
"""The default of socket.request.max.bytes."""
NEAR_MS: Final = 10_000
"""Maximum time between a client's fault and the handshake that the broker reports."""
_SERVER_NEXT: Final = (
    "Find the client that connects without the listener's protocol, such as with TLS to a listener without it, a "
    "health check, or a port scan. Lower socket.request.max.bytes to what clients really send. The heap is not the "
    "cause."
)
_RAISED: Final = (
    f"It is above {LARGEST_REQUEST:,}, the default of socket.request.max.bytes, so that limit was raised or the length "
    "is not one of a request."
)
_RAISED_NEXT: Final = (
    "Find the client that sent it, and compare socket.request.max.bytes with what clients really send."
)
_OTHER_PROTOCOL: Final = " Most likely the server speaks another protocol, such as TLS against none."
_CLIENT_NEXT: Final = (
    "Compare security.protocol of the client with the listener of that port: it must be SSL or SASL_SSL for a listener "
    "with TLS. The heap is not the cause."
)


def name_received_lengths(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; memory that a received length exhausted has the peer's protocol as its cause.

    The handshake that failed at the listener with TLS is a part of it.
    """
    every = tuple(incidents)
    named: dict[int, Incident] = {}
    for one in every:
        events = timeline.evidence(one) if one.kind == _KIND else ()
        if any(event.fields.get("receiver") for event in events):
            named[id(one)] = _named(timeline, one, events)
    absorbed: set[int] = set()
    for key, one in named.items():
        for other in () if _is_of_server(timeline, one) else every:
            if _is_its_handshake(timeline, named[key], other):
                absorbed.add(id(other))
                named[key] = _with_handshake(named[key], other)
    yield from (named.get(id(one), one) for one in every if id(one) not in absorbed)


def _is_of_server(timeline: LogTimeline, one: Incident) -> bool:
    return any(event.application in timeline.servers() for event in timeline.evidence(one))


def _is_its_handshake(timeline: LogTimeline, one: Incident, other: Incident) -> bool:
    """Return whether an incident is the handshake that a broker failed when the client of another one connected."""
    if other.root_cause != _HANDSHAKE or not _is_of_server(timeline, other):
        return False
    return other.t_start_ms <= one.t_end_ms + NEAR_MS and one.t_start_ms - NEAR_MS <= other.t_end_ms


def _with_handshake(one: Incident, other: Incident) -> Incident:
    when = time_text(other.t_start_ms)
    return one._replace(
        t_start_ms=min(one.t_start_ms, other.t_start_ms),
        evidence=tuple(dict.fromkeys((*one.evidence, *other.evidence)))[:MAX_EVIDENCE_COUNT],
        explanation=f"{one.explanation} A listener with TLS failed a handshake at {when}: the client does not use TLS.",
    )


def _named(timeline: LogTimeline, one: Incident, events: Sequence[LogEvent]) -> Incident:
    lengths = sorted({int(length) for event in events if (length := event.fields.get("received_bytes"))})
    speakers = sorted({speaker_of(length) for length in lengths} - {""})
    is_server = any(event.application in timeline.servers() for event in events)
    if is_server and not speakers and (not lengths or lengths[-1] <= LARGEST_REQUEST):
        return _of_request(one, lengths)
    known = (
        f" The length, {lengths[0]:,}, is the first bytes of {speakers[0]}."
        if speakers
        else f" The length was {lengths[0]:,}."
        if lengths
        else ""
    )
    peer = "a client" if is_server else "the server"
    likely = "" if speakers else f" {_RAISED}" if is_server else _OTHER_PROTOCOL
    return one._replace(
        root_cause=_CAUSE,
        # Other clients of the same brokers work; a broker that ran out of memory serves none.
        severity=one.severity if is_server else Severity.ERROR,
        explanation=f"{one.explanation} It was about to receive a message, and reserved the length that {peer} sent."
        f"{known}{likely}",
        next_step=_CLIENT_NEXT if not is_server else _SERVER_NEXT if speakers else f"{_RAISED_NEXT} {one.next_step}",
    )


def _of_request(one: Incident, lengths: Sequence[int]) -> Incident:
    """Return the incident of a broker that had no memory left for a request of a size that it allows."""
    size = f"The request, or its rest, has {lengths[-1]:,} bytes. " if lengths else ""
    return one._replace(
        explanation=f"{one.explanation} It was about to receive a request. {size}By default, a broker accepts "
        f"{LARGEST_REQUEST:,} bytes (socket.request.max.bytes), so the size by itself does not show another protocol."
    )
