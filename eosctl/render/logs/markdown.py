"""An incident report from logs as Markdown, for a ticket."""

from __future__ import annotations

from collections.abc import Sequence

from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.log_reading import reading_text
from eosctl.findings.log_times import assumption_texts, period_text, start_text
from eosctl.model.incident import Incident
from eosctl.model.log_digest import LogDigest
from eosctl.model.log_event import SourceSummary
from eosctl.model.log_findings import LogFindings
from eosctl.render.escaping import markdown_code, markdown_text, without_commands
from eosctl.render.logs.digest import clock_text, histogram_lines, precursor_text, unexplained_text
from eosctl.render.logs.floods import rest_text, shorten_incidents
from eosctl.render.logs.report import SHOWN_EVIDENCE, skipped_texts, subject_text
from eosctl.render.logs.verdict import headline, record_text, what_text
from eosctl.text import time_text


def render_logs_markdown(findings: LogFindings, digest: LogDigest, generated_at_ms: int, diagnosis: Diagnosis) -> str:
    """Render the incidents of a scan, worst first."""
    lines = [f"# {markdown_text(headline(findings))}", ""]
    if digest.histogram is not None:
        drawn = (f"{label:<9} {line}" for label, line in histogram_lines(digest.histogram))
        lines += ["```text", *drawn, "```", ""]
    ordered, counted = shorten_incidents(findings.incidents)
    if ordered:
        lines += ["| Severity | Start (UTC) | Kind | Root cause | Confidence |", "|---|---|---|---|---|"]
        lines += [
            f"| {one.severity.value} | {start_text(one, findings.sources)} | {markdown_text(one.kind)} "
            f"| {markdown_text(one.root_cause)} | {one.confidence:.0%} |"
            for one in ordered
        ]
        lines += ["", *(f"- {markdown_text(rest_text(rest))}" for rest in counted)]
        lines += [""] if counted else []
    for one in ordered:
        lines += _section(one, findings.sources)
    for records in findings.unexplained:
        lines += [
            f"## {markdown_text(records.category)}: no known cause",
            "",
            f"{markdown_text(what_text(records))}. {markdown_text(records.meaning)}",
            "",
            *([f"**Next:** {markdown_text(records.next_step)}", ""] if records.next_step else []),
            *(f"- {markdown_text(record_text(record))}" for record in records.records),
            "",
        ]
    lines += _digest_sections(digest)
    lines.append(f"{reading_text(findings)}; rendered {time_text(generated_at_ms)}.")
    lines += [f"- Times: {markdown_text(text)}" for text in assumption_texts(findings)]
    lines += [f"- Clocks: {markdown_text(clock_text(one))}" for one in digest.clocks if one.is_apart]
    lines += [f"- Not read: {markdown_text(text)}" for text in skipped_texts(findings.skipped)]
    lines += [
        f"- Suppressed: {markdown_text(f'{one.check_id} {one.resource}: {reason}')}"
        for one, reason in diagnosis.suppressed
    ]
    lines += [f"- {markdown_text(remark)}" for remark in diagnosis.remarks]
    return without_commands("\n".join(lines) + "\n")


def _section(one: Incident, sources: Sequence[SourceSummary]) -> list[str]:
    subject = ", ".join(
        f"{markdown_text(name)} {markdown_code(subject_text(value))}" for name, value in one.subject.items()
    )
    places = [f"- {markdown_code(place.text)}" for place in one.evidence[:SHOWN_EVIDENCE]]
    rest = len(one.evidence) - SHOWN_EVIDENCE
    return [
        f"## {markdown_text(one.kind)}: {markdown_text(one.root_cause)}",
        "",
        period_text(one, sources) + (f", {subject}" if subject else ""),
        "",
        markdown_text(one.explanation),
        "",
        f"**Next:** {markdown_text(one.next_step)}",
        "",
        *places,
        *([f"- and {rest} more"] if rest > 0 else []),
        "",
    ]


def _digest_sections(digest: LogDigest) -> list[str]:
    lines: list[str] = []
    new = [one for one in digest.templates if one.is_new]
    if digest.has_baseline:
        lines += ["## New since the baseline", ""]
        lines += [
            f"- {one.event_count} x {markdown_text(one.text)} ({markdown_text(', '.join(one.applications))})"
            for one in new
        ]
        lines += ["" if new else "Nothing.", *([""] if not new else [])]
    if digest.precursors or digest.unexplained:
        lines += ["## What came before failures", ""]
        lines += [f"- {markdown_text(precursor_text(one))}" for one in digest.precursors[:SHOWN_EVIDENCE]]
        lines += [f"- {markdown_text(unexplained_text(one))}" for one in digest.unexplained]
        lines.append("")
    return lines
