"""Turn incidents and unexplained records into a diagnosis, with a check for each kind of incident and each category."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.grade import grade
from eosctl.findings.log_reading import unjudged_text, unread_text
from eosctl.findings.logs_report import AREA, check_id, title_of
from eosctl.findings.summary import summarize
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.incident import Incident
from eosctl.model.log_evidence import UnexplainedRecords
from eosctl.model.log_findings import LogFindings, Recognition
from eosctl.model.verdict import Confidence, Evidence, Resource
from eosctl.text import time_text

_KINDS: Final = {
    "transactional.id": "transaction",
    "group": "group",
    "topic-partition": "partition",
    "broker": "broker",
    "application.id": "application",
}
_CERTAIN, _LIKELY = 0.9, 0.6


def diagnose_logs(findings: LogFindings, categories: Iterable[str], now_ms: int) -> Diagnosis:
    """Return the diagnosis of logs.

    A category passes only if every file was read and recognized.

    Args:
        findings: The findings in the logs.
        categories: The categories that call for action.
        now_ms: The time of the report, ms since the epoch.
    """
    found: dict[str, list[Finding]] = {}
    for incident in findings.incidents:
        found.setdefault(incident.kind, []).append(incident_finding(incident))
    for records in findings.unexplained:
        found.setdefault(records.category, []).append(records_finding(records))
    gaps = tuple(_gaps(findings))
    names = dict.fromkeys((*sorted(found), *categories))
    results = tuple(_result(name, tuple(found.get(name, ())), gaps) for name in names)
    return Diagnosis(
        cluster_id="",
        captured_at_ms=now_ms,
        results=results,
        grade=grade(results),
        gaps=gaps,
        summary=summarize(results, gaps),
    )


def incident_finding(incident: Incident) -> Finding:
    """Return an incident as a finding; its identity is its kind, root cause, and subject."""
    subject = {name: _text(value) for name, value in incident.subject.items()}
    named = next((name for name in _KINDS if name in subject), "")
    other = next(iter(subject.items()), ("application", "unknown"))
    resource = Resource(_KINDS[named], subject[named]) if named else Resource(*other)
    is_likely = Confidence.LIKELY if incident.confidence >= _LIKELY else Confidence.POSSIBLE
    return Finding(
        check_id=check_id(incident.kind),
        title=title_of(incident.kind),
        severity=incident.severity,
        resource=resource,
        message=incident.explanation,
        confidence=Confidence.CERTAIN if incident.confidence >= _CERTAIN else is_likely,
        evidence=tuple(Evidence("record", f"offset {one.offset}", one.text) for one in incident.evidence),
        remedy=(incident.next_step,) if incident.next_step else (),
        incident=":".join((incident.root_cause, *(f"{name}={value}" for name, value in sorted(subject.items())))),
        facts=(
            ("root_cause", incident.root_cause),
            ("start", time_text(incident.t_start_ms)),
            ("end", time_text(incident.t_end_ms)),
            *((name.replace(".", "_").replace("-", "_"), value) for name, value in subject.items()),
            *_place(one.text for one in incident.evidence),
        ),
    )


def records_finding(records: UnexplainedRecords) -> Finding:
    """Return records without a known cause as a finding; its identity is their category and subject."""
    return Finding(
        check_id=check_id(records.category),
        title=title_of(records.category),
        severity=records.severity,
        resource=records.resource,
        message=records.meaning,
        confidence=Confidence.POSSIBLE,
        evidence=tuple(Evidence("record", one.text, one.place) for one in records.records),
        remedy=(records.next_step,) if records.next_step else (),
        facts=(("record_count", records.record_count), *records.names, *_place(one.place for one in records.records)),
    )


def _place(places: Iterable[str]) -> Iterator[tuple[str, str | int]]:
    """Yield the file and the line of the first record, for formats that annotate files."""
    for place in places:
        file, _, line = place.rpartition(":")
        if file and line.isdecimal():
            yield "file", file
            yield "line", int(line)
            return


def counted(findings: LogFindings, diagnosis: Diagnosis) -> LogFindings:
    """Return the logs without the incidents and records that the diagnosis does not count."""
    left: Mapping[Finding, None] = dict.fromkeys(diagnosis.findings)
    return findings._replace(
        incidents=tuple(one for one in findings.incidents if incident_finding(one) in left),
        unexplained=tuple(one for one in findings.unexplained if records_finding(one) in left),
    )


def _result(name: str, found: tuple[Finding, ...], gaps: tuple[EvidenceGap, ...]) -> CheckResult:
    why = f"not everything was read: {gaps[0].detail}" if gaps else ""
    status = CheckStatus.FAILED if found else CheckStatus.SKIPPED if why else CheckStatus.PASSED
    return CheckResult(
        check_id=check_id(name),
        title=title_of(name),
        area=AREA,
        status=status,
        findings=found,
        reason=why,
        incomplete=bool(why),
    )


def _gaps(findings: LogFindings) -> Iterator[EvidenceGap]:
    """Yield the files that were not read, or that were hardly recognized."""
    if not findings.has_records:
        yield _gap("logs", GapReason.NOT_RECOGNIZED, "no log record was recognized")
    elif unjudged := unjudged_text(findings):
        yield _gap("logs", GapReason.NOT_RECOGNIZED, unjudged[:1].lower() + unjudged[1:])
    for source in findings.sources:
        if source.error:
            yield _gap(source.file, GapReason.NOT_COLLECTED, source.error)
    for skipped in findings.skipped:
        if skipped.is_failure:
            yield _gap(skipped.file, GapReason.NOT_COLLECTED, f"{skipped.file}: {skipped.reason}")
    for one in findings.coverage:
        if one.recognition in (Recognition.NONE, Recognition.LITTLE):
            yield _gap(one.file, GapReason.NOT_RECOGNIZED, unread_text(one))


def _gap(file: str, reason: GapReason, detail: str) -> EvidenceGap:
    return EvidenceGap(EvidenceKind.LOGS, file, reason, detail=detail)


def _text(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else ", ".join(value)
