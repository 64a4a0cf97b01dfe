"""A diagnosis as GitHub workflow commands: annotations, on lines where findings are in files."""

from __future__ import annotations

from eosctl.findings.diagnosis import CheckStatus
from eosctl.findings.finding import Finding
from eosctl.findings.report import Report
from eosctl.render.configuration.github import LEVELS, annotation_property, annotation_text, read_as_notices


def render_diagnosis_annotations(report: Report) -> str:
    """Render a report: a command per cause with its symptoms, and one for the grade."""
    diagnosis = report.diagnosis
    lines = [
        f"::{LEVELS[group.cause.severity.value]} {_place(group.cause)}"
        f"title={annotation_property(f'{group.cause.check_id} {group.cause.title}')}"
        f"::{annotation_text(_text(group.cause, group.symptoms))}"
        for group in report.groups
    ]
    lines += [f"::notice title=eosctl::{annotation_text(remark)}" for remark in diagnosis.remarks]
    lines += read_as_notices(report.read_as)
    grade = diagnosis.grade
    unseen = diagnosis.count(CheckStatus.SKIPPED)
    title = f"eosctl grade {grade.letter}" if grade.is_given else "eosctl: no grade"
    score = f"{grade.scope or f'{grade.score} of 100'}. " if grade.is_given else ""
    text = f"{score}{diagnosis.summary[0]} {unseen} could not be evaluated."
    lines.append(f"::notice title={title}::{annotation_text(text)}")
    return "".join(f"{line}\n" for line in lines)


def _place(finding: Finding) -> str:
    if finding.resource.kind != "file":
        return ""
    facts = dict(finding.facts)
    return f"file={annotation_property(str(facts['file']))},line={max(1, int(facts['line']))},"


def _text(cause: Finding, symptoms: tuple[Finding, ...]) -> str:
    parts = [f"{cause.resource}: {cause.message}", cause.cause, cause.impact, *cause.remedy]
    parts += [f"$ {command.line}" for command in cause.commands]
    parts += [f"Follows from it: {one.check_id} {one.message}" for one in symptoms]
    return "\n".join(part for part in parts if part)
