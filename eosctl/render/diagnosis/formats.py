"""A diagnosis in every format."""

from __future__ import annotations

from collections.abc import Iterable

from eosctl.checks.declaration import Check
from eosctl.findings.report import Report
from eosctl.render.diagnosis.finding_report import finding_report
from eosctl.render.diagnosis.report import diagnosis_view
from eosctl.render.findings.formats import render_findings
from eosctl.render.findings.text import render_text
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
            return render_text(finding_report(report, checks), style)
        case FindingFormat.WIDE:
            return render_text(finding_report(report, checks), style, wide=True)
        case FindingFormat.JSON:
            return render_json(diagnosis_view(report))
        case FindingFormat.YAML:
            return render_yaml(diagnosis_view(report))
        case FindingFormat.TSV:
            return render_tsv(
                (f.severity.value, f.check_id, f.resource.kind, f.resource.name, f.message, f.fingerprint)
                for f in report.diagnosis.findings
            )
        case _:
            return render_findings(finding_report(report, checks), output)
