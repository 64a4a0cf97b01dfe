"""A report of findings in the formats that all commands with findings share."""

from __future__ import annotations

from eosctl.render.findings.report import FindingReport
from eosctl.render.formats import FindingFormat

#: Formats in which every command has its own columns and fields.
OWN: frozenset[FindingFormat] = frozenset(
    {
        FindingFormat.TABLE,
        FindingFormat.WIDE,
        FindingFormat.JSON,
        FindingFormat.YAML,
        FindingFormat.TSV,
        FindingFormat.CSV,
    }
)


def render_findings(report: FindingReport, output: FindingFormat) -> str:
    """Render a report in one of the shared formats.

    Raises:
        ValueError: The format is one that each command renders itself (`OWN`).
    """
    match output:
        case FindingFormat.SARIF:
            from eosctl.render.findings.sarif import render_sarif

            return render_sarif(report)
        case FindingFormat.JUNIT:
            from eosctl.render.findings.junit import render_junit

            return render_junit(report)
        case FindingFormat.HTML:
            from eosctl.render.findings.html import render_html

            return render_html(report)
        case FindingFormat.GITHUB:
            from eosctl.render.findings.github import render_annotations

            return render_annotations(report)
        case FindingFormat.MARKDOWN:
            from eosctl.render.findings.markdown import render_markdown

            return render_markdown(report)
        case FindingFormat.PROMETHEUS:
            from eosctl.render.findings.prometheus import render_finding_metrics

            return render_finding_metrics(report)
        case _:
            raise ValueError(f"{output.value} is not a shared format")
