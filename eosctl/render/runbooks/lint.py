"""A lint of runbooks in every format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from eosctl.findings.diagnosis import CheckStatus
from eosctl.findings.finding import Finding
from eosctl.findings.judged import Judged
from eosctl.findings.runbook_flaw import AREA, MEANINGS, FlawKind, check_id
from eosctl.render.envelope import listing
from eosctl.render.findings.formats import Shapes, render_shapes
from eosctl.render.findings.report import FindingReport, Rule
from eosctl.render.findings.rows import cells_of, column_names
from eosctl.render.findings.sections import first_blocks, suppressed_blocks
from eosctl.render.findings.views import judged_listing
from eosctl.render.formats import FindingFormat, OutputFormat
from eosctl.render.listing import Column, render_listing
from eosctl.render.page import PLAIN, Block, Field, Line, Style, render_page
from eosctl.text import count_text

COMMAND: Final = "runbook lint"


class FlawItem(msgspec.Struct, frozen=True):
    """One thing that is wrong with a runbook; ``line`` is that of the step."""

    file: str
    step: str
    message: str
    id: str
    severity: str
    line: int
    fingerprint: str


FLAW_COLUMNS: Final[tuple[Column[FlawItem], ...]] = (
    Column("FILE", lambda item: item.file),
    Column("STEP", lambda item: item.step or "-"),
    Column("WRONG", lambda item: item.message),
    Column("ID", lambda item: item.id, wide=True),
    Column("SEVERITY", lambda item: item.severity, wide=True),
    Column("LINE", lambda item: str(item.line), wide=True),
)


def render_runbook_lint(
    names: Sequence[str], judged: Judged, output: FindingFormat, style: Style = PLAIN, header: bool | None = None
) -> str:
    """Render a lint.

    Args:
        names: The runbooks that were judged.
        judged: What was found.
        output: The format.
        style: Width and color of the formats for people.
        header: Whether rows begin with the names of the columns; None for the format's default.
    """
    items = tuple(map(_item, judged.diagnosis.findings))
    shapes = Shapes(
        view=lambda: judged_listing("runbook-lint", COMMAND, items, judged),
        names=column_names(FLAW_COLUMNS),
        rows=lambda: cells_of(FLAW_COLUMNS, items),
        text=lambda wide: _for_people(names, items, judged, style, wide=wide),
        report=lambda: _report(names, judged),
    )
    return render_shapes(shapes, output, header)


def _item(finding: Finding) -> FlawItem:
    facts = dict(finding.facts)
    return FlawItem(
        file=str(facts["file"]),
        step=str(facts["step"]),
        message=str(facts["flaw"]),
        id=finding.check_id,
        severity=finding.severity.value,
        line=int(facts["line"]),
        fingerprint=finding.fingerprint,
    )


def _for_people(names: Sequence[str], items: tuple[FlawItem, ...], judged: Judged, style: Style, *, wide: bool) -> str:
    hidden = len(judged.diagnosis.suppressed)
    order = "in order" if not hidden else f"without a finding that counts, {hidden} suppressed"
    empty = f"{len(names)} runbooks are {order}." if len(names) > 1 else f"{names[0]} is {order}."
    output = OutputFormat.WIDE if wide else OutputFormat.TABLE
    flaws = listing("runbook-lint", COMMAND, judged.at_ms, items)
    text = render_listing(flaws, FLAW_COLUMNS, output, style, empty=empty)
    skipped = [one for one in judged.diagnosis.results if one.status is CheckStatus.SKIPPED]
    reasons = dict.fromkeys(one.reason for one in skipped)
    blocks: list[Block] = [Line("") for _ in skipped[:1]]
    blocks += [Field("unjudged", reason, "yellow") for reason in reasons]
    blocks += [*first_blocks(judged.actions), *suppressed_blocks(judged.diagnosis)]
    return text + (render_page(blocks, style) if blocks else "")


def _report(names: Sequence[str], judged: Judged) -> FindingReport:
    return FindingReport(
        command=COMMAND,
        diagnosis=judged.diagnosis,
        generated_at_ms=judged.at_ms,
        groups=judged.groups,
        actions=judged.actions,
        rules=tuple(map(_rule, sorted(FlawKind))),
        metric_prefix="eosctl_runbook_lint",
        is_graded=False,
        about=(f"Read: {count_text(len(names), 'runbook')}.",),
        file_count=len(names),
    )


def _rule(kind: FlawKind) -> Rule:
    meaning = MEANINGS[kind]
    return Rule(
        id=check_id(kind),
        name="".join(word.capitalize() for word in kind.split("-")),
        title=meaning.title,
        severity=meaning.severity,
        summary=meaning.impact,
        help=f"{meaning.impact}\n\n{meaning.remedy}",
        tags=(AREA,),
    )
