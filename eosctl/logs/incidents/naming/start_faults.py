"""Name why a Kafka server does not start, by the exception of its fatal record (``start_faults.toml``).

The record itself only reports that the start failed. Its last exception, or the one in the same record, has the reason.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from eosctl.logs.incidents.joining.absorbing import absorb, with_parts
from eosctl.logs.incidents.servers.quorum import controller_not_reached
from eosctl.logs.incidents.timeline.evidence import evidence_of, joined_evidence, short_text
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.logs.incidents.timeline.trouble import DISCONNECTS
from eosctl.model.event_names import EventCategory
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.text import name_some, time_text

CONFIDENCE: Final = 0.9
STARTING_MS: Final = 600_000
"""Maximum time from the attempt to reach ZooKeeper to the end of a start."""
_OPEN: Final = frozenset({"unexplained", "start-not-completed"})
_KIND: Final = "server_ended_by_a_fault"
_CONNECTING: Final[tuple[EventCategory, ...]] = ("ZK_CONNECTING",)
_NO_CONTROLLER: Final = "controllers-not-reached"
_CONNECTIONS: Final = frozenset({"brokers_not_reached", "connections_lost", "host_not_resolved"})
_ZOOKEEPER: Final = "zookeeper-not-reached"
LISTED: Final = 10
"""Maximum number of failed connections in the evidence."""
_LED: Final[tuple[EventCategory, ...]] = ("CONTROLLER_LEADER", "CONTROLLER_ACTIVE")
_UNREACHED: Final[tuple[EventCategory, ...]] = (*DISCONNECTS, "HOST_NOT_RESOLVED")
_CAUSE: Final = re.compile(r" Its last cause: [^\n]{1,400}?\.(?= |$)")
_SERVED: Final = re.compile(r" The server served again at [^\n]{1,300}?\)\.")
"""The outcome that another step has found."""
_START: Final = re.compile(
    r'(?i:\bstart(?:up|ing)?\b|Exiting Kafka|logs loading|main class|in thread "main"|Formatting storage)'
)


class StartFault(NamedTuple):
    """A cause for which a server does not start.

    Attributes:
        cause: The root cause of the incident.
        words: Expressions for the texts of its exception, with names of the subject as groups.
        what: The cause in a clause.
        next: The next step.
        while_running: Whether it also ends a server that has started.
    """

    cause: str
    words: tuple[re.Pattern[str], ...]
    what: str
    next: str
    while_running: bool


@cache
def start_faults() -> Sequence[StartFault]:
    """Return all causes, the most precise one first."""
    text = files("eosctl.logs.incidents.naming").joinpath("start_faults.toml").read_text("utf-8")
    return tuple(
        StartFault(
            cause, tuple(map(re.compile, one["words"])), one["what"], one["next"], one.get("while_running", False)
        )
        for cause, one in tomllib.loads(text).items()
    )


def name_start_faults(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents; a server that did not start has the cause that its exception names.

    The connections to controllers that failed until its end are a part of it.
    """
    found = tuple(_with_reason(timeline, one) for one in incidents)
    ended = [one for one in found if one.kind == _KIND and one.root_cause == _NO_CONTROLLER]
    return absorb(found, lambda one: next((end for end in ended if _waited_for(timeline, one, end)), None), with_parts)


def _with_reason(timeline: LogTimeline, one: Incident) -> Incident:
    if one.kind != _KIND:
        return one
    if one.root_cause == _NO_CONTROLLER:
        return _without_controllers(timeline, one, min(timeline.evidence(one), key=time_of)) or one
    return (_named(timeline, one) or one) if one.root_cause in _OPEN else one


def _waited_for(timeline: LogTimeline, one: Incident, end: Incident) -> bool:
    """Return whether an incident only reports connections to the controllers that a server waited for until its end."""
    events = timeline.evidence(one) if one.kind in _CONNECTIONS and one.t_start_ms >= end.t_start_ms else ()
    nodes = end.subject.get("unreachable", ())
    is_own = bool(events) and timeline.log_of(events[0]) == timeline.log_of(timeline.evidence(end)[0])
    return is_own and all(controller_not_reached(event) in nodes for event in events)


def _named(timeline: LogTimeline, one: Incident) -> Incident | None:
    events = timeline.evidence(one)
    is_start = any(_START.search(event.message) for event in events)
    texts = [text for event in events for text in (event.fields.get("thrown", ""), event.message) if text]
    for fault in (fault for fault in start_faults() if is_start or fault.while_running):
        found = next(filter(None, (word.search(text) for word in fault.words for text in texts)), None)
        if found is not None:
            return _with_cause(timeline, one, events, fault, found)
    return _without_controllers(timeline, one, min(events, key=time_of)) if is_start else None


def _with_cause(
    timeline: LogTimeline, one: Incident, events: Sequence[LogEvent], fault: StartFault, found: re.Match[str]
) -> Incident:
    first = min(events, key=time_of)
    attempts = _attempts(timeline, first) if fault.cause == _ZOOKEEPER else ()
    named: Mapping[str, str] = {name: value for name, value in found.groupdict().items() if value}
    if attempts:
        named = {**named, "zookeeper": attempts[-1].fields["peer"]}
    thrown = next((text for event in events if (text := event.fields.get("thrown"))), events[0].message)
    subject = {name: value for name, value in one.subject.items() if name not in ("topic", "topics")}
    verb = "ended" if fault.while_running else "does not start"
    return one._replace(
        root_cause=fault.cause,
        confidence=CONFIDENCE,
        subject={**subject, **named},
        t_start_ms=min([one.t_start_ms, *map(time_of, attempts)]),
        evidence=joined_evidence(evidence_of(attempts), one.evidence),
        explanation=f"{_who(one)} {verb}: {fault.what}. Its last cause: {short_text(thrown).rstrip('.')}."
        f"{served[0] if (served := _SERVED.search(one.explanation)) else ''}",
        next_step=fault.next,
    )


def _without_controllers(timeline: LogTimeline, one: Incident, fatal: LogEvent) -> Incident | None:
    """Return an incident of a server that connected to no controller until its start failed; None if it did."""
    near = timeline.log_between(fatal, time_of(fatal) - STARTING_MS, time_of(fatal), (*_UNREACHED, *_LED))
    failed = [event for event in near if controller_not_reached(event)]
    if not failed or any(event.category in _LED for event in near if time_of(event) > time_of(failed[0])):
        return None
    nodes = tuple(sorted({controller_not_reached(event) for event in failed}, key=int))
    return one._replace(
        root_cause=_NO_CONTROLLER,
        confidence=CONFIDENCE,
        subject={**one.subject, "unreachable": nodes},
        t_start_ms=min(one.t_start_ms, time_of(failed[0])),
        evidence=joined_evidence(evidence_of(failed[:LISTED]), one.evidence),
        explanation=f"{_who(one)} does not start: it could not connect to {name_some('controller', nodes)} from "
        f"{time_text(time_of(failed[0]))} on.{_rest(one)}",
        next_step="Check that the controllers run and have a leader, and that this server reaches them: "
        "controller.quorum.bootstrap.servers or controller.quorum.voters, the controller listener, and credentials.",
    )


def _rest(one: Incident) -> str:
    """Return the last cause and the outcome that an incident reports."""
    return "".join(found[0] for pattern in (_CAUSE, _SERVED) if (found := pattern.search(one.explanation)))


def _who(one: Incident) -> str:
    role = next((name for name in ("broker", "controller") if one.subject.get(name)), "")
    return f"{role.capitalize()} {one.subject[role]}" if role else "A Kafka server"


def _attempts(timeline: LogTimeline, first: LogEvent) -> Sequence[LogEvent]:
    """Return the last attempt to reach ZooKeeper before the end of a start, which names its address."""
    near = timeline.log_between(first, time_of(first) - STARTING_MS, time_of(first), _CONNECTING)
    named = [event for event in near if event.fields.get("peer")]
    return named[-1:]
