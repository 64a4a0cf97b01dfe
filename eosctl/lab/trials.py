"""Many trials one after the other, and the smallest schedule that still fails for one that failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from eosctl.lab.schedule import Schedule
from eosctl.lab.trial import Trial, TrialPlan, run_trial, schedule_of

Run = Callable[[TrialPlan, int, Schedule | None], Trial]


def run_trials(plan: TrialPlan, seeds: Sequence[int]) -> Iterator[Trial]:
    """Play seeds one by one."""
    for seed in seeds:
        yield run_trial(plan, seed)


def minimise(plan: TrialPlan, failed: Trial, *, run: Run = run_trial) -> Trial:
    """Leave out faults, one at a time, as long as one of the symptoms stays.

    Returns:
        A trial of the same seed from whose schedule no single fault can be left out; ``failed`` itself if that holds
        for it already.
    """
    smallest = failed
    position = 0
    while position < len(smallest.schedule):
        rest = smallest.schedule[:position] + smallest.schedule[position + 1 :]
        tried = run(plan, failed.seed, rest)
        if tried.symptoms & failed.symptoms:
            smallest, position = tried, 0
        else:
            position += 1
    return smallest


def fault_counts(plan: TrialPlan, seeds: Sequence[int]) -> dict[str, int]:
    """Count the faults that seeds stand for, by kind."""
    counts = dict.fromkeys(plan.kinds, 0)
    for seed in seeds:
        for fault in schedule_of(plan, seed):
            counts[fault.kind] += 1
    return {str(kind): count for kind, count in counts.items()}
