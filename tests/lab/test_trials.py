"""Seeds with faults hold what exactly-once promises, replay exactly, and are reduced to the faults that matter."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib

import pytest

from eosctl.client.transactions import TV1
from eosctl.errors import UsageError
from eosctl.lab.history.encoding import encode_history
from eosctl.lab.history.events import OffsetFetched
from eosctl.lab.schedule import PLANS, DrawnKind, Schedule, find_plan
from eosctl.lab.trial import Trial, TrialPlan, run_trial, schedule_of
from eosctl.lab.trials import fault_counts, minimise

ALL = TrialPlan(bugs=(("kafka-20734", False),))
#: Clients whose requests come late tear transactions below transaction.version 2 (KAFKA-17754).
HARMLESS = PLANS["nodes"]


def test_fault_schedules_break_no_promise() -> None:
    failed = {
        trial.seed: (trial.symptoms, trial.stuck)
        for trial in (run_trial(ALL, seed) for seed in range(8))
        if trial.failed
    }
    assert failed == {}


def test_offsets_of_a_deposed_coordinator_are_not_used() -> None:
    """It answers with its old offsets; applications that are group members never reach it."""
    trials = [run_trial(ALL, seed) for seed in (3771, 4257)]
    asked = [event for trial in trials for event in trial.history if isinstance(event, OffsetFetched)]
    assert any(event.is_stale and event.actor.startswith("copier") for event in asked)
    assert [trial.symptoms for trial in trials if trial.failed] == []


@pytest.mark.parametrize(
    "plan",
    [
        TrialPlan(HARMLESS, "3.9"),
        TrialPlan(HARMLESS, transaction_version=0),
        TrialPlan(HARMLESS, dialect=TV1),
    ],
    ids=["3.9", "tv0", "old clients"],
)
def test_old_releases_pass_without_late_requests(plan: TrialPlan) -> None:
    assert [trial.symptoms for trial in (run_trial(plan, seed) for seed in range(3)) if trial.failed] == []


def test_a_seed_replays_exactly_and_seeds_differ() -> None:
    first, again, other = run_trial(ALL, 4), run_trial(ALL, 4), run_trial(ALL, 5)
    assert first == again
    assert first.history != other.history


def test_a_seed_replays_in_a_process_that_hashes_otherwise() -> None:
    seeds = (4, 17, 19, 27)  # in the last three the order of one transaction's markers showed
    script = (
        "import zlib; from eosctl.lab.history.encoding import encode_history; from eosctl.lab.trial import *\n"
        f"for seed in {seeds}: print(zlib.crc32(encode_history(run_trial(TrialPlan(), seed).history).encode()))"
    )
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = os.environ | {"PYTHONHASHSEED": other}
    command = [sys.executable, "-c", script]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    own = [zlib.crc32(encode_history(run_trial(ALL, seed).history).encode()) for seed in seeds]
    assert printed == "".join(f"{checksum}\n" for checksum in own)


def test_schedules_draw_every_kind_and_depend_on_the_seed_alone() -> None:
    assert min(fault_counts(ALL, range(300)).values()) > 0
    assert schedule_of(ALL, 7) == schedule_of(ALL, 7) != schedule_of(ALL, 8)


def test_an_unknown_plan_is_refused() -> None:
    assert find_plan("clocks") == (DrawnKind.SKEW_CLOCK,)
    with pytest.raises(UsageError, match="no plan 'chaos'"):
        find_plan("chaos")


def test_without_faults_everything_is_written_and_copied() -> None:
    trial = run_trial(TrialPlan(kinds=find_plan("none")), 1)
    assert not trial.failed
    assert trial.schedule == ()
    assert {type(event).__name__ for event in trial.history} >= {"Sent", "OffsetFetched", "Drained", "BatchSeen"}


def test_a_failing_schedule_is_reduced_to_the_faults_that_matter() -> None:
    """The trial is a stand-in, so that what matters is known."""
    schedule = schedule_of(ALL, next(seed for seed in range(100) if len(schedule_of(ALL, seed)) == 5))
    needed = {schedule[1], schedule[3]}

    def run(_plan: TrialPlan, seed: int, faults: Schedule | None) -> Trial:
        tried = faults or ()
        return Trial(seed, tried, (), (), "stands still" if needed <= set(tried) else "", (), 0)

    found = minimise(ALL, run(ALL, 3, schedule), run=run)
    assert set(found.schedule) == needed
    assert found.stuck == "stands still"


def test_the_smallest_schedule_fails_for_the_same_reason() -> None:
    """Here the first fault needs the bug to do harm; the last two do it together on their own, in smaller schedules."""
    plan = ALL._replace(bugs=())
    schedule = schedule_of(ALL, next(seed for seed in range(50) if len(schedule_of(ALL, seed)) == 3))

    def run(plan: TrialPlan, seed: int, faults: Schedule | None) -> Trial:
        tried = faults or ()
        has_bug = ("kafka-20734", False) not in plan.bugs
        harmed = (has_bug and schedule[0] in tried) or set(tried) == set(schedule[1:])
        return Trial(seed, tried, (), (), "stands still" if harmed else "", (), 0)

    assert minimise(plan, run(plan, 3, schedule), run=run).schedule == schedule[:1]
