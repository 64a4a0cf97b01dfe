"""What a caller demands of a run with findings."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from eosctl.model.severity import Severity


class GateOptions(NamedTuple):
    """The demands on a run, as given.

    Attributes:
        fail_on: The lowest severity that fails the run; None leaves it to the rules, and without rules to the command.
        exit_zero: Whether findings and missing evidence never fail the run.
        require_complete: Whether missing evidence fails the run.
        min_score: The lowest score that passes, 0 to 100; None leaves it to the rules.
        baseline: A file of known findings, which do not count.
        rules: A file of suppressions and thresholds; None for ``.eosctl.yaml`` of the working directory, if it exists.
    """

    fail_on: Severity | None = None
    exit_zero: bool = False
    require_complete: bool = False
    min_score: int | None = None
    baseline: Path | None = None
    rules: Path | None = None
