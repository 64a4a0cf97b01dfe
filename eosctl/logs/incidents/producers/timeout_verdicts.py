"""Describe producers that were refused after their transaction had timed out: the incidents of each cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from eosctl.logs.incidents.producers.open_requests import open_requests, waited
from eosctl.logs.incidents.producers.refused_producers import (
    had_trouble,
    is_producer_dead,
    subject_of,
)
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.pauses import pause_ms, paused_text, pauses_before
from eosctl.logs.incidents.timeline.program_names import opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.logs.incidents.timeline.trouble import TROUBLE
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text, time_text

_LONG_S: Final = 600
"""Times from here on are shown in their largest units."""


def timed_out(timeline: LogTimeline, transactional_id: str, events: Sequence[LogEvent], rollback_ms: int) -> Incident:
    """Return the incident of a producer whose transaction the coordinator had rolled back at its timeout."""
    victim = events[-1]
    who = "its client" if victim.application in timeline.servers() else program_of(timeline, victim)
    own_ms = (time_of(one) for one in events if one.application == victim.application)
    waited_s = (min((one for one in own_ms if one > rollback_ms), default=time_of(victim)) - rollback_ms) / 1000
    again = sum(one.category == "TXN_TIMEOUT_ABORT" for one in events[1:])
    repeated = f" Its next ones timed out, too ({count_text(again, 'time')})." if again else ""
    is_doubtful = had_trouble(timeline, victim, rollback_ms, TROUBLE) or not timeline.is_of_library(victim)
    pauses = pauses_before(timeline, _first_of_client(timeline, events))
    if not pauses and (waits := open_requests(timeline, events, rollback_ms)):
        return waited(timeline, transactional_id, waits, events)
    is_of_collector = any(event.category == "GC_PAUSE" for event in pauses)
    return incident(
        "transaction_timeout",
        "process-pause-beyond-transaction-timeout",
        subject_of(timeline, transactional_id, victim),
        [*pauses, *events],
        f"The coordinator rolled back the open transaction of {transactional_id} because it timed out; {who} resumed "
        f"{_age(waited_s)} later and was refused. No other producer had taken the id.{repeated}{paused_text(pauses)}",
        "Find what fills the heap, or use a collector with shorter pauses; raise transaction.timeout.ms above them."
        if is_of_collector
        else "Find what stopped the process or made its work slow (GC, a stopped container, a slow call); raise "
        "transaction.timeout.ms only then.",
        confidence=0.65 if is_doubtful else 0.9,
        t_start_ms=min(map(time_of, events)),
    )


def _age(seconds: float) -> str:
    """Return a time as text."""
    return f"{seconds:.0f} s" if seconds < _LONG_S else duration_text(round(seconds * 1000))


def stood_still(timeline: LogTimeline, transactional_id: str, events: Sequence[LogEvent]) -> Incident:
    """Return the incident of a producer that most likely lost its transaction to its timeout, because it stalled."""
    pauses = pauses_before(timeline, _first_of_client(timeline, events))
    longest_ms = max(map(pause_ms, pauses), default=0.0)
    who = transactional_id or opening(program_of(timeline, events[-1]))
    if pauses and all(event.category == "PROCESS_PAUSED" for event in pauses):
        text = (
            f"{who} was refused after it had stood still for {duration_text(round(longest_ms))}, as a watch in its "
            "process reports: most likely its transaction had timed out and been rolled back."
        )
        step = (
            "Find what stopped the whole process: a suspended or throttled container or machine, swapping, the garbage "
            "collector. Raise transaction.timeout.ms only above pauses that cannot be avoided."
        )
    elif pauses:
        text = (
            f"{who} was refused after the garbage collector had stopped it for {duration_text(round(longest_ms))}: "
            "most likely its transaction had timed out and been rolled back."
        )
        step = (
            "Find what fills the heap, or use a collector with shorter pauses; raise transaction.timeout.ms above them."
        )
    elif all(event.category == "INVALID_TXN_STATE" for event in events):
        text = (
            f"{who} was refused, because its transaction was not open: it may have timed out and been rolled back, or "
            "have ended in another way. No coordinator's log here shows which."
        )
        step = "Add the transaction coordinator's server.log of this time, and the log of the leader that refused it."
    else:
        text = (
            f"{who} was refused when it resumed: most likely its transaction had timed out and been rolled back. No "
            "coordinator's log here shows it."
        )
        step = "Add the transaction coordinator's server.log of this time, and look for what stopped the process."
    return incident(
        "transaction_timeout",
        "process-pause-beyond-transaction-timeout",
        subject_of(timeline, transactional_id, events[-1]),
        [*pauses, *events],
        text,
        step,
        confidence=0.75 if pauses else 0.5,
    )


def _first_of_client(timeline: LogTimeline, events: Sequence[LogEvent]) -> LogEvent:
    """Return the first record of the program that wrote the last one."""
    return min((one for one in events if timeline.log_of(one) == timeline.log_of(events[-1])), key=time_of)


def expired_by_client(timeline: LogTimeline, transactional_id: str, events: Sequence[LogEvent]) -> Incident:
    """Return the incident of a producer whose own client reports that its transaction took too long."""
    return incident(
        "transaction_timeout",
        "transaction-longer-than-its-timeout",
        subject_of(timeline, transactional_id, events[-1]),
        events,
        f"A transaction of {transactional_id or program_of(timeline, events[-1])} took longer than its timeout, so the "
        "coordinator aborted it; the client reports so itself.",
        "Raise transaction.timeout.ms of this client (producer.override.transaction.timeout.ms for a connector), or "
        "make its transactions shorter; then restart the task.",
        confidence=0.9,
    )


def unanswered(
    timeline: LogTimeline, transactional_id: str, failed: Sequence[LogEvent], events: Sequence[LogEvent]
) -> Incident:
    """Return the incident of a producer that was fenced after requests of its client had failed."""
    first = events[0]
    who = transactional_id or opening(program_of(timeline, first))
    is_short = all(event.category == "NOT_ENOUGH_REPLICAS" for event in failed)
    how = "been refused (NOT_ENOUGH_REPLICAS)" if is_short else "timed out"
    return incident(
        "producer_fenced",
        "takeover-or-timeout",
        subject_of(timeline, transactional_id, first),
        events,
        f"{who} was fenced after requests of its client had {how}, first at {time_text(time_of(failed[0]))}: most "
        "likely the coordinator ended its transaction at the timeout, or the answer to its last request was lost. A "
        "second instance with the same id looks the same, and no record here shows one.",
        "Create a new producer, and process the records again from the last committed offsets. Find why the brokers "
        "did not answer: add their logs of this time, first the transaction coordinator's.",
        severity=Severity.ERROR if is_producer_dead(events) else Severity.WARNING,
        confidence=0.5,
    )
