"""Seeds find what is wrong: planted bugs, known bugs of Kafka's releases, and what old clients cannot prevent.

The schedule of a seed changes with the sandbox's timing. So each search begins with the seed that showed the bug first
and continues with others: a few seeds must be enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from eosctl.client.transactions import TV1
from eosctl.lab.schedule import PLANS, DrawnKind
from eosctl.lab.trial import Trial, TrialPlan, run_trial
from eosctl.lab.trials import bugs_of, find_remedies
from eosctl.sandbox.faults.bugs import BUGS
from tests.lab import planted as cluster_bugs
from tests.sandbox import test_planted_bugs as bugs

SEARCHED = 25
KILLS = (DrawnKind.KILL_BROKER,)


def search(
    plan: TrialPlan, symptoms: frozenset[str], first_seed: int, remedy: str | None = None, searched: int = SEARCHED
) -> Trial:
    """Return the first trial that shows one of the symptoms, and would not without what the remedy takes away."""
    for seed in (first_seed, *range(searched)):
        trial = run_trial(plan, seed)
        if trial.symptoms & symptoms and (remedy is None or remedy in find_remedies(plan, trial)):
            return trial
    pytest.fail(f"{searched} seeds show none of {sorted(symptoms)} that would go without {remedy}")


class Planted(NamedTuple):
    """A bug, what it looks like, the first seed that showed it, and the faults that it needs."""

    plant: Callable[[pytest.MonkeyPatch], None]
    symptoms: frozenset[str]
    seed: int
    kinds: tuple[DrawnKind, ...] = PLANS["all"]


PLANTED = [
    Planted(bugs.reinitialize_without_abort, frozenset({"early-read", "aborted-read", "duplicate"}), 1),
    Planted(bugs.stable_offset_of_the_newest, frozenset({"early-read", "aborted-read"}), 0),
    Planted(bugs.aborted_index_loses_an_entry, frozenset({"aborted-read"}), 1),
    Planted(bugs.aborted_offsets_applied, frozenset({"aborted-offset"}), 2),
    Planted(bugs.served_while_loading, frozenset({"lost-offset", "offset-regression"}), 0, PLANS["crashes"]),
    Planted(
        bugs.divergence_overlooked, frozenset({"log-divergence"}), 3, (DrawnKind.KILL_BROKER, DrawnKind.ISOLATE_BROKER)
    ),
    Planted(cluster_bugs.epoch_kept_at_initialisation, frozenset({"epoch-regression"}), 0),
    Planted(cluster_bugs.aborts_commit, frozenset({"aborted-read"}), 1),
    Planted(cluster_bugs.offsets_count_before_the_marker, frozenset({"unstable-offset", "aborted-offset"}), 1),
    Planted(
        cluster_bugs.transactions_forgotten_by_the_next_coordinator,
        frozenset({"hanging-transaction"}),
        4,
        PLANS["crashes"],
    ),
]


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.plant.__name__)
def test_a_planted_bug_is_found_and_named(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    planted.plant(monkeypatch)
    search(TrialPlan(planted.kinds), planted.symptoms, planted.seed)


def test_there_are_ten_planted_bugs() -> None:
    assert len({planted.plant for planted in PLANTED}) >= 10


class Switched(NamedTuple):
    """A known bug, the cluster and the faults that bring it about, what it looks like, and the first seed with it."""

    name: str
    plan: TrialPlan
    symptoms: frozenset[str]
    seed: int
    searched: int = SEARCHED


KAFKA_17507 = Switched(
    "kafka-17507",
    TrialPlan((), "3.9", bugs=(("kafka-17507", True), ("zombie-txn-offset-commit", False))),
    frozenset({"lost-offset", "aborted-offset", "unstable-offset"}),
    41,
)
SWITCHED = [
    KAFKA_17507,
    Switched("kafka-20734", TrialPlan(KILLS, replica_count=1), frozenset({"early-read", "hanging-transaction"}), 1),
    Switched(
        "high-watermark-truncation",
        TrialPlan(KILLS, replica_count=2, bugs=(("high-watermark-truncation", True),)),
        frozenset({"lost-write", "incomplete-replica"}),
        4,
    ),
    # One seed in sixty: the zombie's commit has to come in the few ms in which its successor's offset is pending.
    Switched(
        "zombie-txn-offset-commit",
        TrialPlan((DrawnKind.LATE_OFFSET_COMMIT,), "3.9", transaction_count=12),
        frozenset({"lost-offset", "offset-regression", "duplicate"}),
        36,
        searched=200,
    ),
]


@pytest.mark.parametrize("switched", SWITCHED, ids=lambda switched: switched.name)
def test_a_known_bug_is_found_and_named(switched: Switched) -> None:
    assert bugs_of(switched.plan)[switched.name]
    search(switched.plan, switched.symptoms, switched.seed, f"--bug {switched.name}=off", switched.searched)


def test_every_known_bug_is_among_them() -> None:
    assert {switched.name for switched in SWITCHED} == {bug.name for bug in BUGS}


def test_a_late_end_txn_harms_only_old_clients() -> None:
    """KAFKA-17754: no broker can distinguish a late EndTxn of version 4 from one of the open transaction."""
    plan = TrialPlan((DrawnKind.STALL_CLIENTS,), dialect=TV1, bugs=(("kafka-20734", False),))
    found = search(plan, frozenset({"aborted-read", "early-read", "torn-transaction"}), 4)
    assert find_remedies(plan, found) == ("--clients tv2",)


def test_a_late_offset_commit_harms_only_old_clients() -> None:
    """Retried after a timeout, the first TxnOffsetCommit falls into the next transaction: it has the same epoch."""
    plan = TrialPlan((DrawnKind.LATE_OFFSET_COMMIT,), dialect=TV1, bugs=(("kafka-20734", False),))
    search(plan, frozenset({"lost-offset", "offset-regression"}), 4, "--clients tv2", 60)


def test_switches_of_a_plan_are_those_of_its_release_and_its_own() -> None:
    assert bugs_of(TrialPlan()) == {"high-watermark-truncation": False, "kafka-20734": True}
    assert bugs_of(TrialPlan(bugs=(("kafka-20734", False),)))["kafka-20734"] is False
    assert "kafka-17507" in bugs_of(TrialPlan(emulate="3.9"))
