"""Join what a broker and the controllers report of a refused registration, and name the reason of the refusal.

``BrokerLifecycleManager`` logs each answer with an error, and tries again for a limited time. The active controller
logs the exception, and only its text names a feature's levels (``ClusterControlManager``, ``FeatureControlManager``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from eosctl.logs.incidents.joining.absorbing import absorb, with_parts
from eosctl.logs.incidents.timeline.evidence import evidence_of, shared_evidence
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.text import count_text, time_text

BEFORE_MS: Final = 600_000
"""Maximum time from the last refusal to the end of the broker: it may wait for other answers in between."""
_ENDED: Final = "controllers-not-reached"
_REFUSED: Final = "registration-refused"
_SILENT: Final = "heartbeats-not-answered"
_STALE: Final = "heartbeats-of-an-older-registration"
_CATEGORY: Final = "REGISTRATION_REFUSED"
_ERROR: Final = re.compile(r"\bcontroller returned error (?P<error>[A-Z_]+)")
_LEVELS: Final = re.compile(
    r"does not support (?:finalized )?version (?P<level>\d+) of (?P<feature>[\w.]+)\. (?:It|The broker) wants a "
    r"version between (?P<low>\d+) and (?P<high>\d+)"
)
_IS_REGISTERED: Final = "DUPLICATE_BROKER_REGISTRATION"
_ONE_OF_TWO: Final = (
    "Find another process with the same node.id that still runs, such as the broker's previous process or a copy of "
    "its configuration. Stop it, or give one of them a node.id of its own."
)
_READ_ERROR: Final = "Correct what the error names (eosctl explain {error}), then start the broker again."


def join_refused_registrations(timeline: LogTimeline, incidents: Sequence[Incident]) -> Iterator[Incident]:
    """Yield incidents; the refusals of a registration are one with the end of the broker, and with each other."""
    ended = [one for one in incidents if one.root_cause == _ENDED]
    refused = [one for one in incidents if one.root_cause == _REFUSED]
    of_brokers = [one for one in refused if _names_error(timeline, one)]

    silent = [one for one in incidents if one.root_cause == _SILENT and _names_stale_epoch(timeline, one)]

    def home_of(one: Incident) -> Incident | None:
        if one.root_cause == _STALE:
            return next((home for home in silent if _is_about(one, home, is_of_broker=False)), None)
        if one not in refused:
            return None
        homes = ended if one in of_brokers else (*ended, *of_brokers)
        return next((home for home in homes if _is_about(one, home, is_of_broker=one in of_brokers)), None)

    for one in absorb(incidents, home_of, _whole):
        yield _with_reason(timeline, one) if one.root_cause in (_ENDED, _REFUSED) else one


def _whole(one: Incident, parts: Sequence[Incident]) -> Incident:
    stale = [part for part in parts if part.root_cause == _STALE]
    if not stale:
        return with_parts(one, parts)
    return with_parts(one, parts, stale[0].explanation)._replace(next_step=stale[0].next_step)


def _names_stale_epoch(timeline: LogTimeline, one: Incident) -> bool:
    """Return whether a broker reports that its heartbeats have the epoch of an older registration."""
    return any("STALE_BROKER_EPOCH" in event.message for event in timeline.evidence(one))


def _names_error(timeline: LogTimeline, one: Incident) -> bool:
    """Return whether brokers report a refusal: controllers report an exception, and not for which broker."""
    return any(_ERROR.search(event.message) for event in timeline.evidence(one))


def _is_about(one: Incident, home: Incident, *, is_of_broker: bool) -> bool:
    is_near = one.t_start_ms <= home.t_end_ms and home.t_start_ms - BEFORE_MS <= one.t_end_ms
    return is_near and (not is_of_broker or one.subject.get("broker") == home.subject.get("broker"))


def _with_reason(timeline: LogTimeline, one: Incident) -> Incident:
    """Return an incident of a broker that could not register, with the answer of the controllers as its cause."""
    # A broker that starts again too soon is refused for a moment: these records alone do not make an incident.
    broker = one.subject.get("broker")
    near = within(timeline.of(_CATEGORY), one.t_start_ms - BEFORE_MS, one.t_end_ms)
    # A controller's record names the controller, not the broker.
    events = [
        event
        for event in near
        if not (broker and _ERROR.search(event.message)) or event.fields.get("broker", broker) == broker
    ]
    if not events:
        return one
    answers = [event for event in events if _ERROR.search(event.message)] or events
    error = next((found["error"] for event in reversed(answers) if (found := _ERROR.search(event.message))), "")
    is_twice = error == _IS_REGISTERED
    means = ": a broker with its node id is registered and not fenced" if is_twice else ""
    levels = next((found for event in events if (found := _LEVELS.search(event.message))), None)
    ended = "A broker ended because the controllers refused its registration"
    head = ended if one.root_cause == _ENDED else "The controllers refused the registration of a broker"
    return one._replace(
        root_cause=_REFUSED,
        t_start_ms=min(map(time_of, events)),
        evidence=shared_evidence([evidence_of(answers), one.evidence]),
        explanation=f"{head}{f' with {error}' if error else ''}{means}.{_levels_text(levels)} They answered so "
        f"{count_text(len(answers), 'time')}, first at {time_text(time_of(min(answers, key=time_of)))}.",
        next_step=_ONE_OF_TWO
        if is_twice
        else f"Start the broker with a release that supports {levels['feature']} {levels['level']}, as a rule the one "
        "of the other brokers. A finalized level cannot be lowered safely."
        if levels
        else _READ_ERROR.format(error=error)
        if error
        else one.next_step,
    )


def _levels_text(levels: re.Match[str] | None) -> str:
    if levels is None:
        return ""
    return (
        f" The cluster has finalized level {levels['level']} of {levels['feature']}, and the broker supports only "
        f"levels {levels['low']} to {levels['high']}."
    )
