"""From a diagnosis to an exit code: the severity, the score, and the completeness that a run demands."""

from __future__ import annotations

from typing import NamedTuple

from eosctl.errors import ExitCode
from eosctl.findings.diagnosis import Diagnosis
from eosctl.model.evidence import GapReason
from eosctl.model.severity import Severity


class Gate(NamedTuple):
    """The demands on a run.

    Attributes:
        fail_on: The lowest severity that fails the run; None when findings never fail it.
        exit_zero: Whether findings and gaps never fail the run.
        require_complete: Whether missing evidence fails the run.
        min_score: The lowest score that passes, 0 to 100; None for any.
    """

    fail_on: Severity | None = Severity.ERROR
    exit_zero: bool = False
    require_complete: bool = False
    min_score: int | None = None


def judge_gate(diagnosis: Diagnosis, gate: Gate) -> ExitCode:
    """Return the exit code of a run whose suppressed findings are already removed.

    A check in which eosctl itself failed fails the run, unless findings do; no option accepts that. A run that has no
    grade because evidence is missing is incomplete, even if the gate does not demand completeness.
    """
    is_bad = gate.fail_on is not None and any(one.severity.at_least(gate.fail_on) for one in diagnosis.findings)
    if not gate.exit_zero and (is_bad or falls_short(diagnosis, gate)):
        return ExitCode.FINDINGS
    if any(result.has_crashed for result in diagnosis.results):
        return ExitCode.FAILED
    if gate.exit_zero:
        return ExitCode.DONE
    if gate.require_complete and diagnosis.is_incomplete:
        return ExitCode.INCOMPLETE
    if diagnosis.grade.is_given:
        return ExitCode.DONE
    if any(gap.reason is GapReason.NOT_RECOGNIZED for gap in diagnosis.gaps):
        return ExitCode.BAD_INPUT
    return ExitCode.INCOMPLETE if diagnosis.gaps else ExitCode.DONE


def falls_short(diagnosis: Diagnosis, gate: Gate) -> bool:
    """Return whether the score is below the lowest one that passes."""
    return gate.min_score is not None and diagnosis.grade.score < gate.min_score
