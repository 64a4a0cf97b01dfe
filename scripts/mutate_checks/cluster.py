"""The checks of clusters and their cases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from eosctl.checks.declaration import Case, Check
from eosctl.checks.registry import ALL_CHECKS
from eosctl.checks.runner import run_check
from scripts.mutate_checks.mutants import ROOT
from tests.checks.cases import FIXTURES, CheckCase, cases_of, differences


def checks() -> Iterator[tuple[Path, str, Callable[[Check], bool]]]:
    """Yield file and name of each check, with a predicate for its cases."""
    for check in ALL_CHECKS:
        path = ROOT / Path(*check.evaluate.__module__.split(".")).with_suffix(".py")
        yield path, check.evaluate.__name__, meets(cases_of(FIXTURES / f"{check.id}.yaml"))


def meets(cases: list[CheckCase]) -> Callable[[Check], bool]:
    """Return a predicate: whether a check gives the expected results of these cases."""
    return lambda check: not any(differences(run_check(check, Case(c.snapshot, c.limits)), c) for c in cases)
