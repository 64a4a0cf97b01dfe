"""A diagnosis of a cluster as a report of findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eosctl.findings.impact import incident_of
from eosctl.findings.manual import ManualItem
from eosctl.findings.report import Report
from eosctl.findings.summary import describe_looks
from eosctl.model.evidence import EvidenceKind
from eosctl.model.hang import HangStatus, HangVerdict
from eosctl.model.severity import Severity
from eosctl.model.snapshot import ClusterSnapshot
from eosctl.render.diagnosis.picture import draw_blast_radius
from eosctl.render.findings.report import FindingReport, Note, NoteLevel, Picture, Rule
from eosctl.text import count_text, hidden_text, time_text

WORTH_A_PICTURE: Final = (HangStatus.HANGING, HangStatus.STALLED, HangStatus.LATE, HangStatus.LONG_RUNNING)


def finding_report(report: Report, manuals: Iterable[ManualItem]) -> FindingReport:
    """Return what the renderers of findings show of a diagnosis.

    Args:
        report: The diagnosis with its snapshot.
        manuals: The manuals of the checks that ran.
    """
    return FindingReport(
        command=report.command,
        diagnosis=report.diagnosis,
        generated_at_ms=report.generated_at_ms,
        groups=report.groups,
        actions=report.actions,
        rules=rules_of(manuals),
        scope=report.snapshot.cluster_id or "unknown",
        about=tuple(_about(report)),
        read_as=report.read_as,
        notes=(
            *(Note(NoteLevel.ERROR, one.error.what, one.file) for one in report.unreadable),
            *(
                Note(NoteLevel.WARNING, "is about Kafka, and was not understood: no rule has judged it.", file)
                for file in report.not_understood
            ),
        ),
        next_commands=report.next_commands,
        pictures=tuple(_pictures(report.verdicts)),
        timeline=report.timeline,
    )


def rules_of(manuals: Iterable[ManualItem]) -> tuple[Rule, ...]:
    """Return checks as rules, sorted by id."""
    return tuple(map(_rule, sorted(manuals, key=lambda manual: manual.check.id)))


def _rule(manual: ManualItem) -> Rule:
    check = manual.check
    return Rule(
        id=check.id,
        name="".join(word.capitalize() for word in check.name.split("-")),
        title=check.title,
        severity=Severity(check.severity),
        summary=check.summary,
        help="\n\n".join(f"{title}\n{text}" for title, text in manual.sections.items()),
        tags=(check.area, *check.tags),
    )


def _about(report: Report) -> Iterator[str]:
    snapshot = report.snapshot
    if report.file_count:
        yield f"Configuration: {count_text(report.file_count, 'file')}."
    if report.log_reading:
        yield f"Logs: {report.log_reading}."
    if report.printed_reading:
        yield f"Read: {report.printed_reading}."
    if snapshot.brokers or snapshot.cluster_id:
        has_defaults_alone = bool(snapshot.brokers) and not snapshot.broker_count
        brokers = "defaults of all brokers" if has_defaults_alone else count_text(snapshot.broker_count, "broker")
        empty = "no topics, " if _has_no_topics(snapshot) else ""
        yield (
            f"Cluster {snapshot.cluster_id or 'unknown'}, {brokers}, {empty}"
            f"as of {time_text(snapshot.captured_at_ms)}, {describe_looks(snapshot)}."
        )
    else:
        yield "No cluster was read."


def _has_no_topics(snapshot: ClusterSnapshot) -> bool:
    """Return whether topics were read, and the cluster has none: what passes then has judged little."""
    if snapshot.topics or EvidenceKind.TOPICS not in snapshot.collected:
        return False
    return not any(gap.kind is EvidenceKind.TOPICS for gap in snapshot.gaps)


def _pictures(verdicts: Iterable[HangVerdict]) -> Iterator[Picture]:
    for verdict in verdicts:
        if verdict.status in WORTH_A_PICTURE and (svg := draw_blast_radius(verdict)):
            yield Picture(incident_of(verdict), _title(verdict), verdict.explanation, svg)


def _title(verdict: HangVerdict) -> str:
    radius = verdict.blast_radius
    if radius is None or radius.invisible_offsets is None:
        return f"{verdict.transaction.partition}: {verdict.status.value}"
    tail = f", {hidden_text(radius.invisible_offsets, radius.invisible_records)} from its first to the end"
    return f"{verdict.transaction.partition}: {verdict.status.value}{tail}"
