"""Findings as Prometheus text, for a file that the node exporter's textfile collector reads."""

from __future__ import annotations

from collections import Counter

from eosctl.findings.diagnosis import CheckStatus
from eosctl.model.metric_reading import GaugeSample, Labels
from eosctl.model.severity import Severity
from eosctl.render.findings.report import FindingReport, NoteLevel
from eosctl.render.prometheus import gauge


def render_finding_metrics(report: FindingReport) -> str:
    """Render a report: findings by check and severity, checks by outcome, and what was not read.

    Findings carry no resource as a label: topics and transactional ids would make a series each.
    """
    diagnosis, prefix = report.diagnosis, report.metric_prefix
    labels: Labels = (("cluster", report.scope),) if report.scope else ()
    findings = Counter((finding.check_id, finding.severity.value) for finding in diagnosis.findings)
    totals = Counter(finding.severity for finding in diagnosis.findings)
    score = [GaugeSample(labels, diagnosis.grade.score)] if report.is_graded else []
    files = [] if report.file_count is None else [GaugeSample(labels, report.file_count)]
    unread = [GaugeSample(labels, sum(note.level is NoteLevel.ERROR for note in report.notes))] if files else []
    return "".join(
        (
            gauge(f"{prefix}_score", "Score of the last diagnosis, 0 to 100.", score),
            gauge(
                f"{prefix}_findings",
                "Findings by severity.",
                [GaugeSample((*labels, ("severity", one.value)), totals[one]) for one in Severity],
            ),
            gauge(
                f"{prefix}_check_findings",
                "Findings by check, of checks that found something.",
                [
                    GaugeSample((*labels, ("check", check_id), ("severity", severity)), number)
                    for (check_id, severity), number in sorted(findings.items())
                ],
            ),
            gauge(
                f"{prefix}_checks",
                "Checks by outcome.",
                [GaugeSample((*labels, ("status", one.value)), diagnosis.count(one)) for one in CheckStatus],
            ),
            gauge(
                f"{prefix}_suppressed_findings",
                "Findings that do not count.",
                [GaugeSample(labels, len(diagnosis.suppressed))],
            ),
            gauge(
                f"{prefix}_evidence_gaps",
                "Pieces of evidence that could not be had.",
                [GaugeSample(labels, len(diagnosis.gaps))],
            ),
            gauge(
                f"{prefix}_captured_timestamp_seconds",
                "When the evidence was taken, seconds since the epoch.",
                [GaugeSample(labels, diagnosis.captured_at_ms // 1000)],
            ),
            _read_as(report, labels),
            gauge(f"{prefix}_files", "Files that were read.", files),
            gauge(f"{prefix}_unreadable_files", "Files that could not be read.", unread),
        )
    )


def _read_as(report: FindingReport, labels: Labels) -> str:
    parts: Counter[tuple[str, str, bool]] = Counter()
    for one in report.read_as:
        parts[one.role, f"{one.software} {one.release}", one.is_release_assumed] += one.count
    return gauge(
        f"{report.metric_prefix}_read_as",
        "Parts of files by the component that they were read as.",
        [
            GaugeSample((*labels, ("role", role), ("release", release), ("assumed", str(assumed).lower())), number)
            for (role, release, assumed), number in sorted(parts.items())
        ],
    )
