"""The result of a run of checks: what became of each check, the grade, and the evidence that was missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final

import msgspec

from eosctl.findings.finding import Finding
from eosctl.model.evidence import EvidenceGap

NO_LETTER: Final = "-"
"""The letter of a grade that could not be given."""


class CheckStatus(Enum):
    """The outcome of one check; missing evidence is never a pass, nor are suppressed findings."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    NOT_APPLICABLE = "not-applicable"
    SUPPRESSED = "suppressed"


class CheckResult(msgspec.Struct, frozen=True):
    """What became of one check.

    Attributes:
        reason: Why it was skipped, or what its verdict lacks.
        incomplete: Whether evidence was missing.
        has_crashed: Whether eosctl itself failed while it judged: ``reason`` has the exception and its place.
    """

    check_id: str
    title: str
    area: str
    status: CheckStatus
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    incomplete: bool = False
    has_crashed: bool = False


class Deduction(msgspec.Struct, frozen=True):
    """One line of the grade's arithmetic."""

    label: str
    count: int
    points_each: int
    points: int


class Grade(msgspec.Struct, frozen=True):
    """A letter with the arithmetic that leads to it.

    Attributes:
        letter: A to F, or ``NO_LETTER``.
        score: 0 to 100.
        deductions: What the failed checks cost.
        cap: The rule that limited the letter; empty without one.
        scope: The number of evaluated checks, ``6 of 58 checks``, where most were skipped and the score would claim too
            much; else empty.
    """

    letter: str
    score: int
    deductions: tuple[Deduction, ...] = ()
    cap: str = ""
    scope: str = ""

    def __str__(self) -> str:
        if not self.is_given:
            return f"No grade ({self.scope} evaluated)" if self.scope else "No grade"
        return f"Grade {self.letter} ({f'{self.scope} evaluated' if self.scope else f'{self.score}/100'})"

    @property
    def is_given(self) -> bool:
        """Whether there is a letter: at least one check was evaluated."""
        return self.letter != NO_LETTER


class Diagnosis(msgspec.Struct, frozen=True):
    """The result of a doctor or check run, ready to be rendered.

    ``suppressed`` are findings that do not count, each with the reason; ``remarks`` concern outdated suppressions.
    """

    cluster_id: str
    captured_at_ms: int
    results: tuple[CheckResult, ...]
    grade: Grade
    gaps: tuple[EvidenceGap, ...] = ()
    summary: tuple[str, ...] = ()
    suppressed: tuple[tuple[Finding, str], ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, worst first, then by check id and resource."""
        found = [finding for result in self.results for finding in result.findings]
        return tuple(sorted(found, key=lambda f: (f.severity.rank, f.check_id, str(f.resource))))

    @property
    def is_incomplete(self) -> bool:
        """Whether evidence was missing, so that the findings may not be all."""
        return is_incomplete(self.results, self.gaps)

    def count(self, status: CheckStatus) -> int:
        """Return how many checks ended with this status."""
        return sum(1 for result in self.results if result.status is status)


def is_incomplete(results: Iterable[CheckResult], gaps: Sequence[EvidenceGap]) -> bool:
    """Return whether a run lacks evidence: some was not read, or a check was evaluated with a part of it."""
    return bool(gaps) or any(result.incomplete for result in results)
