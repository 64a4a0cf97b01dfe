"""Findings as Markdown, for job summaries, tickets and chat."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.findings.diagnosis import CheckStatus, Diagnosis
from eosctl.findings.grouping import FindingGroup
from eosctl.model.read_as import sentence
from eosctl.render.escaping import markdown_code, markdown_text, visible, without_commands
from eosctl.render.findings.report import FindingReport


def render_markdown(report: FindingReport) -> str:
    """Render a report: grade, what to do first, a section per cause, what was not evaluated."""
    return without_commands("\n".join(_lines(report))) + "\n"


def _lines(report: FindingReport) -> Iterator[str]:
    diagnosis = report.diagnosis
    title = str(diagnosis.grade) if report.is_graded else f"eosctl {report.command}"
    yield f"# {title}{': the evidence is incomplete' if diagnosis.is_incomplete else ''}"
    yield ""
    for line in diagnosis.summary:
        yield f"{markdown_text(line)}  "
    for line in report.about:
        yield f"{markdown_text(line)}  "
    groups = report.groups
    if report.actions:
        yield from ("", "## First", "")
    for number, action in enumerate(report.actions, 1):
        ids = f" ({', '.join(action.check_ids)})" if action.check_ids else ""
        yield f"{number}. {markdown_text(action.step)}{ids}"
        if action.command is not None:
            yield from _code(action.command.line, "   ")
    if groups:
        yield from ("", "## Findings")
    for group in groups:
        yield from _group(group)
    if report.read_as:
        yield ""
    for part in report.read_as:
        yield f"- {markdown_code(part.file)} read as: {markdown_text(sentence(part))}"
    yield from _rest(report)


def _group(group: FindingGroup) -> Iterator[str]:
    cause = group.cause
    yield from ("", f"### {cause.severity.value}: {markdown_text(f'{cause.title}: {cause.resource}')}", "")
    yield f"`{cause.check_id}` {markdown_text(cause.message)}"
    for label, text in (("Cause", cause.cause), ("Impact", cause.impact), ("Do", " ".join(cause.remedy))):
        if text:
            yield from ("", f"**{label}:** {markdown_text(text)}")
    for command in cause.commands:
        yield from _code(command.line, "")
    if group.symptoms:
        yield from ("", "Follows from it:", "")
    for one in group.symptoms:
        yield f"- {one.severity.value} `{one.check_id}` {markdown_text(one.message)}"
    if cause.evidence:
        yield from ("", "| Evidence | Value | Source |", "|---|---|---|")
    for fact in cause.evidence:
        yield f"| {markdown_text(fact.name)} | {markdown_text(fact.value)} | {markdown_text(fact.source)} |"


def _code(line: str, indent: str) -> tuple[str, ...]:
    fence, line = "```", visible(line)
    while fence in line:
        fence += "`"
    return "", f"{indent}{fence}sh", f"{indent}{line}", f"{indent}{fence}"


def _rest(report: FindingReport) -> Iterator[str]:
    diagnosis = report.diagnosis
    skipped = [result for result in diagnosis.results if result.status is CheckStatus.SKIPPED]
    if skipped:
        yield from ("", "## Not evaluated", "", "| Check | Why |", "|---|---|")
    for result in skipped:
        yield f"| {result.check_id} {markdown_text(result.title)} | {markdown_text(result.reason)} |"
    if report.notes:
        yield from ("", "## Not read or not judged", "")
    for note in report.notes:
        place = f"{note.file}:{note.line}" if note.line else note.file
        yield f"- {markdown_code(place)} {markdown_text(note.text)}"
    yield from suppressed_lines(diagnosis)


def suppressed_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the findings that do not count, with the reasons, and what is wrong with suppressions."""
    if diagnosis.suppressed or diagnosis.remarks:
        yield from ("", "## Suppressed", "")
    for finding, reason in diagnosis.suppressed:
        yield f"- `{finding.check_id}` {markdown_text(f'{finding.resource}: {reason}')}"
    for remark in diagnosis.remarks:
        yield f"- {markdown_text(remark)}"
