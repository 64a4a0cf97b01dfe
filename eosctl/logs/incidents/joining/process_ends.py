"""Join the exit code of a process with its last error: one incident, which quotes the error if no catalog has it.

A container or unit reports that its process ended with a code above 0. The reason is the last error of the process
itself. Clients that do not find its host afterwards report an effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from eosctl.logs.incidents.joining.absorbing import absorb, with_parts, with_records
from eosctl.logs.incidents.remaining.record_groups import may_concern_kafka
from eosctl.logs.incidents.timeline.evidence import incident, joined_evidence, short_text
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import by_key, is_thrown_below, time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import UNCLASSIFIED, LogEvent, is_error
from eosctl.model.severity import Severity
from eosctl.text import count_text, time_text

BEFORE_MS: Final = 120_000
"""Maximum time from the last error of a process to its exit."""
RUNS_MS: Final = 60_000
"""A process that was started again works if it logs for this long without another exit."""
_PLANNED: Final = frozenset({"0", "130", "137", "143"})
"""No error, and the codes of SIGINT, SIGKILL, and SIGTERM: 128 and the signal's number. A kill has its own detector."""
_EXIT: Final = "APPLICATION_KILLED"
_OUTSIDE: Final = "error_outside_catalog"
_CONNECTING: Final = frozenset({"host_not_resolved", "brokers_not_reached", "connections_lost"})
"""Kinds of faults of clients that look for a server."""


class _End(NamedTuple):
    """The exits of a process with errors, and its last error before the first one."""

    name: str
    exits: Sequence[LogEvent]
    error: LogEvent


def join_process_ends(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; the exit of a process is a part of that of its last error, which is an incident with it."""
    found = list(incidents)
    ends = list(_ends(timeline))
    if not ends:
        yield from found
        return
    homes: dict[tuple[str, int], int] = {
        (place.file, place.offset): number for number, one in enumerate(found) for place in one.evidence
    }
    with_end: dict[int, _End] = {}
    for end in ends:
        number = homes.get((end.error.file, end.error.offset))
        if number is None or found[number].kind == _OUTSIDE:
            other = _incident(timeline, end)
            if number is None:
                number = len(found)
                found.append(other)
            else:
                found[number] = other._replace(evidence=joined_evidence(found[number].evidence, other.evidence))
        else:
            found[number] = _with_exits(found[number], end)
        with_end[number] = end

    def home_of(one: Incident) -> Incident | None:
        return next((found[number] for number, end in with_end.items() if _is_effect(one, end)), None)

    yield from absorb(found, home_of, _with_effects)


def _ends(timeline: LogTimeline) -> Iterator[_End]:
    exits = [event for event in timeline.of(_EXIT) if event.fields.get("exit_code", "0") not in _PLANNED]
    for name, own in by_key((_name_of(event), event) for event in exits).items():
        error = _last_error(timeline, name, own[0]) if name else None
        if error is not None and (may_concern_kafka(error) or _is_of_kafka(timeline, error)):
            yield _End(name, own, error)


def _name_of(event: LogEvent) -> str:
    return event.fields.get("container") or event.fields.get("unit", "")


def _last_error(timeline: LogTimeline, name: str, ended: LogEvent) -> LogEvent | None:
    """Return the last error of the process of an exit."""
    program = _program_of(timeline, name, ended)
    own = [event for event in timeline.of_application(program) if event.file == ended.file]
    near = [event for event in own if time_of(ended) - BEFORE_MS <= time_of(event) <= time_of(ended)]
    errors = [event for event in near if is_error(event) or event.exception is not None]
    return errors[-1] if errors else None


def _program_of(timeline: LogTimeline, container: str, ended: LogEvent) -> str:
    """Return the program of a container; before 2021, only its exit had the name of the project before its own."""
    if any(event.file == ended.file for event in timeline.of_application(container)):
        return container
    named = {event.application for event in timeline.events if event.file == ended.file and event.application}
    longest = sorted((one for one in named if container.endswith((f"_{one}", f"-{one}"))), key=len)
    return longest[-1] if longest else container


def _is_of_kafka(timeline: LogTimeline, error: LogEvent) -> bool:
    """Return whether the program of an error is a server or logs what the catalog has."""
    own = timeline.of_application(error.application)
    return any(event.category not in (UNCLASSIFIED, _EXIT) for event in own)


def _incident(timeline: LogTimeline, end: _End) -> Incident:
    is_server = end.error.application in timeline.servers()
    works = _works_again(timeline, end)
    thrown = end.error.fields.get("thrown", "")
    said, cause = end.error.message, f" Its last cause: {short_text(thrown).rstrip('.')}." if thrown else ""
    if is_thrown_below(end.error):
        said, cause = thrown, ""
    return incident(
        "process_ended_by_an_error",
        "exit-after-an-error",
        {"application": end.name},
        [end.error, *end.exits],
        f'The process of {end.name} ended because of an error: "{short_text(said)}".'
        f"{cause} {_exit_text(end)}"
        + (f" It was started again, and logged until {time_text(works)}." if works else ""),
        "Correct what the error names, then start the process again. Clients that do not find or reach it meanwhile "
        "report effects.",
        severity=Severity.WARNING if works else Severity.CRITICAL if is_server else Severity.ERROR,
        confidence=0.8,
    )


def _works_again(timeline: LogTimeline, end: _End) -> int:
    """Return the time of the last record of a process that was started again and works; 0 if none shows that."""
    last = max(map(time_of, timeline.of_application(end.error.application)), default=0)
    return last if last - time_of(end.exits[-1]) >= RUNS_MS else 0


def _exit_text(end: _End) -> str:
    codes = ", ".join(dict.fromkeys(event.fields["exit_code"] for event in end.exits))
    count = f" ({count_text(len(end.exits), 'time')})" if len(end.exits) > 1 else ""
    first = end.exits[0]
    when = "" if first.time_assumed else f" at {time_text(time_of(first))}"
    return f"It exited with code {codes}{when}{count}."


def _with_exits(one: Incident, end: _End) -> Incident:
    return with_records(one, end.exits, _exit_text(end).replace("It exited", "Its process exited", 1))


def _is_effect(one: Incident, end: _End) -> bool:
    """Return whether a client did not find or reach the host of a process after its end."""
    if one.kind not in _CONNECTING or one.t_start_ms < time_of(end.exits[0]):
        return False
    named = [one.subject.get("server", ""), *one.subject.get("servers", ())]
    return any(str(server).partition("/")[0].partition(":")[0] == end.name for server in named)


def _with_effects(one: Incident, effects: Sequence[Incident]) -> Incident:
    return with_parts(one, effects, *(f"Effect: {effect.explanation}" for effect in effects))
