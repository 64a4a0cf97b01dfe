"""Many trials one after the other; for one that failed the smallest schedule that still does, and what would help."""

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
    """Leave out faults, one at a time, as long as one of the symptoms stays, and what helps against it.

    A schedule may fail for several reasons: without the second condition the smallest one may be left with another
    reason than that of the whole.

    Returns:
        A trial of the same seed from whose schedule no single fault can be left out; `failed` itself if that holds for
        it already.
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
    """Return which known bugs the brokers of a plan have, of those that their release can have."""
    switched = dict(plan.bugs)
    return {bug.name: switched.get(bug.name, bug.is_default) for bug in BUGS if plan.emulate in bug.releases}


class Remedy(NamedTuple):
    """A plan with one known weakness less; `words` are the options of the command line that take it away."""

    words: str
    plan: TrialPlan


def remedies(plan: TrialPlan) -> tuple[Remedy, ...]:
    """Return a plan without each of the known bugs that its brokers have, and one with the cluster's own clients."""
    found = [
        Remedy(f"--bug {name}=off", plan._replace(bugs=(*plan.bugs, (name, False))))
        for name, on in bugs_of(plan).items()
        if on
    ]
    if plan.dialect not in (None, TV2) and plan.emulate == "4.3" and plan.transaction_version in (None, 2):
        found.append(Remedy("--clients tv2", plan._replace(dialect=TV2)))
    return tuple(found)


def find_remedies(plan: TrialPlan, failed: Trial, *, run: Run = run_trial) -> tuple[str, ...]:
    """Name what alone makes the seed go well with the same faults: the known bugs that it was, by their switches."""
    return tuple(remedy.words for remedy in _helpful(plan, failed, run))


def _helpful(plan: TrialPlan, failed: Trial, run: Run) -> tuple[Remedy, ...]:
    return tuple(remedy for remedy in remedies(plan) if not run(remedy.plan, failed.seed, failed.schedule).failed)


def fault_counts(plan: TrialPlan, seeds: Sequence[int]) -> dict[str, int]:
    """Count the faults that seeds stand for, by kind."""
    counts = dict.fromkeys(map(current_kind, plan.kinds), 0)
    for seed in seeds:
        for fault in schedule_of(plan, seed):
            counts[current_kind(fault.kind)] += 1
    return counts
