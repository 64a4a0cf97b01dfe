"""Turn incidents from logs into problems: one for each cause and resource, with the number of occurrences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from eosctl.checks.declaration import Case, Problem
from eosctl.model.evidence import EvidenceKind
from eosctl.model.incident import Incident
from eosctl.model.log_evidence import LoggedIncident
from eosctl.model.verdict import Confidence, Evidence, Resource
from eosctl.text import count_text, time_text

NEEDS: Final = frozenset({EvidenceKind.LOGS})
RECORDS_SHOWN: Final = 6
CERTAIN_FROM: Final = 0.9
LIKELY_FROM: Final = 0.6
_OWNERS: Final = (
    ("transactional.id", "transaction"),
    ("group", "group"),
    ("application.id", "application"),
    ("broker", "broker"),
    ("controller", "broker"),
    ("topic-partition", "partition"),
    ("topic", "topic"),
    ("application", "application"),
    ("principal", "principal"),
)
_FACTS: Final = {
    "transactional.id": "transactional_id",
    "producerId": "producer_id",
    "group": "group_id",
    "application.id": "application_id",
    "broker": "broker",
    "brokers": "brokers",
    "topic-partition": "partition",
    "log.dir": "log_dir",
}


def without_logs(case: Case) -> str:
    """Return why checks of logs do not apply: no logs in the input."""
    return "" if EvidenceKind.LOGS in case.snapshot.collected else "no logs were given (eosctl doctor --logs PATH)"


def problems_of(case: Case, kinds: frozenset[str]) -> Iterator[Problem]:
    """Yield a problem for each cause and resource among incidents of these kinds."""
    logged = [one for one in case.snapshot.logged_incidents if one.incident.kind in kinds]
    logged.sort(key=lambda one: (_identity(one.incident), one.incident.t_start_ms))
    for _, group in groupby(logged, key=lambda one: _identity(one.incident)):
        yield _problem(tuple(group))


def resource_of(incident: Incident) -> Resource:
    """Return the subject of an incident."""
    for name, kind in _OWNERS:
        value = incident.subject.get(name)
        if isinstance(value, str) and value:
            return Resource(kind, value)
    return Resource("cluster", ", ".join(_words(incident.subject.get("brokers", ()))))


def _identity(incident: Incident) -> tuple[str, str, str]:
    return incident.kind, incident.root_cause, str(resource_of(incident))


def _problem(logged: Sequence[LoggedIncident]) -> Problem:
    incidents = [one.incident for one in logged]
    last = incidents[-1]
    severity = min((one.severity for one in incidents), key=lambda severity: severity.rank)
    begin, end = time_text(incidents[0].t_start_ms), time_text(max(one.t_end_ms for one in incidents))
    times = f"{count_text(len(incidents), 'time')} from {begin} to {end}, last: " if len(incidents) > 1 else ""
    return Problem(
        resource=resource_of(last),
        message=f"{times}{last.explanation}",
        severity=severity,
        confidence=_confidence(last.confidence),
        cause=last.root_cause.replace("-", " ") if last.root_cause != "unexplained" else "",
        evidence=_evidence(logged),
        remedy=(last.next_step,),
        incident=f"{last.kind}/{last.root_cause}",
        facts=(
            ("kind", last.kind),
            ("root_cause", last.root_cause),
            ("incident_count", len(incidents)),
            ("first_ms", incidents[0].t_start_ms),
            ("last_ms", max(one.t_end_ms for one in incidents)),
            *((fact, ",".join(_words(last.subject[name]))) for name, fact in _FACTS.items() if name in last.subject),
        ),
    )


def _confidence(share: float) -> Confidence:
    if share >= CERTAIN_FROM:
        return Confidence.CERTAIN
    return Confidence.LIKELY if share >= LIKELY_FROM else Confidence.POSSIBLE


def _evidence(logged: Sequence[LoggedIncident]) -> tuple[Evidence, ...]:
    """Return records as evidence, those of the newest incident first."""
    records = [record for one in reversed(logged) for record in one.records]
    return tuple(
        Evidence(
            record.category, f"{time_text(record.at_ms)} {record.text}" if record.at_ms else record.text, record.place
        )
        for record in records[:RECORDS_SHOWN]
    )


def _words(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
