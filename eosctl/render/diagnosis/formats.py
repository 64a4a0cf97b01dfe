"""A diagnosis in every format."""

from __future__ import annotations

from collections.abc import Iterable

from eosctl.checks.declaration import Check
from eosctl.findings.report import Report
from eosctl.render.diagnosis.report import diagnosis_view
from eosctl.render.diagnosis.text import render_diagnosis_text
from eosctl.render.formats import FindingFormat
from eosctl.render.machine import render_json, render_tsv, render_yaml
from eosctl.render.page import PLAIN, Style


def render_diagnosis(report: Report, checks: Iterable[Check], output: FindingFormat, style: Style = PLAIN) -> str:
    """Render a report.

    Args:
        report: The report.
        checks: The checks that ran.
        output: The format.
        style: Width and colour of the formats for people.
    """
    match output:
        case FindingFormat.TABLE:
            return render_diagnosis_text(report, style)
        case FindingFormat.WIDE:
            return render_diagnosis_text(report, style, wide=True)
        case FindingFormat.JSON:
            return render_json(diagnosis_view(report))
        case FindingFormat.YAML:
            return render_yaml(diagnosis_view(report))
        case FindingFormat.TSV:
            return render_tsv(
                (f.severity.value, f.check_id, f.resource.kind, f.resource.name, f.message, f.fingerprint)
                for f in report.diagnosis.findings
            )
        case FindingFormat.SARIF:
            from eosctl.render.diagnosis.sarif import render_sarif

            return render_sarif(report, checks)
        case FindingFormat.JUNIT:
            from eosctl.render.diagnosis.junit import render_junit

            return render_junit(report)
        case FindingFormat.HTML:
            from eosctl.render.diagnosis.html import render_html

            return render_html(report)
        case FindingFormat.GITHUB:
            from eosctl.render.diagnosis.github import render_diagnosis_annotations

            return render_diagnosis_annotations(report)
        case FindingFormat.MARKDOWN:
            from eosctl.render.diagnosis.markdown import render_diagnosis_markdown

            return render_diagnosis_markdown(report)
        case FindingFormat.PROMETHEUS:
            from eosctl.render.prometheus import render_diagnosis_metrics

            return render_diagnosis_metrics(report)
