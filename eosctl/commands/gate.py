"""The options that decide the exit code of commands with findings."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer

from eosctl.command_line.option_groups import FieldOptions, options
from eosctl.services.gate_options import GateOptions

GATE: Final = "Exit code"
_gate = partial(typer.Option, rich_help_panel=GATE)


def _fail_on(level: str) -> Any:
    return _gate("--fail-on", help=f"Lowest severity that exits with 3: {level}, unless set in .eosctl.yaml.")


RequireComplete = Annotated[bool, _gate("--require-complete", help="Exit with 4 if evidence is missing.")]
WriteBaseline = Annotated[
    Path | None,
    _gate("--write-baseline", metavar="FILE", help="File to write the findings of this run to, as a baseline."),
]
ExitZero = Annotated[bool, _gate("--exit-zero", help="Exit with 0 despite findings.")]
RulesFile = Annotated[
    Path | None,
    _gate(
        "--rules",
        metavar="FILE",
        help="Suppressions and thresholds; by default .eosctl.yaml in this folder.",
        exists=True,
    ),
]
_BASELINE: Final = _gate("--baseline", metavar="FILE", help="Known findings to ignore.", exists=True)
_COMPLETE: Final = _gate("--require-complete/--no-require-complete", help="Exit with 4 if the result is incomplete.")
_MIN_SCORE: Final = _gate("--min-score", min=0, max=100, help="Minimum score; a lower score exits with 3.")


def _demands(level: str, complete: Any = RequireComplete, **more: Any) -> FieldOptions:
    return options(
        fail_on=_fail_on(level),
        exit_zero=ExitZero,
        require_complete=complete,
        baseline=_BASELINE,
        rules=RulesFile,
        **more,
    )


ErrorGate = Annotated[GateOptions, _demands("error")]
"""The gate of commands whose findings fail the run at error."""
WarningGate = Annotated[GateOptions, _demands("warning")]
"""The gate of commands whose findings fail the run at warning."""
VerdictGate = Annotated[GateOptions, _demands("error", _COMPLETE)]
"""The gate of commands that demand a complete result by default; the default of the parameter says so."""
ReportGate = Annotated[
    GateOptions,
    options(fail_on=_fail_on("none"), exit_zero=ExitZero, require_complete=RequireComplete, rules=RulesFile),
]
"""The gate of commands whose findings fail the run only on request."""


class ScoredGate(NamedTuple):
    """The gate of commands that give a score."""

    options: Annotated[GateOptions, _demands("error", min_score=_MIN_SCORE)]
    write_baseline: WriteBaseline = None
