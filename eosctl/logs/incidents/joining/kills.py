"""Join the kill of a process without memory with its effects: a rollback, a fenced successor, a failover.

The kernel names the process, Kubernetes the container, and systemd the unit. Only an incident that names the same
program, or a broker's in the same log, is an effect of that kill: another program can fail at that time, too.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import gathered, with_parts
from eosctl.logs.incidents.timeline.evidence import incident
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, episodes
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity

_CAUSE: Final = "killed-by-the-operating-system"
_FORCED: Final = "killed-by-sigkill"
_EXIT_CODE: Final = "137"
"""128 and the number of SIGKILL."""
_SAME_MS: Final = 30_000
"""The kernel, systemd, and Kubernetes report one kill within this time."""
_ROLLBACK_MS: Final = 960_000
"""The largest default of transaction.max.timeout.ms, and the interval of the coordinator's checks."""
_RESTART_MS: Final = 300_000
_EFFECTS: Final = {
    "transaction_timeout": _ROLLBACK_MS,
    "producer_fenced": _RESTART_MS,
    "unclean_stop": _RESTART_MS,
    "task_corrupted": _RESTART_MS,
    "broker_crash": _RESTART_MS,
    "broker_restart": _RESTART_MS,
    "coordinator_failover": _RESTART_MS,
    "broker_fenced": _RESTART_MS,
}
"""Kinds that a kill explains, and the time after it in which they begin."""
_OF_CLIENTS: Final = frozenset({"transaction_timeout", "producer_fenced"})
_CERTAIN: Final = 0.9
"""A client that is refused with this certainty still runs, or another one took its id: it was not killed."""
_WORD: Final = re.compile(r"[^\W_][\w.]*")
_PID: Final = re.compile(r"\d+ \((?P<name>[^)]+)\)")
_GENERIC: Final = frozenset(
    {"java", "node", "python", "python3", "dotnet", "kafka", "main", "service", "app", "broker"}
)
_SHORTEST: Final = 4


def find_forced_kills(timeline: LogTimeline) -> Iterator[Incident]:
    """Yield processes that SIGKILL ended: by exit code 137, systemd's status, or the shell that started them."""
    kills = [
        event
        for event in timeline.of("APPLICATION_KILLED")
        if event.fields.get("exit_code") == _EXIT_CODE or event.fields.get("killed")
    ]
    for events in by_key((timeline.log_of(event), event) for event in kills).values():
        for episode in episodes(events, _SAME_MS):
            name = next(filter(None, (one.fields.get("container") or one.fields.get("unit") for one in episode)), "")
            host = next((event.host for event in episode if event.host), "")
            yield incident(
                "process_killed",
                _FORCED,
                {"process": name, "host": host},
                episode,
                f"{name or 'A process'} was killed (SIGKILL, exit code 137): it exceeded its memory limit, failed a "
                "liveness probe, or did not stop in time. A transaction that it had open stays so until its timeout, "
                "or until a producer with its id starts.",
                "Find the reason: the kernel's log (oom-kill), kubectl describe pod, or docker inspect. Raise the "
                "memory limit or the grace period for a stop.",
                confidence=0.6,
            )


def join_kills(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; the effects of a kill become a part of it."""
    ordered = sorted(incidents, key=lambda one: one.t_start_ms)
    kills = [one for one in ordered if one.root_cause in (_CAUSE, _FORCED)]
    times = [one.t_start_ms for one in kills]

    def home_of(one: Incident) -> Incident | None:
        limit_ms = _SAME_MS if one.root_cause == _FORCED else _EFFECTS.get(one.kind)
        if limit_ms is None or (one.confidence >= _CERTAIN and one.kind in _OF_CLIENTS):
            return None
        first = bisect_left(times, one.t_start_ms - limit_ms)
        near = kills[first : bisect_right(times, one.t_start_ms + _SAME_MS)]
        if one.root_cause == _FORCED:
            near = [kill for kill in near if kill.root_cause == _CAUSE]
        return next((kill for kill in reversed(near) if _is_effect(timeline, kill, one)), None)

    for one, effects in gathered(ordered, home_of):
        yield _with_effects(timeline, one, effects) if one.root_cause in (_CAUSE, _FORCED) else one


def _is_effect(timeline: LogTimeline, kill: Incident, one: Incident) -> bool:
    """Return whether an incident is about the killed program: by its name, or, of a broker, as one log reports both.

    A journal and the log of a set of containers have the records of many clients: for these, only a name counts.
    """
    killed = {word for name in _names(timeline, kill) for word in _words(name)}
    if any(killed & _words(str(value)) for value in one.subject.values()):
        return True
    files = {place.file for place in kill.evidence}
    return one.kind not in _OF_CLIENTS and any(place.file in files for place in one.evidence)


def _names(timeline: LogTimeline, kill: Incident) -> Iterator[str]:
    """Yield the names of a killed program: its container, process, unit, and machine."""
    process = str(kill.subject.get("process", ""))
    found = _PID.fullmatch(process)
    yield found["name"] if found else process
    for event in _events(timeline, kill):
        yield event.fields.get("unit", "")


def _events(timeline: LogTimeline, kill: Incident) -> Sequence[LogEvent]:
    files = {place.file for place in kill.evidence}
    near = within(timeline.of("OOM_KILLED"), kill.t_start_ms - _SAME_MS, kill.t_end_ms + _SAME_MS)
    return [event for event in near if event.file in files]


def _words(name: str) -> set[str]:
    """Return the parts of a name that can identify a program."""
    words = {word.lower() for word in _WORD.findall(name)}
    return {word for word in words if len(word) >= _SHORTEST and word not in _GENERIC and not word.isdigit()}


def _with_effects(timeline: LogTimeline, kill: Incident, effects: Sequence[Incident]) -> Incident:
    events = _events(timeline, kill)
    unit = next((event.fields["unit"] for event in events if event.fields.get("unit")), "")
    host = next((event.host for event in events if event.host), "")
    named = {name: value for name, value in (("unit", unit), ("host", host)) if value}
    known = {name: value for one in (*reversed(effects), kill) for name, value in one.subject.items()}
    # The exit code of a process that the kernel killed is evidence of the same kill.
    texts = [f"Effect: {one.explanation}" for one in effects if one.root_cause != _FORCED]
    whole = with_parts(kill, effects, *texts, subject={**known, **named})._replace(t_start_ms=kill.t_start_ms)
    if whole.severity is Severity.CRITICAL and _runs_again(timeline, effects):
        return whole._replace(severity=Severity.ERROR)
    return whole


def _runs_again(timeline: LogTimeline, effects: Sequence[Incident]) -> bool:
    """Return whether a Streams application that was killed ran again after it had restored its stores."""
    events = (event for one in effects for event in timeline.evidence(one))
    return any(event.fields.get("to_state") == "RUNNING" for event in events)
