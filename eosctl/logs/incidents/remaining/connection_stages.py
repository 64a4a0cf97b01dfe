"""Recognize how far a client came on its way to a broker, by its own words: that decides what to check.

A connection without a local port did not leave its own machine, a refused one reached the other, one without an answer
may have been lost on the way, and a first request without an answer reached something that does not speak Kafka's
protocol, or a broker that stands still.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.log_event import LogEvent
from eosctl.text import name_some

REFUSED: Final = "refused"
LOST: Final = "lost-on-the-way"
FIRST_REQUEST: Final = "first-request"
_STAGES: Final = (
    (
        FIRST_REQUEST,
        re.compile(
            r"\bstate APIVERSION_QUERY\b|\bApiVersions?Request\b[^\n]{0,80}(?i:timed out|fail)"
            r"|Timed out ApiVersionRequest\b|unable to request api versions"
            r"|\bApiVersions\b[^\n]{0,60}(?i:timed out|timeout)"
        ),
    ),
    (REFUSED, re.compile(r"(?i:\bconnection refused\b|ECONNREFUSED|actively refused)")),
    (
        LOST,
        re.compile(
            r"(?i:\bno route to host\b|\bEHOSTUNREACH\b|\bnetwork is unreachable\b|\bETIMEDOUT\b"
            r"|\benetunreach\b|\bdial (?:tcp )?[^\n]{0,80}i/o timeout|\bconnection (?:setup )?timed out"
            r"|\bconnect timed? ?out)"
        ),
    ),
)
_NO_ADDRESS: Final = re.compile(r"(?i:\b(?:cannot|can't) assign requested address\b|\beaddrnotavail\b)")
_LOOPBACK: Final = re.compile(r"::1(?![\da-f:])|\blocalhost\b|\b127\.\d")
"""A container often has no IPv6 loopback, so that EADDRNOTAVAIL shows a wrong address there, and no exhaustion."""
NEAR_MS: Final = 60_000


def stage_of(events: Sequence[LogEvent]) -> str:
    """Return the name of the only stage that records of a fault name; empty if they name several, or none."""
    stages = {_stage_in(f"{event.message}\n{event.fields.get('thrown', '')}") for event in events} - {""}
    return stages.pop() if len(stages) == 1 else ""


def _stage_in(text: str) -> str:
    return next((name for name, words in _STAGES if words.search(text)), "")


def is_without_local_address(_: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe connections for which the client's own machine had nothing left."""
    texts = [f"{event.message}\n{event.fields.get('thrown', '')}" for event in events]
    return {} if all(_NO_ADDRESS.search(text) and not _LOOPBACK.search(text) for text in texts) else None


def is_server_not_resolved(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe servers that could not resolve the names of others shortly before."""
    first = events[0]
    near = timeline.log_between(first, time_of(first) - NEAR_MS, time_of(first), ("HOST_NOT_RESOLVED",))
    names = sorted({peer for event in near if (peer := event.fields.get("peer"))})
    return {"unresolved": name_some("name", names)} if names else None


def is_first_request_unanswered(timeline: LogTimeline, events: Sequence[LogEvent]) -> Mapping[str, str] | None:
    """Observe connections that are made, and whose first request gets no answer, also in the records next to them."""
    if stage_of(events) == FIRST_REQUEST:
        return {}
    last = events[-1]
    near = timeline.log_between(last, time_of(events[0]) - NEAR_MS, time_of(last) + NEAR_MS)
    return {} if {found for event in near if (found := _stage_in(event.message))} == {FIRST_REQUEST} else None
