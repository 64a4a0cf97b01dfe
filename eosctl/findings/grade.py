"""A letter for a cluster, with its arithmetic: every failed check costs points by its worst finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from eosctl.findings.diagnosis import NO_LETTER, CheckResult, CheckStatus, Deduction, Grade
from eosctl.model.severity import Severity
from eosctl.text import count_text

FULL_SCORE: Final = 100
POINTS: Final = {Severity.CRITICAL: 30, Severity.ERROR: 20, Severity.WARNING: 5, Severity.INFO: 0}
LETTERS: Final = ((90, "A"), (80, "B"), (70, "C"), (60, "D"), (0, "F"))
AT_MOST: Final = "grade_at_most"


def at_most(letter: str) -> tuple[str, str]:
    """Return the fact with which a finding caps the grade, independent of the points that it costs."""
    return AT_MOST, letter


def grade(results: Iterable[CheckResult]) -> Grade:
    """Grade a run.

    A check counts once however many resources it found, so that a large cluster is not worse than a small one with
    the same fault. A critical finding allows no better than D. A finding may limit the letter itself (`at_most`).

    Skipped checks limit the grade: one allows no better than B, a quarter of all no better than C. Where most were
    skipped, a good letter would claim too much: the grade has no letter, and names the number of evaluated checks.
    A letter that a finding limits is not evidence: it does not stand in for skipped checks.
    """
    results = tuple(results)
    return replace(_graded(results), scope=_scope(results))


def of_excerpt(whole: Grade) -> Grade:
    """Limit the grade of what tools printed: a part of a cluster earns no letter better than C."""
    if whole.letter >= "C" or not whole.is_given:
        return whole
    return replace(whole, letter="C", cap="the output of tools shows a part of a cluster: no better than C")


def limited_by_files(whole: Grade, unreadable: int, not_understood: int) -> Grade:
    """Withhold the grade where a file could not be read, and limit it where one was not understood."""
    if unreadable and whole.is_given:
        return replace(whole, letter=NO_LETTER, cap=f"{count_text(unreadable, 'file')} could not be read")
    if not_understood and whole.letter == "A":
        return replace(whole, letter="B", cap="incomplete evidence allows no better than B")
    return whole


def _graded(results: Sequence[CheckResult]) -> Grade:
    worst = [
        min((finding.severity for finding in result.findings), key=lambda s: s.rank)
        for result in results
        if result.findings
    ]
    deductions = tuple(
        Deduction(
            f"failed with {severity.value} findings", worst.count(severity), points, worst.count(severity) * points
        )
        for severity, points in POINTS.items()
        if severity in worst
    )
    score = max(0, FULL_SCORE - sum(deduction.points for deduction in deductions))
    letter = next(letter for floor, letter in LETTERS if score >= floor)
    if not any(result.status in (CheckStatus.PASSED, CheckStatus.FAILED) for result in results):
        is_accepted = any(result.status is CheckStatus.SUPPRESSED for result in results)
        return Grade(NO_LETTER, score if is_accepted else 0, deductions, "no check could be evaluated")
    limit, title = max(_limits(results), default=("A", ""))
    if Severity.CRITICAL in worst and max(letter, limit) < "D":
        return Grade("D", score, deductions, "a critical finding allows no better than D")
    evaluated, skipped = _counts(results)
    if skipped > evaluated and letter < "C":
        return Grade(NO_LETTER, score, deductions, f"{evaluated} of {evaluated + skipped} checks could be evaluated")
    if skipped * 4 >= evaluated + skipped and max(letter, limit) < "C":
        return Grade(
            "C", score, deductions, f"{skipped} of {evaluated + skipped} checks were skipped: no better than C"
        )
    if letter < limit:
        return Grade(limit, score, deductions, f"{title[:1].lower()}{title[1:]}: no better than {limit}")
    if letter == "A" and any(result.incomplete or result.status is CheckStatus.SKIPPED for result in results):
        return Grade("B", score, deductions, "incomplete evidence allows no better than B")
    return Grade(letter, score, deductions)


def _counts(results: Sequence[CheckResult]) -> tuple[int, int]:
    """Return the number of evaluated checks, and of skipped ones."""
    evaluated = sum(result.status in (CheckStatus.PASSED, CheckStatus.FAILED) for result in results)
    return evaluated, sum(result.status is CheckStatus.SKIPPED for result in results)


def _scope(results: Sequence[CheckResult]) -> str:
    evaluated, skipped = _counts(results)
    return f"{evaluated} of {evaluated + skipped} checks" if skipped > evaluated else ""


def _limits(results: Iterable[CheckResult]) -> Iterator[tuple[str, str]]:
    """Yield the letters that findings allow at most, each with the title of its check."""
    for result in results:
        for finding in result.findings:
            letter = dict(finding.facts).get(AT_MOST)
            if isinstance(letter, str):
                yield letter, result.title
