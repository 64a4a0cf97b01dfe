"""What logs tell, added to a snapshot: incidents with the records they rest on, and what could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.incident import EvidenceLine
from eosctl.model.log_event import LogEvent
from eosctl.model.log_evidence import LoggedIncident, LoggedRecord
from eosctl.model.log_findings import LogFindings
from eosctl.model.snapshot import ClusterSnapshot

TEXT_CHARACTERS: Final = 160


def with_logs(snapshot: ClusterSnapshot, findings: LogFindings) -> ClusterSnapshot:
    """Return a snapshot with the incidents of logs and, as gaps, what could not be read. Secrets are masked."""
    events = {(event.file, event.offset): event for event in findings.events}
    told = tuple(
        LoggedIncident(incident, tuple(_record(place, events) for place in incident.evidence))
        for incident in findings.incidents
    )
    return replace(
        snapshot,
        logged_incidents=(*snapshot.logged_incidents, *told),
        collected=snapshot.collected | {EvidenceKind.LOGS},
        gaps=(*snapshot.gaps, *_gaps(findings)),
    )


def _record(place: EvidenceLine, events: Mapping[tuple[str, int], LogEvent]) -> LoggedRecord:
    event = events.get((place.file, place.offset))
    if event is None:
        return LoggedRecord(place.file, None, "record", f"at byte {place.offset}")
    text = " ".join(event.message.split())
    if len(text) > TEXT_CHARACTERS:
        text = f"{text[: TEXT_CHARACTERS - 1]}…"
    return LoggedRecord(f"{event.file}:{event.line}", event.time_ms, event.category, text)


def _gaps(findings: LogFindings) -> tuple[EvidenceGap, ...]:
    if not findings.sources:
        step = "Name files that hold logs."
        return (EvidenceGap(EvidenceKind.LOGS, "*", GapReason.UNSUPPORTED, detail="no file is a log", next_step=step),)
    broken = [(source.file, source.error) for source in findings.sources if source.error]
    broken += [(one.file, one.reason) for one in findings.skipped if one.is_failure]
    return tuple(
        EvidenceGap(
            EvidenceKind.LOGS,
            file,
            GapReason.UNREACHABLE,
            detail=f"{file}: {reason}",
            next_step="Give whole, readable files; what was read of them is judged.",
        )
        for file, reason in broken
    )
