"""A check in which eosctl itself fails: the others keep their verdicts, and the run fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from eosctl.checks.declaration import Case, Check, Problem
from eosctl.checks.registry import ALL_CHECKS
from eosctl.checks.runner import diagnose
from eosctl.errors import ExitCode
from eosctl.findings.diagnosis import CheckResult, CheckStatus, Diagnosis
from eosctl.findings.gate import Gate
from eosctl.services.gate import judge_run
from tests.checks.cases import all_cases

CASE = Case(next(one for one in all_cases() if one.findings).snapshot)


def crash(case: Case) -> Iterator[Problem]:
    raise KeyError("password=hunter2 of orders")


def results_with_crash(checks: Sequence[Check]) -> tuple[Diagnosis, CheckResult]:
    broken = replace(ALL_CHECKS[0], id="EOS-TXN-999", evaluate=crash, needs=frozenset(), applies=None)
    diagnosis = diagnose((broken, *checks), CASE)
    return diagnosis, diagnosis.results[0]


def test_the_other_checks_keep_their_findings() -> None:
    diagnosis, crashed = results_with_crash(ALL_CHECKS)
    assert diagnosis.findings == diagnose(ALL_CHECKS, CASE).findings
    assert (crashed.status, crashed.incomplete, crashed.has_crashed) == (CheckStatus.SKIPPED, True, True)


def test_the_reason_has_the_exception_and_its_place() -> None:
    _, crashed = results_with_crash(())
    assert crashed.reason.startswith("KeyError: ")
    assert "(test_crashes.py:" in crashed.reason
    assert "hunter2" not in crashed.reason


@pytest.mark.parametrize("gate", [Gate(), Gate(exit_zero=True), Gate(fail_on=None)])
def test_no_option_lets_such_a_run_pass(gate: Gate) -> None:
    diagnosis, _ = results_with_crash(())
    verdict = judge_run(diagnosis, gate)
    assert verdict.exit_code is ExitCode.FAILED
    assert verdict.remarks[0].startswith("EOS-TXN-999 was not judged: KeyError")
