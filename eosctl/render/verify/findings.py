"""What a verification found: rows, and the report for the formats that all commands with findings share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from eosctl.findings.judged import Judged
from eosctl.model.severity import Severity
from eosctl.render.findings.report import FindingReport, Rule
from eosctl.render.findings.rows import cells_of, column_names
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


NAMES: Final = column_names(_COLUMNS)


def finding_rows(judged: Judged) -> Iterator[list[str]]:
    """Yield a row for each kind of anomaly that was found."""
    return cells_of(_COLUMNS, judged.diagnosis.findings)


def verification_report(command: str, about: str, judged: Judged) -> FindingReport:
    """Return what the renderers of findings show of a verification.

    Args:
        command: The command without the program's name.
        about: What was verified, in one sentence.
        judged: What was found.
    """
    diagnosis = judged.diagnosis
    rules = [
        Rule(
            id=one.check_id,
            name="".join(word.capitalize() for word in one.title.split()),
            title=one.title,
            severity=Severity.CRITICAL,
            summary=f"{one.title}.",
            help="docs/verify.md describes the anomalies and their witnesses.",
            tags=(one.area,),
        )
        for one in diagnosis.results
    ]
    return FindingReport(
        command=command,
        diagnosis=diagnosis,
        generated_at_ms=judged.at_ms,
        groups=judged.groups,
        actions=judged.actions,
        rules=tuple(sorted(rules)),
        metric_prefix="eosctl_verify",
        is_graded=False,
        scope=diagnosis.cluster_id,
        about=(about,),
    )
