"""No comparison of a rule can be turned round without a case noticing."""

from __future__ import annotations

from scripts.mutate_checks import load_cases, mutants, survives, survivors


def test_every_inverted_comparison_makes_a_case_fail() -> None:
    count, alive = survivors()
    assert count > 70
    assert [(mutant.rule, mutant.line) for mutant in alive] == []


def test_without_cases_a_mutant_lives() -> None:
    planted = "def judge_nothing(x):\n    return x < 1\n"
    (mutant,) = mutants("judge_nothing", planted)
    assert survives(mutant, [])
    assert not survives(mutant, load_cases("EOS-CFG-006"))
