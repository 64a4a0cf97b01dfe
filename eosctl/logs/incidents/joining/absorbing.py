"""Make an incident a part of another one: the mechanism of each step that joins what shows one fault.

A step decides which incident is the home of another one, and in which sentence the whole reports its parts. Times,
evidence, and chains of homes are the same for all steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from eosctl.logs.incidents.timeline.evidence import evidence_of, joined_evidence, shared_evidence
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import Incident
from eosctl.model.log_event import LogEvent
from eosctl.model.severity import Severity

Subject: TypeAlias = Mapping[str, str | tuple[str, ...]]


def absorb(
    incidents: Iterable[Incident],
    home_of: Callable[[Incident], Incident | None],
    whole: Callable[[Incident, Sequence[Incident]], Incident],
) -> Iterator[Incident]:
    """Yield incidents in their order; each one with a home has become a part of it.

    Args:
        incidents: The incidents.
        home_of: Returns the incident that one is a part of, or None. A home can have a home of its own: its parts go
            there with it.
        whole: Returns a home with its parts.
    """
    for one, parts in gathered(incidents, home_of):
        yield whole(one, parts) if parts else one


def gathered(
    incidents: Iterable[Incident], home_of: Callable[[Incident], Incident | None]
) -> Iterator[tuple[Incident, Sequence[Incident]]]:
    """Yield each incident without a home, with its parts; see ``absorb``."""
    found = tuple(incidents)
    homes: dict[int, Incident] = {}
    parts: dict[int, list[Incident]] = {}
    for one in found:
        home = home_of(one)
        while home is not None and id(home) in homes:
            home = homes[id(home)]
        if home is not None and home is not one:
            homes[id(one)] = home
            parts.setdefault(id(home), []).extend((one, *parts.pop(id(one), ())))
    for one in found:
        if id(one) not in homes:
            yield one, parts.get(id(one), ())


def with_parts(cause: Incident, parts: Sequence[Incident], *sentences: str, subject: Subject | None = None) -> Incident:
    """Return an incident that lasts as long as it and its parts, with their evidence and sentences about them.

    Args:
        cause: The incident.
        parts: The incidents that are parts of it.
        sentences: What its explanation adds.
        subject: The subject of the whole; None for that of the cause.
    """
    return cause._replace(
        subject=cause.subject if subject is None else subject,
        t_start_ms=start_of((cause, *parts)),
        t_end_ms=max(one.t_end_ms for one in (cause, *parts)),
        evidence=shared_evidence([cause.evidence, *(one.evidence for one in parts)]),
        explanation=" ".join((cause.explanation, *sentences)),
    )


def with_records(one: Incident, events: Iterable[LogEvent], *sentences: str) -> Incident:
    """Return an incident that lasts until further records of it, with their places and sentences about them."""
    found = tuple(events)
    return one._replace(
        t_end_ms=max(one.t_end_ms, *map(time_of, found)) if found else one.t_end_ms,
        evidence=joined_evidence(one.evidence, evidence_of(found)),
        explanation=" ".join((one.explanation, *sentences)),
    )


def start_of(incidents: Iterable[Incident]) -> int:
    """Return when the first of some incidents started, ms since the epoch."""
    return min(one.t_start_ms for one in incidents)


def worst_of(incidents: Iterable[Incident]) -> Severity:
    """Return the worst severity of some incidents."""
    return min((one.severity for one in incidents), key=lambda severity: severity.rank)


def effect(kind: str, sentence: str) -> str:
    """Return the sentence about the effects of one kind."""
    return f"Effect ({kind}): {sentence}"
