"""A diagnosis as Markdown, for job summaries, tickets and chat."""

from __future__ import annotations

from collections.abc import Iterator

from eosctl.findings.diagnosis import CheckStatus
from eosctl.findings.grouping import FindingGroup
from eosctl.findings.report import Report
from eosctl.render.escaping import markdown_text, visible
from eosctl.render.markdown import read_as_lines
from eosctl.text import count_text, time_text


def render_diagnosis_markdown(report: Report) -> str:
    """Render a report: grade, what to do first, a section per cause, what was not evaluated."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    diagnosis, snapshot = report.diagnosis, report.snapshot
    yield f"# {diagnosis.grade}"
    yield ""
    for line in diagnosis.summary:
        yield f"{markdown_text(line)}  "
    if snapshot.brokers:
        name = markdown_text(snapshot.cluster_id or "unknown")
        yield f"Cluster {name}, {count_text(len(snapshot.brokers), 'broker')}, {time_text(snapshot.captured_at_ms)}."
    if report.actions:
        yield from ("", "## First", "")
    for number, action in enumerate(report.actions, 1):
        yield f"{number}. {markdown_text(action.step)} ({', '.join(action.check_ids)})"
        if action.command is not None:
            yield from _code(action.command.line, "   ")
    if report.groups:
        yield from ("", "## Findings")
    for group in report.groups:
        yield from _group(group)
    yield from read_as_lines(report.read_as)
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


def _rest(report: Report) -> Iterator[str]:
    diagnosis = report.diagnosis
    skipped = [result for result in diagnosis.results if result.status is CheckStatus.SKIPPED]
    if skipped:
        yield from ("", "## Not evaluated", "", "| Check | Why |", "|---|---|")
    for result in skipped:
        yield f"| {result.check_id} {markdown_text(result.title)} | {markdown_text(result.reason)} |"
    if diagnosis.suppressed or diagnosis.remarks:
        yield from ("", "## Suppressed", "")
    for finding, reason in diagnosis.suppressed:
        yield f"- `{finding.check_id}` {markdown_text(f'{finding.resource}: {reason}')}"
    for remark in diagnosis.remarks:
        yield f"- {markdown_text(remark)}"
