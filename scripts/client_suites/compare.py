"""The results of a suite on the sandbox, and of what did not pass there on real Kafka."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from scripts.client_suites.outcomes import Outcome, Outcomes, names_with

#: Runs the named tests, or all of them for None, on a new cluster.
Run = Callable[[Sequence[str] | None], Outcomes]

#: Runs on each engine before a difference is reported.
CONFIRMATIONS: Final = 2


class Comparison(NamedTuple):
    """A suite on both engines. All names are sorted.

    Attributes:
        tests: Number of tests that the suite has.
        passed: Number that passed on the sandbox.
        passed_again: Those that passed on the sandbox only in the second run.
        failed: Those that did not pass there in either run.
        skipped: Those that skipped themselves there.
        failed_on_kafka: Those of `failed` that fail on real Kafka, too.
        unsteady: Those that seemed to differ, and then passed on the sandbox or failed on real Kafka.
        differing: Those that never passed on the sandbox, and always pass on real Kafka.
    """

    tests: int
    passed: int
    passed_again: tuple[str, ...]
    failed: tuple[str, ...]
    skipped: tuple[str, ...]
    failed_on_kafka: tuple[str, ...]
    unsteady: tuple[str, ...]
    differing: tuple[str, ...]

    @property
    def is_equal(self) -> bool:
        """Return whether the suite ran and real Kafka passes no test that the sandbox does not."""
        return self.passed > 0 and not self.differing


def compare(sandbox: Run, kafka: Run) -> Comparison:
    """Run a suite on the sandbox, and on real Kafka what does not pass there.

    A test that fails is repeated once on each engine: the suites contain limits of time for idle machines.
    """
    first = sandbox(None)
    again = _repeat(sandbox, first)
    here = {**first, **again}
    open_tests = names_with(here, Outcome.FAILED, Outcome.NOT_RUN, Outcome.SKIPPED)
    there = dict(kafka(open_tests)) if open_tests else {}
    there |= {name: outcome for name, outcome in _repeat(kafka, there).items() if name in there}
    failed = names_with(here, Outcome.FAILED, Outcome.NOT_RUN)
    passed_there = set(names_with(there, Outcome.PASSED))
    suspected = tuple(name for name in open_tests if name in passed_there)
    differing = _confirm(sandbox, kafka, suspected)
    return Comparison(
        tests=len(here),
        passed=len(names_with(here, Outcome.PASSED)),
        passed_again=names_with(again, Outcome.PASSED),
        failed=failed,
        skipped=names_with(here, Outcome.SKIPPED),
        failed_on_kafka=tuple(name for name in failed if name not in passed_there),
        unsteady=tuple(name for name in suspected if name not in differing),
        differing=differing,
    )


def _confirm(sandbox: Run, kafka: Run, suspected: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tests that differ in further runs, too; others depend on time."""
    for _ in range(CONFIRMATIONS):
        if suspected:
            passed_here = set(names_with(sandbox(suspected), Outcome.PASSED))
            passed_there = set(names_with(kafka(suspected), Outcome.PASSED))
            suspected = tuple(name for name in suspected if name in passed_there - passed_here)
    return suspected


def _repeat(run: Run, outcomes: Outcomes) -> Outcomes:
    failed = names_with(outcomes, Outcome.FAILED, Outcome.NOT_RUN)
    return run(failed) if failed else {}
