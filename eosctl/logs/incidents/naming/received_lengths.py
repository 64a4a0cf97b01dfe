"""Name a received length as the cause of exhausted memory, where the stack shows that a message was about to be read.

A client or broker takes the first four bytes of a message as its length and reserves that much memory
(``NetworkReceive``). A peer of another protocol makes that hundreds of megabytes: a TLS record, to a client without
TLS, is about 350 MB. A larger heap only changes how long it takes to fail.
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
NEAR_MS: Final = 10_000
"""Maximum time between a client's fault and the handshake that the broker reports."""
_SERVER_NEXT: Final = (
    "Find the client that connects without the listener's protocol, such as with TLS to a listener without it, a "
    "health check, or a port scan. Lower socket.request.max.bytes to what clients really send. The heap is not the "
    "cause."
)
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
    known = (
        f" The length, {lengths[0]:,}, is the first bytes of {speakers[0]}."
        if speakers
        else f" The length was {lengths[0]:,}."
        if lengths
        else ""
    )
    peer = "a client" if is_server else "the server"
    likely = "" if speakers else f" Most likely {peer} speaks another protocol, such as TLS against none."
    return one._replace(
        root_cause=_CAUSE,
        # Other clients of the same brokers work; a broker that ran out of memory serves none.
        severity=one.severity if is_server else Severity.ERROR,
        explanation=f"{one.explanation} It was about to receive a message, and reserved the length that {peer} sent."
        f"{known}{likely}",
        next_step=_SERVER_NEXT if is_server else _CLIENT_NEXT,
    )
