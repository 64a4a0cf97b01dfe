"""Derive the severity of incidents from their outcome: what was lost, what stands still, and what recovered.

The rule, for every kind:

- critical: committed data was lost or may be, or the whole program, partition, or cluster stands still and the logs end
  before it recovers;
- error: a part failed and someone must act: a thread, task, member, or transaction, or a setting or permission;
- warning: what failed succeeded later without a person, and nothing was lost;
- info: planned, or without an effect.

A kind has the severity that its own evidence shows. This module changes it where other records of the same program
show the outcome. A transaction that was rolled back stays an error: a new producer does not send its records again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Final

from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.naming.client_outcomes import NOT_REACHED
from eosctl.logs.incidents.naming.later_successes import FIND_REASON, later_success, runs_again
from eosctl.logs.incidents.naming.other_producers import other_producer
from eosctl.logs.incidents.naming.resumed_work import (
    Failures,
    Resumed,
    can_resume,
    failures_of,
    is_overcome,
    resumed_after,
    resumed_text,
    served_again,
    step_after,
)
from eosctl.logs.incidents.naming.still_failing import still_failing_text
from eosctl.logs.incidents.servers.shortages import returns_to_isr
from eosctl.logs.incidents.timeline.evidence import place_text
from eosctl.logs.incidents.timeline.proofs import Proofs
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import PLACE, time_of
from eosctl.logs.incidents.timeline.work import TAKEN_AWAY, is_ready, is_work
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import EvidenceLine, Incident
from eosctl.model.log_event import FATAL_LEVELS, LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, duration_text, time_text

RECOVERY_MS: Final = 600_000
"""A success that comes later than this is not taken for the end of the fault."""
RESTORED_MS: Final = 3_600_000
"""A restart that restores stores from their changelogs can take this long."""
LASTED_MS: Final = 10_000
WORKED_MS: Final = 30_000
"""A program that logged for this long before a fault had started, so the fault interrupted its work."""
END_MS: Final = 60_000
"""A fault whose last record is this close to the end of its log has not ended there."""
USES: Final = 2
"""Minimum number of calls that a dead producer refused, if the program made them for ``LASTED_MS``."""
MANY_USES: Final = 5
"""The same without regard to their time: such a program does not create a new producer."""
ATTEMPTS: Final = 3
"""Minimum number of failures from which a fault that does not end by itself lasts."""
LISTED: Final = 40
"""Maximum number of names of one kind in a subject."""
TURNS: Final = 3
"""Minimum number of refusals of clients that fence each other in turn, after which none of them can work."""

_OUTAGES: Final = frozenset(
    {
        *("authentication_failed", "brokers_not_reached", "coordinator_unavailable", "host_not_resolved"),
        *("not_enough_replicas", "partition_offline", "partition_without_leader", "topic_not_found"),
    }
)
"""Kinds in which everything that needs the broker, coordinator, topic, or partition stands still while they last."""
_STAYS: Final = kinds_with("stays")
_NOT_REACHED, _NAMELESS, _DROPPED = "brokers-not-reached", "name-without-an-address", "(records_dropped)"
_REACHED: Final = re.compile(r"\b(?:accepts? connections|is reachable|can be reached) again\b")
_NOT_CREATED: Final = "no-bootstrap-server-resolved"
"""The cause for which a program has no client at all."""
_CONSUMER_ENDED: Final = "consumer_ended"
_DUPLICATE: Final = "duplicate-transactional-id"
_POSSIBLE: Final = 0.5
"""Confidence up to which two instances are only one of two possible causes."""
_ALLOCATION: Final = "no-memory-in-one-piece"
_OUT_OF_RANGE: Final = "changelog-position-out-of-range"
_SHORTAGES: Final = frozenset({"not_enough_replicas", "partition_offline", "partition_without_leader"})
_INTERNAL: Final = ("__transaction_state", "__consumer_offsets")
_ENDS_SERVER: Final = kinds_with("ends_server")
_DEADLY: Final = kinds_with("kills_producer")
_REPEATABLE: Final[Mapping[str, tuple[EventCategory, ...]]] = {
    "init_producer_id_timeout": ("INIT_PRODUCER_ID",),
    "transaction_end_timeout": ("TXN_RETRIED",),
    "transaction_offsets_timeout": ("TXN_RETRIED",),
}
"""Kinds that are over when the same call succeeds, and the records of its success."""
_CONNECTIONS: Final = frozenset(
    {"brokers_not_reached", "host_not_resolved", "connections_lost", "coordinator_unavailable", "metadata_timeout"}
)
_WORKS: Final[tuple[EventCategory, ...]] = (
    *("ASSIGNMENT_CHANGE", "INIT_PRODUCER_ID", "METADATA_RECEIVED", "REBALANCE_DONE", "TXN_RETRIED", "WORKS_AGAIN"),
)
"""Records of a client that show an answer of the brokers that it could not reach."""
_RETURNS: Final[Mapping[str, tuple[EventCategory, str]]] = {
    "zookeeper_session_expired": ("ZK_SESSION_RENEWED", "The server had a session again at {at}."),
    "source_refused": ("SOURCE_RESUMED", "The connector read from its source again at {at}."),
    "connect_task_failed": ("SOURCE_RESUMED", "The connector read from its source again at {at}."),
}
"""Kinds that are over with a record of one category, and the sentence about it."""
_OF_STREAMS: Final = frozenset({"transaction_timeout", "invalid_producer_epoch", "task_migrated", "producer_fenced"})
_CAUSES_THAT_STAY: Final = frozenset({"duplicate-transactional-id", "slow-processing"})
"""Causes that bring the fault back after each recovery."""


def settle_outcomes(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents with the severity that their outcome deserves, and with the time of their recovery."""
    found = tuple(incidents)
    proofs = Proofs(timeline, found)
    for one in found:
        events = timeline.evidence(one)
        if not events or one.severity is Severity.INFO:
            yield one
            continue
        failures = failures_of(timeline, one, events) if can_resume(one) else None
        is_lasting = one.root_cause == _DUPLICATE and one.confidence > _POSSIBLE
        resumed = resumed_after(proofs, one, failures) if failures and not is_lasting else Resumed()
        settled = _settled(proofs, one, events, resumed)
        if failures and is_lasting and (other := other_producer(proofs, one, failures)):
            yield _with(one, other.event, other.text, one.severity)
        elif failures:
            yield _with_end(timeline, one, settled, failures, resumed)
        elif one.kind in _ENDS_SERVER and settled is one and (served := served_again(proofs, events)):
            yield _with(one, served, f"The server served again at {time_text(time_of(served))}.", one.severity)
        else:
            yield settled


def _with_end(timeline: LogTimeline, before: Incident, one: Incident, failures: Failures, resumed: Resumed) -> Incident:
    """Return an incident with the work that followed it, or with its failures up to the end of the log.

    Args:
        timeline: The logs.
        before: The incident before its outcome was read.
        one: The same with its outcome.
        failures: Its records.
        resumed: What followed them.
    """
    later = [event for event in timeline.evidence(one) if PLACE(event) > PLACE(failures.last)]
    if any(map(is_work, later)):
        return one
    if resumed.work is not None:
        severity = Severity.ERROR if one.severity is Severity.CRITICAL else one.severity
        severity = Severity.WARNING if one.kind in _CONNECTIONS or is_overcome(one, resumed.work) else severity
        return _with(one, resumed.work, resumed_text(resumed), severity)
    if len(one.evidence) > len(before.evidence) or any(map(is_ready, later)):
        return one
    if resumed.ready is not None:
        return _with(one, resumed.ready, resumed_text(resumed), one.severity)
    text = still_failing_text(timeline, failures, one.explanation)
    return one._replace(explanation=f"{one.explanation} {text}") if text else one


def _settled(proofs: Proofs, one: Incident, events: Sequence[LogEvent], resumed: Resumed) -> Incident:
    timeline = proofs.timeline
    # A file of the garbage collector names no program.
    own = [event for event in events if event.category != "GC_PAUSE"] or events
    clients = [event for event in own if event.application not in timeline.servers()]
    last = max(clients or own, key=time_of)
    can_recover = one.severity is Severity.ERROR or one.root_cause == "killed-by-the-operating-system"
    if can_recover and (returned := _returned(proofs, one, last)):
        return returned
    if (clients or one.root_cause == _ALLOCATION) and can_recover and (recovered := _recovered(proofs, one, last)):
        return recovered
    if grown := _grown(timeline, one, last):
        return _with(one, grown, f"Its replicas were in sync again at {time_text(time_of(grown))}.", one.severity)
    if one.severity is Severity.ERROR and one.kind in _SHORTAGES and _is_of_internal_topic(one):
        return one._replace(severity=Severity.CRITICAL)
    is_over = resumed.work is not None
    if one.severity is Severity.ERROR and not is_over and _stands_still(timeline, one, events, last):
        return one._replace(severity=Severity.CRITICAL)
    if one.severity is Severity.ERROR and not is_over and (used_ms := _used_until(timeline, one, events, last)):
        text = f"The application kept using it until {time_text(used_ms)}, and none of these calls wrote a message."
        return one._replace(severity=Severity.CRITICAL, explanation=f"{one.explanation} {text}")
    if one.kind == _CONSUMER_ENDED and not is_over:
        return one._replace(explanation=f"{one.explanation} No record shows that it joined its group again.")
    return one


def _recovered(proofs: Proofs, one: Incident, last: LogEvent) -> Incident | None:
    """Return an incident with the record of its recovery; None without such a record."""
    timeline = proofs.timeline
    if one.kind in _REPEATABLE:
        success = _next(proofs, last, _REPEATABLE[one.kind], one.t_end_ms)
        if success and not _fails_again(timeline, last, time_of(success)):
            return _with(one, success, _repeated(timeline, last, success), Severity.WARNING)
    if one.kind in _OF_STREAMS and one.root_cause not in _CAUSES_THAT_STAY:
        running = [event for event in _after(proofs, last, ("STREAM_STATE",), one.t_end_ms) if runs_again(event, last)]
        if running and not _fails_again(timeline, last, time_of(running[0])):
            text = (
                f"The thread was running again at {time_text(time_of(running[0]))}, and Streams processes the records "
                "of the transaction again."
            )
            return _with_tasks(timeline, _with(one, running[0], text, Severity.WARNING), running[0])
    if one.kind == "task_migrated" and one.root_cause == "slow-processing":
        running = [event for event in _after(proofs, last, ("STREAM_STATE",), one.t_end_ms) if runs_again(event, last)]
        if running and not timeline.log_between(last, one.t_end_ms + 1, one.t_end_ms + RECOVERY_MS, ("POLL_TIMEOUT",)):
            text = f"The thread had rejoined and was running again at {time_text(time_of(running[0]))}."
            # A record that is slow for each of several clients, or again and again, stays slow.
            late = [event for event in timeline.evidence(one) if event.category == "POLL_TIMEOUT"]
            is_one_client = len({timeline.log_of(event) for event in late}) == 1
            is_single = is_one_client and max(map(time_of, late)) - min(map(time_of, late)) <= LASTED_MS
            left = Severity.WARNING if is_single else one.severity
            return _with_tasks(timeline, _with(one, running[0], text, left), running[0])
    if one.root_cause == _ALLOCATION and (start := _next(proofs, last, ("REDPANDA_STARTED",), one.t_end_ms)):
        return _with(one, start, f"The node was running again at {time_text(time_of(start))}.", Severity.WARNING)
    if one.kind == "out_of_memory" and (again := _running_client(proofs, last, one.t_end_ms)):
        text = f"The program was started again and was running at {time_text(time_of(again))}."
        return _with(one, again, text, Severity.WARNING)
    if one.root_cause == _OUT_OF_RANGE and (restored := _restored(proofs, one, last)):
        return restored
    if answered := _answered(proofs, one, last):
        return answered
    if later := later_success(proofs, one, last):
        return _with(one, later.event, later.text, later.severity or one.severity)
    return None


def _with_tasks(timeline: LogTimeline, one: Incident, running: LogEvent) -> Incident:
    """Return an incident of a Streams thread with the tasks that it named from the fault until it was running again."""
    own = timeline.log_between(running, one.t_start_ms, time_of(running))
    thread = running.fields.get("stream_thread") or running.thread
    of_thread = (event for event in own if thread and thread in (event.fields.get("stream_thread"), event.thread))
    tasks = tuple(sorted({task for event in of_thread if (task := event.fields.get("task"))}))
    if not tasks or one.subject.get("task"):
        return one
    named: dict[str, str | tuple[str, ...]] = {"task": tasks[0]} if len(tasks) == 1 else {"tasks": tasks[:LISTED]}
    return one._replace(subject={**one.subject, **named})


def _returned(proofs: Proofs, one: Incident, last: LogEvent) -> Incident | None:
    """Return an incident with the record after which its kind is over; None without one, or if the fault returns."""
    category, sentence = _RETURNS.get(one.kind, (None, ""))
    if category is None:
        return None
    later = proofs.between(last, one.t_end_ms + 1, one.t_end_ms + RESTORED_MS, (category,))
    if not later or _fails_again(proofs.timeline, last, time_of(later[0])):
        return None
    return _with(one, later[0], sentence.format(at=time_text(time_of(later[0]))), Severity.WARNING)


def _restored(proofs: Proofs, one: Incident, last: LogEvent) -> Incident | None:
    """Return an incident of a store with the record that it was restored; None if the log ends before."""
    changelog = str(one.subject.get("topic-partition", ""))
    ended = proofs.between(last, one.t_end_ms, one.t_end_ms + RESTORED_MS, ("STATE_RESTORE_END",))
    own = [event for event in ended if f"{changelog} " in event.message] or ended
    if not own:
        return None
    count = own[0].fields.get("restored", "")
    records = f" from {count_text(int(count), 'record')}" if count else ""
    return _with(one, own[0], f"The store was restored{records} at {time_text(time_of(own[0]))}.", Severity.WARNING)


def _answered(proofs: Proofs, one: Incident, last: LogEvent) -> Incident | None:
    """Return an incident of brokers or writes that failed with the record of a later success; None without one."""
    timeline = proofs.timeline
    is_unreached = one.kind in _CONNECTIONS or one.root_cause in (_NOT_REACHED, _NAMELESS)
    if is_unreached and (worked := _next_success(proofs, last, one.t_end_ms)):
        client, left = (
            last.fields.get("client_id", ""),
            one.severity if _DROPPED in one.explanation else Severity.WARNING,
        )
        if worked.fields.get("client_id", client) == client and not _fails_again(timeline, last, time_of(worked)):
            what = "A broker was reached" if _REACHED.search(worked.message) else "The client worked"
            back = _with(one, worked, f"{what} again at {time_text(time_of(worked))}.", left)
            return back._replace(next_step=FIND_REASON) if one.root_cause == _NOT_REACHED else back
    if any(event.category == "SEND_REPEATED" for event in timeline.evidence(one)):
        sent = _next(proofs, last, ("SEND_RECOVERED",), one.t_end_ms)
        if sent and not timeline.log_between(last, time_of(sent), time_of(sent) + RECOVERY_MS, ("SEND_REPEATED",)):
            text = f"A repeated write succeeded at {time_text(time_of(sent))}."
            return _with(one, sent, text, Severity.WARNING)
    return None


def _running_client(proofs: Proofs, last: LogEvent, end_ms: int) -> LogEvent | None:
    """Return the last record of a Streams client that is running again; None if it leaves that state later."""
    states = [
        event
        for event in proofs.between(last, end_ms, end_ms + RESTORED_MS, ("STREAM_STATE",))
        if event.fields.get("stream_client") and event.fields.get("to_state")
    ]
    return states[-1] if states and states[-1].fields["to_state"] == "RUNNING" else None


def _grown(timeline: LogTimeline, one: Incident, last: LogEvent) -> LogEvent | None:
    """Return the record of the replica that brought the last of a shortage's partitions back to its minimum.

    Of several partitions, only those count whose ISR is known to have shrunk.
    """
    if one.kind != "not_enough_replicas":
        return None
    named = one.subject.get("topic-partition", "")
    shrunk = {event.fields.get("partition", "") for event in timeline.evidence(one) if event.category == "ISR_SHRINK"}
    partitions = [named] if isinstance(named, str) and named else sorted(shrunk - {""})
    ends = [_next_return(timeline, partition, last, one.t_end_ms) for partition in partitions]
    found = [event for event in ends if event is not None]
    return max(found, key=time_of) if found and len(found) == len(ends) else None


def _next_return(timeline: LogTimeline, partition: str, last: LogEvent, end_ms: int) -> LogEvent | None:
    grown = returns_to_isr(timeline, partition)
    return next((event for event in grown if time_of(last) <= time_of(event) <= end_ms + RECOVERY_MS), None)


def _after(proofs: Proofs, last: LogEvent, categories: tuple[EventCategory, ...], end_ms: int) -> Sequence[LogEvent]:
    return proofs.between(last, end_ms, end_ms + RECOVERY_MS, categories)


def _next(proofs: Proofs, last: LogEvent, categories: tuple[EventCategory, ...], end_ms: int) -> LogEvent | None:
    return next((event for event in _after(proofs, last, categories, end_ms) if event is not last), None)


def _next_success(proofs: Proofs, last: LogEvent, end_ms: int) -> LogEvent | None:
    """Return the next record that shows an answer of the brokers; partitions that are taken away are none."""
    found = (event for event in _after(proofs, last, _WORKS, end_ms) if event is not last)
    return next((event for event in found if not TAKEN_AWAY.search(event.message)), None)


def _fails_again(timeline: LogTimeline, last: LogEvent, since_ms: int) -> bool:
    """Return whether the log of an incident has a record of the same category after its recovery."""
    own = timeline.log_between(last, since_ms, since_ms + RECOVERY_MS, (last.category,))
    return any(event is not last for event in own)


def _repeated(timeline: LogTimeline, last: LogEvent, success: LogEvent) -> str:
    when = time_text(time_of(success))
    if success.category == "INIT_PRODUCER_ID":
        return f"The producer was initialized at {when}."
    left_ms = timeline.log_end_ms(last) - time_of(success)
    return f"It was retried at {when}, and the rest of the log ({duration_text(left_ms)}) has no further failure."


def _with(one: Incident, event: LogEvent, text: str, severity: Severity) -> Incident:
    place = EvidenceLine(event.file, event.offset, event.line)
    shown = text if place_text(event) in text else f"{text.removesuffix('.')} ({place_text(event)})."
    return one._replace(
        severity=severity,
        explanation=f"{one.explanation} {shown}",
        next_step=one.next_step if one.root_cause == _DUPLICATE else step_after(one.next_step, event),
        evidence=one.evidence if place in one.evidence else (*one.evidence, place),
    )


def _stands_still(timeline: LogTimeline, one: Incident, events: Sequence[LogEvent], last: LogEvent) -> bool:
    """Return whether a fault interrupted work and lasted to the end of its log."""
    if timeline.log_end_ms(last) - time_of(last) > END_MS:
        return False
    if one.root_cause == _DUPLICATE:
        fenced = [event for event in events if event.category == "PRODUCER_FENCED"]
        return _turns(timeline, fenced) >= TURNS
    if one.root_cause == _NOT_CREATED:
        return True
    is_of_server = one.kind in _CONNECTIONS and all(event.application in timeline.servers() for event in events)
    if is_of_server or one.root_cause == NOT_REACHED:
        return False  # A server serves its other partitions, and other coordinators their groups.
    has_lasted = one.t_end_ms - one.t_start_ms >= LASTED_MS or (one.kind in _STAYS and len(events) >= ATTEMPTS)
    if one.kind not in _OUTAGES or not has_lasted:
        return False
    first = min(events, key=time_of)
    started = timeline.own_inits(last).events
    had_started = bool(started) and time_of(started[0]) < time_of(first)
    return had_started or time_of(first) - timeline.log_start_ms(first) >= WORKED_MS


def _is_of_internal_topic(one: Incident) -> bool:
    """Return whether all transactions or groups of a partition stand still with it, and not one topic."""
    names = (one.subject.get(name, "") for name in ("topic-partition", "topic-partitions", "topic", "topics"))
    listed = (name for value in names for name in ((value,) if isinstance(value, str) else value))
    return any(name.startswith(_INTERNAL) for name in listed)


def _used_until(timeline: LogTimeline, one: Incident, events: Sequence[LogEvent], last: LogEvent) -> int:
    """Return when a program last used a producer after its fatal error, if it did so to the end of its log; else 0."""
    dead: Sequence[LogEvent] = [event for event in events if event.category == "CLIENT_FATAL"]
    if len(dead) < USES and one.kind in _DEADLY and any(event.level in FATAL_LEVELS for event in events):
        dead = timeline.log_between(last, one.t_start_ms, inf, ("CLIENT_FATAL",))
        if timeline.log_between(last, one.t_start_ms, inf, ("INIT_PRODUCER_ID", "CLIENT_START")):
            return 0
    if len(dead) < USES or timeline.log_end_ms(last) - time_of(dead[-1]) > END_MS:
        return 0
    has_lasted = len(dead) >= MANY_USES or time_of(dead[-1]) - time_of(dead[0]) >= LASTED_MS
    return time_of(dead[-1]) if has_lasted else 0


def _turns(timeline: LogTimeline, fenced: Sequence[LogEvent]) -> int:
    """Return how often another program than before was fenced."""
    logs = [timeline.log_of(event) for event in sorted(fenced, key=time_of)]
    return sum(log != before for before, log in zip(("", *logs), logs, strict=False))
