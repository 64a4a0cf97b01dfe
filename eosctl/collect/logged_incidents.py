"""Add the findings of logs to a snapshot: incidents, unexplained records, and unread parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from eosctl.findings.log_reading import nothing_read_text, unjudged_text, unread_text
from eosctl.logs.incidents.remaining.calls_for_action import quote_record
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.incident import EvidenceLine
from eosctl.model.log_event import LogEvent
from eosctl.model.log_evidence import LoggedIncident, LoggedRecord
from eosctl.model.log_findings import LogFindings, Recognition
from eosctl.model.snapshot import ClusterSnapshot


def with_logs(snapshot: ClusterSnapshot, findings: LogFindings) -> ClusterSnapshot:
    """Return a snapshot with findings of logs and, as gaps, unread or unrecognized content. Secrets are masked."""
    events = {(event.file, event.offset): event for event in findings.events}
    logged = tuple(
        LoggedIncident(incident, tuple(_record(place, events) for place in incident.evidence))
        for incident in findings.incidents
    )
    return replace(
        snapshot,
        logged_incidents=(*snapshot.logged_incidents, *logged),
        logged_records=(*snapshot.logged_records, *findings.unexplained),
        collected=snapshot.collected | {EvidenceKind.LOGS},
        gaps=(*snapshot.gaps, *gaps_of_logs(findings), *_unjudged(findings)),
    )


def _record(place: EvidenceLine, events: Mapping[tuple[str, int], LogEvent]) -> LoggedRecord:
    event = events.get((place.file, place.offset))
    if event is None:
        return LoggedRecord(place.text, None, "record", f"at byte {place.offset}")
    return quote_record(event)


def gaps_of_logs(findings: LogFindings) -> Iterator[EvidenceGap]:
    """Yield the gaps of logs that were read: no logs at all, unrecognized files, and truncated files."""
    if nothing := nothing_read_text(findings):
        yield _gap("*", GapReason.NOT_RECOGNIZED, nothing, "Name files that hold logs.")
    else:
        for one in findings.coverage:
            if one.recognition in (Recognition.NONE, Recognition.LITTLE):
                step = "Leave out files that hold no log. For a log of another layout: eosctl logs report --pattern."
                yield _gap(one.file, GapReason.NOT_RECOGNIZED, unread_text(one), step)
    broken = [(source.file, source.error) for source in findings.sources if source.error]
    broken += [(one.file, one.reason) for one in findings.skipped if one.is_failure]
    for file, reason in broken:
        step = "Give whole, readable files; what was read of them is judged."
        yield _gap(file, GapReason.UNREACHABLE, f"{file}: {reason}", step)


def _unjudged(findings: LogFindings) -> Iterator[EvidenceGap]:
    if not nothing_read_text(findings) and (unjudged := unjudged_text(findings)):
        yield _gap("*", GapReason.NOT_RECOGNIZED, f"{unjudged}.", "Name logs of transactional clients and brokers.")


def _gap(subject: str, reason: GapReason, detail: str, next_step: str) -> EvidenceGap:
    return EvidenceGap(EvidenceKind.LOGS, subject, reason, detail=detail, next_step=next_step)
