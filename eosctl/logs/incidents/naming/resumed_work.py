"""Find the record after an incident that shows that the same program works again, and that the fault is over.

Only records of the same program count, for the same subject where both name one. A program with several workers shows
with the work of another one nothing about the worker that failed, unless that one replaces it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from math import inf
from typing import Final, NamedTuple

from eosctl.logs.classifier.catalog import Weight, load_catalog
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.naming.running_totals import COUNTS, RunningTotals
from eosctl.logs.incidents.timeline.evidence import place_text, short_text
from eosctl.logs.incidents.timeline.proofs import Proofs
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import PLACE, time_of
from eosctl.logs.incidents.timeline.work import READY, WORK, is_ready, is_work
from eosctl.logs.records.digits import TEXT_BLUR
from eosctl.model.event_names import EventCategory, EventField
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent, is_error
from eosctl.text import time_text

WITHIN_MS: Final = 1_800_000
"""Maximum time from a fault to the work that shows its end; with ``QUIET_MS``, a slice's margin (``MARGIN_MS``)."""
QUIET_MS: Final = 600_000
"""A fault that returns later than this after the work is another one."""
OVERCOME_MS: Final = 60_000
"""Maximum time from the removal of a member to its next work for a fault that needs no action."""
_REMOVED: Final = "member_evicted"
BEFORE_MS: Final = 1_500_000
"""How long before a failure totals of work are compared: any slice of the logs has the records of that time."""
SEARCHED: Final = 2_000
"""Maximum number of records that are searched for one incident."""
_ROUNDS: Final = 50
_OVER: Final = (
    kinds_with("of_producer")
    | kinds_with("of_member")
    | kinds_with("in_error_state")
    | kinds_with("stops_writes")
    | kinds_with("waits")
    | kinds_with("in_flight")
    | kinds_with("ends_with_work")
) - kinds_with("of_single_records")
"""Kinds that are over when the program works again; a program also works next to a record that it cannot write."""
_SAME: Final[tuple[tuple[EventField, tuple[str, ...]], ...]] = (
    ("transactional_id", ("transactional.id", "transactional.ids")),
    ("group", ("group", "groups")),
    ("connector_task", ("connector.task", "connector.tasks")),
    ("connector", ("connector",)),
    ("partition", ("topic-partition", "topic-partitions")),
    ("topic", ("topic", "topics")),
    ("task", ("task", "tasks")),
    ("pod", ("pod", "pods")),
)
"""Fields of a record, and the names in a subject that must agree with them."""
_NAMED: Final[tuple[EventField, ...]] = ("client_id", *(field for field, _ in _SAME))

JVM_START_MS: Final = 1_000
"""Minimum time from the end of a server to a record of its next process."""
FLUSH_MS: Final = 10_000
"""Twice the default of Connect's offset.flush.timeout.ms."""
_FLUSHES: Final = re.compile(r"Committing offsets for (?!0 )\d+ acknowledged messages")
_COMMIT: Final = re.compile(r"(?i:commit)")
_OVER_NOW: Final = "It works again. To prevent a repetition: "
_COMPONENT: Final = re.compile(r"\b[A-Z]\w{1,80}\[id=[\w-]{8,64}\]")
"""A processor of NiFi, in the words of its records."""
_NUMBER: Final = re.compile(r"[A-Za-z]\D*\d")
_NETWORK: Final = "kafka-producer-network-thread"
"""The thread in which a Java producer reports the records that it could not send, next to those of its program."""
_WORD: Final = re.compile(r"[\w.:-]{3,255}")
_STARTS: Final[tuple[EventCategory, ...]] = ("BROKER_ROLE", "BROKER_START", "BROKER_UNFENCED")
_SERVES: Final = re.compile(r"\[KafkaServer id=\d+\] started|[Tt]he broker has been unfenced|STARTING to STARTED\b")
"""A server's own record that it serves requests."""


class Resumed(NamedTuple):
    """The first work after an incident, or the record of a client that is ready; both None if the log has neither."""

    work: LogEvent | None = None
    ready: LogEvent | None = None


class Failures(NamedTuple):
    """The records of a fault in the log of its last one, in order of time, and the categories that report it."""

    events: Sequence[LogEvent]
    categories: tuple[EventCategory, ...]

    @property
    def last(self) -> LogEvent:
        """The last record."""
        return self.events[-1]


def can_resume(one: Incident) -> bool:
    """Return whether a kind of incident is over when its program works again."""
    return one.kind in _OVER


def failures_of(timeline: LogTimeline, one: Incident, events: Iterable[LogEvent]) -> Failures | None:
    """Return the failures of an incident that its last program reported; None if it is only about servers.

    Args:
        timeline: The logs.
        one: The incident.
        events: Its evidence.
    """
    clients = [event for event in events if event.application not in timeline.servers()]
    # A category that is benign in a single record can be a fault in many.
    failed = (
        [event for event in clients if _weight(event) in (Weight.ACT, Weight.CRITICAL)]
        or [event for event in clients if _weight(event) is Weight.WATCH]
        or [event for event in clients if event.category not in (*WORK, *READY)]
    )
    if not failed:
        return None
    categories = tuple(sorted({event.category for event in failed}))
    last = max(failed, key=PLACE)
    own = timeline.log_between(last, one.t_start_ms, max(one.t_end_ms, time_of(last)), categories)
    same = [event for event in own[-SEARCHED:] if is_of_subject(timeline, one, event)]
    return Failures(same if same and PLACE(same[-1]) >= PLACE(last) else [*same, last], categories)


def resumed_after(proofs: Proofs, one: Incident, failures: Failures) -> Resumed:
    """Return the work after the last failure that no failure follows soon, or else a client that is ready."""
    timeline, last = proofs.timeline, failures.last
    until_ms = time_of(last) + WITHIN_MS
    again = [
        event
        for event in timeline.log_between(last, time_of(last), until_ms + QUIET_MS, failures.categories)[:SEARCHED]
        if PLACE(event) > PLACE(last) and is_of_subject(timeline, one, event)
    ]
    totals = RunningTotals(timeline.log_between(last, time_of(last) - BEFORE_MS, time_of(last), COUNTS)[-SEARCHED:])
    found = _shown(proofs, one, last, WORK, until_ms)
    shown = [event for event in found if is_work(event) or _is_flushed(timeline, event)]
    works = [event for event in shown if totals.shows_work(event)]
    if work := _lasting(_like(failures, works), again) or _lasting(works, again):
        return Resumed(work)
    # A client that joins before the last record of its fault is not ready after it.
    shown = [event for event in _shown(proofs, one, last, READY, until_ms) if is_ready(event)]
    ready = [event for event in shown if time_of(event) >= one.t_end_ms]
    return Resumed(ready=_lasting(ready, again))


def _is_flushed(timeline: LogTimeline, event: LogEvent) -> bool:
    """Return whether Connect began to store offsets, and reported no error for as long as that may take."""
    if event.category != "ROUTINE" or not _FLUSHES.search(event.message):
        return False
    until_ms = time_of(event) + FLUSH_MS
    errors = (is_error(one) for one in timeline.log_between(event, time_of(event), until_ms))
    return timeline.log_end_ms(event) >= until_ms and not any(errors)


def _like(failures: Failures, works: Sequence[LogEvent]) -> Sequence[LogEvent]:
    """Return the works that are what failed: after a refused commit, a commit shows more than other work does."""
    is_of_commits = any(_COMMIT.search(event.message) for event in failures.events)
    return [event for event in works if _COMMIT.search(event.message)] if is_of_commits else ()


def served_again(proofs: Proofs, events: Sequence[LogEvent]) -> LogEvent | None:
    """Return the record with which a server that ended serves again; None without one, or if it soon ends again.

    Args:
        proofs: The records that can prove it.
        events: The evidence of its end, all of servers.
    """
    last = max(events, key=PLACE)
    later = proofs.between(last, time_of(last), time_of(last) + WITHIN_MS, _STARTS)[:SEARCHED]
    # A broker whose start fails changes its state to STARTED as well, before it shuts down.
    started = (one for one in later if time_of(one) - time_of(last) >= JVM_START_MS)
    found = next((one for one in started if _SERVES.search(one.message)), None)
    if found is None:
        return None
    categories = tuple(sorted({event.category for event in events}))
    again = proofs.timeline.log_between(found, time_of(found), time_of(found) + QUIET_MS, categories)
    return None if any(PLACE(event) > PLACE(found) for event in again) else found


def _lasting(shown: Sequence[LogEvent], failures: Sequence[LogEvent]) -> LogEvent | None:
    """Return the first of some records that no failure follows within ``QUIET_MS``."""
    places = [PLACE(event) for event in shown]
    begin = 0
    for failure in failures[:_ROUNDS]:
        if begin < len(shown) and PLACE(failure) > places[begin]:
            if time_of(failure) - time_of(shown[begin]) > QUIET_MS:
                break
            begin = bisect_right(places, PLACE(failure))
    is_open = len(failures) > _ROUNDS or begin >= len(shown)
    return None if is_open else shown[begin]


def _shown(
    proofs: Proofs, one: Incident, last: LogEvent, categories: tuple[EventCategory, ...], until_ms: int
) -> Iterator[LogEvent]:
    """Yield the records of some categories of the same program and subject after a failure."""
    workers = _Workers(proofs.timeline, last)
    for event in proofs.between(last, time_of(last), until_ms, categories)[:SEARCHED]:
        is_own = is_of_subject(proofs.timeline, one, event) or _is_of_component(last, event)
        if PLACE(event) > PLACE(last) and is_own and workers.may_replace(event):
            yield event


def _is_of_component(last: LogEvent, event: LogEvent) -> bool:
    """Return whether the same component of a program reports a failure and work: it takes another producer for that."""
    named = _COMPONENT.search(last.message)
    return named is not None and named[0] in event.message


def is_of_subject(timeline: LogTimeline, one: Incident, event: LogEvent) -> bool:
    """Return whether a record names no other subject than an incident, and its program cannot mean another one."""
    for field, names in _SAME:
        wanted = _values(one, names)
        named = event.fields.get(field, "")
        if not wanted:
            continue
        if field == "connector_task" and not named:
            return False
        if named and named not in wanted:
            return False
        if field == "transactional_id" and not named:
            if _names_sibling(event.message, wanted):
                return False
            several = len(timeline.values_in_log(event, field)) > 1
            if several and timeline.value_in_log(event, field) not in wanted:
                return False
    return True


def _names_sibling(message: str, wanted: frozenset[str]) -> bool:
    """Return whether a message names only other ids of the same form as some ids, with another number.

    >>> _names_sibling("committed 12 records (orders-tx-1)", frozenset({"orders-tx-2"}))
    True
    """
    forms = {name.translate(TEXT_BLUR) for name in wanted if _NUMBER.search(name)}
    words = (word.strip(".:-") for word in _WORD.findall(message)) if forms else ()
    named = {word for word in words if word.translate(TEXT_BLUR) in forms}
    return bool(named) and not named & wanted


def _values(one: Incident, names: Iterable[str]) -> frozenset[str]:
    values = (one.subject.get(name, "") for name in names)
    listed = (name for value in values for name in ((value,) if isinstance(value, str) else value))
    return frozenset(filter(None, listed))


@cache
def _weights() -> Mapping[str, Weight]:
    return {one.id: one.weight for one in load_catalog().categories}


def _weight(event: LogEvent) -> Weight:
    return _weights().get(event.category, Weight.BENIGN)


class _Workers:
    """The threads of a program, and whether one that works after a failure is the one that failed, or its successor."""

    def __init__(self, timeline: LogTimeline, last: LogEvent) -> None:
        self._timeline = timeline
        self._last = last
        self._failed = _thread_of(last)

    @cached_property
    def _before(self) -> Sequence[LogEvent]:
        """The records of the program up to the failure; few failures need them."""
        return self._timeline.log_between(self._last, -inf, time_of(self._last))[-SEARCHED:]

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(_thread_of(event) for event in self._before)

    @cached_property
    def _worked(self) -> bool:
        return any(_thread_of(event) == self._failed and is_work(event) for event in self._before)

    def may_replace(self, event: LogEvent) -> bool:
        """Return whether the thread of a record is the one that failed, a new one, or not a worker next to it."""
        thread = _thread_of(event)
        if not thread or not self._failed or thread == self._failed or thread not in self._known:
            return True
        if _NETWORK in self._failed and not any(event.fields.get(field) for field in _NAMED):
            return False
        return not self._worked and not event.fields.get("stream_thread") and "-StreamThread-" not in thread


def _thread_of(event: LogEvent) -> str:
    return event.fields.get("stream_thread") or ("" if event.fields.get("stream_client") else event.thread)


def is_overcome(one: Incident, work: LogEvent) -> bool:
    """Return whether a member that was removed worked again soon: it reads its records again, and loses none."""
    return one.kind == _REMOVED and time_of(work) - one.t_start_ms <= OVERCOME_MS


def resumed_text(resumed: Resumed) -> str:
    """Return the sentence about the record that shows work, or else a client that is ready; empty without both."""
    if resumed.work is not None:
        return f"Its program continued its work at {_quoted(resumed.work)}, and the fault did not return."
    if resumed.ready is not None:
        return f"Its program was ready again at {_quoted(resumed.ready)}; no later record is recognized as its work."
    return ""


def step_after(step: str, event: LogEvent) -> str:
    """Return the next step for a fault after which a record shows work: what is left prevents the next one."""
    is_over = is_work(event) or event.category == "WORKS_AGAIN"
    return f"{_OVER_NOW}{step}" if is_over and not step.startswith((_OVER_NOW, "Nothing")) else step


def _quoted(event: LogEvent) -> str:
    return f'{time_text(time_of(event))} ({place_text(event)}: "{short_text(event.message)}")'
