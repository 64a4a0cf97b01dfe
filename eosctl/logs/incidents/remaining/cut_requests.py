"""Detect clients whose connection is closed each time that they send a certain request.

The broker is found and the connection is made, so neither an address nor a coordinator is missing. The Java client logs
the request that was in flight when its connection ended, and how long ago it was sent. The same request, cut soon
after it was sent, again and again, is what the broker, or a device before it, does not accept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.program_names import client_id_of, opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes, time_of
from eosctl.logs.incidents.timeline.work import READY, WORK, is_ready, is_work
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text

CANCELED: Final = re.compile(
    r"Cancelled in-flight (?P<request>[A-Z_]{3,40}) request\b.{0,120}? due to node (?P<node>-?\d+) being disconnected "
    r"\(elapsed time since creation: (?P<ms>\d+)ms(?:, elapsed time since send: (?P<sent>\d+)ms)?"
)
"""A request that ended with its connection (``NetworkClient.cancelInFlightRequests``)."""
LEAST: Final = 5
"""Minimum number of equal requests: a restart of the broker cuts one or two."""
SOON_MS: Final = 250
"""Maximum median time from a request to the end of its connection: longer ones wait for an answer."""
PAUSE_MS: Final = 60_000
"""Maximum time between two attempts."""
STREAM_MS: Final = 10_000
"""The same for requests that clients send all the time: between two cuts, others succeed without a record."""
ENDS_MS: Final = 10_000
"""A log that ends this soon after the last attempt ends in the fault."""
REPORTED_MS: Final = 120_000
"""Maximum time until a program reports its timeout of the request: max.block.ms and its like are a minute or two."""
_ENDED: Final[tuple[EventCategory, ...]] = ("NETWORK_DISCONNECT",)
_AFTER: Final[tuple[EventCategory, ...]] = ("COORDINATOR_UNAVAILABLE", "REBALANCE_TRIGGER")
"""What the client reports after each end of the connection to its coordinator."""
_REPORTED: Final[tuple[EventCategory, ...]] = (
    *("TIMEOUT_ADD_OFFSETS", "TIMEOUT_COMMIT_TXN", "TIMEOUT_INIT_PID", "TIMEOUT_OFFSETS", "TIMEOUT_SEND"),
)
"""Timeouts, which are incidents of their own and name the request that was cut."""
_FIRST: Final = frozenset({"API_VERSIONS", "METADATA", "SASL_AUTHENTICATE", "SASL_HANDSHAKE"})
"""The first requests on a connection: its end is one of a login or of a wrong security protocol."""
_STREAM: Final = frozenset({"FETCH", "HEARTBEAT", "PRODUCE"})
_EFFECTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("JOIN_GROUP", "SYNC_GROUP"), "so its member cannot join its group and reads nothing"),
    "CONSUMER_GROUP_HEARTBEAT": "so its member cannot join its group or stay in it",
    "HEARTBEAT": "so its member cannot stay in its group",
    "OFFSET_COMMIT": "so its offsets are not stored",
    "OFFSET_FETCH": "so it does not learn its committed offsets and reads nothing",
    "INIT_PRODUCER_ID": "so its producer gets no producer id and cannot write",
    **dict.fromkeys(
        ("ADD_OFFSETS_TO_TXN", "ADD_PARTITIONS_TO_TXN", "END_TXN", "TXN_OFFSET_COMMIT"),
        "so its transaction does not continue",
    ),
    "PRODUCE": "so it writes nothing to the partitions of this broker",
    "FETCH": "so it reads nothing from the partitions of this broker",
}
_PLANNED: Final = "Finished assignment for group"
"""What the leader of a group logs before it sends the assignment with SYNC_GROUP."""
_NOTHING: Final = "so nothing that needs this request works"
_LARGEST: Final = 2**31 - 1
"""The Java client connects to a coordinator as the node with this number minus the id of the broker."""
_NEXT: Final = (
    "Read the log of broker {broker} at this time: it names a request that it cannot read, does not support, or that "
    "is too large. If it names none, inspect what is between: a proxy, a load balancer, a service mesh, or TLS. "
    "Compare the releases of the client and the broker, and try a client without the device in between."
)


def find_cut_requests(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the clients whose connection ended at each of several equal requests, without a success in between."""
    cut = [event for event in timeline.client_events(*_ENDED) if _request_of(event) not in ("", *_FIRST)]
    for events in by_key((_key_of(timeline, event), event) for event in cut).values():
        pause_ms = STREAM_MS if _request_of(events[0]) in _STREAM else PAUSE_MS
        for part in episodes(events, pause_ms):
            for tries in _without_success(timeline, part):
                is_soon = len(tries) >= LEAST and median(map(_sent_ms, tries)) <= SOON_MS
                if is_soon and not _is_reported(timeline, tries):
                    yield _incident(timeline, tries)


def _request_of(event: LogEvent) -> str:
    found = CANCELED.search(event.message)
    return found["request"] if found else ""


def _sent_ms(event: LogEvent) -> int:
    found = CANCELED.search(event.message)
    return int(found["sent"] or found["ms"]) if found else 0


def _broker_of(event: LogEvent) -> str:
    found = CANCELED.search(event.message)
    node = int(found["node"]) if found else -1
    return str(_LARGEST - node if node > _LARGEST // 2 else node)


def _key_of(timeline: LogTimeline, event: LogEvent) -> str:
    client = event.fields.get("client_id", "")
    return "\0".join((timeline.log_of(event), client, _request_of(event), _broker_of(event)))


def _without_success(timeline: LogTimeline, events: Sequence[LogEvent]) -> Iterator[Sequence[LogEvent]]:
    """Split attempts at the records with which their client shows an answer of its coordinator, or work."""
    first = events[0]
    client = first.fields.get("client_id", "")
    near = timeline.log_between(first, time_of(first), time_of(events[-1]), tuple(sorted({*READY, *WORK})))
    done = [time_of(event) for event in near if event.fields.get("client_id", client) == client and _is_success(event)]
    current: list[LogEvent] = []
    for event in events:
        if current and any(time_of(current[-1]) <= moment <= time_of(event) for moment in done):
            yield current
            current = []
        current.append(event)
    yield current


def _is_success(event: LogEvent) -> bool:
    return _PLANNED not in event.message and (is_work(event) or is_ready(event))


def _is_reported(timeline: LogTimeline, tries: Sequence[LogEvent]) -> bool:
    """Return whether the program reports that a call of the client timed out at these attempts."""
    return bool(timeline.log_between(tries[0], time_of(tries[0]), time_of(tries[-1]) + REPORTED_MS, _REPORTED))


def _incident(timeline: LogTimeline, tries: Sequence[LogEvent]) -> Incident:
    first, last = tries[0], tries[-1]
    request, broker, group = _request_of(first), _broker_of(first), timeline.group_of(first)
    transactional_id = timeline.transactional_id(first)
    client = first.fields.get("client_id", "")
    after = [
        event
        for event in timeline.log_between(first, time_of(first), time_of(last) + 1_000, _AFTER)
        if event.fields.get("client_id", client) == client
    ]
    lasted_ms = time_of(last) - time_of(first)
    is_open = timeline.log_end_ms(last) - time_of(last) <= ENDS_MS
    who = transactional_id or group or program_of(timeline, first)
    role = "its coordinator, broker" if _is_of_coordinator(first) else "broker"
    slowest_ms = max(map(_sent_ms, tries))
    return incident(
        "connections_cut_short",
        "closed-at-each-request",
        {
            "transactional.id": transactional_id,
            "group": group,
            "client.id": client_id_of(first) or client,
            "broker": broker,
            "application": first.application,
        },
        [*tries, *after],
        f"{opening(who)} is connected to {role} {broker}, but the connection is closed at most {slowest_ms} ms after "
        f"the client has sent {request}, {_EFFECTS.get(request, _NOTHING)}: {count_text(len(tries), 'time')} in "
        f"{duration_text(lasted_ms)}. The broker is found and reached each time. It, or something between, ends the "
        "connection; these records do not show why.",
        _NEXT.format(broker=broker),
        severity=Severity.ERROR if is_open else Severity.WARNING,
        confidence=0.8,
    )


def _is_of_coordinator(event: LogEvent) -> bool:
    found = CANCELED.search(event.message)
    return found is not None and int(found["node"]) > _LARGEST // 2
