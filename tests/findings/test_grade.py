"""The grade's arithmetic, and the order of a diagnosis."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from eosctl.checks.declaration import Case
from eosctl.checks.manual import ManualError, parse_manual
from eosctl.checks.registry import ALL_CHECKS
from eosctl.checks.runner import diagnose
from eosctl.errors import ExitCode
from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis
from eosctl.findings.finding import Finding
from eosctl.findings.gate import Gate, judge_gate
from eosctl.findings.grade import POINTS, at_most, grade
from eosctl.findings.summary import summarize
from eosctl.model.evidence import EvidenceGap, EvidenceKind, GapReason
from eosctl.model.severity import Severity
from eosctl.model.verdict import Resource
from tests.checks.cases import all_cases


def finding(severity: Severity, check_id: str = "EOS-TXN-001", impact: str = "") -> Finding:
    return Finding(check_id, "title", severity, Resource("partition", "p-0"), "message", impact=impact)


def failed(*severities: Severity, check_id: str = "EOS-TXN-001") -> CheckResult:
    return CheckResult(check_id, "title", "TXN", CheckStatus.FAILED, tuple(finding(s) for s in severities))


PASSED = CheckResult("EOS-TXN-002", "title", "TXN", CheckStatus.PASSED)
SKIPPED = CheckResult("EOS-TXN-003", "title", "TXN", CheckStatus.SKIPPED, reason="not collected")


def test_nothing_wrong_is_an_a() -> None:
    assert (grade([PASSED]).letter, grade([PASSED]).score) == ("A", 100)


@pytest.mark.parametrize("severity", list(Severity))
def test_a_failed_check_costs_its_worst_finding_once(severity: Severity) -> None:
    one = grade([PASSED, failed(severity)])
    many = grade([PASSED, failed(severity, severity, Severity.INFO)])
    assert one.score == many.score == 100 - POINTS[severity]


def test_the_arithmetic_adds_up() -> None:
    result = grade([failed(Severity.CRITICAL), failed(Severity.WARNING), failed(Severity.WARNING), PASSED])
    assert result.score == 100 - sum(deduction.points for deduction in result.deductions)
    assert [(d.count, d.points_each, d.points) for d in result.deductions] == [
        (1, POINTS[Severity.CRITICAL], POINTS[Severity.CRITICAL]),
        (2, POINTS[Severity.WARNING], 2 * POINTS[Severity.WARNING]),
    ]


def test_a_critical_finding_allows_no_better_than_d() -> None:
    result = grade([failed(Severity.CRITICAL), PASSED])
    assert (result.letter, "critical" in result.cap) == ("D", True)


def test_incomplete_evidence_allows_no_better_than_b() -> None:
    result = grade([PASSED, PASSED, PASSED, PASSED, SKIPPED])
    assert (result.letter, result.score, "incomplete" in result.cap) == ("B", 100, True)


def test_a_quarter_of_skipped_checks_allows_no_better_than_c() -> None:
    result = grade([PASSED, PASSED, PASSED, SKIPPED])
    assert (str(result), result.cap) == ("Grade C (100/100)", "1 of 4 checks were skipped: no better than C")


def test_a_mostly_skipped_run_without_findings_has_no_grade() -> None:
    few = grade([PASSED, SKIPPED, SKIPPED])
    assert (str(few), few.cap) == ("No grade (1 of 3 checks evaluated)", "1 of 3 checks could be evaluated")
    assert str(grade([SKIPPED])) == "No grade (0 of 1 checks evaluated)"
    assert str(grade([failed(Severity.CRITICAL), SKIPPED, SKIPPED])) == "Grade D (1 of 3 checks evaluated)"


@pytest.mark.parametrize(
    ("results", "code"),
    [
        ((PASSED,), ExitCode.DONE),
        ((PASSED, SKIPPED), ExitCode.DONE),
        ((PASSED, SKIPPED, SKIPPED), ExitCode.INCOMPLETE),
        ((failed(Severity.CRITICAL), SKIPPED, SKIPPED), ExitCode.FINDINGS),
    ],
)
def test_a_run_without_a_grade_is_incomplete(results: tuple[CheckResult, ...], code: ExitCode) -> None:
    gap = EvidenceGap(EvidenceKind.TOPICS, "*", GapReason.HIDDEN)
    diagnosis = Diagnosis("cluster", 0, results, grade(results), (gap,))
    assert judge_gate(diagnosis, Gate()) is code
    assert judge_gate(diagnosis, Gate(exit_zero=True)) is ExitCode.DONE


def test_a_finding_may_limit_the_letter_and_costs_nothing() -> None:
    limiting = replace(finding(Severity.INFO), facts=(at_most("C"),))
    small = CheckResult("EOS-BRK-012", "Too few brokers", "BRK", CheckStatus.FAILED, (limiting,))
    result = grade([PASSED, small])
    assert (result.letter, result.score, result.cap) == ("C", 100, "too few brokers: no better than C")
    assert grade([small, SKIPPED]).letter == "C"
    assert grade([small, SKIPPED, SKIPPED]).letter == "-"
    assert grade([small, *[failed(Severity.ERROR)] * 3]).letter == "F"
    assert grade([small, failed(Severity.CRITICAL)]).letter == "D"
    worst = replace(finding(Severity.CRITICAL), facts=(at_most("F"),))
    assert grade([replace(small, findings=(worst,)), PASSED]).letter == "F"


def test_skipped_checks_limit_a_letter_that_a_finding_limits() -> None:
    limiting = replace(finding(Severity.INFO), facts=(at_most("B"),))
    small = CheckResult("EOS-LOG-010", "Unknown error records", "LOG", CheckStatus.FAILED, (limiting,))
    assert grade([small, PASSED, PASSED, SKIPPED]).letter == "C"
    assert grade([small, PASSED, PASSED, PASSED, SKIPPED]).letter == "B"


def test_the_score_ends_at_zero() -> None:
    assert grade([failed(Severity.CRITICAL)] * 9).score == 0
    assert grade([failed(Severity.CRITICAL)] * 9).letter == "F"


def test_no_letter_without_a_single_evaluated_check() -> None:
    assert grade([SKIPPED]).letter == "-"
    assert grade([]).letter == "-"


def test_summary_says_the_verdict_first() -> None:
    worst = CheckResult(
        "EOS-TXN-001",
        "t",
        "TXN",
        CheckStatus.FAILED,
        (finding(Severity.CRITICAL, impact="p-0 is stuck."), finding(Severity.CRITICAL, impact="p-0 is stuck.")),
    )
    lines = summarize([PASSED, SKIPPED, worst, failed(Severity.WARNING)])
    assert lines == ("3 findings (2 critical, 1 warning); 3 checks evaluated, 1 skipped.", "p-0 is stuck.")
    assert summarize([PASSED]) == ("No findings; 1 check evaluated, 0 skipped.",)


def test_findings_come_worst_first() -> None:
    for case in all_cases():
        diagnosis = diagnose(ALL_CHECKS, Case(case.snapshot))
        ranks = [finding.severity.rank for finding in diagnosis.findings]
        assert ranks == sorted(ranks)
        assert len({finding.fingerprint for finding in diagnosis.findings}) == len(diagnosis.findings)


def test_fingerprints_outlive_a_run() -> None:
    (case,) = [case for case in all_cases() if case.name == "the coordinator has ended it"]
    again = [diagnose(ALL_CHECKS, Case(case.snapshot)).findings[0].fingerprint for _ in range(2)]
    assert again[0] == again[1]


def test_a_manual_with_a_missing_section_is_refused() -> None:
    with pytest.raises(ManualError, match="expected What it checks"):
        parse_manual("Summary.\n\nWhat it checks:\n    Something.\n")
    with pytest.raises(ManualError):
        parse_manual("")
