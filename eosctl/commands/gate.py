"""The options that decide the exit code of commands with findings."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from eosctl.model.severity import Severity
from eosctl.services.gate_options import GateOptions

GATE: Final = "Exit code"
_gate = partial(typer.Option, rich_help_panel=GATE)


def _fail_on(level: str) -> Any:
    return _gate("--fail-on", help=f"Lowest severity that exits with 3: {level}, unless set in .eosctl.yaml.")


RequireComplete = Annotated[bool, _gate("--require-complete", help="Exit with 4 if evidence is missing.")]
CompleteByDefault = Annotated[
    bool, _gate("--require-complete/--no-require-complete", help="Exit with 4 if the result is incomplete.")
]
FailOnOrRules = Annotated[Severity | None, _fail_on("error")]
FailOnWarning = Annotated[Severity | None, _fail_on("warning")]
FailOnIfNamed = Annotated[Severity | None, _fail_on("none")]
ExitZero = Annotated[bool, _gate("--exit-zero", help="Exit with 0 despite findings.")]
MinScore = Annotated[
    int | None, _gate("--min-score", min=0, max=100, help="Minimum score; a lower score exits with 3.")
]
BaselineFile = Annotated[
    Path | None, _gate("--baseline", metavar="FILE", help="Known findings to ignore.", exists=True)
]
WriteBaseline = Annotated[
    Path | None,
    _gate("--write-baseline", metavar="FILE", help="File to write the findings of this run to, as a baseline."),
]
RulesFile = Annotated[
    Path | None,
    _gate(
        "--rules",
        metavar="FILE",
        help="Suppressions and thresholds; by default .eosctl.yaml in this folder.",
        exists=True,
    ),
]


class Gate(msgspec.Struct, frozen=True):
    """The gate of commands whose findings fail the run at error."""

    fail_on: FailOnOrRules = None
    exit_zero: ExitZero = False
    require_complete: RequireComplete = False
    baseline: BaselineFile = None
    rules: RulesFile = None

    @property
    def options(self) -> GateOptions:
        """The demands on the run."""
        return GateOptions(
            fail_on=self.fail_on,
            exit_zero=self.exit_zero,
            require_complete=self.require_complete,
            min_score=None,
            baseline=self.baseline,
            rules=self.rules,
        )


class GateAtWarning(Gate, frozen=True):
    """The gate of commands whose findings fail the run at warning."""

    fail_on: FailOnWarning = None


class GateOfVerdict(Gate, frozen=True):
    """The gate of commands that demand a complete result by default."""

    require_complete: CompleteByDefault = True


class ScoredGate(Gate, frozen=True):
    """The gate of commands that give a score."""

    min_score: MinScore = None
    write_baseline: WriteBaseline = None

    @property
    def options(self) -> GateOptions:
        """The demands on the run."""
        return super().options._replace(min_score=self.min_score)
