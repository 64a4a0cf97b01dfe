"""A series of trials; for a failed one, the smallest failing schedule and the remedies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from eosctl.client.transactions import TV2
from eosctl.lab.faults import current_kind
from eosctl.lab.schedule import Schedule
from eosctl.lab.trial import Trial, TrialPlan, run_trial, schedule_of
from eosctl.sandbox.faults.bugs import BUGS

Run = Callable[[TrialPlan, int, Schedule | None], Trial]


def minimise(plan: TrialPlan, failed: Trial, *, run: Run = run_trial) -> Trial:
    """Remove faults one by one while one of the symptoms and its remedies stay.

    A schedule may fail for several reasons. Without the condition on remedies, the smallest one might fail for another
    reason.

    Returns:
        A trial of the same seed from whose schedule no single fault can be removed, possibly `failed` itself.
    """
    helpful = _helpful(plan, failed, run)
    smallest = failed
    position = 0
    while position < len(smallest.schedule):
        rest = smallest.schedule[:position] + smallest.schedule[position + 1 :]
        tried = run(plan, failed.seed, rest)
        if tried.symptoms & failed.symptoms and not any(run(one.plan, failed.seed, rest).failed for one in helpful):
            smallest, position = tried, 0
        else:
            position += 1
    return smallest


def bugs_of(plan: TrialPlan) -> dict[str, bool]:
    """Return the state of each known bug that the release of a plan can have."""
    switched = dict(plan.bugs)
    return {bug.name: switched.get(bug.name, bug.is_default) for bug in BUGS if plan.emulate in bug.releases}


class Remedy(NamedTuple):
    """A plan without one known weakness; `words` are the options of the command line that remove it."""

    words: str
    plan: TrialPlan


def remedies(plan: TrialPlan) -> tuple[Remedy, ...]:
    """Return a plan without each known bug of its brokers, and one with the cluster's own client level."""
    found = [
        Remedy(f"--bug {name}=off", plan._replace(bugs=(*plan.bugs, (name, False))))
        for name, on in bugs_of(plan).items()
        if on
    ]
    if plan.dialect not in (None, TV2) and plan.emulate != "3.9" and plan.transaction_version in (None, 2):
        found.append(Remedy("--clients tv2", plan._replace(dialect=TV2)))
    return tuple(found)


def find_remedies(plan: TrialPlan, failed: Trial, *, run: Run = run_trial) -> tuple[str, ...]:
    """Return the single changes that make the seed pass with the same faults, by their options."""
    return tuple(remedy.words for remedy in _helpful(plan, failed, run))


def _helpful(plan: TrialPlan, failed: Trial, run: Run) -> tuple[Remedy, ...]:
    return tuple(remedy for remedy in remedies(plan) if not run(remedy.plan, failed.seed, failed.schedule).failed)


def fault_counts(plan: TrialPlan, seeds: Sequence[int]) -> dict[str, int]:
    """Count the faults of seeds, by kind."""
    counts = dict.fromkeys(map(current_kind, plan.kinds), 0)
    for seed in seeds:
        for fault in schedule_of(plan, seed):
            counts[current_kind(fault.kind)] += 1
    return counts
