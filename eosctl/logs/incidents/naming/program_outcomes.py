"""Add what became of a program after its fault, in its own words: a job aborted, a task FAILED, an engine stopped.

Spark, Flink, Debezium's engine, health checks, and others end a unit of their work in records of their own. These name
no cause, and are the effect of the last fault before them in the same log.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from eosctl.logs.classifier.catalog import load_catalog
from eosctl.logs.digest.templates import template_of
from eosctl.logs.incidents.joining.absorbing import with_records
from eosctl.logs.incidents.timeline.evidence import short_text
from eosctl.logs.incidents.timeline.index import Intervals
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.logs.incidents.timeline.trouble import SUCCESSES
from eosctl.logs.records.literals import required_literal
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import ERROR_LEVELS, UNCLASSIFIED, LogEvent
from eosctl.model.severity import Severity

AFTER_MS: Final = 60_000
"""Maximum time from the last record of a fault to the end that it causes."""
STOP_MS: Final = 10_000
"""Maximum time from the last record of a fault to a program's stop that is reported with it."""
_STOPS: Final[tuple[EventCategory, ...]] = ("APPLICATION_STOP", "CLIENT_STOP")
_ON_REQUEST: Final[tuple[EventCategory, ...]] = ("APPLICATION_KILLED", "APPLICATION_SIGNAL")
_RUNS: Final[tuple[EventCategory, ...]] = (*SUCCESSES, "CLIENT_START", "WORK_DONE", "WORKS_AGAIN")
"""Records of a program that runs on, or again."""
_ENDED: Final[EventCategory] = "PROGRAM_ENDED"
_JOB: Final[EventCategory] = "JOB_RESTARTED"
_PANICS: Final = ("panic: ", "fatal error: ")
_OF_RUST: Final = "' panicked at "
_QUOTED: Final = 2
_COMPARED: Final = 60
"""Characters of a message that show whether an incident quotes it."""


def name_program_outcomes(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterable[Incident]:
    """Return incidents; the last one before a program's report of its end has that report."""
    spans: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
    for number, one in enumerate(incidents):
        if one.severity in (Severity.CRITICAL, Severity.ERROR):
            for log in {timeline.log_of(event) for event in timeline.evidence(one)}:
                spans[log].append((one.t_start_ms, one.t_end_ms, number))
    faults = {log: Intervals(own) for log, own in spans.items()}
    found: dict[int, list[LogEvent]] = defaultdict(list)
    for event in timeline.events if faults else ():
        own = faults.get(timeline.log_of(event))
        if own is None or not own.has(time_of(event) - AFTER_MS, time_of(event)) or not _is_end(timeline, event):
            continue
        # The last fault before it, if one of several has ended by then.
        if near := own.touching(time_of(event) - AFTER_MS, time_of(event)):
            found[near[0]].append(event)
    whole = (_with_ends(timeline, one, found.get(number, [])) for number, one in enumerate(incidents))
    return tuple(_with_stop(timeline, one) for one in whole)


def _is_end(timeline: LogTimeline, event: LogEvent) -> bool:
    """Return whether a client program reports the end of a part of it, also in a record of another category."""
    if event.application in timeline.servers():
        return False
    if event.category in (_ENDED, _JOB) or _panic_of(event):
        return True
    is_own = event.category == UNCLASSIFIED or event.level not in ERROR_LEVELS
    return is_own and any(literal in event.message and text.search(event.message) for literal, text in _words())


def _panic_of(event: LogEvent) -> str:
    """Return the words with which a process in Go or Rust ends; empty without them."""
    texts = (event.fields.get("thrown", ""), event.message) if event.category == UNCLASSIFIED else ()
    return next((text for text in texts if text.startswith(_PANICS) or _OF_RUST in text), "")


def _said(event: LogEvent) -> str:
    return _panic_of(event) or event.message


@cache
def _words() -> Sequence[tuple[str, re.Pattern[str]]]:
    """Return the expressions of the category, each with a text that all of its matches contain."""
    category = load_catalog().find(_ENDED)
    patterns = () if category is None else category.patterns
    return tuple((required_literal(text), re.compile(text)) for text in patterns)


def _with_ends(timeline: LogTimeline, one: Incident, events: Sequence[LogEvent]) -> Incident:
    """Return an incident with the first and the last of a program's reports that it does not have yet."""
    new = [event for event in events if short_text(_said(event))[:_COMPARED] not in one.explanation]
    if not new or timeline.log_between(new[-1], one.t_start_ms, time_of(new[-1]), SUCCESSES):
        return one
    by_words = {template_of(event.message): event for event in reversed(new)}
    ordered = sorted(by_words.values(), key=time_of)
    shown = [ordered[0], ordered[-1]] if len(ordered) >= _QUOTED else ordered
    said = " and ".join(f'"{short_text(_said(event))}"' for event in shown)
    does = "ends with" if any(map(_panic_of, shown)) else "reports"
    return with_records(one, shown, f"Effect: the program {does} {said}.")


def _with_stop(timeline: LogTimeline, one: Incident) -> Incident:
    """Return a fault with the stop of its program right after it, which nothing but the fault preceded.

    A program that closes its clients because of an error logs that as it logs an ordinary stop, without the error.
    """
    last = max(timeline.evidence(one), key=time_of, default=None)
    if (
        last is None
        or one.severity not in (Severity.CRITICAL, Severity.ERROR)
        or last.application in timeline.servers()
    ):
        return one
    end_ms = time_of(last)
    stops = timeline.log_between(last, one.t_start_ms, end_ms + STOP_MS, _STOPS)
    if not stops or timeline.log_between(last, one.t_start_ms - STOP_MS, one.t_start_ms - 1, (*_STOPS, *_ON_REQUEST)):
        return one
    asked = timeline.log_between(last, one.t_start_ms, time_of(stops[-1]), _ON_REQUEST)
    if asked or timeline.log_between(last, time_of(stops[0]), time_of(stops[-1]) + AFTER_MS, _RUNS):
        return one
    shown = next((event for event in reversed(stops) if event.category == _STOPS[0]), stops[-1])
    return with_records(one, [shown], f'With that, the program reports "{short_text(shown.message)}".')
