"""The diagnosis matrix: two faults are distinguished, and wrong and missing verdicts are counted."""

from __future__ import annotations

from scripts.diagnosis_matrix.faults.hanging import late_offset, older_epoch
from scripts.diagnosis_matrix.faults.open import held_offset
from scripts.diagnosis_matrix.faults.owners import nothing, takeover
from scripts.diagnosis_matrix.faults.registry import FAULTS
from scripts.diagnosis_matrix.play import Outcome, groups_of, play, score
from scripts.diagnosis_matrix.site import Fault, Verdict

HANGING = Verdict("hanging", "unknown-to-coordinator", "a-0")
OPEN = Verdict("fsck", "open-transaction", "b-0")


def test_faults_and_a_healthy_application_on_one_cluster() -> None:
    outcome = play([Fault(fault) for fault in (older_epoch, takeover, late_offset, held_offset, nothing)], seed=11)
    assert {verdict.source for verdict in outcome.expected} == {"hanging", "abort", "pending", "blame", "fsck"}
    assert outcome.found == outcome.expected


def test_verdicts_are_counted() -> None:
    elsewhere = HANGING._replace(subject="c-0")
    outcomes = [
        Outcome(frozenset({HANGING}), frozenset({HANGING, OPEN})),
        Outcome(frozenset({HANGING, OPEN}), frozenset({elsewhere, OPEN})),
    ]
    assert score(outcomes) == {HANGING[:2]: (1, 1, 1), OPEN[:2]: (1, 1, 0)}
    assert not any(outcome.is_exact for outcome in outcomes)


def test_what_lasts_or_changes_all_is_not_joined() -> None:
    pairs = [group for group in groups_of(FAULTS) if len(group) == 2]
    assert not any(fault.alone for pair in pairs for fault in pair)
    assert not any(one.lasts and other.lasts for one, other in pairs)
    assert {fault.name for pair in pairs for fault in pair} == {fault.name for fault in FAULTS if not fault.alone}
