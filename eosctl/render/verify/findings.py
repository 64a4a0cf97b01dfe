"""What a verification found, in the formats that all commands with findings share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from eosctl.findings.judged import Judged
from eosctl.model.severity import Severity
from eosctl.render.findings.formats import render_findings
from eosctl.render.findings.report import FindingReport, Rule
from eosctl.render.findings.rows import render_columns
from eosctl.render.formats import FindingFormat
from eosctl.render.listing import Column

if TYPE_CHECKING:
    from eosctl.findings.finding import Finding

_COLUMNS: Final[tuple[Column[Finding], ...]] = (
    Column("SEVERITY", lambda one: one.severity.value),
    Column("ID", lambda one: one.check_id),
    Column("ANOMALIES", lambda one: str(dict(one.facts)["anomaly_count"])),
    Column("KIND", lambda one: one.resource.kind),
    Column("NAME", lambda one: one.resource.name),
    Column("MESSAGE", lambda one: one.message),
    Column("FINGERPRINT", lambda one: one.fingerprint),
)


def render_verification(
    command: str, about: Sequence[str], judged: Judged, output: FindingFormat, header: bool | None = None
) -> str:
    """Render what a verification found as rows or in a shared format.

    Args:
        command: The command without the program's name.
        about: What was verified, one sentence a line.
        judged: What was found.
        output: The format.
        header: Whether rows begin with the names of the columns; None for the format's default.
    """
    diagnosis = judged.diagnosis
    if output in (FindingFormat.TSV, FindingFormat.CSV):
        return render_columns(_COLUMNS, diagnosis.findings, output, header)
    rules = [
        Rule(
            one.check_id,
            "".join(word.capitalize() for word in one.title.split()),
            one.title,
            Severity.CRITICAL,
            f"{one.title}.",
            "docs/verify.md describes the anomalies and their witnesses.",
            (one.area,),
        )
        for one in diagnosis.results
    ]
    report = FindingReport(
        command=command,
        diagnosis=diagnosis,
        generated_at_ms=judged.at_ms,
        groups=judged.groups,
        actions=judged.actions,
        rules=tuple(sorted(rules)),
        metric_prefix="eosctl_verify",
        is_graded=False,
        scope=diagnosis.cluster_id,
        about=tuple(about),
    )
    return render_findings(report, output)
