"""The machine-readable shape of a diagnosis."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from eosctl.findings.diagnosis import CheckStatus, Deduction
from eosctl.findings.report import Report
from eosctl.model.read_as import ReadAs
from eosctl.render.envelope import ClusterView, Envelope, EvidenceView, cluster_view, envelope, evidence_view
from eosctl.render.findings.views import (
    ActionView,
    CheckView,
    FindingView,
    SuppressedView,
    action_views,
    check_views,
    finding_view,
    suppressed_views,
)


class GradeView(msgspec.Struct, frozen=True):
    """The grade with its arithmetic: 100 minus the deductions, never below 0."""

    letter: str
    score: int
    deductions: tuple[Deduction, ...]
    cap: str


class CountsView(msgspec.Struct, frozen=True):
    """How many checks ended how, and how many findings there are."""

    passed: int
    failed: int
    skipped: int
    not_applicable: int
    findings: int
    suppressed: int


class CauseView(msgspec.Struct, frozen=True):
    """A cause with its symptoms, each named by the fingerprint of its finding."""

    cause: str
    symptoms: tuple[str, ...]


class UnreadableView(msgspec.Struct, frozen=True):
    """A configuration file that could not be read, and why."""

    file: str
    reason: str


class DiagnosisView(Envelope, frozen=True):
    """The whole diagnosis as JSON and YAML show it."""

    cluster: ClusterView
    evidence: EvidenceView
    summary: tuple[str, ...]
    grade: GradeView
    counts: CountsView
    checks: tuple[CheckView, ...]
    items: tuple[FindingView, ...]
    causes: tuple[CauseView, ...]
    actions: tuple[ActionView, ...]
    suppressed: tuple[SuppressedView, ...]
    remarks: tuple[str, ...]
    read_as: tuple[ReadAs, ...] = ()
    unreadable: tuple[UnreadableView, ...] = ()
    not_understood: tuple[str, ...] = ()


def diagnosis_view(report: Report) -> DiagnosisView:
    """Shape a report for machines."""
    diagnosis = report.diagnosis
    grade = diagnosis.grade
    evidence = evidence_view(report.snapshot)
    is_whole = evidence.complete and not report.unreadable and not report.not_understood
    return DiagnosisView(
        *envelope("diagnosis", report.command, report.generated_at_ms),
        cluster=cluster_view(report.snapshot),
        evidence=replace(evidence, complete=is_whole),
        summary=diagnosis.summary,
        grade=GradeView(grade.letter, grade.score, grade.deductions, grade.cap),
        counts=CountsView(
            passed=diagnosis.count(CheckStatus.PASSED),
            failed=diagnosis.count(CheckStatus.FAILED),
            skipped=diagnosis.count(CheckStatus.SKIPPED),
            not_applicable=diagnosis.count(CheckStatus.NOT_APPLICABLE),
            findings=len(diagnosis.findings),
            suppressed=len(diagnosis.suppressed),
        ),
        checks=check_views(diagnosis.results),
        items=tuple(finding_view(finding) for finding in diagnosis.findings),
        causes=tuple(
            CauseView(group.cause.fingerprint, tuple(one.fingerprint for one in group.symptoms))
            for group in report.groups
        ),
        actions=action_views(report.actions),
        suppressed=suppressed_views(diagnosis.suppressed),
        remarks=diagnosis.remarks,
        read_as=report.read_as,
        unreadable=tuple(UnreadableView(one.file, one.error.what) for one in report.unreadable),
        not_understood=report.not_understood,
    )
