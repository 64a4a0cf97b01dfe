"""Detect writes that a broker did not answer in time, and whether the client's program worked again.

librdkafka ends a connection whose requests had no answer for their timeout, and sends them again on a new one. A
program that works afterwards lost nothing, but a broker stood still, or the network to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.program_names import client_id_of, opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, time_of
from eosctl.logs.incidents.timeline.trouble import DISCONNECTS
from eosctl.logs.incidents.timeline.work import WORK, is_work
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import ERROR_LEVELS, LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text, time_text

AROUND_MS: Final = 300_000
"""Other errors of the program this near are of the same fault, which has an incident of its own."""
SOON_MS: Final = 120_000
"""Maximum time until the program works again."""
_ENDED: Final[tuple[EventCategory, ...]] = ("NETWORK_DISCONNECT",)
_OF_FAULT: Final[tuple[EventCategory, ...]] = (*DISCONNECTS, "TIMEOUT_OTHER")
_TIMED_OUT: Final = re.compile(
    r"(?:://|[\s\]])(?P<peer>[\w.-]{1,253}:\d{1,5})/(?P<node>\d{1,10}): (?P<count>\d{1,9}) "
    r"request\(s\) timed out: disconnect"
)
_WRITE: Final = re.compile(
    r"Timed out (?:Produce|TxnOffsetCommit|AddPartitionsToTxn|AddOffsetsToTxn|EndTxn)Request in flight "
    r"\(after (?P<ms>\d+)ms"
)
_HANDLE: Final = re.compile(r"\b(?P<client>[\w.-]{1,100}#(?:consumer|producer)-\d{1,6})\b")


def find_unanswered_requests(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield the brokers whose client timed out waiting for them, without another error near."""
    ended = [event for event in timeline.client_events(*_ENDED) if _TIMED_OUT.search(event.message)]
    for events in by_key((f"{timeline.log_of(event)}\0{_peer_of(event)}", event) for event in ended).values():
        first, last = events[0], events[-1]
        writes = timeline.log_matching(first, time_of(first) - SOON_MS, time_of(last), _WRITE)
        own = [event for event in writes if f"{_peer_of(first)}/" in event.message]
        if not own or time_of(last) - time_of(first) > AROUND_MS or _has_other_errors(timeline, first, last):
            continue
        works = timeline.log_between(last, time_of(last), time_of(last) + SOON_MS, WORK)
        again = next((event for event in works if is_work(event)), None)
        yield _incident(timeline, events, own, again)


def _peer_of(event: LogEvent) -> str:
    found = _TIMED_OUT.search(event.message)
    return found["peer"] if found else ""


def _has_other_errors(timeline: LogTimeline, first: LogEvent, last: LogEvent) -> bool:
    near = timeline.log_between(first, time_of(first) - AROUND_MS, time_of(last) + AROUND_MS)
    return any(event.level in ERROR_LEVELS and event.category not in _OF_FAULT for event in near)


def _incident(
    timeline: LogTimeline, events: Sequence[LogEvent], writes: Sequence[LogEvent], again: LogEvent | None
) -> Incident:
    first, last = events[0], events[-1]
    found = [match for event in events if (match := _TIMED_OUT.search(event.message))]
    waits = [int(match["ms"]) for event in writes if (match := _WRITE.search(event.message))]
    handle = _HANDLE.search(first.message)
    client = client_id_of(first) or (handle["client"] if handle else "")
    who = client or program_of(timeline, first)
    # The program's own error handler prints the library's record again.
    ended = {time_of(event): int(match["count"]) for event, match in zip(events, found, strict=True)}
    count = count_text(sum(ended.values()), "request")
    is_open = again is None and timeline.log_end_ms(last) - time_of(last) <= SOON_MS
    works = "No record after that shows that its program wrote again."
    if again is not None:
        works = f"Its program worked again at {time_text(time_of(again))}."
    return incident(
        "requests_timed_out",
        "brokers-do-not-answer-in-time",
        {
            "broker": found[0]["node"],
            "broker-address": found[0]["peer"],
            "client.id": client,
            "application": first.application,
        },
        [*writes, *events, *([again] if again is not None else [])],
        f"Broker {found[0]['node']} ({found[0]['peer']}) did not answer {count} of {opening(who)} within "
        f"{duration_text(max(waits))}. The client ended the connection at {time_text(time_of(first))} to send them "
        f"again. {works} Whether the broker or the network stood still is not logged here.",
        "Read the broker's log of this time, and that of its garbage collector. Check its disk and network.",
        severity=Severity.ERROR if is_open else Severity.WARNING,
        confidence=0.7 if again is not None else 0.6,
    )
