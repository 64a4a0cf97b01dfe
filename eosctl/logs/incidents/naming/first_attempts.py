"""Begin the end of a task with the first attempt that failed for the same reason.

A connector repeats what failed, often for hours, before Connect gives its task up. The records of the attempts have the
same innermost exception; the one that ends the task is only the last of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.timeline.evidence import joined_evidence, places_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.logs.incidents.timeline.trouble import SUCCESSES
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import count_text, time_text

_KIND: Final = "connect_task_failed"
_RETRIES: Final = "sink_retries"
APART_MS: Final = 900_000
"""Maximum time between two attempts: connectors wait for minutes (retry.backoff.ms, errors.retry.delay.max.ms)."""
LONGEST_MS: Final = 86_400_000
"""Maximum time from the first attempt to the last one."""
_EXCEPTION: Final = re.compile(r"(?:[a-z][\w$]{0,60}\.){1,15}(?P<name>[A-Z][\w$]{2,80}(?:Exception|Error))\b")
_WRAPPERS: Final = frozenset({"ConnectException", "RetriableException", "SQLException", "RuntimeException"})
"""Exceptions that say nothing about what failed: connectors put them around all others."""
_WORKS: Final = (*SUCCESSES, "SOURCE_RESUMED")


def name_first_attempts(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; that of a task which failed begins with its first failed attempt in the same log.

    An incident of these attempts is a part of it.
    """
    found = tuple(incidents)
    attempts = {id(one): _attempts(timeline, one) for one in found if one.kind == _KIND}
    earlier = {(event.file, event.offset) for events in attempts.values() for event in events}
    for one in found:
        if one.kind == _RETRIES and all((place.file, place.offset) in earlier for place in one.evidence):
            continue
        own = attempts.get(id(one))
        yield _begun(one, own) if own else one


def _attempts(timeline: LogTimeline, one: Incident) -> Sequence[LogEvent]:
    """Return the earlier records with an exception of the incident, without a success between."""
    events = sorted(timeline.evidence(one), key=time_of)
    names = {own[-1] for event in events if (own := _named(event))}
    tasks = {task for event in events if (task := event.fields.get("connector_task"))}
    if not names or not events:
        return []
    found: list[LogEvent] = []
    since_ms = one.t_start_ms
    earlier = timeline.log_between(events[0], one.t_start_ms - LONGEST_MS, one.t_start_ms - 1)
    for event in reversed(earlier):
        if since_ms - time_of(event) > APART_MS or event.category in _WORKS:
            break
        task = event.fields.get("connector_task")
        if not names.isdisjoint(_named(event)) and (not task or not tasks or task in tasks):
            found.append(event)
            since_ms = time_of(event)
    return found[::-1]


def _named(event: LogEvent) -> Sequence[str]:
    """Return the simple names of the exceptions that a record names, the innermost last, without mere wrappers."""
    chain = event.exception.chain if event.exception is not None else ()
    texts = (*chain, event.fields.get("thrown", ""), event.message)
    named = [found["name"] for text in texts for found in _EXCEPTION.finditer(text)]
    return [name for name in named if name not in _WRAPPERS]


def _begun(one: Incident, attempts: Sequence[LogEvent]) -> Incident:
    first = attempts[0]
    times = f" ({count_text(len(attempts), 'record')} before the last one)"
    return one._replace(
        t_start_ms=time_of(first),
        explanation=f"{one.explanation} Its log has the same exception from {time_text(time_of(first))} on{times}.",
        evidence=joined_evidence(places_of([first]), one.evidence),
    )
