"""A diagnosis in every format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from eosctl.checks.declaration import Check
from eosctl.findings.report import Report
from eosctl.render.diagnosis.finding_report import finding_report
from eosctl.render.diagnosis.report import diagnosis_view
from eosctl.render.findings.formats import render_findings
from eosctl.render.findings.rows import render_rows
from eosctl.render.findings.text import render_text
from eosctl.render.formats import FindingFormat
from eosctl.render.machine import render_json, render_yaml
from eosctl.render.page import PLAIN, Style

_NAMES: Final = ("severity", "check_id", "kind", "name", "message", "fingerprint")


def render_diagnosis(
    report: Report,
    checks: Iterable[Check],
    output: FindingFormat,
    style: Style = PLAIN,
    *,
    header: bool | None = None,
) -> str:
    """Render a report.

    Args:
        report: The report.
        checks: The checks that ran.
        output: The format.
        style: Width and color of the formats for people.
        header: Whether rows begin with the names of the columns; None for the format's default.
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
        case FindingFormat.TSV | FindingFormat.CSV:
            found = report.diagnosis.findings
            rows = (
                (f.severity.value, f.check_id, f.resource.kind, f.resource.name, f.message, f.fingerprint)
                for f in found
            )
            return render_rows(_NAMES, rows, output, header)
        case _:
            return render_findings(finding_report(report, checks), output)
