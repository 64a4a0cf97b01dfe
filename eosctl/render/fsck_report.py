"""A check of data directories as a report of findings."""

from __future__ import annotations

from eosctl.findings.fsck.checked import Checked
from eosctl.findings.fsck.consequences import CONSEQUENCES
from eosctl.findings.fsck.kinds import AREA, check_id
from eosctl.findings.fsck.titles import TITLES
from eosctl.model.severity import Severity
from eosctl.render.findings.formats import Shapes, render_shapes
from eosctl.render.findings.report import FindingReport, Rule
from eosctl.render.findings.rows import cells_of, column_names
from eosctl.render.formats import FindingFormat
from eosctl.render.fsck import FSCK_COLUMNS, fsck_items, fsck_view, render_fsck
from eosctl.render.page import PLAIN, Style


def render_fsck_findings(
    checked: Checked, output: FindingFormat, style: Style = PLAIN, *, header: bool | None = None
) -> str:
    """Render a check in any of its formats; ``header`` is that of `render_rows`."""
    shapes = Shapes(
        view=lambda: fsck_view(checked),
        names=column_names(FSCK_COLUMNS),
        rows=lambda: cells_of(FSCK_COLUMNS, fsck_items(checked)),
        text=lambda wide: render_fsck(checked, wide=wide, style=style),
        report=lambda: fsck_report(checked),
    )
    return render_shapes(shapes, output, header)


def fsck_report(checked: Checked) -> FindingReport:
    """Return what the renderers of findings show of a check of data directories."""
    return FindingReport(
        command="fsck",
        diagnosis=checked.diagnosis,
        generated_at_ms=checked.generated_at_ms,
        groups=checked.groups,
        actions=checked.actions,
        rules=tuple(map(_rule, sorted(CONSEQUENCES))),
        metric_prefix="eosctl_fsck",
        is_graded=False,
        scope=checked.diagnosis.cluster_id,
        about=checked.about,
    )


def _rule(kind: str) -> Rule:
    follows = CONSEQUENCES[kind]
    return Rule(
        id=check_id(kind),
        name="".join(word.capitalize() for word in kind.split("-")),
        title=TITLES[kind],
        severity=Severity.WARNING,
        summary=follows.effect,
        help=f"At the next start of the broker\n{follows.on_restart}\n\nRepair\n{follows.repair}",
        tags=(AREA,),
    )
