"""Render findings as text: the verdict, each finding with its next step, and the checks that were not evaluated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from eosctl.findings.diagnosis import CheckResult, CheckStatus
from eosctl.findings.finding import Finding
from eosctl.findings.grouping import FindingGroup
from eosctl.model.read_as import sentence
from eosctl.model.severity import Severity
from eosctl.model.verdict import Confidence
from eosctl.render.findings.report import FindingReport
from eosctl.render.findings.sections import command_block, first_blocks, note_text, suppressed_blocks
from eosctl.render.gap_text import join_gaps
from eosctl.render.page import PLAIN, Block, Field, Grid, Line, Style, render_page
from eosctl.text import count_text

TONES = {Severity.CRITICAL: "bold red", Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
SOURCES_SHOWN = 8
LIKE_SHOWN = 3
INFORMATION_SHOWN = 8
REASONS_SHOWN = 4


def render_text(report: FindingReport, style: Style = PLAIN, *, wide: bool = False) -> str:
    """Render a report as text.

    Args:
        report: The report.
        style: Width and color.
        wide: Show all evidence and fingerprints, information of a graded report in full, passed checks by title, and
            the gaps one by one.
    """
    return render_page(list(_blocks(report, wide)), style)


def _blocks(report: FindingReport, wide: bool) -> Iterator[Block]:
    groups = report.groups
    yield from _head(report)
    yield from first_blocks(report.actions)
    folded = tuple(group for group in groups if report.is_graded and not wide and _is_information(group))
    yield from _groups(tuple(group for group in groups if group not in folded), wide)
    yield from _information(folded)
    yield from _not_evaluated(report, wide)
    yield from suppressed_blocks(report.diagnosis)
    yield from _passed(report, wide)
    yield from _grade(report)
    if report.next_commands:
        yield Line("")
        yield Line("NEXT", "bold")
        for command in report.next_commands:
            yield Line(f"  $ {command.line}{note_text(command)}")


def _head(report: FindingReport) -> Iterator[Block]:
    diagnosis = report.diagnosis
    worst = diagnosis.findings[0].severity if diagnosis.findings else None
    tone = TONES[worst] if worst else "green" if diagnosis.grade.is_given else "yellow"
    yield Line(report.headline, f"bold {tone}")
    for impact in diagnosis.summary[1:]:
        yield Line(f"  {impact}")
    for one in report.read_as:
        yield Line(f"  {one.file}: read as: {sentence(one)}", "dim")
    for line in report.about:
        yield Line(line, "dim")


def _groups(groups: tuple[FindingGroup, ...], wide: bool) -> Iterator[Block]:
    """Show each cause with its symptoms; of many similar causes, only the first ones in full."""
    seen: dict[str, int] = {}
    alike: dict[str, list[Finding]] = {}
    for number, group in enumerate(groups, 1):
        cause = group.cause
        seen[cause.check_id] = seen.get(cause.check_id, 0) + 1
        if not wide and seen[cause.check_id] > LIKE_SHOWN:
            alike.setdefault(cause.check_id, []).append(cause)
            continue
        yield Line("")
        yield from _finding(number, cause, wide, group.causes[1:])
        for index, one in enumerate(group.consequences):
            text = f"{one.severity.value} {one.check_id} {one.message}"
            yield Field("symptoms" if index == 0 else "", text)
    for check_id, causes in alike.items():
        yield Line("")
        named = ", ".join(cause.resource.name for cause in causes[:SOURCES_SHOWN])
        more = f" and {len(causes) - SOURCES_SHOWN} more" if len(causes) > SOURCES_SHOWN else ""
        yield Line(f"{len(causes)} MORE OF {check_id}: {named}{more}; each with -o wide", TONES[causes[0].severity])


def _is_information(group: FindingGroup) -> bool:
    return all(one.severity is Severity.INFO for one in (group.cause, *group.symptoms))


def _information(groups: tuple[FindingGroup, ...]) -> Iterator[Block]:
    """Show information as one line each, the first ones of each check; ``-o wide`` and its manual have the rest."""
    if not groups:
        return
    yield Line("")
    yield Line("INFO  details: -o wide, or eosctl check explain ID", "dim")
    by_check: dict[str, list[Finding]] = {}
    for group in groups:
        for one in (group.cause, *group.symptoms):
            by_check.setdefault(one.check_id, []).append(one)
    for check_id, findings in by_check.items():
        for one in findings[:INFORMATION_SHOWN]:
            yield Line(f"  {check_id}  {one.message}", "dim")
        if len(findings) > INFORMATION_SHOWN:
            yield Line(f"  {check_id}  {len(findings) - INFORMATION_SHOWN:,} more", "dim")


def _finding(number: int, finding: Finding, wide: bool, others: tuple[Finding, ...]) -> Iterator[Block]:
    tone, about = TONES[finding.severity], ", ".join(str(one.resource) for one in (finding, *others))
    sure = "" if finding.confidence is Confidence.CERTAIN else f", {finding.confidence.value}"
    yield Line(
        f"{number}. {finding.severity.value.upper()}{sure}  {finding.check_id}  {finding.title}: {about}",
        tone,
    )
    yield Field("what", " ".join(one.message for one in (finding, *others)))
    if finding.cause:
        yield Field("cause", finding.cause)
    if finding.impact:
        yield Field("impact", finding.impact)
    by_source = [(source, tuple(facts)) for source, facts in groupby(finding.evidence, key=lambda e: e.source)]
    shown = by_source if wide else by_source[:SOURCES_SHOWN]
    for index, (source, facts) in enumerate(shown):
        text = "; ".join(f"{fact.name} {fact.value}" for fact in facts)
        yield Field("evidence" if index == 0 else "", f"{source}: {text}")
    if len(shown) < len(by_source):
        yield Field("", f"{count_text(len(by_source) - len(shown), 'more source')} with -o wide")
    for index, step in enumerate(dict.fromkeys(step for one in (finding, *others) for step in one.remedy)):
        yield Field("do" if index == 0 else "", step)
    yield from (
        command_block("", command) for command in dict.fromkeys(c for one in (finding, *others) for c in one.commands)
    )
    for index, command in enumerate(finding.verify):
        yield command_block("verify" if index == 0 else "", command)
    yield Field("more", f"eosctl check explain {finding.check_id}")
    if wide:
        yield Field("id", finding.fingerprint)


def _not_evaluated(report: FindingReport, wide: bool) -> Iterator[Block]:
    skipped = [r for r in report.diagnosis.results if r.status is CheckStatus.SKIPPED]
    partial = [r for r in report.diagnosis.results if r.incomplete and r.status is not CheckStatus.SKIPPED]
    inapplicable = [r for r in report.diagnosis.results if r.status is CheckStatus.NOT_APPLICABLE]
    if skipped or partial or inapplicable:
        yield Line("")
        yield Line("NOT EVALUATED, OR NOT IN FULL", "bold")
        rows = [(r.check_id, r.title, r.reason) for r in skipped]
        rows += [(r.check_id, r.title, f"found something, but the evidence is incomplete: {r.reason}") for r in partial]
        if wide:
            rows += [(r.check_id, r.title, f"does not apply: {r.reason}") for r in inapplicable]
        if rows:
            yield Grid(tuple(rows), indent=2)
    if inapplicable and not wide:
        yield from _inapplicable(inapplicable)
    steps = dict.fromkeys(gap.next_step for gap in report.diagnosis.gaps if gap.next_step)
    for step in steps:
        yield Field("do", step)
    if wide and report.diagnosis.gaps:
        yield Line("")
        yield Line("MISSING EVIDENCE", "bold")
        yield Grid(
            tuple(
                (line.kinds, line.gap.subject, line.gap.error or line.gap.reason.value, line.gap.detail)
                for line in join_gaps(report.diagnosis.gaps)
            ),
            indent=2,
        )


def _inapplicable(results: list[CheckResult]) -> Iterator[Block]:
    """Name the most frequent reasons on one line, with the number of checks for each."""
    counts = Counter(result.reason.partition(" (eosctl")[0] for result in results)
    reasons = [f"{reason} ({count})" for reason, count in counts.most_common()]
    if len(reasons) > REASONS_SHOWN:
        others = sum(count for _, count in counts.most_common()[REASONS_SHOWN:])
        reasons = [*reasons[:REASONS_SHOWN], f"other reasons, listed by -o wide ({others})"]
    yield Line(f"  {count_text(len(results), 'check')} not applicable: {'; '.join(reasons)}")


def _passed(report: FindingReport, wide: bool) -> Iterator[Block]:
    passed = [r for r in report.diagnosis.results if r.status is CheckStatus.PASSED]
    if not passed:
        return
    yield Line("")
    if wide:
        yield Line("PASSED", "bold")
        yield Grid(tuple((r.check_id, r.title) for r in passed), indent=2)
    else:
        yield Line(f"PASSED  {count_text(len(passed), 'check')}, listed by -o wide", "dim")


def _grade(report: FindingReport) -> Iterator[Block]:
    grade = report.diagnosis.grade
    if not report.is_graded:
        return
    if not grade.is_given:
        yield from (Line(""), Line(f"NO GRADE  {grade.cap}", "bold"))
        return
    deductions = "".join(
        f" - {count_text(d.count, 'check')} {d.label} x {d.points_each}" for d in grade.deductions if d.points_each
    )
    cap = "".join(f"; {text}" for text in (grade.scope and f"{grade.scope} evaluated", grade.cap) if text)
    yield Line("")
    yield Line(f"GRADE   {grade.letter}: 100{deductions} = {grade.score}{cap}", "bold")
