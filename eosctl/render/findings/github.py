"""Findings as GitHub workflow commands: annotations, on lines where findings are in files."""

from __future__ import annotations

from typing import Final

from eosctl.findings.diagnosis import CheckStatus
from eosctl.findings.finding import Finding
from eosctl.model.read_as import sentence
from eosctl.model.severity import Severity
from eosctl.render.escaping import visible, without_commands_within
from eosctl.render.findings.report import FindingReport, Note

_LEVELS: Final = {
    Severity.CRITICAL: "error",
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "notice",
}


def render_annotations(report: FindingReport) -> str:
    """Render a report: an annotation for the result, one for each cause with its symptoms, and what was not read.

    The first one names eosctl's command, so that only a result of the same command replaces the file.
    """
    diagnosis = report.diagnosis
    lines = [_result(report)]
    lines += [
        f"::{_LEVELS[group.cause.severity]} {_place(group.cause)}"
        f"title={annotation_property(f'{group.cause.check_id} {group.cause.title}')}"
        f"::{annotation_text(_text(group.cause, group.symptoms))}"
        for group in report.groups
    ]
    lines += [f"::notice title=eosctl::{annotation_text(remark)}" for remark in diagnosis.remarks]
    lines += [
        f"::notice title=suppressed::{annotation_text(f'{one.check_id} {one.resource}: {reason}')}"
        for one, reason in diagnosis.suppressed
    ]
    lines += [_note(note) for note in report.notes]
    lines += [
        f"::notice file={annotation_property(one.file)},line={max(1, one.line)},title=read as::"
        f"{annotation_text(f'read as: {sentence(one)}')}"
        for one in report.read_as
    ]
    return "".join(f"{line}\n" for line in lines)


def _result(report: FindingReport) -> str:
    grade = report.diagnosis.grade
    unseen = report.diagnosis.count(CheckStatus.SKIPPED)
    title, score = f"eosctl {report.command}", ""
    if report.is_graded:
        title = f"{title}: grade {grade.letter}" if grade.is_given else f"{title}: no grade"
        score = f"{grade.scope or f'{grade.score} of 100'}. " if grade.is_given else f"{grade.cap}. "
    text = f"{score}{report.diagnosis.summary[0]} {unseen} could not be evaluated."
    return f"::notice title={annotation_property(title)}::{annotation_text(text)}"


def _note(note: Note) -> str:
    line = f",line={note.line}" if note.line else ""
    return f"::{note.level.value} file={annotation_property(note.file)}{line}::{annotation_text(note.text)}"


def _place(finding: Finding) -> str:
    facts = dict(finding.facts)
    if not finding.is_in_file:
        return ""
    line = f"line={max(1, int(facts['line']))}," if "line" in facts else ""
    return f"file={annotation_property(str(facts['file']))},{line}"


def _text(cause: Finding, symptoms: tuple[Finding, ...]) -> str:
    parts = [f"{cause.resource}: {cause.message}", cause.cause, cause.impact, *cause.remedy]
    parts += [f"$ {command.line}" for command in cause.commands]
    parts += [f"Follows from it: {one.check_id} {one.message}" for one in symptoms]
    return "\n".join(part for part in parts if part)


def annotation_text(text: str) -> str:
    """Escape the message of a workflow command."""
    lines = text.replace("%", "%25").replace("\r\n", "\n").split("\n")
    return "%0A".join(without_commands_within(visible(line)) for line in lines)


def annotation_property(text: str) -> str:
    """Escape a property of a workflow command, where commas and colons separate."""
    return annotation_text(text).replace(":", "%3A").replace(",", "%2C")
