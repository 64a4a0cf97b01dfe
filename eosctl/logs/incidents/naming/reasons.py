"""Quote what a program reported before an incident that has several possible causes.

Kafka's error is often the effect: a member that does not poll in time waits for a database, and a request that times
out follows an error of another library. Its records are not in the catalog, but they are the reason that a person
looks for. Without one, the incident's own words narrow the possible causes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from eosctl.logs.digest.templates import template_of
from eosctl.logs.incidents.remaining.sentences import UNEXPLAINED
from eosctl.logs.incidents.remaining.unexplained import is_unknown_error
from eosctl.logs.incidents.timeline.evidence import MAX_EVIDENCE_COUNT, short_text
from eosctl.logs.incidents.timeline.index import within
from eosctl.logs.incidents.timeline.timeline import LogTimeline
from eosctl.logs.incidents.timeline.times import time_of
from eosctl.model.incident import EvidenceLine, Incident
from eosctl.model.log_event import ERROR_LEVELS, LogEvent
from eosctl.model.severity import Severity
from eosctl.text import count_text, time_text

BEFORE_MS: Final = 600_000
"""Maximum time from a program's error to the incident that may follow from it; the default of max.poll.interval.ms
is half of it."""
AFTER_MS: Final = 1_000
"""A program may report the reason after its client's record, in the same moment."""
_POSSIBLE: Final = 0.7
"""Maximum confidence in a cause that a record only makes possible."""
_PAUSED: Final = frozenset({"poll_interval_exceeded", "member_evicted", "task_migrated", "group_not_stable"})
"""Kinds whose cause is certain, but not the reason why the program stood still."""
_TOO_SLOW: Final = "slow-processing"
_BLOCKED: Final = "blocked-by-another-system"
BLOCKED_TIMES: Final = 3
"""Minimum number of equal errors that show what a program waits for."""
BLOCKED_MS: Final = 30_000
"""Minimum time from the first of them to the moment when the poll was late."""
_LIKELY: Final = 0.85
_QUOTED: Final = 5
RENEWED_MS: Final = 3_600_000
"""Maximum time from a renewal that failed to the expiry of the credential: tokens and tickets live for hours."""
_POD: Final = "pod-not-ready-in-time"
ROLLED_MS: Final = 1_800_000
"""Maximum time from an operator's restart of a pod to the end of its wait for it; the default is five minutes."""
_REFUSED: Final = "credentials-or-protocol-refused"
_EXPIRED: Final = "credential-not-renewed"
_NAMED: Final = "Its last cause: "


def quote_reasons(timeline: LogTimeline, incidents: Iterable[Incident]) -> Iterator[Incident]:
    """Yield incidents of clients, with the first unknown error of the same program before each, or their own words."""
    found = tuple(incidents)
    taken = {(place.file, place.offset) for one in found for place in one.evidence}
    for one in found:
        if one.root_cause == _POD and (rolled := _rolled_before(timeline, one)):
            yield _after_roll(one, rolled)
            continue
        evidence = timeline.evidence(one)
        events = [event for event in evidence if event.application not in timeline.servers()]
        if events and one.root_cause == _REFUSED and (warned := _not_renewed(timeline, events)):
            yield _of_expiry(one, warned)
            continue
        if not events or not _is_open(one):
            yield one
            continue
        if one.root_cause == UNEXPLAINED and (thrown := _thrown(events)):
            one = one._replace(explanation=f"{one.explanation} {_NAMED}{short_text(thrown).rstrip('.')}.")
        first = min(events, key=time_of)
        near = timeline.log_between(first, one.t_start_ms - BEFORE_MS, one.t_end_ms + AFTER_MS)
        errors = [event for event in near if is_unknown_error(event) and (event.file, event.offset) not in taken]
        if errors:
            yield _with_reason(one, errors)
        elif one.confidence <= _POSSIBLE and len(events) == len(evidence):
            yield one._replace(explanation=f'{one.explanation} In its words: "{short_text(_loudest(events).message)}".')
        else:
            yield one


def _rolled_before(timeline: LogTimeline, one: Incident) -> LogEvent | None:
    """Return the last record of an operator that restarted the pod of an incident before it."""
    pod = one.subject.get("pod", "")
    rolled = timeline.with_value("pod", pod, "POD_ROLLED") if isinstance(pod, str) and pod else ()
    return next(reversed(within(rolled, one.t_start_ms - ROLLED_MS, one.t_start_ms)), None)


def _after_roll(one: Incident, rolled: LogEvent) -> Incident:
    reason = rolled.fields.get("reason", "").strip()
    why = f" ({reason})" if reason else ""
    return one._replace(
        explanation=f"{one.explanation} The operator had restarted it at {time_text(time_of(rolled))}{why}.",
        evidence=tuple(dict.fromkeys((*one.evidence, EvidenceLine(rolled.file, rolled.offset, rolled.line)))),
    )


def _not_renewed(timeline: LogTimeline, events: Sequence[LogEvent]) -> LogEvent | None:
    """Return the last record of a program's log before a refusal that its credential was not renewed."""
    first = min(events, key=time_of)
    warned = timeline.log_between(first, time_of(first) - RENEWED_MS, time_of(first), ("CREDENTIAL_NOT_RENEWED",))
    return warned[-1] if warned else None


def _of_expiry(one: Incident, warned: LogEvent) -> Incident:
    expiry = warned.fields.get("expires_at", "")
    when = f" (it expires at {expiry})" if expiry else ""
    return one._replace(
        root_cause=_EXPIRED,
        explanation=f"{one.explanation} At {time_text(time_of(warned))}, it could not renew its credential{when}: "
        "brokers refuse one that has expired.",
        next_step="Find why the login returned a credential with the old expiry, or none: the source of its token, "
        "role, or ticket. Then restart the client. The brokers and their ACLs are not the cause.",
        evidence=tuple(dict.fromkeys((EvidenceLine(warned.file, warned.offset, warned.line), *one.evidence))),
    )


def _thrown(events: Sequence[LogEvent]) -> str:
    """Return the last cause that a record of an incident names; empty without one."""
    return next((thrown for event in sorted(events, key=time_of) if (thrown := event.fields.get("thrown"))), "")


def _loudest(events: Sequence[LogEvent]) -> LogEvent:
    """Return the first error of an incident, or else its first warning or record."""
    ordered = sorted(events, key=time_of)
    warned = next((event for event in ordered if event.level == "WARN"), ordered[0])
    return next((event for event in ordered if event.level in ERROR_LEVELS), warned)


def _is_open(one: Incident) -> bool:
    """Return whether an incident has several possible causes, and no exception that names one of them."""
    if one.severity is Severity.INFO or _NAMED in one.explanation:
        return False
    return one.confidence <= _POSSIBLE or one.root_cause == UNEXPLAINED or one.kind in _PAUSED


def _with_reason(one: Incident, errors: Sequence[LogEvent]) -> Incident:
    template = template_of(errors[0].message)
    alike = [event for event in errors if template_of(event.message) == template]
    when = f"at {time_text(time_of(alike[0]))}"
    how_often = f"{count_text(len(alike), 'time')}, first {when}" if len(alike) > 1 else when
    if one.root_cause == _TOO_SLOW and len(alike) >= BLOCKED_TIMES and time_of(alike[0]) <= one.t_start_ms - BLOCKED_MS:
        return _blocked(one, alike)
    order = "Before it" if time_of(alike[0]) < one.t_start_ms else "With it"
    places = (EvidenceLine(event.file, event.offset, event.line) for event in alike)
    return one._replace(
        explanation=f"{one.explanation} {order}, the same program reports ({how_often}): "
        f'"{short_text(alike[0].message)}".',
        evidence=tuple(dict.fromkeys((*one.evidence, *places)))[:MAX_EVIDENCE_COUNT],
    )


def _blocked(one: Incident, errors: Sequence[LogEvent]) -> Incident:
    """Return an incident of a member that did not poll, with the failures that its program repeated as the cause."""
    first = time_of(errors[0])
    places = (EvidenceLine(event.file, event.offset, event.line) for event in errors[:_QUOTED])
    return one._replace(
        root_cause=_BLOCKED,
        confidence=min(one.confidence, _LIKELY),
        t_start_ms=first,
        explanation=f"Failures outside of the Kafka client blocked a consumer from {time_text(first)} on "
        f'({count_text(len(errors), "time")}): "{short_text(errors[0].message)}". {one.explanation}',
        next_step="Restore what the quoted error names: the program repeats its work there, and polls no records "
        "meanwhile. Then check that it has rejoined its group. A longer max.poll.interval.ms only hides the outage.",
        evidence=tuple(dict.fromkeys((*places, *one.evidence)))[:MAX_EVIDENCE_COUNT],
    )
