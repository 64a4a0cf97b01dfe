"""A report of findings in the formats that all commands with findings share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from eosctl.render.escaping import without_commands
from eosctl.render.findings.report import FindingReport
from eosctl.render.findings.rows import render_rows
from eosctl.render.formats import FindingFormat
from eosctl.render.machine import render_json, render_yaml


class Shapes(NamedTuple):
    """What a command with findings renders itself; everything else is shared.

    Attributes:
        view: Returns what JSON and YAML show.
        names: The names of the columns of rows.
        rows: Returns the rows.
        text: Returns the text for people; the argument says whether it is wide.
        report: Returns the report for the shared formats.
        markdown: Returns a page of the command's own; None for the shared one.
        html: The same for HTML.
    """

    view: Callable[[], object]
    names: Sequence[str]
    rows: Callable[[], Iterable[Sequence[str]]]
    text: Callable[[bool], str]
    report: Callable[[], FindingReport]
    markdown: Callable[[], str] | None = None
    html: Callable[[], str] | None = None


def render_shapes(shapes: Shapes, output: FindingFormat, header: bool | None = None) -> str:
    """Render a result with findings in any format; ``header`` is that of `render_rows`."""
    match output:
        case FindingFormat.JSON:
            return render_json(shapes.view())
        case FindingFormat.YAML:
            return render_yaml(shapes.view())
        case FindingFormat.TSV | FindingFormat.CSV:
            return render_rows(shapes.names, shapes.rows(), output, header)
        case FindingFormat.TABLE | FindingFormat.WIDE:
            return shapes.text(output is FindingFormat.WIDE)
        case FindingFormat.MARKDOWN if shapes.markdown is not None:
            return without_commands(shapes.markdown())
        case FindingFormat.HTML if shapes.html is not None:
            return shapes.html()
        case _:
            return render_findings(shapes.report(), output)


def render_findings(report: FindingReport, output: FindingFormat) -> str:
    """Render a report in one of the shared formats.

    Raises:
        ValueError: The format is one that each command renders itself.
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
