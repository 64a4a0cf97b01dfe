"""Findings as one HTML file that needs no network: style and pictures are inside, there is no script."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple

from eosctl import __version__
from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.grouping import FindingGroup
from eosctl.model.read_as import sentence
from eosctl.model.severity import Severity
from eosctl.model.verdict import Evidence
from eosctl.render.findings.report import FindingReport
from eosctl.render.gap_text import join_gaps
from eosctl.render.templating import render_template
from eosctl.render.transactions.lanes import draw_lanes
from eosctl.render.transactions.repeated_marks import fold_repeated
from eosctl.render.transactions.timeline import timeline_rows
from eosctl.text import time_text

PICTURES: Final = 20
MARKS_SHOWN: Final = 200
#: Of many findings of one check, so many have all their parts on the page; the others have a line each.
ALIKE_SHOWN: Final = 20


class Tile(NamedTuple):
    """A number at the head of the report; ``tone`` is a class of the style sheet."""

    number: str
    label: str
    tone: str


class Alike(NamedTuple):
    """Further findings of one check."""

    first: Finding
    findings: list[Finding]


def render_html(report: FindingReport) -> str:
    """Render a report."""
    from markupsafe import Markup

    diagnosis = report.diagnosis
    timeline = fold_repeated(report.timeline) if report.timeline else None
    known = {finding.incident for finding in diagnosis.findings}
    # The drawing escapes every text in it.
    pictures = [picture._replace(svg=Markup(picture.svg)) for picture in report.pictures]
    others = [picture for picture in pictures if picture.incident not in known]
    full, alike = _folded(report.groups)
    results = {status: [r for r in diagnosis.results if r.status is status] for status in CheckStatus}
    return render_template(
        "report.html.j2",
        version=__version__,
        command=report.command,
        report=report,
        diagnosis=diagnosis,
        summary=_impact_first(diagnosis),
        grade=diagnosis.grade,
        generated_at=time_text(report.generated_at_ms),
        tiles=_tiles(report),
        groups=full,
        alike=alike,
        actions=report.actions,
        findings=diagnosis.findings,
        evidence_of=_by_source,
        join_gaps=join_gaps,
        pictures={picture.incident: picture for picture in pictures},
        other_pictures=others[:PICTURES],
        pictures_left_out=max(0, len(others) - PICTURES),
        passed=results[CheckStatus.PASSED],
        skipped=results[CheckStatus.SKIPPED],
        not_applicable=_by_reason(results[CheckStatus.NOT_APPLICABLE]),
        read_as=[f"{one.file}: read as: {sentence(one)}" for one in report.read_as],
        timeline=timeline,
        # The drawing escapes every text in it.
        lanes=Markup(draw_lanes(timeline)) if timeline else "",
        marks=timeline_rows(timeline)[-MARKS_SHOWN:] if timeline else [],
        next_commands=report.next_commands,
    )


def _impact_first(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Return the summary with the worst impact as its headline; the tiles below it count the findings."""
    summary = diagnosis.summary
    is_critical = any(one.severity is Severity.CRITICAL and one.impact for one in diagnosis.findings)
    return (summary[1], summary[0], *summary[2:]) if is_critical and len(summary) > 1 else summary


def _folded(groups: Sequence[FindingGroup]) -> tuple[list[FindingGroup], list[Alike]]:
    """Return the groups to show in full, and the findings of the others by check."""
    seen: Counter[str] = Counter()
    full: list[FindingGroup] = []
    alike: dict[str, list[Finding]] = {}
    for group in groups:
        check_id = group.cause.check_id
        seen[check_id] += 1
        if seen[check_id] <= ALIKE_SHOWN:
            full.append(group)
        else:
            alike.setdefault(check_id, []).extend((group.cause, *group.symptoms))
    return full, [Alike(findings[0], findings) for findings in alike.values()]


def _tiles(report: FindingReport) -> tuple[Tile, ...]:
    diagnosis = report.diagnosis
    counts = [
        Tile(f"{number:,}", severity.value, severity.value)
        for severity in Severity
        if (number := sum(1 for finding in diagnosis.findings if finding.severity is severity))
    ]
    return (
        *counts,
        Tile(str(diagnosis.count(CheckStatus.PASSED)), "checks passed", "passed"),
        Tile(str(diagnosis.count(CheckStatus.SKIPPED)), "not evaluated", "skipped"),
    )


def _by_reason(results: list[CheckResult]) -> dict[str, list[str]]:
    """Return the checks that do not apply, by reason: many have the same."""
    found: dict[str, list[str]] = {}
    for result in results:
        found.setdefault(result.reason, []).append(result.check_id)
    return found


def _by_source(finding: Finding) -> list[tuple[str, list[Evidence]]]:
    return [(source, list(facts)) for source, facts in groupby(finding.evidence, key=lambda fact: fact.source)]
