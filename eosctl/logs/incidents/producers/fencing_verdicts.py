"""Describe what fenced a producer: the incidents of each cause."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf
from pathlib import PurePath
from typing import Final

from eosctl.logs.incidents.producers.refused_producers import is_producer_dead, subject_of
from eosctl.logs.incidents.timeline.durations import begun_in_time
from eosctl.logs.incidents.timeline.evidence import evidence_of, incident, joined_evidence
from eosctl.logs.incidents.timeline.own_words import commits_in_words
from eosctl.logs.incidents.timeline.program_names import opening, program_of
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text, time_text

GAP_MS: Final = 600_000
"""Maximum time from an initialization to the refusal of the older producer for one incident with both."""


def displaced_by(transactional_id: str, init: LogEvent, late: LogEvent) -> Incident:
    """Return the incident of a commit that came after another client had initialized the id."""
    return incident(
        "producer_fenced",
        "duplicate-transactional-id",
        {"transactional.id": transactional_id},
        [init, late],
        f"{transactional_id} was initialized again while another client had a transaction open, which that client "
        "then tried to commit.",
        "Give every live instance a transactional.id of its own; make sure an instance is gone before it is replaced.",
        confidence=0.75,
    )


def replaced(timeline: LogTimeline, transactional_id: str, events: Sequence[LogEvent], foreign: LogEvent) -> Incident:
    """Return the incident of a producer that a later initialization of its id fenced; its refusals follow that."""
    victim = events[-1]
    epoch = foreign.fields.get("producer_epoch", "")
    program = program_of(timeline, victim)
    # A program that is only known by its client.id has the name of its transactional id as a rule.
    who = "an earlier producer" if program == transactional_id else program
    is_of_same_log = timeline.log_of(foreign) == timeline.log_of(victim)
    is_other = foreign.application not in (victim.application, *timeline.servers())
    by_whom = f" by {_apart_from(events, foreign, program_of(timeline, foreign))}" if is_other else ""
    again = f"was initialized again{by_whom}{f' (epoch {epoch})' if epoch else ''}"
    commits = commits_in_words(timeline, foreign, time_of(foreign), inf, transactional_id)[:1] if is_other else ()
    earlier = _created_before(timeline, foreign, events)
    goes_on = f" The other one has committed since {time_text(time_of(commits[0]))}." if commits else ""
    if earlier:
        goes_on = (
            f" The program fenced itself: its own {earlier}, created before, was initialized after the producer that "
            "had replaced it."
        )
    found = incident(
        "producer_fenced",
        "own-initialization-repeated" if earlier else "duplicate-transactional-id",
        subject_of(timeline, transactional_id, victim),
        events,
        f"{transactional_id} {again} while {who} was still using it; {'that' if who != program else who} was "
        f"fenced.{goes_on}",
        "Close a producer whose initialization failed or timed out before another one with its id is created, and find "
        "why that took so long: its request is still with the coordinator, and fences the new producer."
        if earlier
        else "Give every live instance a transactional.id of its own; make sure an instance is gone before it is "
        "replaced.",
        # Two clients of one log may be two lives of one program.
        confidence=0.85 if is_of_same_log and foreign.category == "INIT_PRODUCER_ID" else 0.95,
        t_start_ms=_start_of(foreign, events[events.index(foreign) + 1 :]),
    )
    return found._replace(evidence=joined_evidence(found.evidence, evidence_of(commits)))


def _apart_from(events: Sequence[LogEvent], foreign: LogEvent, name: str) -> str:
    """Return the name of another program, and its file if the name is the client.id of both: copies share one."""
    own = (event for event in events if event is not foreign and event.application != foreign.application)
    if all(name != event.fields.get("client_id") for event in own):
        return name
    return f"the program of {PurePath(foreign.file.replace(chr(92), '/')).name}"


def _created_before(timeline: LogTimeline, foreign: LogEvent, events: Sequence[LogEvent]) -> str:
    """Return the client id of the producer that took an id, if the program had created it before the fenced one."""
    taker = foreign.fields.get("client_id", "")
    fenced = {client for event in events if (client := event.fields.get("client_id")) and client != taker}
    own = timeline.log_between(foreign, -inf, time_of(foreign), ("CLIENT_START",))
    created = [event.fields.get("client_id", "") for event in own if event.fields.get("transactional_id")]
    later = created[created.index(taker) + 1 :] if taker in created else ()
    return taker if any((client in fenced or not fenced) and client != taker for client in later) else ""


def _start_of(foreign: LogEvent, refusals: Sequence[LogEvent]) -> int:
    """Return when a fencing began: with the other initialization, or with the first refusal if it came much later."""
    is_late = time_of(refusals[0]) - time_of(foreign) > GAP_MS
    return time_of(refusals[0]) if is_late else min(time_of(foreign), time_of(refusals[-1]))


def outdated_task(timeline: LogTimeline, transactional_id: str, events: Sequence[LogEvent]) -> Incident:
    """Return the incident of a task of Connect whose producer the worker fenced for newer tasks."""
    task = next((task for one in reversed(events) if (task := one.fields.get("connector_task"))), "")
    return incident(
        "producer_fenced",
        "older-task-generation",
        subject_of(timeline, transactional_id, events[-1]),
        events,
        f"Connect fenced the producer of task {task} when it started the connector's new tasks: the old task was "
        "still running and failed. Its open transaction was aborted; the new task sends the records again.",
        "Check that the connector's new tasks are running; restart the task if none of them is. If it repeats, look "
        "for a second Connect cluster with the same group.id.",
        confidence=0.8,
    )


_ONE_ERROR: Final = "aiokafka."
"""A client that reports a fenced producer and a transaction that timed out with the same error."""


def displaced(timeline: LogTimeline, transactional_id: str, events: Sequence[LogEvent]) -> Incident:
    """Return the incident of a producer that most likely another instance fenced."""
    if any(event.exception is not None and event.exception.root_class.startswith(_ONE_ERROR) for event in events):
        return incident(
            "producer_fenced",
            "takeover-or-timeout",
            subject_of(timeline, transactional_id, events[0]),
            events,
            f"{transactional_id or opening(program_of(timeline, events[0]))} was fenced: its transaction took longer "
            "than transaction_timeout_ms, or another instance took its id. The client reports both with one error, and "
            "no coordinator's log here shows which it was.",
            "Compare the time since the transaction began with transaction_timeout_ms, and look for a second instance "
            "with the same id. Add the transaction coordinator's server.log of this time.",
            confidence=0.5,
        )
    waiting = _waiting_before(timeline, events[0])
    rivals = _users_of_prefix(timeline, transactional_id, events[0])
    if waiting and not rivals and not events[0].fields.get("connector_task"):
        return _raised(timeline, transactional_id, waiting, events)
    begun = begun_in_time(timeline, events[0])
    if rivals or events[0].fields.get("connector_task"):
        reason = f"{_taker(rivals)} took its id.{_after_waiting(waiting)}{'' if rivals else SAME_TO_CLIENTS}"
    elif begun:
        age = duration_text(time_of(events[0]) - time_of(begun))
        reason = f"most likely another instance took its id. Its transaction had begun only {age} before."
    else:
        reason = f"another instance took its id, or its transaction had timed out.{SAME_TO_CLIENTS}"
    return incident(
        "producer_fenced",
        "duplicate-transactional-id",
        subject_of(timeline, transactional_id, events[0]),
        [*waiting, *rivals, *events],
        f"{transactional_id or opening(program_of(timeline, events[0]))} was fenced: {reason}",
        (
            "Give each job a transactional id prefix of its own, and restart them one after the other."
            if rivals
            else f"{'Look' if begun else _COMPARE} for a second instance with the same id. Add the transaction "
            "coordinator's server.log of this time."
        ),
        confidence=0.85 if rivals else 0.7 if begun else 0.5,
        t_start_ms=time_of((*waiting, *events)[0]),
    )


def _raised(
    timeline: LogTimeline, transactional_id: str, waiting: Sequence[LogEvent], events: Sequence[LogEvent]
) -> Incident:
    """Return the incident of a producer that was fenced while its earlier transaction was being completed."""
    return incident(
        "producer_fenced",
        "takeover-or-timeout",
        subject_of(timeline, transactional_id, events[0]),
        [*waiting, *events],
        f"{transactional_id or opening(program_of(timeline, events[0]))} was fenced: another instance took its id, or "
        "the coordinator raised the epoch itself, at a timeout or for an initialization whose answer was lost. No "
        f"record here shows which.{_after_waiting(waiting)}",
        "Create a new producer: this one is dead. Add the transaction coordinator's server.log of this time, and look "
        "for a second instance with the same id.",
        confidence=0.5,
        t_start_ms=time_of(waiting[0]),
    )


_TIMED_OUT: Final = re.compile(r"\b[Tt]imed out (\w{3,40}Request)\b")
SAME_TO_CLIENTS: Final = (
    " A rollback after a timeout looks the same to a client, and no coordinator's log here shows which it was."
)
_COMPARE: Final = "Compare the time since the transaction began with transaction.timeout.ms, and look"
_WAIT_MS: Final = 600_000
_WAIT_GAP_MS: Final = 10_000
"""A client repeats a refused initialization sooner than this."""


def _taker(rivals: Sequence[LogEvent]) -> str:
    """Return who may have taken an id: Connect derives a task's id from its group, the connector, and the number."""
    if rivals:
        return f"{rivals[0].application} uses the same prefix of transactional ids ({_prefix_of(rivals[0])}) and"
    return "most likely a newer generation of the task, or a second Connect cluster with the same group.id,"


def _waiting_before(timeline: LogTimeline, victim: LogEvent) -> Sequence[LogEvent]:
    """Return the refusals of a client just before it was fenced, while its earlier transaction was being completed."""
    start_ms = time_of(victim) - _WAIT_MS
    near = timeline.log_between(victim, start_ms, time_of(victim), ("CONCURRENT_TRANSACTIONS",))
    found: list[LogEvent] = []
    for event in reversed(near):
        if time_of(found[-1] if found else victim) - time_of(event) > _WAIT_GAP_MS:
            break
        found.append(event)
    return found[::-1]


def _after_waiting(waiting: Sequence[LogEvent]) -> str:
    if not waiting:
        return ""
    lasted_ms = time_of(waiting[-1]) - time_of(waiting[0])
    lasted = f" for {duration_text(lasted_ms)}" if lasted_ms else ""
    return (
        f" Before that, its earlier transaction was still being completed{lasted} (CONCURRENT_TRANSACTIONS, "
        f"{count_text(len(waiting), 'time')}): its markers are slow, or the id was initialized again in that time."
    )


def _prefix_of(event: LogEvent) -> str:
    return event.fields.get("transactional_prefix", "")


def _users_of_prefix(timeline: LogTimeline, transactional_id: str, victim: LogEvent) -> Sequence[LogEvent]:
    """Return the records of other programs that name a prefix which a fenced id has: Flink's sinks number ids."""
    parts = transactional_id.split("-")
    for count in range(len(parts) - 1, 0, -1):
        prefix = "-".join(parts[:count])
        named = timeline.with_value("transactional_prefix", prefix, "TRANSACTIONAL_ID_NAMED")
        own = timeline.log_of(victim)
        others = [event for event in named if timeline.log_of(event) != own and time_of(event) <= time_of(victim)]
        if others:
            return others[-1:]
    return ()


def refused_after_own_attempt(
    timeline: LogTimeline, transactional_id: str, attempts: Sequence[LogEvent], events: Sequence[LogEvent]
) -> Incident:
    """Return the incident of a producer that was fenced by the answer to its own repeated initialization."""
    who = transactional_id or opening(program_of(timeline, events[0]))
    request = next((found[1] for event in attempts if (found := _TIMED_OUT.search(event.message))), "A request")
    waits = [event for event in attempts if event.category == "CONCURRENT_TRANSACTIONS"]
    return incident(
        "producer_fenced",
        "own-initialization-repeated",
        subject_of(timeline, transactional_id, events[0]),
        [*attempts, *events],
        f"{who} was fenced by the answer to its own initialization. {request} timed out at "
        f"{time_text(time_of(attempts[0]))}, and the initialization after it was refused "
        f"{count_text(len(waits), 'time')} while its transaction was being ended (CONCURRENT_TRANSACTIONS). Most "
        "likely the coordinator had raised the epoch for the first attempt, and the last one came with the former one; "
        "a second producer with this id is possible, but no record here shows one. The producer is dead, and "
        + (
            "whether its transaction was committed is open: the request that ends it got no answer."
            if request.startswith("EndTxn")
            else "its open transaction is not committed."
        ),
        "Create a new producer, and process the records again from the last committed offsets. Find why the "
        "coordinator did not answer in time, and compare the client's release with its known defects. The transaction "
        "coordinator's server.log shows whether another instance initialized the id.",
        confidence=0.6,
    )


def unexplained(timeline: LogTimeline, transactional_id: str, events: Sequence[LogEvent]) -> Incident:
    """Return the incident of a refusal for which the logs show no reason."""
    return incident(
        "producer_fenced",
        "unexplained",
        subject_of(timeline, transactional_id, events[0]),
        events,
        f"{transactional_id or opening(program_of(timeline, events[0]))} was refused; no log here shows a second "
        "initialization or a rollback.",
        "Add the transaction coordinator's server.log of this time.",
        severity=Severity.ERROR if is_producer_dead(events) else Severity.WARNING,
        confidence=0.3,
    )
