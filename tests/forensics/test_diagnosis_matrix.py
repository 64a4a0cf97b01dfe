"""The matrix of diagnoses: two faults at once are told apart, and what is wrong or missing is counted."""

from __future__ import annotations

from scripts.diagnosis_matrix import Outcome, Verdict, late_batch, nothing, play, score, takeover

HANGING = Verdict("hanging", "unknown-to-coordinator", "a-0")
OPEN = Verdict("fsck", "open-transaction", "b-0")


def test_two_faults_and_a_healthy_application_on_one_cluster() -> None:
    outcome = play([late_batch, takeover, nothing], seed=11)
    assert len(outcome.expected) == 3
    assert outcome.found == outcome.expected


def test_verdicts_are_counted() -> None:
    elsewhere = HANGING._replace(subject="c-0")
    outcomes = [
        Outcome(frozenset({HANGING}), frozenset({HANGING, OPEN})),
        Outcome(frozenset({HANGING, OPEN}), frozenset({elsewhere, OPEN})),
    ]
    assert score(outcomes) == {HANGING[:2]: (1, 1, 1), OPEN[:2]: (1, 1, 0)}
    assert not any(outcome.is_exact for outcome in outcomes)
