"""Run all mutants of all checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from scripts.mutate_checks import cluster, configuration
from scripts.mutate_checks.mutants import Mutant, mutants, survives

Judged = tuple[Path, str, Callable[[Any], bool]]


def survivors() -> tuple[int, list[Mutant]]:
    """Return the number of mutants, and the surviving ones."""
    count, alive = 0, []
    for path, name, meets_all_cases in _all():
        for mutant in mutants(path, path.read_text("utf-8")):
            count += 1
            if survives(mutant, name, meets_all_cases):
                alive.append(mutant)
    return count, alive


def _all() -> Iterator[Judged]:
    yield from configuration.rules()
    yield from cluster.checks()
