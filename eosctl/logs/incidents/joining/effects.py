"""Join an incident of a client with its effects: a task, client, or query that ended, and echoes of frameworks.

A program reports one failure in several layers. The record of a layer above names no cause of its own, but it shows
what does not work until someone restarts it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import Final, NamedTuple

from eosctl.logs.incidents.joining.absorbing import absorb, with_parts
from eosctl.logs.incidents.kinds import kinds_with
from eosctl.logs.incidents.timeline.evidence import joined_evidence, places_of
from eosctl.logs.incidents.timeline.index import Intervals, within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity

_ECHOES: Final = frozenset(
    {
        *("connect_task_failed", "job_restarted", "streams_client_failed", "transaction_rolled_back_by_framework"),
        "checkpoints_failed",
    }
)
"""Kinds that repeat a failure, if their own cause is unexplained."""
_UNEXPLAINED: Final = "unexplained"
_DEAD: Final = "producer_dead"
_DEADLY: Final = kinds_with("kills_producer")
_BEFORE_MS: Final = 5_000
_AFTER_MS: Final = 30_000
_LASTING_MS: Final = 600_000
"""Maximum time from a fatal error to a call that the producer in its error state refuses."""
_DEAD_MS: Final = 86_400_000
"""The same for a producer that librdkafka has declared dead, if no record shows a new one since."""
_ERROR_STATE: Final = re.compile(r"because we are in an error state\b")
_PRODUCER_OF_TASK: Final = "connector-producer-"
"""The beginning of the client.id that Connect gives the producer of a source task."""


class _Effect(NamedTuple):
    """The record of an effect, its sentence with ``who``, and its severity.

    Attributes:
        refuted_by: A record between the fault and the effect that refutes the sentence; None if none can.
        instead: The sentence then.
        own_kind: The kind of incidents that report the effect themselves; empty if none does.
    """

    record: re.Pattern[str]
    sentence: str
    severity: Severity
    refuted_by: re.Pattern[str] | None = None
    instead: str = ""
    own_kind: str = ""


_EFFECTS: Final = (
    _Effect(
        re.compile(r"Task is being killed and will not recover until manually restarted"),
        "Effect: {who} has failed and does nothing until it is restarted.",
        Severity.ERROR,
    ),
    _Effect(
        re.compile(
            r"[Ff]atal consumer exception; stopping container|Stopping container due to (?:an )?(?:Error|fencing)"
        ),
        "Effect: the listener container has stopped, and reads nothing until it is started again.",
        Severity.ERROR,
        own_kind="listener_failed",
    ),
    _Effect(
        re.compile(r"[Ff]ailed to reconfigure connector's tasks"),
        "Effect: the worker cannot configure the connector's tasks: they do not run, or keep their settings.",
        Severity.ERROR,
        own_kind="connector_tasks_not_configured",
    ),
    _Effect(
        re.compile(r"All stream threads have died|State transition from \w+ to ERROR\b"),
        "Effect: all threads of the Streams client are dead, and it processes nothing until it is restarted.",
        Severity.CRITICAL,
    ),
    _Effect(
        re.compile(r"Presumably this transaction has been already committed before"),
        "Effect: unless the transaction had been committed before, readers never see its records.",
        Severity.ERROR,
    ),
    _Effect(
        re.compile(
            r"transaction manager: invalid transition attempted|not valid in (?:txn )?state AbortableError"
            r"|state ABORTABLE_ERROR to state IN_TRANSACTION"
        ),
        "Effect: the application did not abort after the error, so no further transaction begins until it does.",
        Severity.ERROR,
        re.compile(
            r"\bAbortingTransaction\b|ProducerTxnStateAbortingTransaction|ABORTING_TRANSACTION"
            r"|(?i:\btransaction (?:was )?aborted\b)"
        ),
        "Effect: the transaction was aborted, but the producer begins no further one: replace it by a new producer.",
    ),
    _Effect(
        re.compile(r"[Qq]ueue (?:is )?full\b|_QUEUE_FULL\b|BufferExhausted"),
        "Effect: the producer's queue was full, and it refused further records.",
        Severity.WARNING,
    ),
    _Effect(
        re.compile(r"^Query .{0,300}\bterminated with error"),
        "Effect: the streaming query has ended.",
        Severity.CRITICAL,
    ),
)


def join_effects(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents with their effects; an echo without a cause of its own becomes a part of its cause."""
    ordered = sorted(incidents, key=lambda one: one.t_start_ms)
    logs = _Logs(timeline)
    found: dict[str, list[tuple[float, float, Incident]]] = defaultdict(list)
    for one in ordered:
        if not _is_echo(one) and one.root_cause != _UNEXPLAINED and (log := logs.of(one)):
            found[log].append((one.t_start_ms, logs.last_felt_ms(one), one))
    causes = {log: Intervals(spans) for log, spans in found.items()}

    def home_of(one: Incident) -> Incident | None:
        return logs.cause_of(one, causes.get(logs.of(one))) if _is_echo(one) else None

    for one in absorb(ordered, home_of, with_parts):
        yield _with_effects(one, logs) if logs.of(one) else one


class _Logs:
    """The logs of incidents that clients reported."""

    def __init__(self, timeline: LogTimeline) -> None:
        self._timeline = timeline
        self._effects: dict[tuple[str, _Effect], list[LogEvent]] = {}

    def events_of(self, one: Incident) -> Sequence[LogEvent]:
        """Return the evidence of an incident that clients wrote."""
        servers = self._timeline.servers()
        return [event for event in self._timeline.evidence(one) if event.application not in servers]

    def of(self, one: Incident) -> str:
        """Return the log of the last client's record of an incident; empty if only servers reported it."""
        own = self.events_of(one)
        return self._timeline.log_of(own[-1]) if own else ""

    def effects_near(self, one: Incident, effect: _Effect) -> Sequence[LogEvent]:
        """Return the records of an effect in an incident's log, at its time or soon after."""
        last = self.events_of(one)[-1]
        key = self._timeline.log_of(last), effect
        if key not in self._effects:
            own = self._timeline.log_with(last)
            self._effects[key] = [event for event in own if effect.record.search(event.message)]
        return within(self._effects[key], one.t_start_ms - _BEFORE_MS, one.t_end_ms + _AFTER_MS)

    def refutes(self, one: Incident, effect: _Effect, felt: LogEvent) -> bool:
        """Return whether a log has a record between an incident's start and an effect that refutes its sentence."""
        if effect.refuted_by is None:
            return False
        own = self._timeline.log_between(felt, one.t_start_ms, time_of(felt))
        return any(effect.refuted_by.search(event.message) for event in own)

    def taken_over(self, ended: LogEvent, task: str) -> LogEvent | None:
        """Return the initialization of a task's producer by another worker shortly before its old copy ended."""
        inits = self._timeline.with_value("connector_task", task, "INIT_PRODUCER_ID", "CLIENT_START")
        clients = self._timeline.with_value("client_id", f"{_PRODUCER_OF_TASK}{task}", "INIT_PRODUCER_ID")
        near = within(inits or clients, time_of(ended) - _LASTING_MS, time_of(ended) + _AFTER_MS)
        own = self._timeline.log_of(ended)
        return next((event for event in reversed(near) if self._timeline.log_of(event) != own), None)

    def is_started_after(self, ended: LogEvent, task: str) -> bool:
        """Return whether the worker of a task that ended initialized a producer for it afterwards."""
        later = self._timeline.log_between(ended, time_of(ended) + 1, inf, ("INIT_PRODUCER_ID",))
        return any(_task_of(event) == task for event in later)

    def task_of(self, one: Incident) -> str:
        """Return the task of a connector that an incident is about, also by the client.id of its producer."""
        tasks = (_task_of(event) for event in self.events_of(one))
        return str(one.subject.get("connector.task", "")) or next(filter(None, tasks), "")

    def cause_of(self, echo: Incident, causes: Intervals[Incident] | None) -> Incident | None:
        """Return the last incident of the same log that an echo may repeat."""
        if causes is None:
            return None
        is_lasting = echo.kind == _DEAD or any(_ERROR_STATE.search(event.message) for event in self.events_of(echo))
        since_ms = echo.t_start_ms - (_LASTING_MS if is_lasting else _AFTER_MS)
        near = causes.touching(since_ms, echo.t_start_ms + _BEFORE_MS)
        found = next((one for one in near if self._may_be_of(one, echo)), None)
        if found is None and echo.kind == _DEAD:
            earlier = causes.touching(echo.t_start_ms - _DEAD_MS, since_ms)
            of_producer = (one for one in reversed(earlier) if self._may_be_of(one, echo))
            found = next((one for one in of_producer if not self._is_replaced(one, echo)), None)
        return found

    def _is_replaced(self, cause: Incident, echo: Incident) -> bool:
        """Return whether the program started a client or initialized a producer between a fatal error and an echo."""
        last = self.events_of(cause)[-1]
        return bool(
            self._timeline.log_between(last, time_of(last), echo.t_start_ms, ("INIT_PRODUCER_ID", "CLIENT_START"))
        )

    def last_felt_ms(self, one: Incident) -> int:
        """Return when clients last reported an incident: servers may report it for a shorter time."""
        return max(time_of(event) for event in self.events_of(one))

    def _may_be_of(self, cause: Incident, echo: Incident) -> bool:
        if cause.severity is Severity.INFO or (echo.kind == _DEAD and cause.kind not in _DEADLY):
            return False
        ids = (cause.subject.get("transactional.id"), echo.subject.get("transactional.id"))
        return _agree(*ids) and _agree(self.task_of(cause), self.task_of(echo))


def _is_echo(one: Incident) -> bool:
    return one.kind == _DEAD or (one.kind in _ECHOES and one.root_cause == _UNEXPLAINED)


def _with_effects(one: Incident, logs: _Logs) -> Incident:
    """Return an incident with a sentence for each effect among the records of its log at its time."""
    for effect in _EFFECTS:
        near = logs.effects_near(one, effect)
        own_task = logs.task_of(one) if near else ""
        found = [event for event in near if _agree(event.fields.get("connector_task", ""), own_task)]
        if not found or one.kind == effect.own_kind or effect.sentence.partition("{")[0] in one.explanation:
            continue
        task = _task_of(found[0]) or own_task
        if task and (moved := logs.taken_over(found[0], task)):
            one = one._replace(
                severity=max(one.severity, Severity.WARNING, key=lambda severity: severity.rank),
                explanation=f"{one.explanation} Another worker runs task {task}: only its old copy has ended.",
                evidence=joined_evidence(one.evidence, places_of([*found, moved])),
            )
            continue
        sentence = effect.instead if logs.refutes(one, effect, found[0]) else effect.sentence
        if task and "{who}" in sentence and logs.is_started_after(found[-1], task):
            sentence = "Effect: {who} had failed, and was started again."
        one = one._replace(
            severity=min(one.severity, effect.severity, key=lambda severity: severity.rank),
            explanation=f"{one.explanation} {sentence.format(who=f'task {task}' if task else 'the task')}",
            t_end_ms=max(one.t_end_ms, time_of(found[0])),
            evidence=joined_evidence(one.evidence, places_of(found)),
        )
    return one


def _task_of(event: LogEvent) -> str:
    client = event.fields.get("client_id", "")
    by_client = client.removeprefix(_PRODUCER_OF_TASK) if client.startswith(_PRODUCER_OF_TASK) else ""
    return event.fields.get("connector_task", "") or by_client


def _agree(mine: object, other: object) -> bool:
    """Return whether two names are the same, or one of them is missing."""
    return not (mine and other) or mine == other
