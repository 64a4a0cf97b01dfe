"""A report of logs in every format."""

from __future__ import annotations

from eosctl.findings.grouping import first_actions, group_findings
from eosctl.findings.log_reading import reading_text
from eosctl.findings.logs_report import LogsReport, check_id, title_of
from eosctl.model.severity import Severity
from eosctl.render.findings.formats import Shapes, render_shapes
from eosctl.render.findings.report import FindingReport, Note, NoteLevel, Rule
from eosctl.render.findings.rows import cells_of, column_names
from eosctl.render.formats import FindingFormat
from eosctl.render.logs.html import render_logs_html
from eosctl.render.logs.markdown import render_logs_markdown
from eosctl.render.logs.report import INCIDENT_COLUMNS, LogsView, logs_view, report_blocks
from eosctl.render.logs.verdict import unexplained_row
from eosctl.render.page import PLAIN, Style, render_page


def render_logs_report(
    report: LogsReport,
    output: FindingFormat,
    style: Style = PLAIN,
    *,
    static: bool = False,
    header: bool | None = None,
) -> str:
    """Render a report in any of its formats.

    Args:
        report: The report.
        output: The format.
        style: Width and color of the formats for people.
        static: Whether the timeline of HTML is drawn without scripts.
        header: Whether rows begin with the names of the columns; None for the format's default.
    """
    findings, digest, diagnosis, now_ms = report.findings, report.digest, report.diagnosis, report.generated_at_ms
    shapes = Shapes(
        view=lambda: logs_view(findings, "logs report", now_ms, digest, diagnosis),
        names=column_names(INCIDENT_COLUMNS),
        rows=lambda: _rows(logs_view(findings, "logs report", now_ms, digest)),
        text=lambda _: render_page(report_blocks(findings, digest, diagnosis), style),
        report=lambda: _finding_report(report),
        markdown=lambda: render_logs_markdown(findings, digest, now_ms, diagnosis),
        html=lambda: render_logs_html(findings, digest, now_ms, diagnosis, static=static),
    )
    return render_shapes(shapes, output, header)


def _rows(view: LogsView) -> list[list[str]]:
    return [*cells_of(INCIDENT_COLUMNS, view.incidents), *map(unexplained_row, view.unexplained)]


def _finding_report(report: LogsReport) -> FindingReport:
    diagnosis = report.diagnosis
    groups = group_findings(diagnosis.findings)
    return FindingReport(
        command="logs report",
        diagnosis=diagnosis,
        generated_at_ms=report.generated_at_ms,
        groups=groups,
        actions=first_actions(groups),
        rules=_rules(report),
        metric_prefix="eosctl_logs",
        is_graded=False,
        about=(f"{reading_text(report.findings)}.",),
        notes=tuple(Note(NoteLevel.ERROR, gap.detail, gap.subject) for gap in diagnosis.gaps),
    )


def _rules(report: LogsReport) -> tuple[Rule, ...]:
    """Return the checks of the diagnosis as rules; kinds of incidents have no text apart from their findings."""
    texts = {check_id(item.id): item for item in report.categories}
    worst = {finding.check_id: finding.severity for finding in reversed(report.diagnosis.findings)}
    rules = []
    for result in report.diagnosis.results:
        item = texts.get(result.check_id)
        name = result.check_id.partition("/")[2]
        meaning = item.meaning if item else f"{title_of(name)}, as judged from several log records."
        rules.append(
            Rule(
                id=result.check_id,
                name="".join(word.capitalize() for word in title_of(name).split()),
                title=result.title,
                severity=worst.get(result.check_id, Severity.WARNING),
                summary=meaning,
                help=(item.next_step if item else "") or meaning,
                tags=(result.area,),
            )
        )
    return tuple(sorted(rules, key=lambda rule: rule.id))
