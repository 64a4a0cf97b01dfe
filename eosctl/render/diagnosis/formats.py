"""A diagnosis in every format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from eosctl.findings.diagnosis import Diagnosis
from eosctl.findings.manual import ManualItem
from eosctl.findings.report import Report
from eosctl.render.diagnosis.finding_report import finding_report
from eosctl.render.diagnosis.report import diagnosis_view
from eosctl.render.findings.formats import Shapes, render_shapes
from eosctl.render.findings.text import render_text
from eosctl.render.formats import FindingFormat
from eosctl.render.page import PLAIN, Style

_NAMES: Final = ("severity", "check_id", "kind", "name", "message", "fingerprint")


def render_diagnosis(
    report: Report,
    manuals: Iterable[ManualItem],
    output: FindingFormat,
    style: Style = PLAIN,
    *,
    header: bool | None = None,
) -> str:
    """Render a report.

    Args:
        report: The report.
        manuals: The manuals of the checks that ran.
        output: The format.
        style: Width and color of the formats for people.
        header: Whether rows begin with the names of the columns; None for the format's default.
    """
    shapes = Shapes(
        view=lambda: diagnosis_view(report),
        names=_NAMES,
        rows=lambda: _rows(report.diagnosis),
        text=lambda wide: render_text(finding_report(report, manuals), style, wide=wide),
        report=lambda: finding_report(report, manuals),
    )
    return render_shapes(shapes, output, header)


def _rows(diagnosis: Diagnosis) -> Iterator[tuple[str, ...]]:
    """Yield a row for each finding; the first one reports that evidence is missing, as no other line could."""
    if diagnosis.is_incomplete:
        yield ("incomplete", "", "cluster", diagnosis.cluster_id, diagnosis.summary[0], "")
    for one in diagnosis.findings:
        yield (
            one.severity.value,
            one.check_id,
            one.resource.kind,
            one.resource.name,
            one.message,
            one.fingerprint,
        )
