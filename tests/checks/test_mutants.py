"""No comparison of a rule or check can be turned round without a case noticing."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.mutate_checks.configuration import load_cases, meets
from scripts.mutate_checks.mutants import ROOT, mutants, survives
from scripts.mutate_checks.run import survivors

LEAST_COMPARISONS = 500


@pytest.mark.quick
def test_every_inverted_comparison_makes_a_case_fail() -> None:
    count, alive = survivors()
    assert count > LEAST_COMPARISONS
    assert [f"{mutant.path.relative_to(ROOT)}:{mutant.line}" for mutant in alive] == []


def test_without_cases_a_mutant_lives() -> None:
    planted = "def judge_nothing(x):\n    return x < 1\n"
    (mutant,) = mutants(Path("judge_nothing.py"), planted)
    assert survives(mutant, "judge_nothing", meets([]))
    assert not survives(mutant, "judge_nothing", meets(load_cases("EOS-CFG-006")))
