"""Find the record that shows that what failed works again: the same transactional id, connector task, or group.

A recovery is reported only where the log shows it, and only if the fault does not return after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Final, NamedTuple

from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.naming.resumed_work import is_overcome
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.own_words import initializations_in_words
from eosctl.logs.incidents.timeline.proofs import Proofs
from eosctl.logs.incidents.timeline.restorations import return_after
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.logs.incidents.timeline.work import STORED, TAKEN_AWAY
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity
from eosctl.text import time_text

FIND_REASON: Final = (
    "Read the logs of these brokers from the first failed connection on: a stop, a crash, or the network. Check what "
    "the program gave up meanwhile, and write it again."
)
"""The advice on brokers that are reached again."""
REJOINED_MS: Final = 3_600_000
"""Maximum time from a member's fault to its next assignment: a deployment restarts it within that."""
FLUSHED_MS: Final = 10_000
"""Twice offset.flush.timeout.ms: a commit of offsets that began this long ago without an error has ended."""
STOPS_MS: Final = 60_000
"""Maximum time from the stop of a connector task to the failure of its last commit of offsets."""
_THREAD: Final = re.compile(r"-StreamThread-\d+$")
_OFFSETS: Final = "connector_offsets_not_stored"
_ENDED: Final = "consumer_ended"
"""The client itself has started this consumer again if it joins its group; no record is lost."""
_COMMITS: Final = "consumer_offsets_timeout"
_IN_BACKGROUND: Final = re.compile(r"\bOffset commit failed on partition [^\n]{1,400}: The request timed out")
"""An attempt of the Java client, which repeats it, or stores later offsets with its next commit."""
_SLOW: Final = "slow-processing"
_REJOINED: Final[tuple[EventCategory, ...]] = ("REBALANCE_DONE",)
_INIT: Final[EventCategory] = "INIT_PRODUCER_ID"
_FENCED: Final = "producer_fenced"
_DUPLICATE: Final = "duplicate-transactional-id"
"""A cause that brings the fault back after each initialization."""
_POSSIBLE: Final = 0.7
"""Confidence up to which it is only the likelier of two causes: a rollback after a timeout does not come back."""
_OF_PRODUCERS: Final = kinds_with("of_producer")
_OF_MEMBERS: Final = kinds_with("of_member")
_OF_WRITES: Final = kinds_with("stops_writes") - kinds_with("stays")
_STARTED: Final = re.compile(r"(?:Source|Sink) task finished initialization and start")


class LaterSuccess(NamedTuple):
    """The record of a success, a sentence about it, and the severity that it leaves; None for that of the incident."""

    event: LogEvent
    text: str
    severity: Severity | None = None


def later_success(proofs: Proofs, one: Incident, last: LogEvent) -> LaterSuccess | None:
    """Return the first success after an incident that no further record of the fault follows; None without one.

    Args:
        proofs: The records that can prove it.
        one: An incident of a client.
        last: The last record of a client in its evidence.
    """
    if one.root_cause == _DUPLICATE and one.confidence > _POSSIBLE:
        return None
    found = next(_successes(proofs, one, last), None)
    if found is None or _returns(proofs.timeline, last, time_of(found.event)):
        return None
    return found


def _successes(proofs: Proofs, one: Incident, last: LogEvent) -> Iterator[LaterSuccess]:
    timeline = proofs.timeline
    yield from _of_restored_tasks(timeline, one)
    task = one.subject.get("connector.task", "")
    if isinstance(task, str) and task:
        yield from _of_task(proofs, one, last, task)
    if tasks := one.subject.get("connector.tasks"):
        yield from _of_tasks(proofs, one, last, tasks)
    named = one.subject.get("transactional.id", "")
    if one.kind in _OF_PRODUCERS and isinstance(named, str):
        ready = initializations_in_words(timeline, last, one.t_end_ms + 1, inf, named)
        for event in sorted((*_inits(proofs, one, last, named), *proofs.of(ready)), key=time_of):
            yield LaterSuccess(event, f"A new producer was initialized at {time_text(time_of(event))}.")
        # After a takeover, the other instance may be the one that is initialized again.
        if named and one.kind != _FENCED:
            for event in proofs.of(within(timeline.server_events_about(named, _INIT), one.t_end_ms + 1, inf)):
                yield LaterSuccess(event, f"The coordinator initialized {named} again at {time_text(time_of(event))}.")
    if one.kind == _COMMITS and _IN_BACKGROUND.search(last.message):
        yield from _of_commits(proofs, one, last)
    if one.kind in _OF_MEMBERS:
        yield from _of_member(proofs, one, last)
    if one.kind in _OF_PRODUCERS or one.kind in _OF_MEMBERS or one.kind in _OF_WRITES:
        yield from _of_program(proofs, one, last)


def _of_restored_tasks(timeline: LogTimeline, one: Incident) -> Iterator[LaterSuccess]:
    """Yield the end of the restoration of what Streams removed because of a fault."""
    if one.kind not in _OF_PRODUCERS:
        return
    corrupted = [event for event in timeline.evidence(one) if event.category == "TASK_CORRUPTED"]
    for event in return_after(timeline, corrupted[-1]).events[-1:] if corrupted else ():
        text = f"Streams had restored what it removed by {time_text(time_of(event))}, and its tasks ran again."
        yield LaterSuccess(event, text, Severity.WARNING)


def _inits(proofs: Proofs, one: Incident, last: LogEvent, named: str) -> Sequence[LogEvent]:
    """Return the later initializations of an id by any client, and those of the same program that name none."""
    of_log = proofs.between(last, one.t_end_ms + 1, inf, (_INIT,))
    unnamed = [event for event in of_log if not named or proofs.timeline.transactional_id(event) in ("", named)]
    own = proofs.timeline.client_events_about(named, _INIT) if named else ()
    return [*proofs.of(within(own, one.t_end_ms + 1, inf)), *unnamed]


def _of_task(proofs: Proofs, one: Incident, last: LogEvent, task: str) -> Iterator[LaterSuccess]:
    """Yield the successes of a connector task: offsets that were stored, if that had failed, and a start.

    A task that is stopped on purpose may not store its last offsets, and sends those records again after its start.
    """
    timeline = proofs.timeline
    end_ms = timeline.log_end_ms(last)
    own = timeline.log_between(last, one.t_start_ms - STOPS_MS, inf, ("ROUTINE",))
    stop = f"Stopping task {task} "
    is_stopped = any(stop in f"{event.message} " and time_of(event) <= one.t_start_ms for event in own)
    for event in proofs.of(own):
        if event.fields.get("connector_task") != task or time_of(event) <= one.t_end_ms:
            continue
        when = time_text(time_of(event))
        if one.kind == _OFFSETS and STORED.search(event.message):
            if "successfully" in event.message or end_ms - time_of(event) >= FLUSHED_MS:
                yield LaterSuccess(event, f"The task stored its offsets again at {when}.", Severity.WARNING)
        elif _STARTED.search(event.message):
            is_planned = is_stopped and one.kind == _OFFSETS
            how = "The worker had stopped the task before it. " if is_planned else ""
            text = f"{how}Task {task} was started again at {when}."
            yield LaterSuccess(event, text, Severity.INFO if is_planned else None)


def _of_tasks(proofs: Proofs, one: Incident, last: LogEvent, tasks: Iterable[str]) -> Iterator[LaterSuccess]:
    """Yield the last success of several connector tasks, if each of them has one."""
    found = [next(_of_task(proofs, one, last, task), None) for task in tasks]
    known = sorted((success for success in found if success is not None), key=lambda success: time_of(success.event))
    if known and len(known) == len(found):
        is_alike = all(success.severity is Severity.WARNING for success in known)
        when = time_text(time_of(known[-1].event))
        text = f"All of these tasks stored their offsets again by {when}." if is_alike else known[-1].text
        yield known[-1]._replace(text=text)


def _of_commits(proofs: Proofs, one: Incident, last: LogEvent) -> Iterator[LaterSuccess]:
    """Yield the coordinator that a client found again after a commit of offsets that it repeats by itself."""
    group = one.subject.get("group", "")
    for event in proofs.between(last, one.t_end_ms, one.t_end_ms + STOPS_MS, ("COORDINATOR_DISCOVERED",)):
        if event.fields.get("group", group) == group and proofs.timeline.log_end_ms(last) - time_of(event) >= STOPS_MS:
            text = (
                f"The group's coordinator was found again at {time_text(time_of(event))}, and no further commit failed."
            )
            yield LaterSuccess(event, text, Severity.WARNING)


def _of_member(proofs: Proofs, one: Incident, last: LogEvent) -> Iterator[LaterSuccess]:
    group = one.subject.get("group", "")
    until = one.t_end_ms + REJOINED_MS
    if one.root_cause == _SLOW and _is_expelled_again(proofs.timeline, one, last):
        return
    for event in proofs.between(last, one.t_end_ms + 1, until, ("REBALANCE_DONE", "ASSIGNMENT_CHANGE")):
        if event.fields.get("group", group) == group and not TAKEN_AWAY.search(event.message):
            left = Severity.WARNING if one.kind == _ENDED or is_overcome(one, event) else None
            yield LaterSuccess(event, f"A member rejoined at {time_text(time_of(event))}.", left)


def _is_expelled_again(timeline: LogTimeline, one: Incident, last: LogEvent) -> bool:
    """Return whether a member did not poll in time again after it had rejoined: a further rejoin is not the end."""
    rejoined = timeline.log_between(last, one.t_start_ms + 1, one.t_end_ms, _REJOINED)
    since_ms = time_of(rejoined[0]) if rejoined else one.t_end_ms + 1
    return bool(timeline.log_between(last, since_ms, one.t_end_ms, ("POLL_TIMEOUT",)))


def _of_program(proofs: Proofs, one: Incident, last: LogEvent) -> Iterator[LaterSuccess]:
    """Yield the words of a program that it works again, and the checkpoints with which sinks of Flink commit."""
    until = one.t_end_ms + REJOINED_MS
    for event in proofs.between(last, one.t_end_ms + 1, until, ("WORKS_AGAIN", "CHECKPOINT_COMPLETED")):
        when = time_text(time_of(event))
        if event.category == "WORKS_AGAIN":
            yield LaterSuccess(event, f"The program reported at {when} that it works again.")
        else:
            yield LaterSuccess(event, f"The job completed a checkpoint at {when}: it was running again.")


def _returns(timeline: LogTimeline, last: LogEvent, since_ms: int) -> bool:
    """Return whether the program reports the fault again after a success."""
    return any(event is not last for event in timeline.log_between(last, since_ms, inf, (last.category,)))


def runs_again(event: LogEvent, last: LogEvent) -> bool:
    """Return whether a record reports that the stream thread of another record is running."""
    thread = last.fields.get("stream_thread") or (last.thread if _THREAD.search(last.thread) else "")
    own = event.fields.get("stream_thread"), event.thread
    return bool(thread) and event.fields.get("to_state") == "RUNNING" and thread in own
